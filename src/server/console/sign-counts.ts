/** The counters of authenticators: one that does not grow tells of a copy of the passkey (W-3). */
import { join } from 'node:path'
import { faultError } from '../../base/index.ts'
import { isObject } from '../../contracts/index.ts'
import type { RegisteredPasskey } from '../../ledger/index.ts'
import { readIfThere, writeWhole } from '../../machine/index.ts'

const FILE = 'passkey-counts.json'

export class SignCounts {
  readonly #file: string
  readonly #counts: Map<string, number>

  constructor(state: string) {
    this.#file = join(state, FILE)
    this.#counts = readCounts(readIfThere(this.#file))
  }

  /** Fails if the counter did not grow; an authenticator that does not count says 0 each time. */
  take({ passkey }: RegisteredPasskey, count: number): void {
    const { passkey_id: id, sign_count, name } = passkey
    const known = Math.max(sign_count, this.#counts.get(id) ?? 0)
    if (count <= known && !(count === 0 && known === 0)) {
      const message = `the counter of the passkey “${name}” went from ${known} to ${count}: there may be a copy of it`
      const hint = `if it is not in your hands alone, remove it: \`writ passkey remove ${id}\``
      throw faultError('credential.cloned', '', message, hint)
    }
    if (count === 0) return
    this.#counts.set(id, count)
    writeWhole(this.#file, `${JSON.stringify(Object.fromEntries(this.#counts))}\n`, 0o600)
  }
}

/** A file that cannot be read would hide a copy of a passkey: the service does not start with it. */
function readCounts(text: string | null): Map<string, number> {
  try {
    const found: unknown = JSON.parse(text ?? '{}')
    if (!isObject(found)) throw new TypeError('no object')
    // Counters that are no numbers grow from the registered one.
    return new Map(
      Object.entries(found).map(([id, one]) => [id, typeof one === 'number' ? one : 0]),
    )
  } catch {
    const message = `\`${FILE}\` in the state of the home cannot be read`
    throw faultError('principal.malformed', FILE, message, 'take it from a backup, or remove it')
  }
}
