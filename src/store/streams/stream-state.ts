/**
 * One stream at its end, as the writer holds it in memory: size, tree, chain, time, signing key. It
 * is loaded from the file and checked against the newest checkpoint each time the file has moved on
 * without us; there is no other way to come by one, so a crash is nothing special.
 *
 * INVARIANT (checkpoint first): facts, tiles and checkpoint of a stream are of one size. Fewer facts
 * than the checkpoint counts is tampering, more is a write around the API; neither is repaired.
 *
 * The text of a stored fact as a fact. What a store returns may be damaged; the failure says where.
 */
import { FaultError, fault, faultError } from '../../base/index.ts'
import {
  CHAIN_START,
  chainNext,
  equalBytes,
  type Fact,
  type FactDraft,
  factLeaf,
  Growth,
  occurredAtText,
  openCheckpoint,
  openTiles,
  parseNote,
  type StoredTile,
  sealFact,
  signCheckpoint,
  type VerifierKey,
  verifierFor,
} from '../../ledger/index.ts'
import type { Database, Statement } from '../database/sqlite-driver.ts'
import { factPlace, seqOf, tilePlace } from '../database/sqlite-schema.ts'
import type { KeyRing } from '../keys/ed25519.ts'
import { type LedgerKey, publicKeyOf, signerFor } from '../keys/ed25519.ts'
import type { FactIds } from './stream-start.ts'

export interface StreamState {
  readonly id: number
  readonly name: string
  readonly origin: string
  readonly growth: Growth
  chain: Uint8Array
  /** Of the last fact, in milliseconds; 0 before the first. */
  occurredAtMs: number
  key: LedgerKey
  /** Facts, tiles and head are in the file up to here. */
  storedSize: number
}

interface StreamRow {
  readonly stream: number
  readonly origin: string
}

interface HeadRow {
  readonly size: number
  readonly note: string
}

interface LastRow {
  readonly place: number
  readonly fact: string
  readonly chain: Uint8Array
}

interface TileRow {
  readonly hashes: Uint8Array
  readonly nodes: Uint8Array
}

/** Loads streams out of one connection. */
export class StreamLoader {
  readonly #keys: KeyRing
  readonly #stream: Statement<StreamRow>
  readonly #head: Statement<HeadRow>
  readonly #last: Statement<LastRow>
  readonly #tile: Statement<TileRow>
  /** Notes whose signature was checked by this process: one check per stream, not one per turn. */
  readonly #trusted = new Set<number>()

  constructor(database: Database, keys: KeyRing) {
    this.#keys = keys
    this.#stream = database.prepare<StreamRow>('SELECT stream, origin FROM streams WHERE name = ?')
    this.#head = database.prepare<HeadRow>('SELECT size, note FROM heads WHERE stream = ?')
    this.#last = database.prepare<LastRow>(
      'SELECT place, fact, chain FROM facts WHERE place >= ? AND place < ? ORDER BY place DESC LIMIT 1',
    )
    this.#tile = database.prepare<TileRow>('SELECT hashes, nodes FROM tiles WHERE place = ?')
  }

  /** The stream at its end; null when there is none of that name. */
  load(name: string): StreamState | null {
    const row = this.#stream.get(name)
    if (row === undefined) return null
    const last = this.#last.get(factPlace(row.stream, 0), factPlace(row.stream + 1, 0))
    const size = last === undefined ? 0 : seqOf(last.place) + 1
    const state = stateOf(
      {
        id: row.stream,
        name,
        origin: row.origin,
        size,
        head: this.headOf(row.stream),
        last: last ?? null,
        tiles: this.#tiles(row.stream, size),
      },
      this.#keys,
      this.#trusted.has(row.stream),
    )
    this.#trusted.add(row.stream)
    return state
  }

  headOf(stream: number): HeadRow | null {
    return this.#head.get(stream) ?? null
  }

  #tiles(stream: number, size: number): readonly StoredTile[] {
    const tiles: StoredTile[] = []
    for (const { level, index } of openTiles(size)) {
      const row = this.#tile.get(tilePlace(stream, level, index))
      if (row !== undefined) tiles.push({ level, index, hashes: row.hashes, inner: row.nodes })
    }
    return tiles
  }
}

/** The end of a stream as it lies in a store. */
export interface StoredEnd {
  readonly id: number
  readonly name: string
  readonly origin: string
  /** How many facts there are. */
  readonly size: number
  readonly head: HeadRow | null
  readonly last: { readonly fact: string; readonly chain: Uint8Array } | null
  readonly tiles: readonly StoredTile[]
}

/** Checks the end of a stream against its newest checkpoint; throws what is wrong with it. */
export function stateOf(end: StoredEnd, keys: KeyRing, isTrusted: boolean): StreamState {
  const { id, name, origin, size, head, last } = end
  if (head === null || last === null) throw noHead(name, size, head)
  if (size !== head.size) throw wrongSize(name, size, head.size)
  const growth = Growth.load(size, end.tiles)
  if (growth === null) {
    throw faultError('ledger.tampered', name, 'a tile at the end is missing or torn')
  }
  const { last: signer, next: key } = signersOf(name, origin, head.note, keys)
  checkHead(end, head, growth, signer, isTrusted)
  return {
    id,
    name,
    origin,
    growth,
    chain: last.chain,
    occurredAtMs: occurredAtOf(last.fact, name),
    key,
    storedSize: size,
  }
}

/**
 * Returns the key that signs next: the one of the last signature by this name on the newest checkpoint. A
 * rotation is signed with the old key and then with the new one, so every process changes to the new key.
 * Where another machine signed last, this machine goes on with its own key.
 */
export function signingKey(name: string, origin: string, note: string, keys: KeyRing): LedgerKey {
  return signersOf(name, origin, note, keys).next
}

interface Signers {
  /** The key that signed last. */
  readonly last: VerifierKey
  readonly next: LedgerKey
}

function signersOf(name: string, origin: string, note: string, keys: KeyRing): Signers {
  const newest = newestSigner(origin, note)
  if (newest === null)
    throw faultError('ledger.tampered', name, 'the newest checkpoint is not signed')
  const key = keys.find(origin, newest)
  if (key !== null) return { last: publicKeyOf(key, origin), next: key }
  const other = keys.certified?.(origin, newest) ?? null
  if (other !== null && keys.own !== undefined) return { last: other, next: keys.own() }
  const wanted = `${origin}+${newest.toString(16).padStart(8, '0')}`
  const message = `the private key ${wanted}, which signs the stream ${name} next, is not among the key files of this home`
  const hint =
    'put its file back from a backup (`keys/*.key` in the state directory, `writ doctor` names it); if it is lost, `writ init --new` begins a new history'
  throw new FaultError(fault('ledger.key_missing', name, { key: wanted }, { message, hint }))
}

/** Returns the id of the key that signed a checkpoint last under this name. */
export function newestSigner(origin: string, note: string): number | null {
  const own = parseNote(note)?.signatures.filter((one) => one.name === origin) ?? []
  return own[own.length - 1]?.keyId ?? null
}

function checkHead(
  end: StoredEnd,
  head: HeadRow,
  growth: Growth,
  publicKey: VerifierKey,
  isTrusted: boolean,
): void {
  const verifier = isTrusted
    ? { name: end.origin, keyId: publicKey.keyId, verify: () => true }
    : verifierFor(publicKey)
  const opened = openCheckpoint(head.note, verifier === null ? [] : [verifier])
  if (!opened.ok) throw new FaultError(opened.fault)
  const { origin, size, root } = opened.checkpoint
  if (origin !== end.origin || size !== head.size || !equalBytes(root, growth.root())) {
    throw faultError('ledger.tampered', end.name, 'the newest checkpoint is not of this tree')
  }
}

/** A stream before its first fact. */
export function newStream(id: number, name: string, origin: string, key: LedgerKey): StreamState {
  return {
    id,
    name,
    origin,
    growth: Growth.empty(),
    chain: CHAIN_START,
    occurredAtMs: 0,
    key,
    storedSize: 0,
  }
}

/** A fact that has its place, and is not stored yet. */
interface Sealed {
  readonly seq: number
  readonly factId: string
  readonly occurredAt: string
  readonly text: string
  readonly leaf: Uint8Array
  readonly chain: Uint8Array
}

/** Puts a draft behind the last fact. The state is ahead of the store until the commit. */
export function sealNext(
  state: StreamState,
  draft: FactDraft,
  nowMs: number,
  ids: FactIds,
): Sealed {
  const seq = state.growth.size
  const atMs = Math.max(nowMs, state.occurredAtMs)
  const factId = ids.next(atMs)
  const occurredAt = occurredAtText(atMs)
  const text = sealFact(draft, { seq, factId, occurredAt })
  const leaf = factLeaf(text)
  const chain = chainNext(state.chain, leaf)
  state.chain = chain
  state.growth.append(leaf)
  state.occurredAtMs = atMs
  return { seq, factId, occurredAt, text, leaf, chain }
}

/** A checkpoint is kept for good each time the size passes a multiple of this. */
const CHECKPOINT_EVERY = 10_000

/** Signs the current tree. A rotation is signed with the old key and then with the new one. */
export function signEnd(
  { origin, growth, key, storedSize }: StreamState,
  rotateTo: LedgerKey | 'same' | undefined,
): { readonly note: string; readonly isKept: boolean } {
  const keys = rotateTo === undefined || rotateTo === 'same' ? [key] : [key, rotateTo]
  const signers = keys.map((one) => signerFor(one, origin))
  const note = signCheckpoint(origin, growth.size, growth.root(), signers)
  const periodOf = (size: number): number => Math.floor(size / CHECKPOINT_EVERY)
  const isKept = periodOf(growth.size) > periodOf(storedSize) || rotateTo !== undefined
  return { note, isKept }
}

function noHead(name: string, size: number, head: HeadRow | null): FaultError {
  // One transaction creates a stream, its first fact and its head: without a head the file was altered.
  return head === null
    ? faultError('ledger.tampered', name, 'the stream has no checkpoint')
    : wrongSize(name, size, head.size)
}

function wrongSize(name: string, size: number, checkpoint: number): FaultError {
  return new FaultError(
    size < checkpoint
      ? fault('ledger.truncated', name, { size, checkpoint })
      : fault('ledger.unsigned_tail', name, { size, checkpoint }),
  )
}

function occurredAtOf(fact: string, name: string): number {
  // The text was written by us; what others wrote into it is found when it is no date.
  const ms = Date.parse(/"occurred_at":"([^"]{24})"/.exec(fact)?.[1] ?? '')
  if (Number.isNaN(ms)) throw faultError('ledger.tampered', name, 'the last fact has no time')
  return ms
}

/** The failure that a fact is which is not in its place. */
export function lostFact(stream: string, seq: number): FaultError {
  const place = `${stream}/${seq}`
  return faultError('ledger.tampered', place, `the fact ${place} is not there`)
}

/** Fails with `ledger.tampered` and the place if the text is gone or no JSON. */
export function storedFact(text: unknown, stream: string, seq: number): Fact {
  if (typeof text !== 'string') throw lostFact(stream, seq)
  try {
    return JSON.parse(text) as Fact // Written as a fact; verification judges its form.
  } catch {
    const place = `${stream}/${seq}`
    throw faultError(
      'ledger.tampered',
      place,
      `the fact ${place} is not JSON: it was changed or damaged`,
    )
  }
}
