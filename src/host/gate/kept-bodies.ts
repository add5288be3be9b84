/**
 * Bodies that the facts of one proposal name: lists of changes, laws, lists. Their names are known at
 * once; they are written while the rest goes on.
 *
 * INVARIANT (kept before named): `settled` resolves when every body is durable, and fails when one is
 *   not; facts are recorded after it.
 */
import { type Digest, digestBytes } from '../../base/index.ts'
import { type Change, manifestLines, type RawPath } from '../../gate/index.ts'
import type { ObjectStore } from '../ledger/objects.ts'
import type { LawBook } from './law-book.ts'

export class KeptBodies {
  readonly #objects: Pick<ObjectStore, 'has' | 'put'>
  readonly #isDry: boolean
  readonly #pending: Promise<void>[] = []

  /** A dry run keeps nothing. */
  constructor(objects: Pick<ObjectStore, 'has' | 'put'>, isDry: boolean) {
    this.#objects = objects
    this.#isDry = isDry
  }

  manifest(changes: readonly Change[], discarded: ReadonlySet<RawPath>): Digest {
    const bytes = Buffer.from([...manifestLines(changes, discarded)].join(''))
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
