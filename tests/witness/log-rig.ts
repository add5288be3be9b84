/** Ledgers of a home without a home, two histories of one, and requests that their log makes. */
import { cpSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import {
  decodeHex,
  formatWitnessRequest,
  parseVerifierKey,
  proveExtension,
  verifierKey,
} from '../../src/ledger/index.ts'
import { createLedger, type Ledger, openLedger, recordedKeys } from '../../src/store/index.ts'
import { ANN, entry } from '../ledger/entries.ts'

export const NAME = 'writ/test'
export const PERSON = { principal: ANN, source: 'test' } as const
/** A key of the C2SP page on signed notes: of another log. */
export const FOREIGN_KEY = 'PeterNeumann+c74f20a3+ARpc2QcUPDhMQegwxbzhKqiBfsVkmqq/LDE4izWy10TW'

export class LogRig {
  readonly folder = mkdtempSync(join(tmpdir(), 'writ-witness-'))
  #count = 0

  remove(): void {
    rmSync(this.folder, { recursive: true, force: true })
  }

  path(name: string): string {
    return join(this.folder, name)
  }

  /** A new ledger with so many facts in `main`. */
  async create(name: string, facts: number): Promise<Ledger> {
    const directory = this.path(name)
    await createLedger({ directory }, NAME, PERSON)
    const ledger = await openLedger({ directory })
    await this.append(ledger, facts)
    return ledger
  }

  async append(ledger: Ledger, facts: number): Promise<void> {
    for (let at = 0; at < facts; at++) await ledger.record(entry(`task-${this.#count++}`))
  }

  /** Another history from here on, with the same key. */
  async copy(ledger: Ledger, from: string, to: string): Promise<readonly [Ledger, Ledger]> {
    await ledger.close()
    cpSync(this.path(from), this.path(to), { recursive: true })
    return [
      await openLedger({ directory: this.path(from) }),
      await openLedger({ directory: this.path(to) }),
    ]
  }
}

/** The key of a ledger under its own name, as `writ ledger key` prints it first. */
export async function logKey({ store }: Ledger) {
  const [key] = (await recordedKeys(store)).keys
  if (key === undefined) throw new Error('no key')
  return verifierKey(NAME, key.type, key.publicKey)
}

export function foreignKey() {
  const key = parseVerifierKey(FOREIGN_KEY)
  if (key === null) throw new Error('no key')
  return key
}

/** The request for the newest checkpoint of `main`, with the right proof from an old size. */
export async function requestFrom({ store }: Ledger, oldSize: number, proofFrom = oldSize) {
  const head = await store.head('main')
  if (head === null) throw new Error('no stream')
  const proof = proofFrom === 0 ? null : await proveExtension(store, 'main', proofFrom, head.size)
  const path = proof?.path.map((hash) => decodeHex(hash.slice(7)) ?? new Uint8Array()) ?? []
  return formatWitnessRequest({ oldSize, proof: path, note: head.checkpoint })
}
