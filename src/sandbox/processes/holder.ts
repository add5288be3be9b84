/**
 * The holder: a shell in a user and mount namespace of its own that mounts the overlays and starts one
 * bubblewrap after another in them. While it lives, upper and merged directories can be reached through
 * its /proc entry; when it dies, every mount is gone.
 *
 * INVARIANT (no survivor): the holder is killed by the kernel when the thread that started it dies,
 *   bubblewrap when the holder dies, and the process namespace with bubblewrap's child.
 */
import type { ChildProcess } from 'node:child_process'
import type { Duplex, Readable } from 'node:stream'
import { setTimeout as pause } from 'node:timers/promises'
import { startProgram } from '../../machine/index.ts'
import { startFailure } from '../driver/failure.ts'
import { mapOwners } from '../driver/owner-map.ts'
import { Lines } from '../pipes/lines.ts'
import { FD } from './bubble.ts'
import { type HolderPlan, holderCommand } from './holder-command.ts'

const LAST_WORDS_MS = 500

/** By descriptor: see `FD`. */
const STREAMS: readonly ('ignore' | 'pipe')[] = [
  'ignore',
  'ignore',
  'pipe',
  'ignore',
  'pipe',
  'pipe',
  'ignore',
  'pipe',
]
const CHANNEL_STREAMS: readonly ('ignore' | 'pipe')[] = ['ignore', 'pipe']

export class Holder {
  readonly pid: number
  readonly control: Lines
  readonly inner: Lines
  readonly status: Lines
  /** Our end of what a command finds on its descriptor 3. */
  readonly channel: Duplex | null
  readonly #process: ChildProcess
  readonly #words: Lines
  readonly #controlSocket: Duplex
  readonly #innerSocket: Duplex
  readonly #exited: Promise<void>
  readonly #silent: Promise<void>
  readonly #withheld: number | null
  #isMapped: boolean

  constructor(plan: HolderPlan) {
    const [command, ...rest] = holderCommand(plan)
    this.#process = startProgram(command, rest, {
      stdio: [...STREAMS, ...(plan.hasChannel ? CHANNEL_STREAMS : [])],
    })
    this.pid = this.#process.pid ?? 0
    this.#exited = new Promise((resolve) => {
      this.#process.once('exit', () => resolve())
      this.#process.once('error', () => resolve())
    })
    this.#silent = new Promise((resolve) => {
      this.#process.once('close', () => resolve())
    })
    this.#controlSocket = this.#socket(FD.holder)
    this.#innerSocket = this.#socket(FD.inner)
    this.control = new Lines(this.#controlSocket)
    this.inner = new Lines(this.#innerSocket)
    this.status = new Lines(this.#socket(FD.status))
    this.#words = new Lines(this.#socket(2))
    this.channel = plan.hasChannel ? this.#socket(FD.channel) : null
    this.#isMapped = !plan.fullMap
    this.#withheld = plan.withheld
  }

  /** A path of the holder's own mounts, as this process can reach it. */
  reach(path: string): string {
    return `/proc/${this.pid}/root${path}`
  }

  get isAlive(): boolean {
    return this.#process.exitCode === null && this.#process.signalCode === null
  }

  /** Until the memory filesystem is there, where one is asked for. */
  async begin(): Promise<void> {
    if (!this.#isMapped) {
      await this.expect('U')
      mapOwners(this.pid, this.#withheld)
      this.#isMapped = true
      this.go()
    }
    await this.expect('T')
  }

  go(): void {
    this.#controlSocket.write('\n')
  }

  /** A line for the shell that waits inside. */
  tellInside(line: string): void {
    this.#innerSocket.write(`${line}\n`)
  }

  /** The next line of the holder, which has to be this one. */
  async expect(line: string): Promise<void> {
    const came = await this.control.next()
    if (came === line) return
    // What it said last may still be on its way.
    await Promise.race([this.#silent, pause(LAST_WORDS_MS)])
    throw startFailure(this.#words.rest())
  }

  /** What the programs of the holder complained about. */
  words(): string {
    return this.#words.rest()
  }

  async kill(): Promise<void> {
    this.#process.kill('SIGKILL')
    await this.#exited
    for (const socket of this.#process.stdio) socket?.destroy()
  }

  #socket(descriptor: number): Duplex {
    // Asked for as pipes above; Node's sockets go both ways.
    const socket = this.#process.stdio[descriptor] as Readable as Duplex
    // If the holder is gone, the caller notices that its next line does not come.
    socket.on('error', () => undefined)
    return socket
  }
}
