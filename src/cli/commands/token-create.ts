/** `writ token create`: a human makes a token for a principal. It is shown now and never again. */
import { createToken } from '../../home/index.ts'
import { occurredAtText } from '../../ledger/index.ts'
import { type CommandCall, EXIT, type Exit } from '../call/command.ts'
import { actorOf, placeOf, requireHuman, withHome } from '../call/home.ts'
import { usageError } from '../call/usage.ts'
import { principalArgument } from '../history/option-values.ts'

const DAY_MS = 86_400_000

export async function run(call: CommandCall): Promise<Exit> {
  const principal = principalArgument(call)
  const expires_at = expiry(call)
  return withHome(call, async (session) => {
    await requireHuman(session, call, 'making a token')
    const place = placeOf(session)
    const made = await createToken(place, session.register, actorOf(session), principal, expires_at)
    const { id: token_id, token, appended } = made
    const { terminal, options } = call
    if (options.isOn('json')) {
      const answer = { token_id, token, principal, expires_at, seq: appended.seq }
      await terminal.out(`${JSON.stringify(answer)}\n`)
      return EXIT.yes
    }
    await terminal.out(`${token}\n`)
    terminal.err(
      `${terminal.paintError.good('made')}  ${token_id} for ${call.arguments[0]}; this is the only time it is shown\n`,
    )
    return EXIT.yes
  })
}

function expiry(call: CommandCall): string | null {
  const text = call.options.text('days')
  if (text === null) return null
  if (/^[1-9]\d{0,4}$/.test(text)) return occurredAtText(Date.now() + Number(text) * DAY_MS)
  throw usageError('`--days` is a whole number of days')
}
