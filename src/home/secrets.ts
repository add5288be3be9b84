/**
 * Keys of a person for models (S-7): files that only the person can read, in the state directory, which
 * no sandbox shows. A value leaves them only for a request of a gateway.
 */
import { join } from 'node:path'
import {
  makeFolder,
  namesIfThere,
  readIfThere,
  removeTreeSync,
  writeWhole,
} from '../machine/index.ts'

const SECRETS = 'secrets'
const NAME = /^[A-Z][A-Z0-9_]{0,63}$/

/** Whether a secret can have this name: that of a variable, in capital letters. */
export function isSecretName(name: string): boolean {
  return NAME.test(name)
}

export function setSecret(stateRoot: string, name: string, value: string): void {
  const folder = join(stateRoot, SECRETS)
  makeFolder(folder, 0o700)
  writeWhole(join(folder, name), value, 0o600)
}

/** Null if none of this name is kept. */
export function readSecret(stateRoot: string, name: string): string | null {
  return isSecretName(name) ? readIfThere(join(stateRoot, SECRETS, name)) : null
}

export function secretNames(stateRoot: string): readonly string[] {
  return namesIfThere(join(stateRoot, SECRETS)).filter(isSecretName).sort()
}

/** Returns whether there was one. */
export function removeSecret(stateRoot: string, name: string): boolean {
  const isKept = secretNames(stateRoot).includes(name)
  if (isKept) removeTreeSync(join(stateRoot, SECRETS, name))
  return isKept
}
