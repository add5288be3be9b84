/** Inflates bytes that zlib compressed, such as objects of git. */
import type { ZlibOptions } from 'node:zlib'

/**
 * Returns the inflated bytes. Fails if the bytes are no zlib stream or inflate to more than
 * `maxOutputLength`. Loads `node:zlib` at the first call, because few commands need it.
 */
export function inflate(bytes: Uint8Array, options: ZlibOptions): Buffer {
  return process.getBuiltinModule('node:zlib').inflateSync(bytes, options)
}
