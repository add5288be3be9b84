/**
 * Notices that a command without a network tries to reach one: by the counters of its own network
 * namespace, which has nothing but a loopback. An address without a route, and a question for a name
 * to a resolver that does not listen there, are counted by the kernel.
 *
 * The file of the counters stays open, and with it the namespace, so a last look is possible when
 * every process inside is gone. Asks the kernel nothing but these counters, a few times a second.
 */
import { closeSync, openSync, readSync } from 'node:fs'

const LOOK_MS = 150
/** `/proc/net/snmp` has about 1.5 kB, the other one 5 kB. */
const BYTES_MAX = 16 * 1024

export class NetworkAttempts {
  readonly #files: readonly number[]
  readonly #before: number
  readonly #onReached: () => void
  readonly #timer: NodeJS.Timeout
  #isReached = false

  /** `pid` is a process inside; a machine without such counters notices nothing. */
  constructor(pid: number, onReached: () => void) {
    this.#files = ['snmp', 'snmp6'].flatMap((name) => openQuietly(`/proc/${pid}/net/${name}`))
    this.#onReached = onReached
    this.#before = this.#count()
    this.#timer = setInterval(() => this.#look(), LOOK_MS).unref()
  }

  /** Looks a last time. */
  end(): void {
    clearInterval(this.#timer)
    this.#look()
    for (const file of this.#files) closeSync(file)
  }

  #look(): void {
    if (this.#isReached || this.#count() <= this.#before) return
    this.#isReached = true
    clearInterval(this.#timer)
    this.#onReached()
  }

  #count(): number {
    return this.#files.reduce((sum, file) => sum + attempts(readWhole(file)), 0)
  }
}

function openQuietly(path: string): readonly number[] {
  try {
    return [openSync(path, 'r')]
  } catch {
    return []
  }
}

function readWhole(file: number): string {
  const buffer = Buffer.alloc(BYTES_MAX)
  try {
    return buffer.toString('latin1', 0, readSync(file, buffer, 0, BYTES_MAX, 0))
  } catch {
    return ''
  }
}

/** Returns how many packets found no route, and how many datagrams reached a closed port. */
function attempts(counters: string): number {
  const ip6 = /^Ip6OutNoRoutes\s+(\d+)/m.exec(counters)?.[1]
  const udp6 = /^Udp6NoPorts\s+(\d+)/m.exec(counters)?.[1]
  const ip = column(counters, 'Ip', 'OutNoRoutes')
  const udp = column(counters, 'Udp', 'NoPorts')
  return Number(ip6 ?? 0) + Number(udp6 ?? 0) + ip + udp
}

/** Two lines a protocol: the names of the columns, and their values. */
function column(counters: string, protocol: string, name: string): number {
  const lines = counters.split('\n').filter((line) => line.startsWith(`${protocol}: `))
  const [names = '', values = ''] = lines
  return Number(values.split(' ')[names.split(' ').indexOf(name)] ?? 0)
}
