/**
 * Codes that let a human register a passkey: one-time codes, for a human without a credential, and
 * recovery codes, for one who has lost it. Both are random, so a plain digest at rest tells nothing.
 */
import { randomBytes } from 'node:crypto'
import { digestBytes } from '../../base/index.ts'
import {
  type Principal,
  type Register,
  type RegisteredCode,
  samePrincipal,
} from '../../ledger/index.ts'

/** Crockford's base 32: no letter looks like a digit. */
const LETTERS = '0123456789ABCDEFGHJKMNPQRSTVWXYZ'
const [ONCE_LETTERS, RECOVERY_LETTERS, RECOVERY_CODES] = [26, 20, 10]
const TRIES_MAX = 5
export const CODE_LIFE_MS = 10 * 60_000

/** 26 letters of 5 bits: 130 bits. */
export function newOnceCode(): string {
  return newCode(ONCE_LETTERS)
}

/** Ten codes of 100 bits. */
export function newRecoveryCodes(): readonly string[] {
  return Array.from({ length: RECOVERY_CODES }, () => newCode(RECOVERY_LETTERS))
}

function newCode(letters: number): string {
  const text = Array.from(randomBytes(letters), (byte) => LETTERS.charAt(byte & 31)).join('')
  return text.replaceAll(/.{5}(?=.)/g, '$&-')
}

/** People type codes with other dashes, in small letters, and with letters that look like digits. */
export function codeDigest(code: string): string {
  const plain = code
    .toUpperCase()
    .replaceAll(/[^0-9A-Z]/g, '')
    .replaceAll('O', '0')
    .replaceAll(/[IL]/g, '1')
  return digestBytes(`writ code ${plain}`)
}

/** The code that was typed, if it counts now; null for a wrong, used or old one. */
export function findCode(
  { codes }: Pick<Register, 'codes'>,
  kind: RegisteredCode['kind'],
  typed: string,
  nowMs: number,
): RegisteredCode | null {
  const digest = codeDigest(typed)
  return liveCodes({ codes }, kind, nowMs).find((one) => one.digest === digest) ?? null
}

export function liveCodes(
  { codes }: Pick<Register, 'codes'>,
  kind: RegisteredCode['kind'],
  nowMs: number,
): readonly RegisteredCode[] {
  return codes.filter(
    (one) =>
      one.kind === kind &&
      one.refused < TRIES_MAX &&
      (one.expiresAt === null || nowMs < Date.parse(one.expiresAt)),
  )
}

/** How many recovery codes a human has left. */
export function recoveryCodesLeft(
  { codes }: Pick<Register, 'codes'>,
  principal: Principal,
): number {
  return codes.filter((one) => one.kind === 'recovery' && samePrincipal(one.principal, principal))
    .length
}
