/** One turn of a job: reports it, does it, and adds it again where nothing is wrong with it. */
import { setTimeout as pause } from 'node:timers/promises'
import type { Job } from 'graphile-worker'
import { FaultError, fault, faultCode, faultError, showName } from '../base/index.ts'
import type { HomeServer } from '../store/index.ts'
import {
  formatLabel,
  isNewerFormat,
  JOB_FORMAT,
  leaveToNewer,
  REFUSED,
  spendTries,
} from './jobs.ts'

/** What a worker tells of. */
export interface WorkerNews {
  readonly kind: 'ready' | 'taken' | 'done' | 'failed' | 'passed_on' | 'away' | 'back'
  readonly at: string
  readonly task?: string
  readonly run?: string
  readonly action?: string
  readonly status?: string
  readonly code?: string
  readonly message?: string
}

/** Where nothing is wrong with a job itself: how long it rests before it is done again. */
const RESTS_MS: Readonly<Record<string, number>> = {
  // This worker ends.
  'flow.interrupted': 0,
  // Another process has the run or the act.
  'flow.taken': 2_000,
  // The server is away, or others held a turn for too long.
  'ledger.unreachable': 2_000,
  'ledger.busy': 2_000,
  // A human halted everything; the job waits until they resume it.
  halted: 5_000,
}

/** Whether this machine may still record, which a failure of a job may have to do with. */
export interface MachineStanding {
  /** Returns whether the job failed because the machine may not; the worker ends then. */
  isOut(error: unknown): Promise<boolean>
}

/** The worker takes it again once at most before it ends. */
const OUT_REST_MS = 2_000

/** No worker ever does such a job: no machine that may sign has signed it, or its principal may not propose. */
const REFUSED_CODES: ReadonlySet<string> = new Set([
  'machine.unknown',
  'principal.token',
  'principal.unknown',
  // A human removed it, or no writ makes such a job.
  'machine.job',
])

interface TurnPlace {
  readonly server: HomeServer
  readonly flags: { isForeign(flags: readonly string[]): boolean }
  readonly standing: MachineStanding
  readonly tell: (news: WorkerNews) => void
}

interface Turn {
  /** What the job is, for news. */
  readonly words: Pick<WorkerNews, 'task' | 'run' | 'action'>
  readonly payload: unknown
  readonly job: Job
  /** Returns what became of it; null where another worker has to do it. */
  readonly work: (labels: readonly string[]) => Promise<string | null>
  /** Adds the job again after a rest; returns whether it did. */
  readonly again: (restMs: number, code: string) => Promise<boolean>
  /** Codes of failures with which nothing is wrong with this job, besides those of every job. */
  readonly restsMs?: Readonly<Record<string, number>>
}

/** A worker that ends waits as long for a server that is away; then its jobs are given back by others. */
const LAST_MS = 3_000
const AGAIN_MS = 500

export async function takeTurn(
  { server, flags, standing, tell }: TurnPlace,
  { words, payload, job, work, again, restsMs = {} }: Turn,
): Promise<void> {
  const labels = Object.keys(job.flags ?? {})
  const told = (kind: WorkerNews['kind'], rest: Partial<WorkerNews> = {}): void =>
    tell({ kind, at: now(), ...words, ...rest })
  told('taken')
  try {
    // Every role of the server can add a job that is no object.
    const { v } = (payload ?? {}) as { readonly v?: unknown }
    if (v !== JOB_FORMAT) {
      if (!isNewerFormat(v)) throw strangeJob(v)
      flags.isForeign([formatLabel(v)])
      await leaveToNewer(server, { task: job.task_identifier, payload, key: job.key, labels }, v)
      return told('passed_on', wordsOf(newerJob(v)))
    }
    const status = await work(labels)
    if (status === null) told('passed_on')
    else told('done', { status })
  } catch (error) {
    let failure = error
    try {
      const code = faultCode(error) ?? ''
      const isOut = await standing.isOut(error)
      const restMs = isOut ? OUT_REST_MS : (restsMs[code] ?? RESTS_MS[code])
      if (restMs !== undefined && (await again(restMs, code)))
        return told('passed_on', wordsOf(error))
    } catch (reason) {
      // The job cannot be added again: it fails, and keeps its row.
      failure = reason
    }
    told('failed', wordsOf(failure))
    const isRefused =
      REFUSED_CODES.has(faultCode(failure) ?? '') && (await spendTries(server, job.id))
    // The engine keeps the message for people; a stack says nothing to them.
    const text = `${isRefused ? REFUSED : ''}${failureText(failure)}`
    throw Object.assign(new Error(text), { stack: '' })
  }
}

/** Failures to add a job that pass by themselves, or when a person makes room. */
const PASSING: ReadonlySet<string> = new Set([
  'ledger.unreachable',
  'ledger.busy',
  'ledger.disk_full',
])
/** SQLSTATE classes of values, rules, rights and limits: the server understood, and refuses it every time. */
const REFUSALS = /^(?:22|23|42|54)/

/**
 * Adds a job again, however long the server is away; false where the worker ends meanwhile. Fails where
 * trying again does not help.
 */
export async function addPatiently(stop: AbortSignal, add: () => Promise<void>): Promise<boolean> {
  for (let endMs = Number.POSITIVE_INFINITY; performance.now() < endMs; await pause(AGAIN_MS)) {
    try {
      await add()
      return true
    } catch (error) {
      if (!passes(error)) throw error
      if (stop.aborted) endMs = Math.min(endMs, performance.now() + LAST_MS)
    }
  }
  return false
}

function passes(error: unknown): boolean {
  if (!PASSING.has(faultCode(error) ?? '')) return false
  // A cause is an error of the server or of the system, or there is none.
  const { code } = ((error as Error).cause ?? {}) as { readonly code?: unknown }
  return typeof code !== 'string' || !REFUSALS.test(code)
}

function newerJob(found: number): Error {
  const message = `the job has the format ${showName(String(found))}, and this writ knows ${JOB_FORMAT}`
  const hint = 'install the writ that made the job here, too'
  const details = { found, known: JOB_FORMAT }
  return new FaultError(fault('ledger.version', '', details, { message, hint }))
}

function strangeJob(found: unknown): Error {
  const message = `no writ makes jobs of the format ${showName(JSON.stringify(found) ?? 'none')}`
  const hint = 'look who has the role of the server, and remove the job: `writ worker drop JOB`'
  return faultError('machine.job', '', message, hint)
}

export function wordsOf(error: unknown): { readonly code?: string; readonly message: string } {
  const code = faultCode(error)
  const message = error instanceof Error ? error.message : String(error)
  return code === null ? { message } : { code, message }
}

function failureText(error: unknown): string {
  const { code, message } = wordsOf(error)
  const text = code === undefined ? message : `${message} (${code})`
  // A job may name anything, and the server keeps no such characters.
  return text.toWellFormed().replaceAll('\0', '\ufffd')
}

export function now(): string {
  return new Date().toISOString()
}
