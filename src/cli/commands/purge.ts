/**
 * `writ purge`: a human drops bodies of the past: outputs, unredacted proposals, lists of changes. The
 * facts stay, and say what went. What undo, a question or a run of a flow still needs stays as well,
 * and is named.
 */
import type { FaultError } from '../../base/index.ts'
import {
  BODY_KINDS,
  type BodyKind,
  type PurgeAnswer,
  type PurgeOrder,
} from '../../service/index.ts'
import { type CommandCall, EXIT, type Exit } from '../call/command.ts'
import { requireHuman, requireWholeHost } from '../call/home.ts'
import { usageError } from '../call/usage.ts'
import { counted, sizeText } from '../effects/amount.ts'
import { withGates } from '../gate/open.ts'
import { momentOption } from '../history/option-values.ts'
import { plain, table } from '../history/text.ts'

export async function run(call: CommandCall): Promise<Exit> {
  const order = readOrder(call)
  const dryRun = call.options.isOn('dry-run')
  return withGates(call, async (sessions) => {
    const [own] = sessions
    if (own !== undefined && dryRun) requireWholeHost(own.session.caller, 'purging')
    else if (own !== undefined) await requireHuman(own.session, call, 'purging')
    const answers: PurgeAnswer[] = []
    for (const { gate } of sessions) answers.push(await gate.purge(order, { dryRun }))
    await tell(call, {
      dropped: answers.flatMap(({ dropped }) => dropped),
      bytes: answers.reduce((sum, { bytes }) => sum + bytes, 0),
      kept: answers.flatMap(({ kept }) => kept),
      dry_run: dryRun,
    })
    return EXIT.yes
  })
}

function readOrder(call: CommandCall): PurgeOrder {
  const { options } = call
  const before = momentOption(call, 'before', Date.now()) ?? null
  const action = options.text('action')
  if ((before === null) === (action === null)) throw usage('say `--before MOMENT` or `--action ID`')
  return { action, before, kinds: kindsOf(options.texts('kind')), reason: options.text('reason') }
}

function kindsOf(names: readonly string[]): readonly BodyKind[] {
  if (names.length === 0) return BODY_KINDS
  return names.map((name) => {
    const kind = BODY_KINDS.find((one) => one === name)
    if (kind === undefined) throw usage(`\`--kind\` is one of ${BODY_KINDS.join(', ')}`)
    return kind
  })
}

function usage(message: string): FaultError {
  return usageError(message, '`writ purge --help`')
}

async function tell({ options, terminal }: CommandCall, answer: PurgeAnswer): Promise<void> {
  if (options.isOn('json')) return terminal.out(`${JSON.stringify(answer)}\n`)
  const { paint } = terminal
  const { dropped, bytes, kept, dry_run: dryRun } = answer
  const word = dryRun ? paint.accent('would be dropped') : paint.good('dropped')
  const size = `${counted(dropped.length, 'body', 'bodies')}, ${sizeText(bytes)}`
  const parts = [`${word}  ${size}\n`]
  if (kept.length > 0) {
    const rows = kept.map(({ action_id, run_id, reason }) => [
      plain(run_id ?? action_id ?? ''),
      reason,
    ])
    parts.push(`\n${paint.strong('Kept')}\n${table(terminal, ['action or run', 'because'], rows)}`)
  }
  await terminal.out(parts.join(''))
}
