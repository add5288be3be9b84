/** `writ principal …`: who may speak to this home. */
import { faultError, showName } from '../../base/index.ts'
import { addPrincipal, recordChange, sealCredential } from '../../home/index.ts'
import { ownCredential, principalText, samePrincipal } from '../../ledger/index.ts'
import { type CommandCall, type Exit, reply, usageError } from '../call/command.ts'
import {
  actorOf,
  placeOf,
  refuseBelowAgent,
  refuseOthers,
  requireHuman,
  requireWholeHost,
  type Session,
  withHistory,
  withHome,
} from '../call/home.ts'
import { readNewPassphrase } from '../call/passphrase.ts'
import { principalArgument, streamsArgument } from '../history/option-values.ts'
import { table } from '../history/text.ts'

/** `writ principal add`: a human makes a principal known to this home. */
export async function add(call: CommandCall): Promise<Exit> {
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
    return reply(
      call,
      { principal, streams, seq, fact_id },
      (paint) =>
        `${paint.good('added')}  ${call.arguments[0]}  ${streams === null ? 'every stream' : streams.join(', ')}\n`,
    )
  })
}

/** `writ principal list`: who may speak to this home. */
export async function list(call: CommandCall): Promise<Exit> {
  return withHistory(call, async ({ register, caller }) => {
    requireWholeHost(caller, 'listing principals')
    const principals = register.principals.map(({ principal, streams }) => ({
      ...principal,
      streams,
      credential: ownCredential(register.credentials, principal)?.kind ?? 'none',
      tokens: register.tokens.filter(
        (token) =>
          token.revokedAt === null && principalText(token.principal) === principalText(principal),
      ).length,
    }))
    const rows = principals.map(({ streams, tokens, credential, ...principal }) => [
      principalText(principal),
      streams === null ? 'every' : streams.join(' '),
      String(tokens),
      principal.kind === 'human' ? credential : '',
    ])
    const heads = ['principal', 'streams', 'tokens', 'credential']
    const answer = { principals, caller: caller.principal }
    return reply(call, answer, () => table(call.terminal, heads, rows))
  })
}

/**
 * `writ principal pass`: a human sets the passphrase of their own credential, once. A token is enough to
 * act in a human's name; an approval that several humans must give is signed with this credential.
 */
export async function pass(call: CommandCall): Promise<Exit> {
  return withHome(call, async (session) => {
    const { principal } = session.caller
    refuseOthers(session.caller, 'setting a passphrase')
    refuseBelowAgent('setting a passphrase')
    refuseSecond(session)
    const passphrase = await readNewPassphrase(call, 'a passphrase of your own for approvals')
    if (passphrase === null || passphrase === '') {
      throw usageError('without a terminal, hand the passphrase over', '`--pass-fd N`')
    }
    const { owner } = session.register
    const isOwner = owner !== null && samePrincipal(owner, principal)
    const key = await sealCredential(session.home.state, passphrase, isOwner ? 'owner' : 'other')
    await recordChange(placeOf(session), actorOf(session), {
      change: 'credential_set',
      principal,
      credential: 'passphrase',
      credential_key: key,
    })
    return reply(
      call,
      { principal, credential: 'passphrase', credential_key: key },
      (paint) =>
        `${paint.good('set')}  ${principalText(principal)} has a passphrase of their own\n`,
    )
  })
}

/** Fails if the caller has a credential: signatures made with it stay valid, so it is never replaced. */
function refuseSecond({ caller, register }: Session): void {
  if (ownCredential(register.credentials, caller.principal) === null) return
  const message = `${showName(principalText(caller.principal))} has a passphrase already`
  throw faultError('credential.exists', '', message)
}
