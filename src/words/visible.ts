/** Paths as a person may safely see them: `visible.ts` of the base for bytes that may spell no text. */
import { visibleName } from '../base/index.ts'
import { bytesOfRaw, type RawPath, textOfRaw } from '../gate/index.ts'

const strict = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true })

/** A path: bytes that spell no text are shown one by one, and a backslash is doubled. */
export function visiblePath(path: RawPath): string {
  const text = textOfRaw(path)
  return text === null ? visibleBytes(bytesOfRaw(path)) : visibleName(text)
}

/** What is UTF-8 as text, each other byte as a number. */
function visibleBytes(bytes: Uint8Array): string {
  let text = ''
  for (let from = 0; from < bytes.length; ) {
    const first = bytes[from] ?? 0
    const length = sequenceLength(first)
    const decoded = decode(bytes.subarray(from, from + length))
    text += decoded === null ? `\\x${first.toString(16).padStart(2, '0')}` : visibleName(decoded)
    from += decoded === null ? 1 : length
  }
  return text
}

function sequenceLength(first: number): number {
  if (first < 0xc2) return 1
  if (first < 0xe0) return 2
  return first < 0xf0 ? 3 : 4
}

function decode(piece: Uint8Array): string | null {
  try {
    return strict.decode(piece)
  } catch {
    return null
  }
}
