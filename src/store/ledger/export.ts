/**
 * `exportBundle(ledger, directory, options) → { dir, size, root }`: one stream as files that anyone
 * can verify (`src/ledger/verification/bundle.ts` says how). `ledger` is a `Ledger` or a `LedgerReader`.
 *
 * It writes what is stored and judges nothing: verification is `verifyLedger`, and the page. The
 * bundle appears under its name when it is whole, or not at all. Bodies hold secrets and stay behind
 * unless they are asked for; payloads that were too long for their fact always come along.
 */
import { createHash, type Hash, randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { createWriteStream, type WriteStream } from 'node:fs'
import { mkdir, readdir, rename } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { type Digest, faultError, isDigest } from '../../base/index.ts'
import { findContract, publishSchema } from '../../contracts/index.ts'
import {
  BODY_RULES,
  type BodyRule,
  BUNDLE_FILES,
  BUNDLE_FORMAT,
  BUNDLE_PAGE,
  checkpointFile,
  consistencyLine,
  type Fact,
  type FactRecord,
  HOST_STREAM,
  hashText,
  INCLUSION_PROOFS_MAX,
  inclusionLine,
  inclusionPath,
  KeySchedule,
  keysText,
  MAIN_STREAM,
  manifestText,
  markedBodies,
  mayChangeKeys,
  namedContents,
  objectFile,
  parseCheckpoint,
  parseNote,
  proveExtension,
  provenFacts,
  ROTATION_MARK,
  type SignedHead,
  type Store,
  schemaFile,
  sumsText,
} from '../../ledger/index.ts'
import { removeTree } from '../../machine/index.ts'
import { failureOf } from '../database/sqlite-connection.ts'
import type { ObjectStore } from '../objects/objects.ts'

interface ExportOptions {
  /** `main` when absent. */
  readonly stream?: string
  /** Also outputs, inputs and originals, with their secrets. */
  readonly bodies?: boolean
  readonly bodyRules?: readonly BodyRule[]
  /** The trust level that the host states. */
  readonly level?: string
  readonly nowMs?: () => number
  readonly onProgress?: (progress: { readonly written: number; readonly total: number }) => void
}

interface Exported {
  readonly dir: string
  readonly size: number
  /** `sha256:` and hex, as the newest checkpoint says it. */
  readonly root: string
}

interface Exportable {
  readonly store: Store
  readonly objects: ObjectStore
}

export async function exportBundle(
  ledger: Exportable,
  directory: string,
  options: ExportOptions = {},
): Promise<Exported> {
  const stream = options.stream ?? MAIN_STREAM
  const head = await ledger.store.head(stream)
  if (head === null) throw faultError('ledger.stream_unknown', stream)
  await refuseOccupied(directory)
  const scratch = `${directory}.${randomBytes(6).toString('hex')}.part`
  try {
    await mkdir(dirname(scratch), { recursive: true })
    await mkdir(scratch, { mode: 0o700 })
    await new BundleWriter(ledger, head, scratch, options).run()
    await removeTree(directory)
    await rename(scratch, directory)
  } catch (error) {
    await removeTree(scratch)
    throw failureOf(error, directory)
  }
  return { dir: directory, size: head.size, root: hashText(head.root) }
}

/** An empty directory may be taken; anything else stays as it is. */
async function refuseOccupied(directory: string): Promise<void> {
  const found = await readdir(directory).catch((error: NodeJS.ErrnoException) =>
    error.code === 'ENOENT' ? [] : [error.code],
  )
  if (found.length > 0) throw faultError('bundle.exists', directory)
}

const PAGE = 1_000

class BundleWriter {
  readonly #ledger: Exportable
  readonly #head: SignedHead
  readonly #directory: string
  readonly #options: ExportOptions
  readonly #sums = new Map<string, string>()
  readonly #types = new Set<string>()
  /** What to bring along; of a payload the type of its record, because it may name bodies in turn. */
  readonly #objects = new Map<Digest, string | null>()
  readonly #schedule: KeySchedule

  constructor(ledger: Exportable, head: SignedHead, directory: string, options: ExportOptions) {
    this.#ledger = ledger
    this.#head = head
    this.#directory = directory
    this.#options = options
    this.#schedule = new KeySchedule(head.origin)
  }

  async run(): Promise<void> {
    const { checkpoint } = this.#head
    await this.#takeFirstKey()
    await this.#writeFacts()
    const kept = await this.#writeCheckpoints()
    await this.#writeProofs(kept)
    this.#schedule.settle(kept)
    await this.#write(BUNDLE_FILES.checkpoint, [checkpoint])
    await this.#write(BUNDLE_FILES.keys, [keysText(this.#schedule)])
    await this.#write(BUNDLE_FILES.page, [BUNDLE_PAGE])
    await this.#write(BUNDLE_FILES.manifest, [this.#manifest()])
    await this.#writeSchemas()
    await this.#writeObjects()
    await this.#write(BUNDLE_FILES.sums, [sumsText(this.#sums)])
  }

  #manifest(): string {
    const { origin, stream, size, root } = this.#head
    return manifestText({
      format: BUNDLE_FORMAT,
      origin,
      stream,
      size,
      root: hashText(root),
      inclusion_proofs: size <= INCLUSION_PROOFS_MAX ? 'all' : 'ends',
      bodies: this.#options.bodies === true ? 'included' : 'left_out',
      level: this.#options.level ?? 'seatbelt',
      exported_at: new Date((this.#options.nowMs ?? Date.now)()).toISOString(),
    })
  }

  async #writeFacts(): Promise<void> {
    const { stream, size } = this.#head
    const file = await this.#create(BUNDLE_FILES.facts)
    for (let from = 0; from < size; from += PAGE) {
      const rows = await this.#ledger.store.read(stream, from, Math.min(PAGE, size - from))
      for (const { seq, text } of rows) {
        await file.write(`${text}\n`)
        this.#note(seq, text)
      }
      this.#options.onProgress?.({ written: from + rows.length, total: size })
    }
    await file.end()
  }

  /** What a fact brings along; a text that cannot be read is written all the same. */
  #note(seq: number, text: string): void {
    const record = recordOf(text)
    if (record === null) return
    this.#types.add(record.type)
    const { payload_ref: reference } = record
    if (typeof reference === 'string' && isDigest(reference)) {
      this.#objects.set(reference, record.type)
    }
    if (mayChangeKeys(text) && this.#head.stream === payloadStream(record)) {
      if (record.type === 'machine_v1') this.#schedule.change(record.payload, seq)
      else if (!isBeginning(record)) this.#schedule.rotate(record.payload, seq)
    }
    this.#noteBodies(record.type, record.payload)
    const body = record.original?.body
    if (this.#options.bodies !== true || typeof body !== 'string' || !isDigest(body)) return
    this.#objects.set(body, null)
  }

  #noteBodies(type: string, payload: unknown): void {
    if (this.#options.bodies !== true) return
    const rules = this.#options.bodyRules ?? BODY_RULES
    const rule = rules.find((one) => one.type === type)
    for (const { digest } of markedBodies(payload, rule)) this.#objects.set(digest, null)
    for (const digest of namedContents(type, payload)) this.#objects.set(digest, null)
  }

  /** The host's stream names the first key of every stream. */
  async #takeFirstKey(): Promise<void> {
    const { store } = this.#ledger
    const host = await store.head(HOST_STREAM)
    for (let from = 0; from < (host?.size ?? 0); from += PAGE) {
      for (const { text } of await store.read(HOST_STREAM, from, PAGE)) {
        const record = text.includes(ROTATION_MARK) ? recordOf(text) : null
        if (record === null || !isBeginning(record)) continue
        if (payloadStream(record) !== this.#head.stream) continue
        this.#schedule.begin(firstKeyOf(record))
        return
      }
    }
  }

  async #writeCheckpoints(): Promise<readonly number[]> {
    const { stream, size } = this.#head
    const sizes: number[] = []
    const notes = await this.#ledger.store.checkpoints(stream, 0, Number.MAX_SAFE_INTEGER)
    for (const note of notes) {
      const kept = parseCheckpoint(parseNote(note)?.text ?? '')
      if (kept === null || kept.size > size) continue
      await this.#write(checkpointFile(kept.size), [note])
      sizes.push(kept.size)
    }
    return sizes.sort((a, b) => a - b)
  }

  async #writeProofs(kept: readonly number[]): Promise<void> {
    const { stream, size } = this.#head
    const { store } = this.#ledger
    const file = await this.#create(BUNDLE_FILES.proofs)
    for (const seq of provenFacts(size)) {
      const path = await inclusionPath(store, stream, seq, size)
      await file.write(inclusionLine(seq, size, path))
    }
    for (const from of kept) {
      const proof = await proveExtension(store, stream, from, size)
      if (proof !== null) await file.write(consistencyLine(from, size, proof.path))
    }
    await file.end()
  }

  async #writeSchemas(): Promise<void> {
    for (const type of this.#types) {
      const contract = findContract(type)
      if (contract === null) continue
      const text = `${JSON.stringify(publishSchema(contract), null, 2)}\n`
      await this.#write(schemaFile(type), [text])
    }
  }

  /** What was dropped is not there to be written; its fact is. */
  async #writeObjects(): Promise<void> {
    // What a payload names joins the map while it is gone through.
    for (const [digest, type] of this.#objects) {
      if (!(await this.#ledger.objects.has(digest))) continue
      const bytes = await this.#ledger.objects.get(digest)
      if (type !== null) this.#noteBodies(type, JSON.parse(new TextDecoder().decode(bytes)))
      await this.#write(objectFile(digest), [bytes])
    }
  }

  async #write(path: string, chunks: readonly (string | Uint8Array)[]): Promise<void> {
    const file = await this.#create(path)
    for (const chunk of chunks) await file.write(chunk)
    await file.end()
  }

  async #create(path: string): Promise<SummedFile> {
    const file = join(this.#directory, path)
    await mkdir(dirname(file), { recursive: true })
    return new SummedFile(file, (sum) => this.#sums.set(path, sum))
  }
}

/** A file that is hashed while it is written. */
class SummedFile {
  readonly #stream: WriteStream
  readonly #hash: Hash = createHash('sha256')
  readonly #onSum: (sum: string) => void

  constructor(path: string, onSum: (sum: string) => void) {
    this.#stream = createWriteStream(path, { flags: 'wx', mode: 0o600 })
    this.#onSum = onSum
    // Failures surface where the stream is waited for.
    this.#stream.on('error', () => undefined)
  }

  async write(chunk: string | Uint8Array): Promise<void> {
    this.#hash.update(chunk)
    if (!this.#stream.write(chunk)) await once(this.#stream, 'drain')
  }

  async end(): Promise<void> {
    this.#stream.end()
    if (this.#stream.errored !== null) throw this.#stream.errored
    await once(this.#stream, 'close')
    this.#onSum(this.#hash.digest('hex'))
  }
}

function recordOf(text: string): FactRecord | null {
  try {
    // The text may be any JSON: the type is checked below, and a text without a record is no fact.
    const { record } = JSON.parse(text) as Partial<Fact>
    return typeof record?.type === 'string' ? record : null
  } catch {
    return null
  }
}

function payloadStream({ payload }: FactRecord): unknown {
  return fieldOf(payload, 'stream')
}

function firstKeyOf({ payload }: FactRecord): unknown {
  return fieldOf(payload, 'new_key')
}

/** A first key follows none. */
function isBeginning({ payload }: FactRecord): boolean {
  return fieldOf(payload, 'old_key') === null
}

function fieldOf(payload: unknown, name: string): unknown {
  // The payloads of the types asked for are objects, or absent where they lie in a body of their own.
  return (payload as Readonly<Record<string, unknown>> | undefined)?.[name]
}
