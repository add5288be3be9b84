/**
 * Paths as the kernel has them: bytes. A raw path is a string with one code unit a byte (latin-1). It
 * can be a map key, can be sliced and compared by bytes with the ordinary operators, and keeps names
 * that are not UTF-8. `displayOfRaw` makes text for people and for globs from it.
 */

declare const raw: unique symbol
export type RawPath = string & { readonly [raw]: true }

const decoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true })
const lenient = new TextDecoder('utf-8', { ignoreBOM: true })
const encoder = new TextEncoder()

export function rawOfBytes(bytes: Uint8Array): RawPath {
  let text = ''
  for (let from = 0; from < bytes.length; from += CHUNK) {
    text += String.fromCharCode(...bytes.subarray(from, from + CHUNK))
  }
  return text as RawPath // One code unit a byte.
}

const CHUNK = 8192

export function rawOfText(text: string): RawPath {
  // ASCII has one code unit a byte already.
  return (isAscii(text) ? text : rawOfBytes(encoder.encode(text))) as RawPath
}

export function bytesOfRaw(path: RawPath): Uint8Array {
  const bytes = new Uint8Array(path.length)
  for (let index = 0; index < path.length; index++) bytes[index] = path.charCodeAt(index)
  return bytes
}

/** The text that the bytes spell; null when they are not UTF-8. */
export function textOfRaw(path: RawPath): string | null {
  if (isAscii(path)) return path
  try {
    return decoder.decode(bytesOfRaw(path))
  } catch {
    return null
  }
}

/** A form for people and for globs; bytes that spell nothing become U+FFFD. */
export function displayOfRaw(path: RawPath): string {
  return isAscii(path) ? path : lenient.decode(bytesOfRaw(path))
}

export function joinRaw(directory: RawPath, name: RawPath): RawPath {
  // Raw paths joined by an ASCII slash are raw.
  return (directory === '/' ? `/${name}` : `${directory}/${name}`) as RawPath
}

/** The directory that holds the path; the root holds itself. */
export function parentOfRaw(path: RawPath): RawPath {
  const end = path.lastIndexOf('/')
  return (end <= 0 ? '/' : path.slice(0, end)) as RawPath
}

export function nameOfRaw(path: RawPath): RawPath {
  return path.slice(path.lastIndexOf('/') + 1) as RawPath // A slice of a raw path is raw.
}

/** Whether the path is the directory or lies below it. */
export function isBelow(path: RawPath, directory: RawPath): boolean {
  if (!path.startsWith(directory)) return false
  return directory === '/' || path.length === directory.length || path[directory.length] === '/'
}

function isAscii(text: string): boolean {
  for (let index = 0; index < text.length; index++) {
    if (text.charCodeAt(index) > 127) return false
  }
  return true
}
