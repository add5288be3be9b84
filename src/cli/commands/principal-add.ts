/** `writ principal add`: a human makes a principal known to this home. */
import { addPrincipal } from '../../home/index.ts'
import { type CommandCall, EXIT, type Exit } from '../call/command.ts'
import { actorOf, placeOf, requireHuman, withHome } from '../call/home.ts'
import { principalArgument, streamsArgument } from '../history/option-values.ts'

export async function run(call: CommandCall): Promise<Exit> {
  const principal = principalArgument(call)
  const streams = streamsArgument(call, principal)
  return withHome(call, async (session) => {
    await requireHuman(session, call, 'adding a principal')
    const place = placeOf(session)
    const { seq, factId: fact_id } = await addPrincipal(
      place,
      session.register,
      actorOf(session),
      principal,
      streams,
    )
    const { terminal, options } = call
    await terminal.out(
      options.isOn('json')
        ? `${JSON.stringify({ principal, streams, seq, fact_id })}\n`
        : `${terminal.paint.good('added')}  ${call.arguments[0]}  ${streams === null ? 'every stream' : streams.join(', ')}\n`,
    )
    return EXIT.yes
  })
}
