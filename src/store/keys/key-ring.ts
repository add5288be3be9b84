/**
 * The keys that a writer may sign with. The ledger's file gets them through this interface; the
 * directory of key files (`keys.ts`) implements it.
 */
import { type LedgerKey, publicKeyOf } from './ed25519.ts'

export interface KeyRing {
  /** The key whose public half has this id under this name; null when it is not kept here. */
  find(name: string, keyId: number): LedgerKey | null
  /** The key that signs the first fact of a ledger; later ones follow from the checkpoints. */
  current(): LedgerKey
}

export function ringOf(...keys: readonly [LedgerKey, ...LedgerKey[]]): KeyRing {
  return {
    current: () => keys[0],
    find: (name, keyId) => findKey(keys, name, keyId),
  }
}

/** Returns the key whose public half has this id under this name. */
export function findKey(keys: readonly LedgerKey[], name: string, keyId: number): LedgerKey | null {
  return keys.find((key) => publicKeyOf(key, name).keyId === keyId) ?? null
}
