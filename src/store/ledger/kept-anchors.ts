/**
 * `anchors.json` in the state directory: the newest cosigned checkpoint of each stream and witness. The
 * facts hold them as well; the file is for the day on which `ledger.db` is an old copy: its facts then
 * end before the checkpoint that is kept here.
 */
import { join } from 'node:path'
import { FaultError, fault, showPath } from '../../base/index.ts'
import { readIfThere, writeWhole } from '../../machine/index.ts'

export interface KeptAnchor {
  readonly witness: string
  readonly origin: string
  readonly size: number
  /** When it was cosigned, in seconds. */
  readonly seconds: number
  /** The checkpoint with the ledger's signature and cosignatures. */
  readonly note: string
}

const FILE = 'anchors.json'

export function readKeptAnchors(state: string): readonly KeptAnchor[] {
  const file = join(state, FILE)
  const text = readIfThere(file)
  if (text === null) return []
  try {
    // Written below; every field is looked at.
    const { format, anchors } = JSON.parse(text) as { format?: unknown; anchors?: unknown }
    if (format === 1 && Array.isArray(anchors) && anchors.every(isAnchor)) return anchors
  } catch {
    // Said below.
  }
  const message = `${showPath(file)} was changed or damaged`
  const hint = 'remove the file if you know why; writ ledger anchor writes it again'
  const reason = 'it does not hold cosigned checkpoints'
  throw new FaultError(fault('ledger.corrupt', file, { reason }, { message, hint }))
}

function isAnchor(value: unknown): value is KeptAnchor {
  if (typeof value !== 'object' || value === null) return false
  // An object of any keys; each is looked at.
  const { witness, origin, size, seconds, note } = value as Readonly<Record<string, unknown>>
  const areTexts = [witness, origin, note].every((text) => typeof text === 'string')
  return areTexts && Number.isSafeInteger(size) && Number.isSafeInteger(seconds)
}

/** Puts new anchors in the places of older ones of the same witness and origin. */
export function keepAnchors(state: string, fresh: readonly KeptAnchor[]): void {
  const all = new Map<string, KeptAnchor>()
  for (const one of [...readKeptAnchors(state), ...fresh]) {
    const place = `${one.witness} ${one.origin}`
    // Another process may have been faster with a larger one.
    if ((all.get(place)?.size ?? 0) <= one.size) all.set(place, one)
  }
  const text = `${JSON.stringify({ format: 1, anchors: [...all.values()] })}\n`
  writeWhole(join(state, FILE), text, 0o600)
}
