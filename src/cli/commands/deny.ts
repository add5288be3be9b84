/** `writ deny`: a human says no to a question; nothing of that rehearsal is promoted. */
import { type Call, EXIT, type Exit } from '../command.ts'
import { printAnswer } from '../gate/answer-text.ts'
import { findLost, findQuestion, namedId } from '../gate/named-question.ts'
import { withGates } from '../gate/open.ts'
import { refuseOthers } from '../home.ts'

export async function run(call: Call): Promise<Exit> {
  const id = namedId(call)
  const reason = call.options.text('reason')
  return withGates(call, async (sessions) => {
    for (const { session } of sessions) refuseOthers(session.caller, 'denying')
    const no = { kind: 'no', ...(reason === null ? {} : { reason }) } as const
    const lost = await findLost(sessions, id)
    if (lost !== null) await printAnswer(call, await lost.session.gate.answer(lost.id, no))
    else {
      const { session, question } = await findQuestion(sessions, id)
      await printAnswer(call, await session.gate.answer(question.actionId, no))
    }
    // The call was to deny, and that was done.
    return EXIT.yes
  })
}
