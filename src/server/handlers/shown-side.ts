/** A path of a question as it is, or as it would be: what a page needs to show the difference. */
import { type Change, type ChangeSide, displayOfRaw } from '../../gate/index.ts'
import type { Question } from '../../service/index.ts'

const TEXT_BYTES_MAX = 256 * 1024
const MODE_DIGITS = 4

/** `changed`: the file is no longer the one that the run saw, or is no longer kept. */
type SideNote = 'binary' | 'cut' | 'changed'

interface SideText {
  readonly text: string | null
  readonly note: SideNote | null
}

/** Null where there is nothing on that side. */
export async function shownSide(
  { read }: Pick<Question, 'read'>,
  change: Change,
  side: ChangeSide,
) {
  const state = change[side]
  if (state === null) return null
  const { kind, mode, size, target } = state
  return {
    kind,
    mode: mode.toString(8).padStart(MODE_DIGITS, '0'),
    bytes: size,
    target: target === null ? null : displayOfRaw(target),
    ...(kind === 'file' ? await textOf(read, change, side) : { text: null, note: null }),
  }
}

async function textOf(read: Question['read'], change: Change, side: ChangeSide): Promise<SideText> {
  try {
    const pieces = read(change, side)
    return pieces === null ? { text: null, note: 'changed' } : decoded(await beginning(pieces))
  } catch {
    return { text: null, note: 'changed' }
  }
}

async function beginning(pieces: AsyncIterable<Uint8Array>): Promise<Buffer> {
  const kept: Uint8Array[] = []
  let length = 0
  // Reads to the end: only then it is known whether the file is the one that the run saw.
  for await (const piece of pieces) {
    if (length <= TEXT_BYTES_MAX) kept.push(piece)
    length += piece.length
  }
  return Buffer.concat(kept)
}

function decoded(bytes: Buffer): SideText {
  const isCut = bytes.length > TEXT_BYTES_MAX
  // A character may be cut in two at the end of the part that is shown.
  const shown = isCut ? wholeLines(bytes.subarray(0, TEXT_BYTES_MAX)) : bytes
  if (shown.includes(0)) return { text: null, note: 'binary' }
  try {
    const text = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(shown)
    return { text, note: isCut ? 'cut' : null }
  } catch {
    return { text: null, note: 'binary' }
  }
}

function wholeLines(bytes: Buffer): Buffer {
  const end = bytes.lastIndexOf('\n')
  return end === -1 ? bytes.subarray(0, 0) : bytes.subarray(0, end + 1)
}
