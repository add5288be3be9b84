/** `writ ledger anchor`: has the checkpoints of this home cosigned by its pinned witnesses (H-9). */
import { showName } from '../../base/index.ts'
import {
  type AnchorReport,
  anchorLedger,
  isGrave,
  pinnedWitnesses,
  unknownWitness,
} from '../../witness/index.ts'
import { type CommandCall, EXIT, type Exit } from '../call/command.ts'
import { actorOf, requireWholeHost, type Session, withHome } from '../call/home.ts'
import type { Paint } from '../call/terminal.ts'

export async function anchor(call: CommandCall): Promise<Exit> {
  return withHome(call, async (session) => {
    requireWholeHost(session.caller, 'anchoring the history')
    const witnesses = await wantedWitnesses(session, call)
    const { ledger, home } = session
    const place = { ledger, state: home.state }
    const report = await anchorLedger(place, actorOf(session), witnesses, Date.now)
    const { terminal, options } = call
    await terminal.out(
      options.isOn('json')
        ? `${JSON.stringify({ ok: report.failures.length === 0, ...report })}\n`
        : textOf(report, terminal.paint),
    )
    if (report.failures.some(isGrave)) return EXIT.fault
    return report.failures.length === 0 ? EXIT.yes : EXIT.no
  })
}

/** All that are pinned, or those of the addresses or names that `--witness` gives. */
async function wantedWitnesses({ ledger }: Session, { options }: CommandCall) {
  const pinned = await pinnedWitnesses(ledger)
  const wanted = options.texts('witness')
  if (wanted.length === 0) {
    if (pinned.length > 0) return pinned
    throw unknownWitness('')
  }
  return wanted.map((text) => {
    const plain = text.replace(/\/+$/, '')
    const found = pinned.find(({ url, name }) => url === plain || name === text)
    if (found === undefined) throw unknownWitness(text)
    return found
  })
}

function textOf({ cosigned, failures }: AnchorReport, paint: Paint): string {
  const lines = [
    ...cosigned.map(
      ({ witness, origin, size, at }) =>
        `${paint.good('cosigned')}  ${origin}  ${size} facts, by ${showName(witness)} at ${at}`,
    ),
    ...failures.flatMap(({ code, message, hint }) => [
      `${paint.bad('refused')}  ${paint.accent(code)}  ${message}`,
      ...(hint === undefined ? [] : [`  ${hint}`]),
    ]),
  ]
  return `${lines.join('\n')}\n`
}
