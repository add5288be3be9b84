/** `writ passkey …`: the passkeys with which people answer in the console. */
import { closeSync, openSync, writeSync } from 'node:fs'
import { faultError, showName } from '../../base/index.ts'
import { CODE_LIFE_MS, codeDigest, newOnceCode, recordChange } from '../../home/index.ts'
import {
  livePasskeys,
  occurredAtText,
  ownCredential,
  type Principal,
  parsePrincipal,
  passkeyRow,
  principalText,
  requireRegistered,
  samePrincipal,
} from '../../ledger/index.ts'
import { requireCredentialEndorsed } from '../../service/index.ts'
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
import { table } from '../history/text.ts'

/** `writ passkey list`: the passkeys of all humans. */
export async function list(call: CommandCall): Promise<Exit> {
  return withHistory(call, async ({ register, caller }) => {
    requireWholeHost(caller, 'listing passkeys')
    const passkeys = register.passkeys.map(passkeyRow)
    const rows = passkeys.map((one) => [
      one.passkey_id,
      principalText(one.principal),
      one.name,
      one.added_at,
      one.removed_at === null ? 'live' : 'removed',
    ])
    const heads = ['passkey', 'principal', 'name', 'added', 'status']
    return reply(call, { passkeys }, () => table(call.terminal, heads, rows))
  })
}

/** `writ passkey remove ID`: a human removes a passkey of their own. What it signed stays valid. */
export async function remove(call: CommandCall): Promise<Exit> {
  const [passkey_id, ...others] = call.arguments
  if (passkey_id === undefined || others.length > 0) {
    throw usageError('name one passkey by its id', 'writ passkey list')
  }
  return withHome(call, async (session) => {
    await requireHuman(session, call, 'removing a passkey')
    const { register, caller } = session
    const { principal } = caller
    const own = livePasskeys(register, principal)
    if (!own.some(({ passkey }) => passkey.passkey_id === passkey_id)) {
      const message = `${showName(principalText(principal))} has no passkey ${showName(passkey_id)}`
      throw faultError('credential.unknown', '', message, 'look at them: `writ passkey list`')
    }
    if (own.length === 1 && ownCredential(register.credentials, principal) === null) {
      const message = 'it is the only credential of this human, who could prove nothing without it'
      throw faultError('credential.last', '', message, 'register another passkey first')
    }
    const change = { change: 'passkey_removed', principal, passkey_id } as const
    const { seq } = await recordChange(placeOf(session), actorOf(session), change)
    return reply(call, { passkey_id, seq }, (paint) => `${paint.good('removed')}  ${passkey_id}\n`)
  })
}

/**
 * `writ passkey code`: shows a one-time code on the terminal, with which a human who has no credential
 * registers the first passkey in the console.
 */
export async function code(call: CommandCall): Promise<Exit> {
  return withHome(call, async (session) => {
    refuseOthers(session.caller, 'making a code')
    refuseBelowAgent('making a code')
    const principal = await humanFor(session, call)
    const terminal = openTerminal()
    try {
      const text = newOnceCode()
      const expires_at = occurredAtText(Date.now() + CODE_LIFE_MS)
      const digest = codeDigest(text)
      const change = { change: 'code_made', principal, code_digest: digest, expires_at } as const
      await recordChange(placeOf(session), actorOf(session), change)
      const who = principalText(principal)
      writeSync(terminal, `\n  code for ${who}: ${text}\n  once, within 10 minutes\n\n`)
      const answer = { principal, expires_at }
      return await reply(call, answer, (paint) => `${paint.good('shown')}  a code for ${who}\n`)
    } finally {
      closeSync(terminal)
    }
  })
}

/** The human who is to register: the caller, or another one without a credential whom the caller names. */
async function humanFor(session: Session, call: CommandCall): Promise<Principal> {
  const [name, ...others] = call.arguments
  const { register, caller } = session
  const principal = name === undefined ? caller.principal : parsePrincipal(name)
  if (principal?.kind !== 'human' || others.length > 0) {
    throw usageError('name one human, as human:ID@NAMESPACE', 'writ principal list')
  }
  const who = showName(principalText(principal))
  requireRegistered(register, principal)
  const hasPassphrase = ownCredential(register.credentials, principal) !== null
  if (hasPassphrase || livePasskeys(register, principal).length > 0) {
    const message = `${who} has a credential, and registers a passkey with that`
    const hint = hasPassphrase
      ? 'type the passphrase in the console'
      : 'use another passkey or a recovery code in the console'
    throw faultError('credential.exists', '', message, hint)
  }
  // In the name of another human only someone who is proven makes a code.
  if (!samePrincipal(principal, caller.principal)) {
    await requireHuman(session, call, 'making a code for another human')
  }
  await requireCredentialEndorsed(session.ledger, register, principal)
  return principal
}

function openTerminal(): number {
  try {
    return openSync('/dev/tty', 'w')
  } catch {
    const message = 'the code is shown on a terminal only, and there is none'
    throw faultError('credential.required', '', message, 'run `writ passkey code` at a terminal')
  }
}
