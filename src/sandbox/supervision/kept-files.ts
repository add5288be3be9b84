/**
 * Files of the kernel that are asked again and again, held open: to open one takes longer than to read
 * it. Each read tells what is so now.
 */
import { closeSync, openSync, readSync } from 'node:fs'

/** More than any of them tells. */
const BYTES_MAX = 4096

export class KeptFiles {
  readonly #descriptors = new Map<string, number>()
  readonly #buffer = Buffer.allocUnsafe(BYTES_MAX)

  /** Empty when it cannot be read. */
  text(file: string): string {
    try {
      const count = readSync(this.#descriptor(file), this.#buffer, 0, BYTES_MAX, 0)
      return this.#buffer.toString('latin1', 0, count).trim()
    } catch {
      return ''
    }
  }

  close(): void {
    for (const descriptor of this.#descriptors.values()) closeSync(descriptor)
    this.#descriptors.clear()
  }

  #descriptor(file: string): number {
    const known = this.#descriptors.get(file)
    if (known !== undefined) return known
    const opened = openSync(file, 'r')
    this.#descriptors.set(file, opened)
    return opened
  }
}
