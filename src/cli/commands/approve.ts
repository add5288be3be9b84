/**
 * `writ approve`: a human says yes to the effects of one rehearsal, and they are promoted. On a
 * terminal the effects are shown first.
 */
import type { Answered, Confirm } from '../../host/index.ts'
import { type Call, EXIT, type Exit } from '../command.ts'
import { failureText } from '../effects/question-text.ts'
import { printAnswer } from '../gate/answer-text.ts'
import { askAtTerminal, assure, settleChangedInputs } from '../gate/confirm.ts'
import { type FoundQuestion, findQuestion, namedId } from '../gate/named-question.ts'
import { withGates } from '../gate/open.ts'
import { refuseOthers } from '../home.ts'
import { canAsk } from '../passphrase.ts'

export async function run(call: Call): Promise<Exit> {
  const id = namedId(call)
  return withGates(call, async (sessions) => {
    for (const { session } of sessions) refuseOthers(session.caller, 'approving')
    const found = await findQuestion(sessions, id)
    const { gate } = found.session
    const answered = await approval(found)
    if (answered.kind === 'wait') return EXIT.waiting
    const first = await gate.answer(found.question.actionId, answered)
    if (!asksFirst(call)) return printAnswer(call, first)
    const again: Confirm = (question) => askAtTerminal(found.session, question)
    return printAnswer(call, await settleChangedInputs(gate, first, again))
  })
}

function asksFirst({ options }: Call): boolean {
  return canAsk() && !options.isOn('yes') && !options.isOn('json')
}

/** Without a terminal, or with `--yes`, the call itself is the yes. */
async function approval({ session, question }: FoundQuestion): Promise<Answered> {
  if (asksFirst(session.call)) return askAtTerminal(session, question)
  const failure = failureText(question.result)
  if (failure !== null) session.call.terminal.err(`${failure}\n`)
  const assurance = await assure(session, question, 'approving')
  return { kind: 'yes', assurance, ...(failure === null ? {} : { toldFailure: true }) }
}
