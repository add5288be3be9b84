/** `writ principal …`: who may speak to this home. */
import { faultError, showName } from '../../base/index.ts'
import {
  addPrincipal,
  checkNewPrincipal,
  recordChange,
  sealCredential,
  shareCredentials,
} from '../../home/index.ts'
import {
  ownCredential,
  principalText,
  requireRegistered,
  samePrincipal,
} from '../../ledger/index.ts'
import {
  credentialChange,
  newPrincipalChange,
  requireCredentialEndorsed,
} from '../../service/index.ts'
import { type CommandCall, type Exit, reply, usageError } from '../call/command.ts'
import { endorse, requireHumans } from '../call/endorsing.ts'
import {
  actorOf,
  placeOf,
  refuseBelowAgent,
  refuseOthers,
  requireWholeHost,
  type Session,
  withHistory,
  withHome,
} from '../call/home.ts'
import { readNewPassphrase } from '../call/passphrase.ts'
import { principalArgument, streamsArgument } from '../history/option-values.ts'
import { table } from '../history/text.ts'

const ADDING = 'adding a principal'

/** `writ principal add`: a human makes a principal known to this home. */
export async function add(call: CommandCall): Promise<Exit> {
  const principal = principalArgument(call)
  const streams = streamsArgument(call, principal)
  return withHome(call, async (session) => {
    requireWholeHost(session.caller, ADDING)
    checkNewPrincipal(session.register, principal)
    const change = newPrincipalChange(principal, streams)
    await requireHumans(session, call, ADDING, change)
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
    await requireCredentialEndorsed(session.ledger, session.register, principal)
    const passphrase = await readNewPassphrase(call, 'a passphrase of your own for approvals')
    if (passphrase === null || passphrase === '') {
      throw usageError('without a terminal, hand the passphrase over', '`--pass-fd N`')
    }
    const { owner } = session.register
    const isOwner = owner !== null && samePrincipal(owner, principal)
    const key = await sealCredential(session.home.state, passphrase, isOwner ? 'owner' : 'other')
    await shareCredentials(session.home.state, session.ledger.files)
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

/**
 * `writ principal endorse`: a human agrees that another one, or the caller, gets a new credential. Needed
 * only where a law in force wants several approvals; then as many humans agree first.
 */
export async function endorseCredential(call: CommandCall): Promise<Exit> {
  const principal = principalArgument(call)
  if (principal.kind !== 'human') {
    throw usageError('only humans have credentials', 'writ principal list')
  }
  return withHome(call, async (session) => {
    const what = 'agreeing to a new credential'
    requireWholeHost(session.caller, what)
    requireRegistered(session.register, principal)
    const change = credentialChange(session.register, principal)
    const { needed, given } = await endorse(session, call, what, change)
    const isEnough = needed <= 1 || given.length >= needed
    return reply(call, { principal, needed, given, enough: isEnough }, (paint) => {
      const who = principalText(principal)
      if (needed <= 1) return `${paint.good('not needed')}  no law in force asks several humans\n`
      const count = `${given.length} of ${needed} agreed, ${given.join(', ')}`
      const next = isEnough
        ? `${who} can add a credential now: \`writ principal pass\`, or a passkey in the console`
        : `another human types \`writ principal endorse ${who}\` within a day`
      return `${paint.good('agreed')}  ${count}\n  ${next}\n`
    })
  })
}

/** Fails if the caller has a credential: signatures made with it stay valid, so it is never replaced. */
function refuseSecond({ caller, register }: Session): void {
  if (ownCredential(register.credentials, caller.principal) === null) return
  const message = `${showName(principalText(caller.principal))} has a passphrase already`
  throw faultError('credential.exists', '', message)
}
