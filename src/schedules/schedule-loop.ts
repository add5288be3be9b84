/**
 * Starts the runs of schedules when their times come. `look` is one look at the clock: a service calls it
 * in its own loop, `runSchedules` in the foreground.
 *
 * A time is claimed on the ledger together with the id of its run; then the run begins. Any number of
 * loops may look at once: one of them claims, and the first fact of a run can be written only once. A
 * claim whose run never began, because its process died in between, is begun by the next look.
 *
 * Where a home has several machines, a workspace belongs to those that have a home at its path. A loop
 * that walks runs itself neither claims nor begins those of other workspaces, and goes on with no run of
 * another machine: workers hand them on, and a service there walks them.
 *
 * INVARIANT (no task, I7): a schedule starts runs of flows that a human pinned. It issues no task.
 */
import { FaultError, faultCode, faultError, invariant, showName } from '../base/index.ts'
import type { ScheduleSlot } from '../contracts/index.ts'
import type { RunStatus } from '../flow/index.ts'
import { occurredAtText } from '../ledger/index.ts'
import {
  dueRuns,
  type FlowHost,
  findRun,
  hasBegun,
  hasOrders,
  isElsewhere,
  isWalked,
  lookAtRun,
  newRunId,
  passTimers,
  resumeRun,
  startRun,
  type WalkedRun,
} from '../runs/index.ts'
import { retryWhileMoved } from '../store/index.ts'
import { hasWorkspace } from './own-workspace.ts'
import { pinnedFlow } from './pinned.ts'
import { readSchedules, recordSlot, type Schedule, slotText } from './schedule-records.ts'
import { dueSlot, nextTimes } from './times.ts'

/** What a loop tells of. */
export interface ScheduleNews {
  readonly kind:
    | 'started'
    | 'resumed'
    | 'passed'
    | 'ended'
    | 'skipped'
    | 'failed'
    | 'halted'
    | 'left'
  /** Empty for a run that no schedule began. */
  readonly name: string
  readonly at: string
  readonly slot?: string
  readonly run_id?: string
  readonly status?: RunStatus
  readonly missed?: number
  readonly why?: string
  readonly code?: string
  readonly message?: string
}

/** Hands runs to workers instead of walking them here. */
export interface RunQueue {
  start(runId: string, terms: Schedule['terms']): Promise<void>
  resume(runId: string): Promise<void>
}

interface LoopOptions {
  readonly queue?: RunQueue
  readonly tell: (news: ScheduleNews) => void
  readonly abort?: AbortSignal
}

/** A time that is seen no later than this is not missed: timers of a system look now and then. */
const LATE_MS = 10 * 60_000
const LOOK_MS = 10_000
/** A run that could not go on is tried again after this. */
const REST_MS = 60_000

export class ScheduleLoop {
  readonly #host: FlowHost
  readonly #options: LoopOptions
  readonly #walks = new Map<string, Promise<void>>()
  /** Runs that failed to go on, until when they are left alone. */
  readonly #resting = new Map<string, number>()
  #wasHalted = false
  /** Schedules of other machines of which the news has gone out. */
  readonly #left = new Set<string>()

  constructor(host: FlowHost, options: LoopOptions) {
    this.#host = host
    this.#options = options
  }

  /** Starts and resumes what is due. Returns the moment of the next time; null if there is none. */
  async look(): Promise<number | null> {
    const isHalted = await this.#host.isHalted()
    if (isHalted && !this.#wasHalted) this.#tell({ kind: 'halted', name: '' })
    this.#wasHalted = isHalted
    if (isHalted) return null
    const schedules = await readSchedules(this.#host)
    for (const schedule of schedules) {
      await this.#goOn(schedule)
      if (!schedule.isPaused) await this.#startDue(schedule)
    }
    await this.#passTimers()
    const nowMs = this.#host.clock.nowMs()
    const next = schedules
      .filter(({ isPaused }) => !isPaused)
      .flatMap(({ terms }) => nextTimes(terms, nowMs, 1))
    return next.length === 0 ? null : Math.min(...next)
  }

  /** Resolves when every run that this loop walks has come to its end or waits for a person. */
  async settled(): Promise<void> {
    while (this.#walks.size > 0) await Promise.all(this.#walks.values())
  }

  /** Begins a claimed run that no process began; goes on with one that none walks any more. */
  async #goOn(schedule: Schedule): Promise<void> {
    const { last, name } = schedule
    if (last?.kind !== 'claimed' || last.run_id === undefined || this.#isBusy(last.run_id)) return
    const runId = last.run_id
    if (!(await hasBegun(this.#host, runId)))
      return this.#isOfOthers(schedule) ? undefined : this.#start(schedule, last)
    const { status, state } = await lookAtRun(this.#host, runId)
    if (state.ended !== null || (status !== 'RUNNING' && !hasOrders(this.#host, runId))) return
    if (await this.#isWalkedElsewhere(runId)) return
    if (!(await isWalked(this.#host, runId))) await this.#resume(name, runId)
  }

  /** Whether only other machines can begin the runs of a schedule, and no worker is asked to. */
  #isOfOthers({ terms: { workspace } }: Schedule): boolean {
    return this.#options.queue === undefined && !hasWorkspace(this.#host, workspace)
  }

  async #isWalkedElsewhere(runId: string): Promise<boolean> {
    if (this.#options.queue !== undefined) return false
    // Where the machine of a run is not known, going on with it says so.
    return isElsewhere(this.#host.ledger, runId).catch(() => false)
  }

  #isBusy(runId: string): boolean {
    return this.#walks.has(runId) || (this.#resting.get(runId) ?? 0) > this.#host.clock.elapsedMs()
  }

  /** Claims the newest time that has come, and begins its run. */
  async #startDue({ name }: Schedule): Promise<void> {
    const host = this.#host
    const claimed = await retryWhileMoved(async () => {
      const size = (await host.ledger.store.head(host.stream))?.size ?? 0
      const schedule = (await readSchedules(host)).find((one) => one.name === name)
      if (schedule === undefined || schedule.isPaused) return null
      if (this.#isOfOthers(schedule)) return this.#leave(schedule)
      const slot = await this.#decide(schedule)
      return slot !== null && (await recordSlot(host, slot, size)) ? { schedule, slot } : null
    })
    if (claimed === null) return
    const { schedule, slot } = claimed
    if (slot.kind === 'claimed') return this.#start(schedule, slot)
    this.#tell({ kind: 'skipped', ...newsOf(slot) })
  }

  /** Tells once that a time has come which the machines of its workspace claim. */
  #leave(schedule: Schedule): null {
    const { name, terms } = schedule
    const due = this.#dueOf(schedule)
    if (due === null || this.#left.has(name)) return null
    this.#left.add(name)
    const message = `this machine has no home at ${showName(terms.workspace)}: a service or worker of a machine that has one starts its runs`
    this.#tell({ kind: 'left', name, slot: slotText(due.slotMs), message })
    return null
  }

  #dueOf({ terms, setAt, last }: Schedule): ReturnType<typeof dueSlot> {
    const sinceMs = Math.max(Date.parse(setAt), last === null ? 0 : Date.parse(last.slot))
    return dueSlot(terms, sinceMs, this.#host.clock.nowMs())
  }

  /** What becomes of the newest time of a schedule; null if none has come. */
  async #decide(schedule: Schedule): Promise<ScheduleSlot | null> {
    const { name, terms, last } = schedule
    const nowMs = this.#host.clock.nowMs()
    const due = this.#dueOf(schedule)
    if (due === null) return null
    const at = occurredAtText(nowMs)
    const head = { name, slot: slotText(due.slotMs), at }
    const missed = due.missed === 0 ? {} : { missed: due.missed }
    const before = last?.run_id === undefined ? {} : { run_id: last.run_id }
    if (terms.missed === 'skip' && nowMs - due.slotMs > LATE_MS)
      return { ...head, kind: 'skipped', why: 'missed', ...missed, ...before }
    if (terms.overlap === 'skip' && (await this.#isOpen(last)))
      return { ...head, kind: 'skipped', why: 'overlap', ...missed, ...before }
    return { ...head, kind: 'claimed', run_id: newRunId(nowMs), ...missed }
  }

  async #isOpen(last: ScheduleSlot | null): Promise<boolean> {
    if (last?.run_id === undefined || last.kind === 'failed') return false
    // A claimed run that has not begun yet will.
    if (!(await hasBegun(this.#host, last.run_id))) return last.kind === 'claimed'
    return (await lookAtRun(this.#host, last.run_id)).state.ended === null
  }

  async #start(schedule: Schedule, slot: ScheduleSlot): Promise<void> {
    const { terms, name } = schedule
    const { run_id: runId } = slot
    invariant(runId !== undefined, 'a claimed time names its run')
    const flow = await pinnedFlow(this.#host.ledger, terms.flow_digest)
    if (flow === null) return this.#failToStart(slot, missingFlow(name, terms.flow_digest))
    this.#tell({ kind: 'started', ...newsOf(slot) })
    const { abort, queue } = this.#options
    if (queue !== undefined) return queue.start(runId, terms)
    const started = startRun(this.#host, {
      flow,
      workspace: terms.workspace,
      participantsDigest: terms.participants_digest,
      runId,
      ...(abort === undefined ? {} : { abort }),
    })
    this.#follow(name, runId, started, (fault) => this.#failToStart(slot, fault))
  }

  /** Records that the run of a time could not begin; the schedule goes on with its next time. */
  async #failToStart(slot: ScheduleSlot, { fault }: FaultError): Promise<void> {
    const { code, message } = fault
    const at = occurredAtText(this.#host.clock.nowMs())
    const failed = { ...slot, kind: 'failed', why: 'refused', at, code, message } as const
    await recordSlot(this.#host, failed)
    this.#tell({ kind: 'failed', ...newsOf(failed) })
  }

  async #resume(name: string, runId: string): Promise<void> {
    this.#tell({ kind: 'resumed', name, run_id: runId })
    const { abort, queue } = this.#options
    if (queue !== undefined) return queue.resume(runId)
    const watching = abort === undefined ? {} : { abort }
    this.#follow(name, runId, resumeRun(this.#host, runId, watching))
  }

  /** Waits for a walk in the background. Calls `refused` if the run has not begun. */
  #follow(
    name: string,
    runId: string,
    walk: Promise<WalkedRun>,
    refused?: (fault: FaultError) => Promise<void>,
  ): void {
    const over = walk
      .then(({ status }) => this.#tell({ kind: 'ended', name, run_id: runId, status }))
      .catch(async (error: unknown) => {
        // Another loop walks it, or a person has stopped this one.
        if (faultCode(error) === 'flow.taken' || this.#options.abort?.aborted === true) return
        this.#resting.set(runId, this.#host.clock.elapsedMs() + REST_MS)
        const isRefused = error instanceof FaultError && faultCode(error) !== 'halted'
        if (isRefused && refused !== undefined && !(await hasBegun(this.#host, runId)))
          return refused(error)
        const message = error instanceof Error ? error.message : String(error)
        const code = faultCode(error)
        const named = code === null ? {} : { code }
        this.#tell({ kind: 'failed', name, run_id: runId, ...named, message })
      })
      .finally(() => this.#walks.delete(runId))
    this.#walks.set(runId, over)
  }

  /** Deadlines and waits that passed while no process walked their runs. */
  async #passTimers(): Promise<void> {
    for (const runId of dueRuns(this.#host)) {
      if (this.#isBusy(runId)) continue
      const passed = await passTimers(this.#host, runId)
      if (passed.length === 0) continue
      for (const { title, kind: why, until } of passed)
        this.#tell({ kind: 'passed', name: '', run_id: runId, why, message: `${title}: ${until}` })
      const { status } = await lookAtRun(this.#host, runId)
      const { by } = await findRun(this.#host.ledger, this.#host.stream, runId)
      // A person goes on with a run that an actor began: see `writ flow resume`.
      if (status === 'RUNNING' && by.kind === 'human') await this.#resume('', runId)
    }
  }

  #tell(news: Omit<ScheduleNews, 'at'> & { readonly at?: string }): void {
    this.#options.tell({ ...news, at: occurredAtText(this.#host.clock.nowMs()) })
  }
}

function missingFlow(name: string, digest: string): FaultError {
  const message = `the flow of the schedule ${showName(name)} is no longer kept`
  const hint = `pin it again: writ schedule update ${name}`
  return faultError('flow.flow_missing', digest, message, hint)
}

function newsOf({ name, slot, run_id, missed, why, code, message }: ScheduleSlot) {
  return {
    name,
    slot,
    ...(run_id === undefined ? {} : { run_id }),
    ...(missed === undefined ? {} : { missed }),
    ...(why === undefined ? {} : { why }),
    ...(code === undefined ? {} : { code }),
    ...(message === undefined ? {} : { message }),
  }
}

/** Looks once, or until the signal comes; then waits for the runs that it walks. */
export async function runSchedules(
  host: FlowHost,
  options: LoopOptions & { readonly once: boolean },
): Promise<void> {
  const loop = new ScheduleLoop(host, options)
  const { abort, once } = options
  while (abort?.aborted !== true) {
    const next = await loop.look()
    if (once) break
    const nowMs = host.clock.nowMs()
    const waitMs = Math.max(0, Math.min(LOOK_MS, (next ?? nowMs + LOOK_MS) - nowMs))
    await pause(waitMs, abort)
  }
  await loop.settled()
}

function pause(ms: number, abort: AbortSignal | undefined): Promise<void> {
  return new Promise((resolve) => {
    const end = (): void => {
      clearTimeout(timer)
      abort?.removeEventListener('abort', end)
      resolve()
    }
    const timer = setTimeout(end, ms)
    abort?.addEventListener('abort', end, { once: true })
    if (abort?.aborted === true) end()
  })
}
