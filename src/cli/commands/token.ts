/** `writ token …`: what a principal shows to speak to this home. */
import { showName } from '../../base/index.ts'
import { TOKEN_SCOPES, type TokenScope } from '../../contracts/index.ts'
import { createToken, revokeToken } from '../../home/index.ts'
import { occurredAtText, principalText, type RegisteredToken } from '../../ledger/index.ts'
import { type CommandCall, EXIT, type Exit, reply, usageError } from '../call/command.ts'
import {
  actorOf,
  placeOf,
  requireHuman,
  requireWholeHost,
  withHistory,
  withHome,
} from '../call/home.ts'
import { principalArgument } from '../history/option-values.ts'
import { table } from '../history/text.ts'

const DAY_MS = 86_400_000

/** `writ token create`: a human makes a token for a principal. It is shown now and never again. */
export async function create(call: CommandCall): Promise<Exit> {
  const principal = principalArgument(call)
  const expires_at = expiry(call)
  const scopes = scopesOf(call)
  return withHome(call, async (session) => {
    await requireHuman(session, call, 'making a token')
    const place = placeOf(session)
    const made = await createToken(place, session.register, actorOf(session), principal, {
      expiresAt: expires_at,
      scopes,
    })
    const { id: token_id, token, appended } = made
    const { terminal, options } = call
    if (options.isOn('json')) {
      const answer = { token_id, token, principal, expires_at, scopes, seq: appended.seq }
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

/** What the token is for; null without the option. */
function scopesOf(call: CommandCall): readonly TokenScope[] | null {
  const given = call.options.texts('scope')
  if (given.length === 0) return null
  const unknown = given.find((name) => !TOKEN_SCOPES.some((scope) => scope === name))
  if (unknown === undefined) return TOKEN_SCOPES.filter((scope) => given.includes(scope))
  throw usageError(`${showName(unknown)} is no scope; there are ${TOKEN_SCOPES.join(', ')}`)
}

function expiry(call: CommandCall): string | null {
  const text = call.options.text('days')
  if (text === null) return null
  if (/^[1-9]\d{0,4}$/.test(text)) return occurredAtText(Date.now() + Number(text) * DAY_MS)
  throw usageError('`--days` is a whole number of days')
}

/** `writ token list`: the tokens of this home, by id; the tokens themselves are not kept. */
export async function list(call: CommandCall): Promise<Exit> {
  return withHistory(call, async ({ register, caller }) => {
    requireWholeHost(caller, 'listing tokens')
    const nowText = new Date().toISOString()
    const tokens = register.tokens.map((token) => ({
      token_id: token.id,
      principal: token.principal,
      created_at: token.createdAt,
      expires_at: token.expiresAt,
      revoked_at: token.revokedAt,
      scopes: token.scopes ?? null,
      status: statusOf(token, nowText),
      use: token.use ?? null,
    }))
    const rows = tokens.map((token) => [
      token.token_id,
      principalText(token.principal),
      token.created_at,
      token.use ?? token.scopes?.join(', ') ?? 'all',
      token.status,
    ])
    const heads = ['token', 'principal', 'made', 'for', 'status']
    return reply(call, { tokens }, () => table(call.terminal, heads, rows))
  })
}

function statusOf({ revokedAt, expiresAt }: RegisteredToken, nowText: string): string {
  if (revokedAt !== null) return 'revoked'
  return expiresAt !== null && expiresAt <= nowText ? 'expired' : 'live'
}

/** `writ token revoke ID`: makes a token invalid from now on. */
export async function revoke(call: CommandCall): Promise<Exit> {
  const [token_id, ...others] = call.arguments
  if (token_id === undefined || others.length > 0) {
    throw usageError('name one token by its id', 'writ token list')
  }
  return withHome(call, async (session) => {
    await requireHuman(session, call, 'revoking a token')
    const place = placeOf(session)
    const { seq } = await revokeToken(place, session.register, actorOf(session), token_id)
    return reply(call, { token_id, seq }, (paint) => `${paint.good('revoked')}  ${token_id}\n`)
  })
}
