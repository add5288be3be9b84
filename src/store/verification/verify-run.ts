/**
 * One run of verification over a ledger: every stream fact by fact, then heads, kept checkpoints,
 * tiles, keys, signatures and anchors. The rules are in the ledger room; here they meet the rows.
 */
import { faultError } from '../../base/index.ts'
import {
  AssertionAudit,
  BODY_RULES,
  type BodyRule,
  type Checkpoint,
  checkSigners,
  emptyRoot,
  equalBytes,
  type Fact,
  HOST_STREAM,
  hashText,
  isWrong,
  type KeySchedule,
  MAIN_STREAM,
  type Problem,
  Problems,
  parseNote,
  type Reference,
  readStoredNote,
  type StoredTile,
  StreamVerification,
  TILE_WIDTH,
  type VerifierKey,
  verifierFor,
  type Wrong,
} from '../../ledger/index.ts'
import type { CosignedNotes } from './cosigned.ts'
import {
  type Anchor,
  anchoredStream,
  anchorsOf,
  type Examined,
  expectedRoots,
  foreignAnchor,
  isHost,
  type KnownNote,
  lostStream,
  streamsOf,
  type VerifiedStream,
  type WitnessedStream,
  witnessedOf,
} from './verify-anchors.ts'
import type { BodyCheck } from './verify-index.ts'
import { type LedgerRows, PAGE, type Say, type StreamRow, stray } from './verify-rows.ts'
import { checkSignedHistories } from './verify-signed.ts'

export interface VerifyOptions {
  /** Only this stream, and the host's. */
  readonly stream?: string
  /** Checkpoints kept elsewhere, as signed notes. */
  readonly anchor?: string | readonly string[]
  /** Public keys as texts (`name+id+base64`); one of them must be among the keys of each stream. */
  readonly pinnedKeys?: readonly string[]
  /** Keys of witnesses as texts; only their cosignatures count. Without them the home's pins do. */
  readonly witnesses?: readonly string[]
  /** Also the form, contract, payload and bodies of every record. */
  readonly contracts: boolean
  /** Also the indexes over keys and terms; needs the contracts. False when absent. */
  readonly index?: boolean
  /** Also the kept states of folds, which prove nothing either. False when absent. */
  readonly kept?: boolean
  readonly bodyRules?: readonly BodyRule[]
  readonly onProgress?: (progress: { readonly checked: number; readonly total: number }) => void
}

export interface VerifyReport {
  readonly ok: boolean
  /** Every stream that was gone over, the host's included, extends what was kept elsewhere. */
  readonly anchored: boolean
  readonly size: number
  /** `sha256:` and hex, computed from the facts. */
  readonly root: string
  /** Facts that were gone over, of all streams. */
  readonly checked: number
  readonly problems: readonly Problem[]
  readonly streams: readonly VerifiedStream[]
  readonly witnessed: readonly WitnessedStream[]
}

interface RunInput {
  /** What the report calls the whole. */
  readonly place: string
  readonly bodies: BodyCheck
  readonly anchors: readonly KnownNote[]
  readonly cosigned: CosignedNotes
  /** Null when no key was pinned. */
  readonly pinned: readonly VerifierKey[] | null
  readonly options: VerifyOptions
}

export class LedgerVerification {
  readonly #rows: LedgerRows
  readonly #place: string
  readonly #bodies: BodyCheck
  readonly #options: VerifyOptions
  readonly #problems = new Problems()
  readonly #notes: readonly KnownNote[]
  readonly #cosigned: CosignedNotes
  #anchors: readonly Anchor[] = []
  readonly #pinned: readonly VerifierKey[] | null
  readonly #assertions = new AssertionAudit()
  #checked = 0
  #total = 0

  constructor(rows: LedgerRows, { place, bodies, anchors, cosigned, pinned, options }: RunInput) {
    this.#rows = rows
    this.#place = place
    this.#bodies = bodies
    this.#options = options
    this.#notes = anchors
    this.#cosigned = cosigned
    this.#pinned = pinned
  }

  async run(): Promise<VerifyReport> {
    const say: Say = (wrong, stream, seq) => this.#say(wrong, stream, seq)
    await this.#rows.checkPlace(say)
    const rows = await this.#rows.streams(say)
    const wanted = this.#wanted(rows)
    this.#anchors = [
      ...this.#notes.flatMap((note) => anchorsOf(note, rows[0], 'kept')),
      ...this.#cosigned.notes.flatMap((note) => anchorsOf(note, rows[0], 'cosigned')),
    ]
    for (const wrong of this.#cosigned.wrongs) this.#say(wrong, HOST_STREAM)
    this.#total = await this.#totalOf(wanted)
    const examined: Examined[] = []
    // The host's stream goes first: it names the first key of every other one.
    for (const row of [...wanted].sort((a, b) => Number(isHost(b)) - Number(isHost(a)))) {
      const one = await this.#examine(row)
      this.#settleFirstKey(one, examined)
      await this.#goOver(one, say)
      await this.#finish(one)
      examined.push(one)
    }
    this.#checkStreams(rows, examined)
    if (this.#options.stream === undefined) await this.#rows.checkStrays(rows, say)
    for (const one of examined) this.#checkNotes(one)
    await checkSignedHistories(this.#assertions.signed, examined, this.#rows, say)
    this.#checkAnchors(rows, examined)
    // Facts that are not sound, or not read, cannot tell what an index should hold.
    if (this.#notesFacts && this.#options.contracts && this.#problems.count === 0) {
      await this.#rows.checkIndex(wanted, say, this.#options.index === true)
    }
    return this.#report(examined)
  }

  #report(examined: readonly Examined[]): VerifyReport {
    const { stream } = this.#options
    const preference = [stream, anchoredStream(examined), MAIN_STREAM, HOST_STREAM]
    const named = preference.find((name) => examined.some(({ row }) => row.name === name))
    const shown = examined.find(({ row }) => row.name === named)
    const ok = this.#problems.count === 0
    const streams = streamsOf(examined)
    return {
      ok,
      anchored: ok && streams.length > 0 && streams.every(({ anchor }) => anchor !== 'none'),
      size: shown?.verification.size ?? 0,
      root: hashText(shown?.verification.root() ?? emptyRoot()),
      checked: this.#checked,
      problems: this.#problems.list,
      streams,
      witnessed: witnessedOf(examined, this.#cosigned),
    }
  }

  get #notesFacts(): boolean {
    return this.#options.index === true || this.#rows.notesAlways
  }

  #wanted(rows: readonly StreamRow[]): readonly StreamRow[] {
    const { stream } = this.#options
    if (stream === undefined) return rows
    if (!rows.some(({ name }) => name === stream)) {
      throw faultError('ledger.stream_unknown', stream)
    }
    return rows.filter(({ name }) => name === stream || name === HOST_STREAM)
  }

  async #totalOf(wanted: readonly StreamRow[]): Promise<number> {
    let total = 0
    for (const row of wanted) total += (await this.#rows.head(row))?.size ?? 0
    return total
  }

  async #examine(row: StreamRow): Promise<Examined> {
    const head = await this.#head(row)
    const kept = await this.#kept(row)
    const anchors = this.#anchors.filter(({ checkpoint }) => checkpoint.origin === row.origin)
    const verification = new StreamVerification({
      stream: row.name,
      origin: row.origin,
      problems: this.#problems,
      contracts: this.#options.contracts,
      bodyRules: this.#options.bodyRules ?? BODY_RULES,
      roots: expectedRoots(kept, anchors, head?.checkpoint.size ?? 0),
      onFact: (fact) => this.#noteFact(row, fact),
    })
    return { row, head, kept, anchors, verification }
  }

  #noteFact(row: StreamRow, fact: Fact): void {
    if (this.#notesFacts) this.#rows.note(row, fact)
    const wrong = this.#assertions.take(fact)
    if (wrong !== null) this.#say(wrong, row.name, fact.seq)
  }

  async #head(stream: StreamRow): Promise<KnownNote | null> {
    const { name, origin } = stream
    const row = await this.#rows.head(stream)
    if (row === null) {
      this.#say({ code: 'ledger.checkpoint_missing', message: 'there is no newest one' }, name)
      return null
    }
    const known = this.#readNote(row.note, origin, name)
    if (known !== null && known.checkpoint.size !== row.size) {
      const message = `the head counts ${row.size}, its checkpoint ${known.checkpoint.size}`
      this.#say({ code: 'ledger.root', message }, name)
    }
    return known
  }

  async #kept(stream: StreamRow): Promise<readonly KnownNote[]> {
    const { name, origin } = stream
    return (await this.#rows.kept(stream)).flatMap(({ size, note }) => {
      const known = this.#readNote(note, origin, name)
      if (known === null) return []
      if (known.checkpoint.size === size) return [known]
      const message = `the checkpoint kept at ${size} is of the size ${known.checkpoint.size}`
      this.#say({ code: 'ledger.root', message }, name)
      return []
    })
  }

  #readNote(note: string, origin: string, name: string): KnownNote | null {
    const checkpoint = readStoredNote(note, origin)
    if (!isWrong(checkpoint)) return { note, checkpoint }
    this.#say(checkpoint, name)
    return null
  }

  /** Every fact of a stream, in pages; between them others get their turn. */
  async #goOver({ row, verification }: Examined, say: Say): Promise<void> {
    const isRead = this.#options.contracts
    for (let from = 0; !verification.isBroken; from += PAGE) {
      const named = this.#rows.takeBlock(row, verification, from, isRead)
      if (named !== null) this.#checked += PAGE
      for (const { seq, references } of named ?? []) await this.#checkBodies(row, seq, references)
      const count = named === null ? await this.#readRows(row, verification, from, say) : PAGE
      for (const tile of verification.takeFullTiles()) await this.#compareTile(row, tile)
      this.#options.onProgress?.({ checked: this.#checked, total: this.#total })
      if (count < PAGE) return
      await new Promise((resolve) => setImmediate(resolve))
    }
  }

  async #checkBodies(row: StreamRow, seq: number, references: readonly Reference[]): Promise<void> {
    const { wrongs, payload } = await this.#bodies.check(references)
    for (const wrong of wrongs) this.#say(wrong, row.name, seq)
    const unheld = this.#assertions.takeReferenced(row.name, seq, payload)
    if (unheld !== null) this.#say(unheld, row.name, seq)
  }

  async #readRows(
    row: StreamRow,
    verification: StreamVerification,
    from: number,
    say: Say,
  ): Promise<number> {
    const rows = await this.#rows.facts(row, from, say)
    for (const [seq, text, chain] of rows) {
      const references = verification.take(seq, text, chain)
      if (verification.isBroken) return rows.length
      this.#checked++
      if (references.length > 0) await this.#checkBodies(row, seq, references)
    }
    return rows.length
  }

  async #compareTile(row: StreamRow, { level, index, hashes, inner }: StoredTile): Promise<void> {
    const stored = await this.#rows.tile(row, level, index)
    if (stored !== null && isSame(stored.hashes, hashes) && isSame(stored.nodes, inner)) return
    const first = index * TILE_WIDTH ** (level + 1)
    const message = `tile ${level}/${index} over the facts from ${first} on is not that of the facts`
    this.#say({ code: 'ledger.tile', message }, row.name)
  }

  /** What can be said when the last fact of a stream was taken. */
  async #finish({ row, head, kept, verification }: Examined): Promise<void> {
    await this.#compareHead(row, head, verification)
    if (!verification.isBroken) {
      for (const tile of verification.openTiles()) await this.#compareTile(row, tile)
      await this.#countTiles(row, verification.size)
      for (const { unreached } of verification.unreached()) this.#say(unreached, row.name)
    }
    const sizes = kept.map(({ checkpoint }) => checkpoint.size)
    for (const size of verification.schedule.settle(sizes)) {
      const message = `the checkpoint of the change of keys at the size ${size} is not kept`
      this.#say({ code: 'ledger.checkpoint_missing', message }, row.name)
    }
  }

  async #compareHead(
    row: StreamRow,
    head: KnownNote | null,
    verification: StreamVerification,
  ): Promise<void> {
    if (head === null) return
    const { size: counted, root } = head.checkpoint
    const size = verification.isBroken ? await this.#rows.count('facts', row) : verification.size
    if (size !== counted) {
      const code = size < counted ? 'ledger.truncated' : 'ledger.unsigned_tail'
      const message = `there are ${size} facts, the newest checkpoint counts ${counted}`
      this.#say({ code, message }, row.name)
    } else if (!equalBytes(root, verification.root()) && !verification.isBroken) {
      const message = `the newest checkpoint, of size ${size}, has another root than the facts`
      this.#say({ code: 'ledger.root', message }, row.name)
    }
  }

  async #countTiles(row: StreamRow, size: number): Promise<void> {
    const found = await this.#rows.count('tiles', row)
    if (found !== tileCount(size)) this.#say(stray(`${found} tiles are stored`), row.name)
  }

  /** Which streams there have to be, and that nothing lies between them. */
  #checkStreams(rows: readonly StreamRow[], examined: readonly Examined[]): void {
    const host = examined.find(({ row }) => isHost(row))
    if (host === undefined) {
      const message = 'the host stream, which names every other one, is not there'
      this.#say({ code: 'ledger.stream_missing', message })
      return
    }
    const expected = host.verification.beginnings.map(({ stream }) => stream)
    if (rows.length !== expected.length || !rows.every((row, at) => fits(row, at, expected))) {
      const missing = expected.filter((name) => !rows.some((row) => row.name === name))
      const message = `the host stream names the streams ${expected.join(', ')}; missing: ${missing.join(', ') || 'none'}`
      this.#say({ code: missing.length > 0 ? 'ledger.stream_missing' : 'ledger.stray', message })
    }
  }

  #settleFirstKey({ row, verification }: Examined, examined: readonly Examined[]): void {
    if (isHost(row)) return
    const host = examined.find((one) => isHost(one.row))
    const begun = host?.verification.beginnings.find(({ stream }) => stream === row.name)
    const wrong = verification.schedule.begin(begun?.key)
    if (wrong !== null) this.#say(wrong, row.name)
  }

  /** Signatures, when the keys of the stream are known. */
  #checkNotes({ row, head, kept, anchors, verification }: Examined): void {
    const { schedule } = verification
    const signers = new Set<number>()
    const check = (one: KnownNote, keys: KeySchedule, demand: 'exact' | 'any'): void => {
      const wrong = checkSigners(one.note, one.checkpoint.size, keys, verifierFor, demand)
      if (wrong !== null) return this.#say(wrong, row.name)
      for (const { keyId } of parseNote(one.note)?.signatures ?? []) signers.add(keyId)
    }
    if (head !== null) check(head, schedule, 'exact')
    for (const one of kept) check(one, schedule, 'exact')
    if (this.#pinned !== null && !schedule.hasPinned(this.#pinned, signers)) {
      const message =
        'none of the pinned keys has signed a checkpoint of the stream; of a home with several machines give all keys that `writ ledger key` prints'
      this.#say({ code: 'ledger.key_unpinned', message }, row.name)
    }
    for (const one of anchors) check(one, schedule.under(one.signedAs), 'any')
  }

  /** An anchor that no stream answers to proves nothing, and must not look as if it did. */
  #checkAnchors(rows: readonly StreamRow[], examined: readonly Examined[]): void {
    for (const { checkpoint, signedAs } of this.#anchors) {
      const isOf = ({ origin }: StreamRow): boolean => origin === checkpoint.origin
      if (examined.some(({ row }) => isOf(row))) continue
      const isHome = signedAs !== checkpoint.origin || this.#isCosigned(checkpoint)
      // A home's checkpoint, and those that were cosigned, speak of streams that `stream` left out.
      if (isHome && rows.some(isOf)) continue
      this.#say(isHome ? lostStream(checkpoint) : foreignAnchor(checkpoint))
    }
  }

  #isCosigned({ origin }: Checkpoint): boolean {
    return this.#cosigned.notes.some(({ checkpoint }) => checkpoint.origin === origin)
  }

  #say(wrong: Wrong, stream?: string, seq?: number): void {
    this.#problems.add(wrong, stream ?? this.#place, seq)
  }
}

/** Ids count from 1 in the order in which the host stream names the streams. */
function fits({ stream, name }: StreamRow, at: number, expected: readonly string[]): boolean {
  return stream === at + 1 && name === expected[at]
}

/** Tiles that were torn have other lengths. */
function isSame(stored: Uint8Array, computed: Uint8Array): boolean {
  return stored.length === computed.length && Buffer.compare(stored, computed) === 0
}

function tileCount(size: number): number {
  let count = 0
  for (let rest = size; rest > 0; rest = Math.floor(rest / TILE_WIDTH)) {
    count += Math.ceil(rest / TILE_WIDTH)
  }
  return count
}
