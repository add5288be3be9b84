/** `writ flow resume`: goes on with a run from its facts, after a crash, a stop or a human's answer. */
import { findRun, lookAtRun, passTimers, resumeRun } from '../../runs/index.ts'
import type { CommandCall, Exit } from '../call/command.ts'
import { interruptible } from '../flow/interruptible.ts'
import { watchRun } from '../flow/live.ts'
import { withFlows } from '../flow/open.ts'
import { tellPassed } from '../flow/passed.ts'
import { askAboutActors, refuseActors, tellShortSecrets } from '../flow/person.ts'
import { editedFlow, editedText } from '../flow/source-files.ts'
import { plain } from '../history/text.ts'
import { placesOf, printRun } from './flow-run.ts'

export async function run(call: CommandCall): Promise<Exit> {
  return withFlows(call, async ({ host, gate }) => {
    refuseActors(gate, 'going on with a flow', 'writ flow resume RUN')
    const { run_id, by } = await findRun(host.ledger, host.stream, call.arguments[0] ?? null)
    const before = await lookAtRun(host, run_id)
    await askAboutActors(call, gate, by, before.flow.base)
    tellShortSecrets(call, before.flow)
    const edited = await editedFlow(before)
    if (edited !== null) call.terminal.err(`${plain(editedText(edited))}\n`)
    tellPassed(call, await passTimers(host, run_id))
    const watch = watchRun(call)
    const walked = await interruptible((abort) =>
      resumeRun({ ...host, confirm: watch.still(host.confirm) }, run_id, {
        abort,
        waits: call.options.isOn('wait'),
        ...placesOf(call),
        onFacts: watch.onFacts,
        onWaiting: watch.onWaiting,
      }).finally(watch.end),
    )
    return printRun(call, host, walked)
  })
}
