/**
 * What follows when the sandbox of `writ exec` is on its way: the proposal, the command live at the
 * terminal, the question, the answer. Loaded while the sandbox starts.
 */
import { type GateAnswer, within } from '../../host/index.ts'
import type { Call, OwnStatus } from '../command.ts'
import { answerLines } from './answer-text.ts'
import { execConfirm, settleChangedInputs } from './confirm.ts'
import { type ExecRequest, execProposal, isDeclaredByApproval } from './exec-proposal.ts'
import { Live } from './live.ts'
import { type Begun, type GateSession, withGate } from './open.ts'
import { PromptCount } from './prompt-count.ts'
import { releaseBefore } from './release.ts'
import { writeReport } from './report-file.ts'
import { execEnd } from './status.ts'

export async function carryOut(call: Call, request: ExecRequest, begun: Begun): Promise<OwnStatus> {
  const work = async (session: GateSession) => {
    const resources = within(request.resources, session.gate.ceilings)
    const answer = await runLive(session, { ...request, resources })
    const { status, code } = execEnd(answer)
    if (code !== null) explain(call, answer, code)
    return status
  }
  return withGate(call, work, begun)
}

async function runLive(session: GateSession, request: ExecRequest): Promise<GateAnswer> {
  const proposal = execProposal(request)
  // Before anything runs, and while the terminal is still ours.
  if (request.hosts.length > 0) await releaseBefore(session, proposal)
  const live = new Live()
  const prompts = new PromptCount()
  const confirm = prompts.counting(execConfirm(session, live))
  try {
    const first = await session.gate.propose(proposal, {
      door: 'exec',
      declaredByApproval: isDeclaredByApproval(request),
      dryRun: false,
      confirm,
      live: live.run(),
      abort: live.abort.signal,
    })
    const answer = await settleChangedInputs(session.gate, first, confirm)
    const file = session.call.options.text('report')
    if (file !== null) writeReport(file, { ...answer, prompts: prompts.asked })
    return answer
  } finally {
    live.end()
  }
}

/** On standard error, which is ours as soon as the status is; the last line is the code alone. */
function explain({ terminal }: Call, answer: GateAnswer, code: string): void {
  const lines = answerLines(answer, terminal.paintError, false)
  const wasAsked = answer.decision.decision === 'CONFIRM' && answer.pending === undefined
  // Whoever was asked has just seen everything.
  if (wasAsked) lines.splice(1)
  terminal.err(`${lines.join('\n')}\nwrit: ${code}\n`)
}
