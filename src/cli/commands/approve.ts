/**
 * `writ approve`: a human says yes to the effects of one rehearsal, and they are promoted. On a
 * terminal the effects are shown first.
 */
import type { Answered, Question } from '../../host/index.ts'
import { type Call, EXIT, type Exit } from '../command.ts'
import { failureText } from '../effects/question-text.ts'
import { printAnswer } from '../gate/answer-text.ts'
import { askAtTerminal, assure } from '../gate/confirm.ts'
import { namedId, openQuestion } from '../gate/named-question.ts'
import { type GateSession, withGate } from '../gate/open.ts'
import { refuseOthers } from '../home.ts'
import { canAsk } from '../passphrase.ts'

export async function run(call: Call): Promise<Exit> {
  const id = namedId(call, 'question')
  return withGate(call, async (session) => {
    refuseOthers(session.session.caller, 'approving')
    const question = await openQuestion(session.gate, id)
    const answered = await approval(session, question)
    if (answered.kind === 'wait') return EXIT.waiting
    return printAnswer(call, await session.gate.answer(id, answered))
  })
}

/** Without a terminal, or with `--yes`, the call itself is the yes. */
async function approval(session: GateSession, question: Question): Promise<Answered> {
  const { options } = session.call
  if (canAsk() && !options.isOn('yes') && !options.isOn('json')) {
    return askAtTerminal(session, question)
  }
  const failure = failureText(question.result)
  if (failure !== null) session.call.terminal.err(`${failure}\n`)
  const assurance = await assure(session, question, 'approving')
  return { kind: 'yes', assurance, ...(failure === null ? {} : { toldFailure: true }) }
}
