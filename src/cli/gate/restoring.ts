/**
 * What `rollback` and `undo` share: only a human takes something back (I1), the answer lists every
 * restored path, and a conflict lists every path that is in the way.
 */
import type { RollbackAnswer, RollbackTarget } from '../../host/index.ts'
import { type Call, EXIT, type Exit } from '../command.ts'
import { counted } from '../effects/amount.ts'
import { visibleName } from '../effects/visible.ts'
import { refuseOthers } from '../home.ts'
import { withGate } from './open.ts'

export async function restore(call: Call, target: RollbackTarget): Promise<Exit> {
  const dryRun = call.options.isOn('dry-run')
  return withGate(call, async ({ gate, session }) => {
    refuseOthers(session.caller, 'taking something back')
    const answer = await gate.rollback(target, { dryRun })
    const { terminal, options } = call
    await terminal.out(
      options.isOn('json') ? `${JSON.stringify(answer)}\n` : restoredText(call, answer, dryRun),
    )
    return dryRun || answer.verified ? EXIT.yes : EXIT.no
  })
}

function restoredText({ terminal }: Call, answer: RollbackAnswer, dryRun: boolean): string {
  const { paint } = terminal
  const word = dryRun
    ? paint.accent('would be restored')
    : answer.verified
      ? paint.good('restored')
      : paint.bad('not as it was')
  const paths = answer.restored.map((path) => `  ${visibleName(path)}`)
  const head = `${word}  ${visibleName(answer.action_id)}  ${counted(paths.length, 'path')}`
  return `${[head, ...paths].join('\n')}\n`
}
