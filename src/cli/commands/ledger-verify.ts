/**
 * `writ ledger verify`: goes over the whole history and says whether it holds. Reads the file without
 * opening it as a ledger, because a tampered one is what it is for. Without a checkpoint kept elsewhere
 * it proves consistency only, and says so. Folds all facts again and compares the result with the kept
 * standing.
 */
import { faultError } from '../../base/index.ts'
import { openHome } from '../../home/index.ts'
import {
  exitOfReport,
  type VerifiedStream,
  type VerifyReport,
  verifyLedger,
} from '../../store/index.ts'
import { type CommandCall, EXIT, type Exit } from '../call/command.ts'
import { callerOf, ofKnownHome, withLedger } from '../call/home.ts'
import { readSource } from '../call/source.ts'
import { surroundings } from '../call/surroundings.ts'
import { progressBar } from '../call/terminal.ts'
import { pinnedKeys } from '../history/option-values.ts'

export async function run(call: CommandCall): Promise<Exit> {
  const { options, terminal } = call
  const around = surroundings()
  const home = openHome(around, options.text('home'))
  // Only the bearer of a token has to be looked up, and a tenant may not see the whole.
  if ((around.env['WRIT_TOKEN'] ?? '') !== '') {
    await withLedger(home, async (_ledger, register) => {
      if (callerOf(around, register).streams === null) return
      throw faultError('principal.scope', '', 'verification goes over the whole host')
    })
  }
  const stream = options.text('stream')
  const anchor = await Promise.all(
    options.texts('from').map(async (name) => (await readSource(name)).bytes.toString('utf8')),
  )
  const bar = progressBar(terminal, 'verifying')
  const place = { directory: home.state }
  const verified = verifyLedger(place, {
    ...(stream === null ? {} : { stream }),
    ...(anchor.length === 0 ? {} : { anchor }),
    ...(options.texts('key').length === 0 ? {} : { pinnedKeys: pinnedKeys(call) }),
    contracts: !options.isOn('no-contracts'),
    index: true,
    kept: true,
    onProgress: ({ checked, total }) => bar.tick(checked, total),
  })
  const report = await ofKnownHome(home, verified)
  bar.end()
  await tell(call, report)
  // A checkpoint that leaves streams out proves nothing of them.
  const isPartly = report.ok && anchor.length > 0 && !report.anchored
  return isPartly ? EXIT.waiting : exitOfReport(report)
}

async function tell({ options, terminal }: CommandCall, report: VerifyReport): Promise<void> {
  if (options.isOn('json')) return terminal.out(`${JSON.stringify(report)}\n`)
  const { paint } = terminal
  const { ok, size, root, checked, problems } = report
  const lines = [
    `${ok ? paint.good('holds') : paint.bad('broken')}  ${checked} facts checked, size ${size}`,
    `  root  ${root}`,
    ...(ok ? [`  ${anchorWords(report)}`] : []),
    ...problems.map(
      ({ code, seq, message }) =>
        `  ${seq === undefined ? '' : `seq ${seq}  `}${paint.accent(code)}  ${message}`,
    ),
  ]
  return terminal.out(`${lines.join('\n')}\n`)
}

const KEEP = 'keep one of all streams: `writ ledger checkpoint > FILE`'

function anchorWords({ anchored, streams }: VerifyReport): string {
  const named = (anchor: VerifiedStream['anchor']): string =>
    streams.flatMap((one) => (one.anchor === anchor ? [one.stream] : [])).join(', ')
  const [held, since, none] = [named('extends'), named('begun_since'), named('none')]
  if (held === '') {
    return `not anchored: consistent in itself; a rewrite with the stolen key, or an old copy, is not excluded (${KEEP})`
  }
  if (!anchored) {
    return `not anchored: only ${held} extends the checkpoint that was kept; not covered: ${none} (${KEEP})`
  }
  const later = since === '' ? '' : `; begun since: ${since}`
  return `anchored: the history extends the checkpoint that was kept (${held}${later})`
}
