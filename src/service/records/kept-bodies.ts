/**
 * Bodies that the facts of one proposal name: lists of changes, laws, lists. Their names are known at
 * once; they are written while the rest goes on.
 *
 * INVARIANT (kept before named): `settled` resolves when every body is durable, and fails when one is
 *   not; facts are recorded after it.
 */
import { createHash } from 'node:crypto'
import { type Digest, digestBytes } from '../../base/index.ts'
import { type Change, manifestLines, type RawPath } from '../../gate/index.ts'
import type { Fact } from '../../ledger/index.ts'
import { piecesOf } from '../../machine/index.ts'
import type { ObjectStore } from '../../store/index.ts'
import type { LawBook } from '../laws/law-book.ts'
import type { GateContext } from '../surface/context.ts'

/** Lists of more changes than these are written piece by piece. */
const HELD_MAX = 2000

function digestPieces(pieces: Iterable<Uint8Array>): Digest {
  const hash = createHash('sha256')
  for (const piece of pieces) hash.update(piece)
  // The shape of a digest, made here.
  return `sha256:${hash.digest('hex')}` as Digest
}

export class KeptBodies {
  readonly #objects: Pick<ObjectStore, 'has' | 'put' | 'putPieces'>
  readonly #isDry: boolean
  readonly #pending: Promise<void>[] = []

  /** A dry run keeps nothing. */
  constructor(objects: Pick<ObjectStore, 'has' | 'put' | 'putPieces'>, isDry: boolean) {
    this.#objects = objects
    this.#isDry = isDry
  }

  /** A long list is written before this resolves, and never held whole. */
  async manifest(changes: readonly Change[], discarded: ReadonlySet<RawPath>): Promise<Digest> {
    const lines = manifestLines(changes, discarded)
    if (changes.length > HELD_MAX) {
      return this.#isDry ? digestPieces(piecesOf(lines)) : this.#objects.putPieces(piecesOf(lines))
    }
    const bytes = Buffer.from([...lines].join(''))
    const digest = digestBytes(bytes)
    this.#keep(() => this.#objects.put({ digest, bytes }))
    return digest
  }

  /** Laws and lists that a decision names are kept, so that it can be computed again. */
  laws({ text, digest, listsText, listsDigest }: LawBook): void {
    for (const [name, content] of [
      [digest, text],
      [listsDigest, listsText],
    ] as const) {
      this.#keep(async () => {
        if (await this.#objects.has(name)) return
        await this.#objects.put({ digest: name, bytes: Buffer.from(content) })
      })
    }
  }

  async settled(): Promise<void> {
    await Promise.all(this.#pending)
  }

  #keep(write: () => Promise<void>): void {
    if (this.#isDry) return
    const written = write()
    // Heard of by who waits for all.
    written.catch(() => undefined)
    this.#pending.push(written)
  }
}

const PAGE = 500

/**
 * Finds the runs of flows that have not ended: a process that resumes one needs the bodies with the
 * outputs of its participants. A run has ended when a fact of it says so; a blocked or waiting run
 * can still continue. Outputs from planning a flow, before any run, belong to no run. Each run is
 * looked up once.
 */
export class OpenRuns {
  readonly #context: Pick<GateContext, 'ledger' | 'stream'>
  readonly #known = new Map<string, Promise<boolean>>()

  constructor(context: Pick<GateContext, 'ledger' | 'stream'>) {
    this.#context = context
  }

  has(runId: string): Promise<boolean> {
    const known = this.#known.get(runId) ?? this.#isOpen(runId)
    this.#known.set(runId, known)
    return known
  }

  /** The end is the last fact of a run, so one that has ended is known by its first page. */
  async #isOpen(run: string): Promise<boolean> {
    const { ledger, stream } = this.#context
    const of = { stream, run, order: 'newest_first' } as const
    const begun = await ledger.store.find({ ...of, type: 'flow_started_v1', limit: 1 })
    if (begun.facts.length === 0) return false
    const query = { ...of, type: 'flow_event_v1', limit: PAGE }
    for (let cursor: number | null = Number.MAX_SAFE_INTEGER; cursor !== null; ) {
      const page = await ledger.store.find({ ...query, cursor })
      if (page.facts.some(({ text }) => isEnd(text))) return false
      cursor = page.next
    }
    return true
  }
}

function isEnd(text: string): boolean {
  const { record } = JSON.parse(text) as Fact // The store returns the canonical text of a fact.
  const payload = record.payload as { readonly kind?: unknown } | undefined
  return payload?.kind === 'ended'
}
