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
import { piecesOf } from '../../machine/index.ts'
import type { ObjectStore } from '../../store/index.ts'
import type { LawBook } from '../laws/law-book.ts'

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
