/**
 * Verification of one stream, fact by fact in their order: place, chain, tree, keys, and with
 * contracts also form, time, idempotency keys and the record of each fact. What lies elsewhere
 * (tiles, notes, bodies) is fetched by the host and compared with what this computes.
 *
 * Memory does not grow with the stream but for 32 bytes per idempotency key. After the first fact
 * that is not at its place a stream is read no further: nothing behind it means anything.
 */
import { type Code, sha256 } from '../../base/index.ts'
import type { BodyRule } from '../facts/body.ts'
import { type Fact, HOST_STREAM } from '../facts/fact.ts'
import type { StoredTile } from '../tree/growth.ts'
import { TILE_WIDTH } from '../tree/tile.ts'
import { equalBytes } from '../tree/tree.ts'
import { Audit, readFact } from './audit.ts'
import { KeySchedule, unfit, type Wrong } from './verify-keys.ts'
import { checkRecord, type Reference } from './verify-record.ts'
import { HashSet } from './verify-set.ts'

export interface Problem {
  readonly code: Code
  readonly seq?: number
  readonly message: string
}

const PROBLEMS_MAX = 100

/** What was found, in the order of finding; past a hundred nothing is added but the fact of it. */
export class Problems {
  readonly list: Problem[] = []
  #count = 0

  get count(): number {
    return this.#count
  }

  add({ code, message }: Wrong, place: string, seq?: number): void {
    this.#count++
    if (this.list.length >= PROBLEMS_MAX) return
    const where = seq === undefined ? place : `${place}/${seq}`
    const said = `${where}: ${message}`
    this.list.push(seq === undefined ? { code, message: said } : { code, seq, message: said })
  }
}

/** A root that the first `size` facts must have, and what is said when they have another. */
export interface ExpectedRoot {
  readonly size: number
  readonly root: Uint8Array
  readonly otherwise: Wrong
  /** What is said when there are not that many facts. */
  readonly unreached: Wrong
}

export interface StreamVerificationOptions {
  readonly stream: string
  readonly origin: string
  readonly problems: Problems
  readonly contracts: boolean
  readonly bodyRules: readonly BodyRule[]
  /** In the order of their sizes. */
  readonly roots: readonly ExpectedRoot[]
  /** Told of every fact that has the form of one; only with contracts. */
  readonly onFact?: (fact: Fact) => void
}

const ROTATION = 'key_rotated_v1'
const MACHINE = 'machine_v1'

/** How a rotation, and a change of machines, look in canonical bytes. */
export const ROTATION_MARK = `"type":"${ROTATION}"`
export const MACHINE_MARK = `"type":"${MACHINE}"`

/** Whether the canonical bytes of a fact may hold a change of keys. */
export function mayChangeKeys(text: string): boolean {
  return text.includes(ROTATION_MARK) || text.includes(MACHINE_MARK)
}

const MOMENT = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/

export class StreamVerification {
  readonly stream: string
  readonly schedule: KeySchedule
  /** Facts of the host's stream that tell of the beginning of streams, in their order. */
  readonly beginnings: { readonly stream: string; readonly key: unknown; readonly seq: number }[] =
    []
  readonly #options: StreamVerificationOptions
  readonly #audit = new Audit()
  readonly #usedKeys = new HashSet()
  readonly #openTiles = new Map<number, StoredTile>()
  /** The ids of one millisecond. */
  readonly #ids = new Set<string>()
  #idTime = ''
  #occurredAt = ''
  #nextRoot = 0
  #chainBroke = false
  #isBroken = false

  constructor(options: StreamVerificationOptions) {
    this.#options = options
    this.stream = options.stream
    this.schedule = new KeySchedule(options.origin)
  }

  get size(): number {
    return this.#audit.size
  }

  /** A fact was not at its place: the rest cannot be read. */
  get isBroken(): boolean {
    return this.#isBroken
  }

  root(): Uint8Array {
    return this.#audit.root()
  }

  /**
   * Takes the next row; the chain value is in upper-case hex. Without contracts only facts that look
   * like a rotation are read. Gives the bodies and payloads that the fact names.
   */
  take(seq: number, text: string, chain: string): readonly Reference[] {
    if (seq !== this.#audit.size) {
      this.#isBroken = true
      this.#say({ code: 'ledger.sequence', message: `the next fact found is ${seq}` }, this.size)
      return []
    }
    this.#noteChain(this.#audit.take(text, chain), seq)
    return this.#options.contracts || mayChangeKeys(text) ? this.#read(seq, text) : []
  }

  /** Takes the next fact unread: its bytes with 0x00 in front, and its chain value. */
  takeEntry(entry: Uint8Array, chain: Uint8Array): void {
    const seq = this.#audit.size
    this.#noteChain(this.#audit.takePrefixed(entry, chain), seq)
  }

  /** Takes the next fact with its text: the bytes are hashed, the text is read. */
  takeRead(entry: Uint8Array, chain: Uint8Array, text: string): readonly Reference[] {
    const seq = this.#audit.size
    this.#noteChain(this.#audit.takePrefixed(entry, chain), seq)
    return this.#read(seq, text)
  }

  #noteChain(follows: boolean, seq: number): void {
    if (!follows && !this.#chainBroke) {
      this.#chainBroke = true
      const message = 'the fact or its chain value is not the one that was written'
      this.#say({ code: 'ledger.chain', message }, seq)
    }
    this.#compareRoots()
  }

  /** The tiles that are full since the last call, each to be compared with the stored one. */
  takeFullTiles(): readonly StoredTile[] {
    const full: StoredTile[] = []
    for (const tile of this.#audit.takeTiles()) {
      if (tile.hashes.length === TILE_WIDTH * 32) {
        full.push(tile)
        this.#openTiles.delete(tile.level)
      } else this.#openTiles.set(tile.level, tile)
    }
    return full
  }

  /** The tiles at the end, when every fact was taken. */
  openTiles(): readonly StoredTile[] {
    return [...this.#openTiles.values()]
  }

  /** The roots that no fact has reached: the checkpoints of a longer history. */
  unreached(): readonly ExpectedRoot[] {
    return this.#options.roots.slice(this.#nextRoot)
  }

  #compareRoots(): void {
    const { roots } = this.#options
    for (let next = roots[this.#nextRoot]; next !== undefined; next = roots[this.#nextRoot]) {
      if (next.size > this.#audit.size) return
      this.#nextRoot++
      if (next.size === this.#audit.size && equalBytes(next.root, this.#audit.root())) continue
      this.#options.problems.add(next.otherwise, this.stream)
    }
  }

  #read(seq: number, text: string): readonly Reference[] {
    const reading = readFact(text, this.stream, seq)
    if (!reading.ok) {
      this.#say({ code: reading.fault.code, message: reading.fault.message }, seq)
      return []
    }
    const { fact } = reading
    if (fact.record.type === ROTATION) this.#takeRotation(fact)
    if (fact.record.type === MACHINE) this.#takeMachine(fact)
    if (!this.#options.contracts) return []
    this.#options.onFact?.(fact)
    this.#checkTime(fact)
    this.#checkId(fact)
    this.#checkKey(fact)
    const { wrong, references } = checkRecord(fact.record, seq, this.#options.bodyRules)
    if (wrong !== null) this.#say(wrong, seq)
    return references
  }

  #takeRotation({ seq, record }: Fact): void {
    // Checked by its contract when contracts are; read as unknown here.
    const payload = (record.payload ?? {}) as Readonly<Record<string, unknown>>
    const isHost = this.stream === HOST_STREAM
    const isOwn = payload['stream'] === this.stream
    if (payload['old_key'] !== null) {
      if (isOwn) this.#sayIf(this.schedule.rotate(payload, seq), seq)
      else this.#sayIf(unfit('the rotation is of another stream'), seq)
    } else if (isHost && isOwn === (seq === 0)) {
      // The first fact names the first key of all; later ones tell of the other streams.
      this.beginnings.push({ stream: String(payload['stream']), key: payload['new_key'], seq })
      if (isOwn) this.#sayIf(this.schedule.begin(payload['new_key']), seq)
    } else this.#sayIf(unfit('a first key is named where none can be'), seq)
  }

  /** Only a human lets a machine sign. */
  #takeMachine({ seq, record, principal }: Fact): void {
    const isHuman = principal.kind === 'human'
    if (!isHuman) this.#say(unfit('a machine was let in or removed by no human'), seq)
    else this.#sayIf(this.schedule.change(record.payload, seq), seq)
  }

  #sayIf(wrong: Wrong | null, seq: number): void {
    if (wrong !== null) this.#say(wrong, seq)
  }

  #checkTime({ seq, occurred_at: occurredAt }: Fact): void {
    // One form, so that the order of texts is the order of times.
    if (!MOMENT.test(occurredAt)) {
      this.#say({ code: 'fact.malformed', message: 'the time is not in the form of writ' }, seq)
    } else if (occurredAt < this.#occurredAt) {
      this.#say({ code: 'ledger.clock', message: 'the fact is older than the one before' }, seq)
    }
    this.#occurredAt = occurredAt
  }

  /** An id begins with the milliseconds of its fact, and times never go back: only neighbours can share one. */
  #checkId({ seq, fact_id: id, occurred_at: occurredAt }: Fact): void {
    const hex = Date.parse(occurredAt).toString(16).padStart(12, '0')
    if (`${id.slice(0, 8)}${id.slice(9, 13)}` !== hex) {
      this.#say({ code: 'ledger.id_unfit', message: 'its id is not of its time' }, seq)
      return
    }
    if (hex !== this.#idTime) this.#ids.clear()
    this.#idTime = hex
    if (this.#ids.has(id)) {
      this.#say({ code: 'ledger.id_unfit', message: 'its id was used before' }, seq)
    }
    this.#ids.add(id)
  }

  #checkKey({ seq, record: { idempotency_key: key } }: Fact): void {
    if (key === undefined || this.#usedKeys.add(sha256(key))) return
    this.#say({ code: 'ledger.key_reused', message: 'its idempotency key was used before' }, seq)
  }

  #say(wrong: Wrong, seq: number): void {
    this.#options.problems.add(wrong, this.stream, seq)
  }
}
