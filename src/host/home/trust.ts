/**
 * Which homes a human registered on this machine: path, id and the digest of the laws, in the user's
 * state. A cloned repository can bring a `.writ/`, but nobody registered that one.
 */
import { join } from 'node:path'
import { isObject } from '../../contracts/index.ts'
import { homeFailure } from './failure.ts'
import { makeFolder, readIfThere, writeWhole } from './file.ts'

export interface TrustedHome {
  /** The real path of `.writ`. */
  readonly path: string
  readonly id: string
  /** Of the bytes of `laws.yaml`. */
  readonly laws: string
}

const FILE = 'homes.json'

export function readTrusted(root: string): readonly TrustedHome[] {
  const text = readIfThere(join(root, FILE))
  if (text === null) return []
  try {
    const homes: unknown = (JSON.parse(text) as { homes?: unknown }).homes
    if (Array.isArray(homes)) return homes.filter(isTrustedHome)
  } catch {
    // Told below: a register that cannot be read trusts nobody.
  }
  throw homeFailure('home.malformed', join(root, FILE), 'the register of homes cannot be read')
}

function isTrustedHome(value: unknown): value is TrustedHome {
  return isObject(value) && ['path', 'id', 'laws'].every((key) => typeof value[key] === 'string')
}

/** Registers a home as it is now; what was registered for the same path is replaced. */
export function trustHome(root: string, home: TrustedHome): void {
  makeFolder(root, 0o700)
  const others = readTrusted(root).filter(({ path }) => path !== home.path)
  writeWhole(join(root, FILE), `${JSON.stringify({ homes: [...others, home] }, null, 2)}\n`, 0o600)
}
