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
/** How long to look at those who wait for many things. */
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
  /** Among those who wait for many things, whose turn it is to be looked at. */
  #turn = 0

  constructor(first: number, pipe: Identity) {
    this.#directory = procInside(first)
    this.#pipe = pipe
  }

  /** How many bytes the one asks for who asks for most; 0 when nobody does. */
  bytes(): number {
    const untilMs = monotonicMs() + LOOK_MS_MAX
    const unseen = new Map<string, number>()
    const others: SleepingTask[] = []
    let asked = 0
    for (const directory of this.#tasks()) {
      const task = new SleepingTask(directory, this.#pipe)
      const asks = task.asks()
      if (asks === 'unseen') unseen.set(directory, 1 + (this.#unseen.get(directory) ?? 0))
      else if (asks === 'perhaps') others.push(task)
      else asked = Math.max(asked, asks)
    }
    this.#unseen = unseen
    if (asked > 0) return asked
    const isLost = [...unseen.values()].some((looks) => looks >= UNSEEN_LOOKS)
    return isLost || this.#isAmong(others, untilMs) ? SOME_BYTES : 0
  }

  /** As many as there is time for; the next ones are looked at the next time. */
  #isAmong(tasks: readonly SleepingTask[], untilMs: number): boolean {
    for (let looked = 0; looked < tasks.length; looked++) {
      if (looked > 0 && monotonicMs() > untilMs) return false
      if (tasks[this.#turn++ % tasks.length]?.waitsForPipe() === true) return true
    }
    return false
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

interface SleepingCall {
  readonly wait: Wait
  readonly words: readonly number[]
}

class SleepingTask {
  readonly #directory: string
  readonly #pipe: Identity
  #call: SleepingCall | null = null

  constructor(directory: string, pipe: Identity) {
    this.#directory = directory
    this.#pipe = pipe
  }

  /** `perhaps` when it waits for many things; `unseen` when it may not be looked at. */
  asks(): number | 'perhaps' | 'unseen' {
    try {
      // The number of the call and its arguments; a word when it does not sleep.
      const [call = '', ...words] = this.#text('syscall').split(' ')
      const wait = /^\d+$/.test(call) ? WAIT_OF.get(Number(call)) : undefined
      if (wait === undefined) return 0
      this.#call = { wait, words: words.map(Number) }
      return this.#asksBy(this.#call)
    } catch (error) {
      const { code } = error as NodeJS.ErrnoException
      return code === 'EACCES' || code === 'EPERM' ? 'unseen' : 0
    }
  }

  /** Of one that perhaps does. */
  waitsForPipe(): boolean {
    try {
      return this.#among().some((descriptor) => this.#isPipe(descriptor))
    } catch {
      // It woke up, or is gone.
      return false
    }
  }

  #asksBy({ wait, words }: SleepingCall): number | 'perhaps' {
    const [first = 0, , third = 0, , fifth = 0] = words
    switch (wait) {
      case 'read':
        return this.#isPipe(first) ? third : 0
      case 'some':
        return this.#isPipe(first) ? SOME_BYTES : 0
      case 'splice':
        return this.#isPipe(first) ? fifth : 0
      case 'sleep':
        return this.#looksByTheClock() ? SOME_BYTES : 0
      default:
        return 'perhaps'
    }
  }

  /** Descriptors that it waits for to be read. */
  #among(): readonly number[] {
    if (this.#call === null) return []
    const { wait, words } = this.#call
    const [first = 0, second = 0] = words
    if (wait === 'poll') return polled(this.#memory(first, 8 * bounded(second)))
    if (wait === 'select') return selected(this.#memory(second, (bounded(first) + 7) >> 3))
    return watched(this.#text(`fdinfo/${first}`), this.#pipe)
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

/** Descriptors of such a file that an epoll waits for. */
function watched(lines: string, { ino }: Identity): readonly number[] {
  const found: number[] = []
  const lineOf = /^tfd:\s*(\d+) events:\s*([0-9a-f]+) .*ino:([0-9a-f]+)/gm
  for (const [, descriptor, events = '0', inode = '0'] of lines.matchAll(lineOf)) {
    const isRead = (Number.parseInt(events, 16) & READABLE) !== 0
    if (isRead && Number.parseInt(inode, 16) === ino) found.push(Number(descriptor))
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
