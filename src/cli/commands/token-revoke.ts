/** `writ token revoke ID`: makes a token invalid from now on. */
import { revokeToken } from '../../home/index.ts'
import { type CommandCall, EXIT, type Exit } from '../call/command.ts'
import { actorOf, placeOf, requireHuman, withHome } from '../call/home.ts'
import { usageError } from '../call/usage.ts'

export async function run(call: CommandCall): Promise<Exit> {
  const [token_id, ...others] = call.arguments
  if (token_id === undefined || others.length > 0) {
    throw usageError('name one token by its id', 'writ token list')
  }
  return withHome(call, async (session) => {
    await requireHuman(session, call, 'revoking a token')
    const place = placeOf(session)
    const { seq } = await revokeToken(place, session.register, actorOf(session), token_id)
    const { terminal, options } = call
    await terminal.out(
      options.isOn('json')
        ? `${JSON.stringify({ token_id, seq })}\n`
        : `${terminal.paint.good('revoked')}  ${token_id}\n`,
    )
    return EXIT.yes
  })
}
