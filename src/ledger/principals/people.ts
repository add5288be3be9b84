/** Questions about the people and principals of a register. */
import { FaultError, fault, showName } from '../../base/index.ts'
import type { Principal } from '../facts/fact.ts'
import {
  livePasskeys,
  ownCredential,
  principalText,
  type Register,
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
