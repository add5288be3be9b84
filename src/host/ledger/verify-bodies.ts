/**
 * What facts name and the store of bodies keeps: there, and with the contents that the digest says.
 * A body that is not there is no problem when a `body_dropped_v1` fact of any stream says so.
 */
import type { Database } from 'better-sqlite3'
import { type Digest, isDigest } from '../../base/index.ts'
import {
  type BodyRule,
  checkReferenced,
  decodeHex,
  type Fact,
  HashSet,
  type RecordFinding,
  type Reference,
  StoreFailure,
  type Wrong,
} from '../../ledger/index.ts'
import { ObjectStore } from './objects.ts'

const DROPPED_MARK = '"type":"body_dropped_v1"'

export class BodyCheck {
  readonly #objects: ObjectStore
  readonly #database: Database
  readonly #rules: readonly BodyRule[]
  /** Made when the first body turns out to be missing: most ledgers have dropped none. */
  #dropped: HashSet | null = null

  constructor(directory: string, database: Database, rules: readonly BodyRule[]) {
    this.#objects = new ObjectStore(directory)
    this.#database = database
    this.#rules = rules
  }

  /** What is wrong with what a fact names, and with what that names in turn. */
  async check(references: readonly Reference[]): Promise<readonly Wrong[]> {
    const wrongs: Wrong[] = []
    for (const reference of references) {
      const { wrong, references: more } = await this.#look(reference)
      if (wrong !== null) wrongs.push(wrong)
      if (more.length > 0) wrongs.push(...(await this.check(more)))
    }
    return wrongs
  }

  async #look(reference: Reference): Promise<RecordFinding> {
    try {
      const bytes = await this.#objects.get(reference.digest)
      return checkReferenced(reference, bytes, this.#rules)
    } catch (error) {
      if (!(error instanceof StoreFailure)) throw error
      const { code, message } = error.fault
      const isExcused = code === 'body.missing' && this.isDropped(reference.digest)
      return { wrong: isExcused ? null : { code, message }, references: [] }
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
