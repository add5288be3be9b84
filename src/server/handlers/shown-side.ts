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
  /** A `data:` address. */
  readonly image: string | null
  /** The first bytes of what is neither text nor picture, in hex. */
  readonly hex: string | null
}

const HEX_BYTES_MAX = 256
const NOTHING = { text: null, image: null, hex: null } as const

/** How pictures begin that every browser shows, and that hold no script. */
const PICTURES: readonly (readonly [string, RegExp])[] = [
  ['image/png', /^\x89PNG\r\n/],
  ['image/jpeg', /^\xff\xd8\xff/],
  ['image/gif', /^GIF8[79]a/],
  ['image/webp', /^RIFF[\s\S]{4}WEBP/],
]
const MAGIC_BYTES = 12

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
    ...(kind === 'file' ? await textOf(read, change, side) : { ...NOTHING, note: null }),
  }
}

async function textOf(read: Question['read'], change: Change, side: ChangeSide): Promise<SideText> {
  try {
    const pieces = read(change, side)
    return pieces === null
      ? { ...NOTHING, note: 'changed' as const }
      : decoded(await beginning(pieces))
  } catch {
    return { ...NOTHING, note: 'changed' as const }
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
  const image = isCut ? null : imageOf(bytes)
  if (image !== null) return { text: null, note: 'binary', image, hex: null }
  const hex = bytes.subarray(0, HEX_BYTES_MAX).toString('hex')
  if (bytes.includes(0)) return { ...NOTHING, note: 'binary', hex }
  try {
    const text = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(shown)
    return { ...NOTHING, text, note: isCut ? 'cut' : null }
  } catch {
    return { ...NOTHING, note: 'binary', hex }
  }
}

/** Null unless the bytes are a picture. */
function imageOf(bytes: Buffer): string | null {
  const magic = bytes.subarray(0, MAGIC_BYTES).toString('latin1')
  const type = PICTURES.find(([, pattern]) => pattern.test(magic))?.[0]
  return type === undefined ? null : `data:${type};base64,${bytes.toString('base64')}`
}

function wholeLines(bytes: Buffer): Buffer {
  const end = bytes.lastIndexOf('\n')
  return end === -1 ? bytes.subarray(0, 0) : bytes.subarray(0, end + 1)
}
