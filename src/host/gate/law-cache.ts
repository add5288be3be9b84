/**
 * The reading of a law file, kept so that not every command reads YAML. The file is signed with the
 * ledger's key and names the digest of the laws it was read from.
 *
 * INVARIANT (never obeyed unsigned): a reading that was changed, or that another key signed, is not
 *   used; the laws are read from their text and the reading is written again.
 */
import { dirname, join } from 'node:path'
import type { Digest } from '../../base/index.ts'
import { isObject } from '../../contracts/index.ts'
import { StoreFailure } from '../../ledger/index.ts'
import { readIfThere, writeWhole } from '../home/file.ts'
import { type Seal, sealOf } from '../ledger/ed25519.ts'
import { openKeys } from '../ledger/keys.ts'

/** Returns the document that was read from laws of this digest; undefined if none is kept. */
export function keptReading(file: string, digest: Digest): unknown {
  try {
    const kept: unknown = JSON.parse(readIfThere(file) ?? 'null')
    if (!isObject(kept)) return undefined
    const { digest: of, document, seal } = kept as Readonly<Record<string, unknown>>
    if (of !== digest || typeof document !== 'string' || typeof seal !== 'string') return undefined
    const signature = Buffer.from(seal, 'base64')
    return sealBeside(file)?.isOwn(textOf(digest, document), signature) === true
      ? JSON.parse(document)
      : undefined
  } catch {
    // A file that is torn or cannot be read is one that is not there.
    return undefined
  }
}

/** Keeps a reading. A host that has no key, or no room, keeps none. */
export function keepReading(file: string, digest: Digest, value: unknown): void {
  const document = JSON.stringify(value)
  try {
    const seal = sealBeside(file)?.sign(textOf(digest, document))
    if (seal === undefined) return
    const text = Buffer.from(seal).toString('base64')
    writeWhole(file, JSON.stringify({ digest, document, seal: text }), 0o600)
  } catch (error) {
    if (typeof (error as NodeJS.ErrnoException).code !== 'string') throw error
  }
}

/** Of the keys in the same state directory; null if there are none. */
function sealBeside(file: string): Seal | null {
  try {
    return sealOf(openKeys(join(dirname(file), 'keys')).current())
  } catch (error) {
    if (error instanceof StoreFailure) return null
    throw error
  }
}

function textOf(digest: Digest, document: string): string {
  return `writ laws\n${digest}\n${document}\n`
}
