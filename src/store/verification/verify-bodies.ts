/**
 * What facts name and the store of bodies keeps: there, and with the contents that the digest says.
 * A body that is not there is no problem when a `body_dropped_v1` fact of any stream says so.
 */
import { type Digest, FaultError, isDigest } from '../../base/index.ts'
import {
  type BodyRule,
  checkReferenced,
  decodeHex,
  type Fact,
  HashSet,
  type RecordFinding,
  type Reference,
  type Wrong,
} from '../../ledger/index.ts'
import { ObjectStore } from '../ledger/objects.ts'
import type { LedgerRows } from './verify-rows.ts'

const DROPPED_MARK = '"type":"body_dropped_v1"'

export class BodyCheck {
  readonly #objects: ObjectStore
  readonly #facts: Pick<LedgerRows, 'marked'>
  readonly #rules: readonly BodyRule[]
  readonly #seen = new HashSet()
  /** Made when the first body turns out to be missing: most ledgers have dropped none. */
  #dropped: HashSet | null = null

  constructor(directory: string, facts: Pick<LedgerRows, 'marked'>, rules: readonly BodyRule[]) {
    this.#objects = new ObjectStore(directory)
    this.#facts = facts
    this.#rules = rules
  }

  /** What is wrong with what a fact names, and with what that names in turn. */
  async check(references: readonly Reference[]): Promise<readonly Wrong[]> {
    const wrongs: Wrong[] = []
    for (const reference of references) {
      // Every decision names the same laws and lists.
      if (reference.kind === 'content' && !this.#seen.add(hashOf(reference.digest))) continue
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
      if (!(error instanceof FaultError)) throw error
      const { code, message } = error.fault
      const isExcused = code === 'body.missing' && (await this.#isDropped(reference.digest))
      return { wrong: isExcused ? null : { code, message }, references: [] }
    }
  }

  async #isDropped(digest: Digest): Promise<boolean> {
    this.#dropped ??= await this.#readDropped()
    return this.#dropped.has(hashOf(digest))
  }

  async #readDropped(): Promise<HashSet> {
    const dropped = new HashSet()
    for await (const text of this.#facts.marked(DROPPED_MARK)) {
      const body = droppedBy(text)
      if (body !== null) dropped.add(hashOf(body))
    }
    return dropped
  }
}

/** The body that a fact says was dropped; a text that is no such fact says nothing. */
function droppedBy(text: string): Digest | null {
  try {
    // Any text that holds the mark comes here: the checks below decide, and what has no record throws.
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
