/**
 * Where a run keeps what is not a fact. The state directory holds the orders that people give while
 * another process walks the run, and the attempts that were begun. `.writ/runs/<run>/` holds what people
 * read.
 *
 * INVARIANT (one at a time): the process that walks a run holds the lock of its folder, which ends with
 * that process, also after a crash. Facts of a run have keys, so a second walker records nothing.
 */

import { randomBytes } from 'node:crypto'
import { appendFileSync, existsSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { digestBytes, type FaultError, faultCode, faultError, showName } from '../base/index.ts'
import { type CompiledFlow, type RunState, timersOf } from '../flow/index.ts'
import type { Home } from '../home/index.ts'
import {
  makeEmptyFile,
  makeFolder,
  namesIfThere,
  readIfThere,
  writeWhole,
} from '../machine/index.ts'
import { withFolderLock } from '../promotion/index.ts'

const RUN_ID = /^run-[0-9a-f-]{36}$/

const LOGS = 'logs'
const TIMER = 'timer'
const SEEN = 'seen.json'

/** Digits of the time with which names of orders begin. */
const ORDER_TIME = 15

function orderIdIn(name: string): string {
  return name.slice(ORDER_TIME + 1, -'.json'.length)
}

function seenKey(nodeId: string, principal: string): string {
  return JSON.stringify([nodeId, principal])
}

/** Ids become names of folders: anything else could lead elsewhere. */
export function isRunId(text: string): boolean {
  return RUN_ID.test(text)
}

interface LeftOrder {
  readonly order: unknown
  readonly atMs: number
  readonly done: () => void
}

export class RunFolder {
  readonly #state: string
  /** For people: `.writ/runs/<run>`. */
  readonly shown: string
  readonly #runId: string

  constructor({ state, directory }: Pick<Home, 'state' | 'directory'>, runId: string) {
    if (!isRunId(runId)) throw unknownRun(runId)
    this.#state = join(state, 'runs', runId)
    this.shown = join(directory, 'runs', runId)
    this.#runId = runId
  }

  /** Fails with `flow.taken` when another process, or another part of this one, walks the run. */
  async locked<T>(work: () => Promise<T>): Promise<T> {
    makeFolder(this.#state, 0o700)
    let isHeld = false
    try {
      return await withFolderLock(this.#state, () => {
        isHeld = true
        this.#tidy()
        return work()
      })
    } catch (error) {
      if (isHeld || faultCode(error) !== 'workspace.busy') throw error
      const message = `another process walks the run ${showName(this.#runId)}`
      throw faultError('flow.taken', this.#runId, message)
    }
  }

  /** What processes left that died while they wrote. Only orders are written without the lock. */
  #tidy(): void {
    for (const folder of [this.#state, join(this.#state, 'begun'), this.shown]) {
      for (const name of namesIfThere(folder)) {
        if (name.endsWith('.tmp')) rmSync(join(folder, name), { force: true })
      }
    }
  }

  /** Durable when it returns; names sort by time. One whose id lies here or was taken is not left again. */
  leaveOrder(order: unknown, nowMs: number, id = randomBytes(6).toString('hex')): void {
    const folder = join(this.#state, 'orders')
    makeFolder(folder, 0o700)
    const isThere = namesIfThere(folder).some((name) => name.endsWith(`-${id}.json`))
    if (isThere || this.#isTaken(id)) return
    const name = `${String(nowMs).padStart(ORDER_TIME, '0')}-${id}.json`
    writeWhole(join(folder, name), JSON.stringify(order), 0o600)
  }

  #isTaken(id: string): boolean {
    return existsSync(join(this.#state, 'taken', id))
  }

  /** Notes for ever that an order was taken, before it is taken away. */
  #noteTaken(id: string): void {
    const folder = join(this.#state, 'taken')
    makeFolder(folder, 0o700)
    writeWhole(join(folder, id), '', 0o600)
  }

  /**
   * The orders that were left, oldest first, each with its time and the way to take it away. Two processes
   * may leave copies of one at the same moment: the older one counts, and only the process that walks the
   * run takes orders.
   */
  orders(): readonly LeftOrder[] {
    const folder = join(this.#state, 'orders')
    const names = namesIfThere(folder).filter((name) => name.endsWith('.json'))
    const oldest = new Map<string, string>()
    for (const name of names.sort()) {
      const id = orderIdIn(name)
      if (!oldest.has(id) && !this.#isTaken(id)) oldest.set(id, name)
    }
    return [...oldest].flatMap(([id, name]) => {
      const text = readIfThere(join(folder, name))
      // A process took it meanwhile.
      if (text === null) return []
      // Widens the `any` of `JSON.parse`.
      const order = JSON.parse(text) as unknown
      const atMs = Number.parseInt(name, 10)
      const done = (): void => {
        this.#noteTaken(id)
        for (const copy of names.filter((one) => orderIdIn(one) === id)) {
          rmSync(join(folder, copy), { force: true })
        }
      }
      return [{ order, atMs, done }]
    })
  }

  /** That an attempt begins, so that what it leaves behind is found after a crash. */
  async noteBegun(actionId: string): Promise<void> {
    const folder = join(this.#state, 'begun')
    makeFolder(folder, 0o700)
    await makeEmptyFile(join(folder, actionId), 0o600)
  }

  begun(): readonly string[] {
    return namesIfThere(join(this.#state, 'begun'))
  }

  forgetBegun(actionId: string): void {
    rmSync(join(this.#state, 'begun', actionId), { force: true })
  }

  /** Which commands wait for a person, also those that the facts do not tell of. */
  noteWaiting(commands: readonly number[]): void {
    if (commands.length === 0 && this.waiting().length === 0) return
    makeFolder(this.#state, 0o700)
    writeWhole(join(this.#state, 'waiting.json'), JSON.stringify(commands), 0o600)
  }

  waiting(): readonly number[] {
    // Only `noteWaiting` writes the file.
    return JSON.parse(readIfThere(join(this.#state, 'waiting.json')) ?? '[]') as number[]
  }

  /** Notes which version a person was shown at a node. */
  noteSeen(nodeId: string, principal: string, version: string): void {
    makeFolder(this.#state, 0o700)
    const seen = { ...this.#seen(), [seenKey(nodeId, principal)]: version }
    writeWhole(join(this.#state, SEEN), JSON.stringify(seen), 0o600)
  }

  /** Returns the version that a person was last shown at a node; null if none. */
  seen(nodeId: string, principal: string): string | null {
    return this.#seen()[seenKey(nodeId, principal)] ?? null
  }

  #seen(): Readonly<Record<string, string>> {
    // Only `noteSeen` writes the file.
    return JSON.parse(readIfThere(join(this.#state, SEEN)) ?? '{}') as Record<string, string>
  }

  /** That a person has to let the run go on, where the inbox finds it. */
  noteBlocked(isBlocked: boolean): void {
    const file = join(this.#state, 'blocked')
    if (isBlocked) writeWhole(file, '', 0o600)
    else rmSync(file, { force: true })
  }

  /** The moment at which the run goes on or is late, where those find it that look for such runs. */
  noteTimer(until: string | null): void {
    const file = join(this.#state, TIMER)
    if (until === null) rmSync(file, { force: true })
    else if (readIfThere(file) !== until) {
      makeFolder(this.#state, 0o700)
      writeWhole(file, until, 0o600)
    }
  }

  get isBlocked(): boolean {
    return existsSync(join(this.#state, 'blocked'))
  }

  /** Writes a file for people, whole and synced. */
  show(name: string, text: string): string {
    makeFolder(this.shown, 0o755)
    const file = join(this.shown, name)
    writeWhole(file, text, 0o644)
    return file
  }

  /** A copy of what is durable elsewhere. */
  copy(name: string, text: string): void {
    makeFolder(this.shown, 0o755)
    writeFileSync(join(this.shown, name), text)
  }

  /** Notes the digest of a log before it is written to the workspace. */
  noteLog(digest: string): void {
    noteOwn(dirname(this.#state), digest)
    makeFolder(this.#state, 0o700)
    appendFileSync(join(this.#state, LOGS), `${digest}\n`, { mode: 0o600 })
  }

  /** Notes the digest of the copy of a log that is about to be replaced: see `isLogOfRun`. */
  noteCopiedLog(name: string): void {
    const text = readIfThere(join(this.shown, name))
    if (text !== null) this.noteLog(digestBytes(text))
  }

  hide(name: string): void {
    rmSync(join(this.shown, name), { force: true })
  }
}

/** Returns the runs that noted commands for a person, or a block; their facts tell what still holds. */
export function notedRuns(home: Pick<Home, 'state' | 'directory'>): readonly string[] {
  return namesIfThere(join(home.state, 'runs')).filter((name) => {
    if (!isRunId(name)) return false
    const folder = new RunFolder(home, name)
    return folder.isBlocked || folder.waiting().length > 0
  })
}

/** Returns the runs that noted a moment, with it; their facts tell what still holds. */
export function timedRuns(
  home: Pick<Home, 'state'>,
): readonly { readonly runId: string; readonly until: string }[] {
  const folder = join(home.state, 'runs')
  return namesIfThere(folder)
    .filter(isRunId)
    .flatMap((runId) => {
      const until = readIfThere(join(folder, runId, TIMER))
      return until === null ? [] : [{ runId, until }]
    })
}

/** Logs that this process wrote last: a home has too many runs to look at each of them again. */
const OWN_LOGS = new Set<string>()
const OWN_LOGS_MAX = 256

function ownLog(runs: string, digest: string): string {
  return `${digest} ${runs}`
}

function noteOwn(runs: string, digest: string): void {
  OWN_LOGS.add(ownLog(runs, digest))
  for (const oldest of OWN_LOGS) {
    if (OWN_LOGS.size <= OWN_LOGS_MAX) return
    OWN_LOGS.delete(oldest)
  }
}

/**
 * Returns whether a run of this home wrote this log. Runs of version 0.1.0 noted no digests; the copy
 * of their last log tells.
 */
export function isLogOfRun(
  { state, directory }: Pick<Home, 'state' | 'directory'>,
  text: string,
  copyName: string,
): boolean {
  const digest = digestBytes(text)
  if (OWN_LOGS.has(ownLog(join(state, 'runs'), digest))) return true
  const isOf = (run: string): boolean => {
    const noted = readIfThere(join(state, 'runs', run, LOGS)) ?? ''
    if (noted.split('\n').includes(digest)) return true
    return readIfThere(join(directory, 'runs', run, copyName)) === text
  }
  // Ids begin with their time: the newest run wrote the log more often than not.
  return namesIfThere(join(state, 'runs')).filter(isRunId).reverse().some(isOf)
}

export function unknownRun(runId: string): FaultError {
  const message = `there is no run ${showName(runId)}`
  return faultError('flow.unknown_run', runId, message, '`writ flow list` lists the runs')
}

/** The moment of the next timer; null if the run waits for none. */
export function nextTimer(state: RunState): string | null {
  const moments = timersOf(state).flatMap(({ until }) => until ?? [])
  return moments.sort((one, other) => Date.parse(one) - Date.parse(other))[0] ?? null
}

/** Whether anything of a flow waits for a time or a signal. */
export function hasTimers({ nodes, edges }: CompiledFlow['document']): boolean {
  const waits = ({
    after,
    signal,
  }: {
    readonly after?: number
    readonly signal?: string
  }): boolean => after !== undefined || signal !== undefined
  return (
    edges.some(waits) ||
    nodes.some((node) => waits(node) || node.deadline !== undefined || node.retry !== undefined)
  )
}
