/** `writ deny`: a human says no to a question; nothing of that rehearsal is promoted. */
import { type Call, EXIT, type Exit } from '../command.ts'
import { printAnswer } from '../gate/answer-text.ts'
import { namedId, openQuestion } from '../gate/named-question.ts'
import { withGate } from '../gate/open.ts'
import { refuseOthers } from '../home.ts'

export async function run(call: Call): Promise<Exit> {
  const id = namedId(call, 'question')
  const reason = call.options.text('reason')
  return withGate(call, async ({ gate, session }) => {
    refuseOthers(session.caller, 'denying')
    await openQuestion(gate, id)
    const answer = await gate.answer(id, { kind: 'no', ...(reason === null ? {} : { reason }) })
    await printAnswer(call, answer)
    // The question was whether to deny: that succeeded.
    return EXIT.yes
  })
}
