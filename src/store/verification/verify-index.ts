/**
 * The indexes of a ledger against its facts: every term of every fact below the mark is in the query
 * index and nothing else, and every idempotency key is in the ledger's own. An index proves nothing
 * and can be made again, but a changed one hides facts from queries.
 *
 * And the bodies that facts name (`BodyCheck`).
 */
import { randomBytes } from 'node:crypto'
import { existsSync } from 'node:fs'
import { type Digest, FaultError, isDigest } from '../../base/index.ts'
import {
  type BodyRule,
  checkReferenced,
  decodeHex,
  type Fact,
  HashSet,
  INDEXED_FIELDS,
  indexTerms,
  type RecordFinding,
  type Reference,
  TermSum,
  type Wrong,
} from '../../ledger/index.ts'
import { isDamage, openToRead } from '../database/sqlite-connection.ts'
import { cutsTexts, type Database } from '../database/sqlite-driver.ts'
import { factPlace, KEYS_OF_STREAM, seqOf, versionOf } from '../database/sqlite-schema.ts'
import type { ObjectStore } from '../objects/objects.ts'
import { indexFileOf } from '../sqlite/engine.ts'
import { hasZero, type LedgerRows, type Say, type StreamRow, wrongIndex } from './verify-rows.ts'

/** As the index numbers them; ids are found without it. */
const FIELDS = INDEXED_FIELDS.filter((field) => field !== 'factId')

/** Returns a key that no file was made to fit. */
export function newSumKey(): Uint32Array {
  return new Uint32Array(Uint8Array.from(randomBytes(16)).buffer)
}

/** Adds the terms of a fact, as an index holds them. */
export function addTerms(sum: TermSum, fact: Fact): void {
  const terms = indexTerms(fact)
  for (const [code, field] of FIELDS.entries()) {
    const value = terms[field]
    if (value !== undefined) sum.add(code, value, fact.seq)
  }
}

/** What the facts of a stream say that its indexes hold. */
export interface StreamSums {
  readonly mark: number
  readonly terms: TermSum
  readonly keys: TermSum
}

interface MarkRow {
  readonly size: number
  readonly chain: Uint8Array
}

/** Takes every fact of a ledger in SQLite, then compares both indexes. */
export class SqliteIndexCheck {
  readonly #ledger: Database
  readonly #key = newSumKey()
  readonly #sums = new Map<number, StreamSums>()
  readonly #file: string
  #index: Database | null = null
  #isDamaged = false

  constructor(ledger: Database, file: string) {
    this.#ledger = ledger
    this.#file = indexFileOf(file)
    this.#attempt(() => {
      if (!existsSync(this.#file)) return
      this.#index = openToRead(this.#file)
      this.#index.exec('BEGIN')
    })
  }

  note({ stream }: StreamRow, fact: Fact): void {
    const sums = this.#sumsOf(stream)
    if (fact.seq < sums.mark) addTerms(sums.terms, fact)
    const { idempotency_key: key } = fact.record
    if (key !== undefined) sums.keys.add(0, key, fact.seq)
  }

  check(rows: readonly StreamRow[], say: Say): void {
    const wrong = rows.filter((row) => !this.#attempt(() => this.#isIndexed(row)))
    if (this.#isDamaged) say(wrongIndex('the file'))
    else for (const { name } of wrong) say(wrongIndex(name), name)
    if (versionOf(this.#ledger) === 1) return
    for (const row of rows) if (!this.#hasKeys(row)) say(wrongKeys(row.name), row.name)
  }

  close(): void {
    this.#index?.close()
  }

  #sumsOf(stream: number): StreamSums {
    const known = this.#sums.get(stream)
    if (known !== undefined) return known
    const mark = this.#attempt(() => this.#markOf(stream)) ?? 0
    const sums = { mark, terms: new TermSum(this.#key), keys: new TermSum(this.#key) }
    this.#sums.set(stream, sums)
    return sums
  }

  /** An index of another history is made again before it is used: it counts as empty. */
  #markOf(stream: number): number {
    const mark = this.#index
      ?.prepare<MarkRow>('SELECT size, chain FROM marks WHERE stream = ?')
      .get(stream)
    if (mark === undefined) return 0
    const { size, chain } = mark
    const chains = this.#ledger
      .prepare<Uint8Array>('SELECT chain FROM facts WHERE place = ?')
      .pluck()
    const last = chains.get(factPlace(stream, size - 1))
    return last !== undefined && Buffer.compare(last, chain) === 0 ? size : 0
  }

  #isIndexed({ stream }: StreamRow): boolean {
    const { mark, terms } = this.#sumsOf(stream)
    if (this.#index === null || mark === 0) return true
    const cut = `SELECT 1 FROM terms WHERE stream = ? AND ${hasZero('value')} LIMIT 1`
    if (cutsTexts(this.#index) && this.#index.prepare(cut).get(stream) !== undefined) return false
    const found = new TermSum(this.#key)
    const rows = this.#index
      .prepare<[number, string, number]>('SELECT field, value, seq FROM terms WHERE stream = ?')
      .raw()
      .iterate(stream)
    for (const [field, value, seq] of rows) found.add(field, value, seq)
    return found.equals(terms)
  }

  #hasKeys({ stream }: StreamRow): boolean {
    const found = new TermSum(this.#key)
    const rows = this.#ledger.prepare<[string | null, number]>(KEYS_OF_STREAM).raw().iterate(stream)
    for (const [key, place] of rows) if (key !== null) found.add(0, key, seqOf(place))
    return found.equals(this.#sumsOf(stream).keys)
  }

  /** Undefined when the index turns out to be damaged. */
  #attempt<T>(work: () => T): T | undefined {
    try {
      return work()
    } catch (error) {
      if (!isDamage(error)) throw error
      this.#isDamaged = true
      return undefined
    }
  }
}

export function wrongKeys(name: string) {
  const message = `the idempotency keys of ${name} are not those of its facts`
  return { code: 'ledger.index_wrong' as const, message }
}

interface CheckedBodies {
  readonly wrongs: readonly Wrong[]
  readonly payload: unknown
}

const DROPPED_MARK = '"type":"body_dropped_v1"'

/**
 * What facts name and the store of bodies keeps: there, and with the contents that the digest says.
 * A body that is not there is no problem when a `body_dropped_v1` fact of any stream says so.
 */
export class BodyCheck {
  readonly #objects: ObjectStore
  readonly #facts: Pick<LedgerRows, 'marked'>
  readonly #rules: readonly BodyRule[]
  readonly #seen = new HashSet()
  /** Made when the first body turns out to be missing: most ledgers have dropped none. */
  #dropped: HashSet | null = null

  constructor(objects: ObjectStore, facts: Pick<LedgerRows, 'marked'>, rules: readonly BodyRule[]) {
    this.#objects = objects
    this.#facts = facts
    this.#rules = rules
  }

  /**
   * Returns what is wrong with what a fact names, and with what that names in turn; and its payload, if
   * that is kept by reference and holds.
   */
  async check(references: readonly Reference[]): Promise<CheckedBodies> {
    const wrongs: Wrong[] = []
    let payload: unknown
    for (const reference of references) {
      // Every decision names the same laws and lists.
      if (reference.kind === 'content' && !this.#seen.add(hashOf(reference.digest))) continue
      const { wrong, references: more, payload: found } = await this.#look(reference)
      payload ??= found
      if (wrong !== null) wrongs.push(wrong)
      if (more.length > 0) wrongs.push(...(await this.check(more)).wrongs)
    }
    return { wrongs, payload }
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
