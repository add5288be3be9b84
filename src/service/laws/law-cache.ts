/**
 * The reading of a law file, kept so that not every command reads YAML. The file is signed with the
 * ledger's key and names the digest of the laws it was read from.
 *
 * INVARIANT (never obeyed unsigned): a reading that was changed, or that another key signed, is not
 *   used; the laws are read from their text and the reading is written again.
 */
import type { Digest } from '../../base/index.ts'
import { isObject } from '../../contracts/index.ts'
import { readIfThere, writeWhole } from '../../machine/index.ts'
import type { FileSeal } from '../../store/index.ts'

/** Returns the document that was read from laws of this digest; undefined if none is kept. */
export function keptReading(file: string, digest: Digest, own: FileSeal): unknown {
  try {
    const kept: unknown = JSON.parse(readIfThere(file) ?? 'null')
    if (!isObject(kept)) return undefined
    // `isObject` has just said so.
    const { digest: of, document, seal } = kept as Readonly<Record<string, unknown>>
    if (of !== digest || typeof document !== 'string' || typeof seal !== 'string') return undefined
    const signature = Buffer.from(seal, 'base64')
    return own.isOwn(textOf(digest, document), signature) ? JSON.parse(document) : undefined
  } catch {
    // A file that is torn or cannot be read is one that is not there.
    return undefined
  }
}

/** Keeps a reading. A host that has no room keeps none. */
export function keepReading(file: string, digest: Digest, value: unknown, own: FileSeal): void {
  const document = JSON.stringify(value)
  try {
    const text = Buffer.from(own.sign(textOf(digest, document))).toString('base64')
    writeWhole(file, JSON.stringify({ digest, document, seal: text }), 0o600)
  } catch (error) {
    // Only errors of the system have a code that is text.
    if (typeof (error as NodeJS.ErrnoException).code !== 'string') throw error
  }
}

function textOf(digest: Digest, document: string): string {
  return `writ laws\n${digest}\n${document}\n`
}
