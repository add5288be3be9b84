/** `writ flow status`: prints the state of a run; without a name, that of the newest, and lists the runs. */
import { nodesOf, phasesOf } from '../../flow/index.ts'
import {
  isWalked,
  lookAtRun,
  missingOutputs,
  type RunHead,
  runHeads,
  takenBack,
} from '../../runs/index.ts'
import { type CommandCall, EXIT, type Exit } from '../call/command.ts'
import { type ReadSession, streamToRead, withHistory } from '../call/home.ts'
import { missingText, runAnswer, runText, statusExit, takenBackText } from '../flow/answer.ts'
import { stopsWithLaws } from '../flow/approval-laws.ts'
import { namedRun } from '../flow/named.ts'
import { otherMachineOf, otherMachineText } from '../flow/other-machine.ts'
import { passWhenRead } from '../flow/passed.ts'
import { moreText, queuedAnswer, queuedRun, queuedRuns, tellQueued } from '../flow/queued.ts'
import { withSentAnswers } from '../flow/sent-answers.ts'
import { editedFlow, editedText } from '../flow/source-files.ts'
import { plain, table } from '../history/text.ts'

export async function run(call: CommandCall): Promise<Exit> {
  return withHistory(call, async (session) =>
    call.arguments.length === 0 ? listRuns(session, call) : showNamed(session, call),
  )
}

async function showNamed(session: ReadSession, call: CommandCall): Promise<Exit> {
  try {
    return await showRun(session, call)
  } catch (error) {
    const stream = await streamToRead(session, call)
    const [given] = call.arguments
    return tellQueued(call, session, await queuedRun(session, stream, given, error))
  }
}

async function showRun(session: ReadSession, call: CommandCall): Promise<Exit> {
  const { head, stream } = await namedRun(session, call)
  await passWhenRead(call, session, head.run_id)
  const { home, ledger } = session
  const seen = await lookAtRun({ home, ledger, stream }, head.run_id)
  const walked = await withSentAnswers(ledger, seen)
  const { flow, state, status } = walked
  const missing = await missingOutputs(ledger, stream, head.run_id)
  const taken = await takenBack(ledger, stream, head.run_id, walked.facts)
  const edited = await editedFlow(walked)
  const stops = await stopsWithLaws({ ledger, stream }, walked)
  const other = await otherMachineOf(ledger, head.run_id)
  const { terminal, options } = call
  if (!options.isOn('json')) {
    const more = `${takenBackText(taken, terminal)}${missingText(missing, terminal)}`
    const isElsewhere = other !== null
    await terminal.out(`${runText(walked, terminal, stops, { isElsewhere })}${more}`)
    if (edited !== null) await terminal.out(`\n${plain(editedText(edited))}\n`)
    if (other !== null && state.ended === null)
      await terminal.out(`${plain(otherMachineText(other))}\n`)
    else if (status === 'RUNNING' && !(await isWalked({ home }, head.run_id)))
      await terminal.out(`no process runs it; to go on: writ flow resume ${head.run_id}\n`)
    return statusExit(status)
  }
  const nodes = nodesOf(flow, state, stops).map(({ node_id, status: at, attempts }) => ({
    node_id,
    status: at,
    attempts,
  }))
  const gone = missing.length === 0 ? {} : { missing }
  const back = taken.length === 0 ? {} : { taken_back: taken }
  const file = edited === null ? {} : { edited_flow: edited }
  const answer = {
    ...runAnswer(walked, stops),
    nodes,
    phases: phasesOf(flow, state),
    ...gone,
    ...back,
    ...file,
    ...(other === null ? {} : { machine: other.name }),
  }
  await terminal.out(`${JSON.stringify(answer)}\n`)
  return statusExit(status)
}

const RUNS_SHOWN = 50

async function listRuns(session: ReadSession, call: CommandCall): Promise<Exit> {
  const stream = await streamToRead(session, call)
  await passWhenRead(call, session, null)
  const { home, ledger } = session
  const heads: RunHead[] = []
  for await (const head of runHeads(ledger, stream)) {
    if (heads.push(head) >= RUNS_SHOWN) break
  }
  const runs = await Promise.all(
    heads.map(async (head) => {
      const { status } = await lookAtRun({ home, ledger, stream }, head.run_id)
      const { run_id, flow_id, started_at, workspace } = head
      return { run_id, flow_id, status, started_at, workspace }
    }),
  )
  const { terminal, options } = call
  const queued = await queuedRuns(session, stream)
  if (options.isOn('json'))
    await terminal.out(`${JSON.stringify({ runs, ...queuedAnswer(queued) })}\n`)
  else if (runs.length + queued.rows.length === 0) await terminal.out('no flow was run here\n')
  else {
    if (runs.length > 0) await showRun(session, call)
    const waiting = queued.rows.map((one) => [
      one.run_id,
      plain(one.flow_id),
      'QUEUED',
      plain(one.finding),
    ])
    const begun = runs.map((one) => [one.run_id, plain(one.flow_id), one.status, one.started_at])
    const heading = `\n${terminal.paint.strong('all runs, the newest first')}\n`
    await terminal.out(
      `${heading}${table(terminal, ['run', 'flow', 'status', 'began'], [...waiting, ...begun])}${moreText(queued.more)}`,
    )
  }
  return EXIT.yes
}
