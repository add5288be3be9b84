/**
 * What facts name and the store of bodies keeps: there, and with the contents that the digest says.
 * A body that is not there is no problem when a `body_dropped_v1` fact of any stream says so.
 */
import type { Database } from 'better-sqlite3'
import { type Digest, isDigest } from '../../base/index.ts'
import {
  checkReferenced,
  decodeHex,
  type Fact,
  HashSet,
  type Reference,
  StoreFailure,
  type Wrong,
} from '../../ledger/index.ts'
import { ObjectStore } from './objects.ts'

const DROPPED_MARK = '"type":"body_dropped_v1"'

export class BodyCheck {
  readonly #objects: ObjectStore
  readonly #database: Database
  /** Made when the first body turns out to be missing: most ledgers have dropped none. */
  #dropped: HashSet | null = null

  constructor(directory: string, database: Database) {
    this.#objects = new ObjectStore(directory)
    this.#database = database
  }

  async check(reference: Reference): Promise<Wrong | null> {
    try {
      return checkReferenced(reference, await this.#objects.get(reference.digest))
    } catch (error) {
      if (!(error instanceof StoreFailure)) throw error
      const { code, message } = error.fault
      if (code === 'body.missing' && this.isDropped(reference.digest)) return null
      return { code, message }
    }
  }

  isDropped(digest: Digest): boolean {
    this.#dropped ??= this.#readDropped()
    return this.#dropped.has(hashOf(digest))
  }

  #readDropped(): HashSet {
    const dropped = new HashSet()
    const facts = this.#database
      .prepare('SELECT fact FROM facts WHERE instr(fact, ?) > 0')
      .pluck()
      .iterate(DROPPED_MARK)
    for (const text of facts) {
      const body = droppedBy(text as string)
      if (body !== null) dropped.add(hashOf(body))
    }
    return dropped
  }
}

/** The body that a fact says was dropped; a text that is no such fact says nothing. */
function droppedBy(text: string): Digest | null {
  try {
    const { record } = JSON.parse(text) as Fact
    const body = (record.payload as { readonly body?: unknown } | undefined)?.body
    if (record.type !== 'body_dropped_v1' || typeof body !== 'string') return null
    return isDigest(body) ? body : null
  } catch {
    return null
  }
}

function hashOf(digest: Digest): Uint8Array {
  return decodeHex(digest.slice('sha256:'.length)) ?? new Uint8Array(32)
}
