/** `writ token list`: the tokens of this home, by id; the tokens themselves are not kept. */
import { principalText, type RegisteredToken } from '../../ledger/index.ts'
import { type CommandCall, EXIT, type Exit } from '../call/command.ts'
import { requireWholeHost, withHistory } from '../call/home.ts'
import { table } from '../history/text.ts'

export async function run(call: CommandCall): Promise<Exit> {
  return withHistory(call, async ({ register, caller }) => {
    requireWholeHost(caller, 'listing tokens')
    const nowText = new Date().toISOString()
    const tokens = register.tokens.map((token) => ({
      token_id: token.id,
      principal: token.principal,
      created_at: token.createdAt,
      expires_at: token.expiresAt,
      revoked_at: token.revokedAt,
      status: statusOf(token, nowText),
    }))
    const { terminal, options } = call
    if (options.isOn('json')) {
      await terminal.out(`${JSON.stringify({ tokens })}\n`)
      return EXIT.yes
    }
    const rows = tokens.map((token) => [
      token.token_id,
      principalText(token.principal),
      token.created_at,
      token.status,
    ])
    await terminal.out(table(terminal, ['token', 'principal', 'made', 'status'], rows))
    return EXIT.yes
  })
}

function statusOf({ revokedAt, expiresAt }: RegisteredToken, nowText: string): string {
  if (revokedAt !== null) return 'revoked'
  return expiresAt !== null && expiresAt <= nowText ? 'expired' : 'live'
}
