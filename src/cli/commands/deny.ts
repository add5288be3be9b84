/** `writ deny`: a human says no to a question; nothing of that rehearsal is promoted. */
import { type CommandCall, EXIT, type Exit } from '../call/command.ts'
import { refuseOthers } from '../call/home.ts'
import { findLost, findQuestion, type LostQuestion, namedId } from '../gate/named-question.ts'
import { type GateSession, withGates } from '../gate/open.ts'
import { shortId } from '../history/short-id.ts'

async function waiting(sessions: readonly GateSession[], id: string) {
  const { session, question } = await findQuestion(sessions, id)
  return { session, named: question.actionId }
}

function lostOne({ session, id }: LostQuestion) {
  return { session, named: id }
}

export async function run(call: CommandCall): Promise<Exit> {
  const id = namedId(call)
  const reason = call.options.text('reason')
  return withGates(call, async (sessions) => {
    for (const { session } of sessions) refuseOthers(session.caller, 'denying')
    const no = { kind: 'no', ...(reason === null ? {} : { reason }) } as const
    const lost = await findLost(sessions, id)
    const { session, named } = lost === null ? await waiting(sessions, id) : lostOne(lost)
    const answer = await session.gate.answer(named, no)
    const { terminal, options } = call
    await terminal.out(
      options.isOn('json')
        ? `${JSON.stringify(answer)}\n`
        : `${terminal.paint.bad('denied')}  ${shortId(answer.action_id)}  nothing was changed\n`,
    )
    // The call was to deny, and that was done.
    return EXIT.yes
  })
}
