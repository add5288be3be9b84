/**
 * Brings bytes of a pipe that others read as well to the command, when somebody inside waits for them
 * and not before. Whoever says how many gets no more: what is left is for the others.
 *
 * After a few thousand bytes a reader of single ones is given a part of what it had so far at once, or
 * it would take for ever. After a mebibyte everything flows: who has read so much reads on.
 */
import { closeSync, constants, openSync, statSync, writeSync } from 'node:fs'
import type { Socket } from 'node:net'
import { Demand } from './demand.ts'
import type { PassingInput } from './driver.ts'

const PIECE_BYTES = 64 * 1024
/** Up to here nobody is given more than was asked for. */
const EXACT_BYTES = 4096
const PART = 4
const FLOW_BYTES = 1024 * 1024
const WAIT_MS_MAX = 25
/** Looks that follow at once when something was just given. */
const SPINS = 20
/** Looking takes one part of so many of a processor at most. */
const COST_SHARE = 20

export class InputRelay {
  readonly #input: PassingInput
  /** The end of the pipe for everything that flows. */
  readonly #socket: Socket
  readonly #demand: Demand
  /** The same for what was asked for; null when the input has ended or flows. */
  #writer: number | null
  #rest: Uint8Array = new Uint8Array()
  #given = 0
  #spins = 0
  #waitMs = 1
  #cancel: () => void = () => undefined

  /** `path` is the pipe, and `first` the first process of those who read it. */
  constructor(input: PassingInput, socket: Socket, path: string, first: number) {
    this.#input = input
    this.#socket = socket
    this.#demand = new Demand(first, statSync(path))
    this.#writer = openSync(path, constants.O_RDWR | constants.O_NONBLOCK)
    this.#next()
  }

  /** Everybody inside is dead. */
  end(): void {
    this.#cancel()
    this.#close()
    this.#socket.destroy()
    this.#input.end()
  }

  #next(): void {
    if (this.#spins > 0) {
      this.#spins--
      const soon = setImmediate(() => this.#look())
      this.#cancel = () => clearImmediate(soon)
      return
    }
    const later = setTimeout(() => this.#look(), this.#waitMs)
    this.#cancel = () => clearTimeout(later)
  }

  #look(): void {
    const startedMs = performance.now()
    const isGiven = this.#give()
    if (this.#writer === null) return
    if (this.#given >= FLOW_BYTES && this.#rest.length === 0) {
      this.#flow()
      return
    }
    const costMs = (performance.now() - startedMs) * COST_SHARE
    this.#waitMs = isGiven ? 1 : Math.max(Math.min(this.#waitMs * 1.25, WAIT_MS_MAX), costMs)
    if (isGiven) this.#spins = SPINS
    this.#next()
  }

  /** Whether the pipe took anything. */
  #give(): boolean {
    if (this.#rest.length === 0) {
      const wanted = this.#wanted()
      const bytes = wanted === 0 ? null : this.#input.take(wanted)
      if (bytes === null) return false
      if (bytes.length === 0) {
        this.#close()
        this.#socket.destroy()
      }
      this.#rest = bytes
    }
    const count = this.#write(this.#rest)
    this.#rest = this.#rest.subarray(count)
    this.#given += count
    return count > 0
  }

  #wanted(): number {
    const asked = this.#demand.bytes()
    if (asked === 0 || this.#given < EXACT_BYTES) return Math.min(asked, PIECE_BYTES)
    return Math.min(Math.max(asked, Math.floor(this.#given / PART)), PIECE_BYTES)
  }

  #write(bytes: Uint8Array): number {
    if (this.#writer === null || bytes.length === 0) return 0
    try {
      return writeSync(this.#writer, bytes)
    } catch (error) {
      // The pipe is full.
      if ((error as NodeJS.ErrnoException).code === 'EAGAIN') return 0
      throw error
    }
  }

  #flow(): void {
    this.#close()
    const stream = this.#input.stream()
    stream.once('error', () => this.#socket.destroy())
    stream.pipe(this.#socket).once('finish', () => this.#socket.destroy())
  }

  /** Readers find the end when nobody is left who could write. */
  #close(): void {
    if (this.#writer !== null) closeSync(this.#writer)
    this.#writer = null
  }
}
