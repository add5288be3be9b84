/** `writ principal list`: who may speak to this home. */
import { ownCredential, principalText } from '../../ledger/index.ts'
import { type CommandCall, EXIT, type Exit } from '../call/command.ts'
import { requireWholeHost, withHistory } from '../call/home.ts'
import { table } from '../history/text.ts'

export async function run(call: CommandCall): Promise<Exit> {
  return withHistory(call, async ({ register, caller }) => {
    requireWholeHost(caller, 'listing principals')
    const { terminal, options } = call
    const principals = register.principals.map(({ principal, streams }) => ({
      ...principal,
      streams,
      credential: ownCredential(register.credentials, principal)?.kind ?? 'none',
      tokens: register.tokens.filter(
        (token) =>
          token.revokedAt === null && principalText(token.principal) === principalText(principal),
      ).length,
    }))
    if (options.isOn('json')) {
      const answer = { principals, caller: caller.principal }
      await terminal.out(`${JSON.stringify(answer)}\n`)
      return EXIT.yes
    }
    const rows = principals.map(({ streams, tokens, credential, ...principal }) => [
      principalText(principal),
      streams === null ? 'every' : streams.join(' '),
      String(tokens),
      principal.kind === 'human' ? credential : '',
    ])
    await terminal.out(table(terminal, ['principal', 'streams', 'tokens', 'credential'], rows))
    return EXIT.yes
  })
}
