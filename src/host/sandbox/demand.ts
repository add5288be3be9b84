/**
 * Who inside waits for bytes of a pipe, and for how many: from what the kernel tells of sleeping tasks.
 * Whoever sleeps in a call that the pipe would end has found it empty, so nothing is asked for twice.
 *
 * Reads only. A task that may not be looked at for long counts as one that asks, or it might wait for
 * ever. For a moment that is so with every task that becomes another program.
 */
import { closeSync, openSync, readdirSync, readFileSync, readSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { procInside } from './meters.ts'
import type { Architecture } from './syscalls.ts'
import { monotonicMs } from './watch.ts'

/** A file, by what never changes about it. */
export interface Identity {
  readonly dev: number
  readonly ino: number
}

/** Asked for by somebody who does not say how much. */
const SOME_BYTES = 4096
const DESCRIPTORS_MAX = 4096
/** Whoever hides among ever so many tasks has only himself to blame. */
const LOOK_MS_MAX = 50
/** About a second, as looks become rarer. */
const UNSEEN_LOOKS = 60
const READABLE = 0x41
const NON_BLOCKING = 0o4000

/** Of one pipe, and the processes from a first one on. */
export class Demand {
  readonly #directory: string
  readonly #pipe: Identity
  /** How often in a row each task could not be looked at. */
  #unseen = new Map<string, number>()

  constructor(first: number, pipe: Identity) {
    this.#directory = procInside(first)
    this.#pipe = pipe
  }

  /** How many bytes the one asks for who asks for most; 0 when nobody does. */
  bytes(): number {
    const untilMs = monotonicMs() + LOOK_MS_MAX
    const unseen = new Map<string, number>()
    let asked = 0
    for (const task of this.#tasks()) {
      if (monotonicMs() > untilMs) break
      const asks = new SleepingTask(task, this.#pipe).asks()
      if (asks === null) unseen.set(task, 1 + (this.#unseen.get(task) ?? 0))
      asked = Math.max(asked, asks ?? 0)
    }
    this.#unseen = unseen
    const isPatient = [...unseen.values()].some((looks) => looks >= UNSEEN_LOOKS)
    return isPatient ? Math.max(asked, SOME_BYTES) : asked
  }

  *#tasks(): Generator<string> {
    for (const process of numbersIn(this.#directory)) {
      const tasks = join(this.#directory, process, 'task')
      for (const task of numbersIn(tasks)) yield join(tasks, task)
    }
  }
}

type Wait = 'read' | 'some' | 'splice' | 'poll' | 'select' | 'epoll' | 'sleep'

/** By number: `[x64, arm64]`. From Linux 5.5 on new calls have one number everywhere. */
const WAITS: readonly (readonly [number | null, number | null, Wait])[] = [
  [0, 63, 'read'],
  [19, 65, 'some'], // readv
  [327, 286, 'some'], // preadv2
  [275, 76, 'splice'],
  [276, 77, 'read'], // tee
  [7, null, 'poll'],
  [271, 73, 'poll'], // ppoll
  [23, null, 'select'],
  [270, 72, 'select'], // pselect6
  [232, null, 'epoll'],
  [281, 22, 'epoll'], // epoll_pwait
  [441, 441, 'epoll'], // epoll_pwait2
  [35, 101, 'sleep'], // nanosleep
  [230, 115, 'sleep'], // clock_nanosleep
]

const COLUMN = (process.arch as Architecture) === 'arm64' ? 1 : 0
const WAIT_OF = new Map(WAITS.map((row) => [row[COLUMN], row[2]]))

class SleepingTask {
  readonly #directory: string
  readonly #pipe: Identity

  constructor(directory: string, pipe: Identity) {
    this.#directory = directory
    this.#pipe = pipe
  }

  /** Null when it may not be looked at. */
  asks(): number | null {
    try {
      // The number of the call and its arguments; a word when it does not sleep.
      const [call = '', ...words] = this.#text('syscall').split(' ')
      const wait = /^\d+$/.test(call) ? WAIT_OF.get(Number(call)) : undefined
      return wait === undefined ? 0 : this.#asksBy(wait, words.map(Number))
    } catch (error) {
      const { code } = error as NodeJS.ErrnoException
      return code === 'EACCES' || code === 'EPERM' ? null : 0
    }
  }

  #asksBy(wait: Wait, [first = 0, second = 0, third = 0, , fifth = 0]: readonly number[]): number {
    const some = (is: boolean): number => (is ? SOME_BYTES : 0)
    switch (wait) {
      case 'read':
        return this.#isPipe(first) ? third : 0
      case 'some':
        return some(this.#isPipe(first))
      case 'splice':
        return this.#isPipe(first) ? fifth : 0
      case 'poll':
        return some(polled(this.#memory(first, 8 * bounded(second))).some((fd) => this.#isPipe(fd)))
      case 'select':
        return some(
          selected(this.#memory(second, (bounded(first) + 7) >> 3)).some((fd) => this.#isPipe(fd)),
        )
      case 'epoll':
        return some(watched(this.#text(`fdinfo/${first}`)).some((fd) => this.#isPipe(fd)))
      case 'sleep':
        return some(this.#looksByTheClock())
      default:
        return wait satisfies never
    }
  }

  #isPipe(descriptor: number): boolean {
    const stats = statSync(join(this.#directory, 'fd', String(descriptor)), {
      throwIfNoEntry: false,
    })
    return stats?.dev === this.#pipe.dev && stats.ino === this.#pipe.ino
  }

  /** Its input never makes it wait, so it sleeps between two looks. */
  #looksByTheClock(): boolean {
    if (!this.#isPipe(0)) return false
    const [, flags = '0'] = /^flags:\s*([0-7]+)$/m.exec(this.#text('fdinfo/0')) ?? []
    return (Number.parseInt(flags, 8) & NON_BLOCKING) !== 0
  }

  #memory(address: number, bytes: number): Buffer {
    const found = Buffer.alloc(bytes)
    if (address === 0 || bytes === 0) return found.subarray(0, 0)
    const file = openSync(join(this.#directory, 'mem'), 'r')
    try {
      return found.subarray(0, readSync(file, found, 0, bytes, address))
    } finally {
      closeSync(file)
    }
  }

  #text(name: string): string {
    return readFileSync(join(this.#directory, name), 'latin1')
  }
}

function bounded(count: number): number {
  return Math.min(Math.max(count, 0), DESCRIPTORS_MAX)
}

/** Descriptors in an array of `struct pollfd` that are waited for to be read. */
function polled(memory: Buffer): readonly number[] {
  const found: number[] = []
  for (let at = 0; at + 8 <= memory.length; at += 8) {
    if ((memory.readUInt16LE(at + 4) & READABLE) !== 0) found.push(memory.readInt32LE(at))
  }
  return found.filter((descriptor) => descriptor >= 0)
}

/** Descriptors in a set of bits. */
function selected(memory: Buffer): readonly number[] {
  return [...memory].flatMap((byte, index) =>
    byte === 0
      ? []
      : [0, 1, 2, 3, 4, 5, 6, 7].filter((bit) => byte & (1 << bit)).map((bit) => index * 8 + bit),
  )
}

/** Descriptors that an epoll waits for to be read. */
function watched(lines: string): readonly number[] {
  const found: number[] = []
  for (const [, descriptor, events] of lines.matchAll(/^tfd:\s*(\d+) events:\s*([0-9a-f]+)/gm)) {
    if ((Number.parseInt(events ?? '0', 16) & READABLE) !== 0) found.push(Number(descriptor))
  }
  return found
}

function numbersIn(directory: string): readonly string[] {
  try {
    return readdirSync(directory).filter((name) => /^\d+$/.test(name))
  } catch {
    // It ended while it was looked at.
    return []
  }
}
