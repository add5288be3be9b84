/** `writ inbox`: the questions that wait for a human, or the effects that one of them is about. */
import { type PendingQuestion, waitingRuns } from '../../host/index.ts'
import { type Call, EXIT, type Exit } from '../command.ts'
import { countsText } from '../effects/amount.ts'
import { shortDigest } from '../effects/question-text.ts'
import { waitingOf, waitingText } from '../flow/answer.ts'
import { approvalsText, fewHumansText, missingText } from '../gate/approvals-text.ts'
import { effectsText } from '../gate/confirm.ts'
import { interruptionsOf, interruptionText } from '../gate/interrupted.ts'
import { findQuestion, namedId } from '../gate/named-question.ts'
import { type GateSession, withGates } from '../gate/open.ts'
import { plain } from '../history/plain.ts'
import { table } from '../history/table.ts'

const HEADS = ['id', 'kind', 'effects', 'result', 'needs', 'shape', 'until'] as const

export async function run(call: Call): Promise<Exit> {
  return withGates(call, async (sessions) => {
    if (call.arguments.length > 0) return showOne(call, sessions)
    const pending: PendingQuestion[] = []
    for (const { gate } of sessions) pending.push(...(await gate.pending()))
    const flows = await flowQuestions(sessions)
    const interrupted = await interruptionsOf(sessions)
    const { terminal, options } = call
    if (options.isOn('json')) {
      const more = interrupted.length === 0 ? {} : { interrupted }
      const answer = { pending, ...(flows.length === 0 ? {} : { flows }), ...more }
      await terminal.out(`${JSON.stringify(answer)}\n`)
      return EXIT.yes
    }
    if (pending.length + flows.length === 0) await terminal.out('nothing waits\n')
    if (pending.length > 0) await terminal.out(table(terminal, HEADS, pending.map(row)))
    for (const { id, problem, approvals } of pending) {
      if (approvals !== undefined) {
        const words = `${approvalsText(approvals)}; ${missingText(approvals)}`
        await terminal.out(`${plain(id)}: ${words}\n`)
      }
      if (problem === undefined) continue
      await terminal.out(`${plain(id)}: ${problem.message}: writ deny ${plain(id)}\n`)
    }
    for (const { text } of flows) await terminal.out(`${text}\n`)
    for (const one of interrupted) await terminal.out(interruptionText(one, terminal))
    return EXIT.yes
  })
}

/** What runs of flows wait for; yeses about effects are among the questions of the gate already. */
async function flowQuestions(sessions: readonly GateSession[]) {
  const found = []
  for (const { session, stream } of sessions) {
    const { home, ledger } = session
    for (const { runId, waiting } of await waitingRuns({ home, ledger, stream })) {
      const others = waiting.filter(({ type }) => type !== 'promote')
      for (const command of others) {
        found.push({ run_id: runId, ...waitingOf(command), text: waitingText(runId, command) })
      }
    }
  }
  return found
}

/** Everything about one question, as it would be shown at the terminal. */
async function showOne(call: Call, sessions: readonly GateSession[]): Promise<Exit> {
  const { terminal, options } = call
  const { question } = await findQuestion(sessions, namedId(call))
  if (options.isOn('json')) {
    const { actionId: action_id, proposal, result, decision, need: needs, expiresAt } = question
    const head = { action_id, proposal, result, decision, needs, expires_at: expiresAt }
    const { approvals } = question
    const answer = approvals === null ? head : { ...head, approvals }
    await terminal.out(`${JSON.stringify(answer)}\n`)
    return EXIT.yes
  }
  for await (const piece of effectsText(question, terminal.paint, options.isOn('all'))) {
    await terminal.out(piece)
  }
  const { diff } = question.result
  const words = `${countsText(diff.counts)}, result ${shortDigest(question.resultDigest)}`
  await terminal.out(`\n${terminal.paint.strong(words)}, needs ${question.need}\n`)
  const { approvals } = question
  if (approvals === null) return EXIT.yes
  await terminal.out(`${approvalsText(approvals)}; ${missingText(approvals)}\n`)
  const few = fewHumansText(approvals)
  if (few !== null) await terminal.out(`${few}\n`)
  return EXIT.yes
}

function row(question: PendingQuestion): readonly string[] {
  return [
    plain(question.id),
    plain(question.kind),
    countsText(question.effects),
    shortDigest(question.result_digest),
    question.needs ?? 'nobody can',
    question.shape === null ? '' : shortDigest(question.shape),
    question.expires_at,
  ]
}
