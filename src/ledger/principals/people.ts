/** Questions about the people and principals of a register. */
import { FaultError, fault, showName } from '../../base/index.ts'
import type { Principal } from '../facts/fact.ts'
import {
  livePasskeys,
  ownCredential,
  principalText,
  type Register,
  type RegisteredPasskey,
  samePrincipal,
} from './register.ts'

export function isRegistered(
  { principals }: Pick<Register, 'principals'>,
  principal: Principal,
): boolean {
  return principals.some((one) => samePrincipal(one.principal, principal))
}

/** Fails unless a principal is registered. */
export function requireRegistered(
  register: Pick<Register, 'principals'>,
  principal: Principal,
): void {
  if (isRegistered(register, principal)) return
  const message = `there is no principal ${showName(principalText(principal))}`
  throw new FaultError(fault('principal.unknown', '', null, { message }))
}

/**
 * How many humans have a credential of their own. One person with several credentials is one, and so is
 * one credential under several names.
 */
export function humansWithCredential(register: Register): number {
  const keys = register.principals
    .filter(({ principal }) => principal.kind === 'human')
    .flatMap(({ principal }) => {
      const own = ownCredential(register.credentials, principal)
      const [passkey] = livePasskeys(register, principal)
      if (own !== null) return [own.key]
      return passkey === undefined ? [] : [passkey.passkey.credential_id]
    })
  return new Set(keys).size
}

const ALGORITHMS = { EC: 'ES256', OKP: 'EdDSA', RSA: 'RS256' } as const

/** A passkey as lists show it. */
export function passkeyRow({ passkey, principal, addedAt, removedAt }: RegisteredPasskey) {
  const { passkey_id, name, public_key, backed_up, transports } = passkey
  const algorithm = ALGORITHMS[public_key.kty]
  const times = { added_at: addedAt, removed_at: removedAt }
  return { passkey_id, principal, name, algorithm, ...times, backed_up, transports }
}
