/**
 * The way of a task to its device (D-1), as a fold over the facts about the task, and the rules by which
 * a step may follow. The host asks `stepFault` before it records a step; replay asks it again.
 *
 * INVARIANT (people, I1, I7): a task comes from a human's issue alone, and a human alone withdraws it.
 * INVARIANT (one start): a lease is given while no other is alive and nothing was started; a start needs
 *   the lease in force. What was started is never offered again: a retry is a new task.
 * INVARIANT (no claim twice): a lease that has ended is never given again, so a claim that someone
 *   recorded and repeats later takes nothing.
 * INVARIANT (nothing else counts): of a task only its device, its window and its digest are looked at.
 */
import { digestDocument, parseIsoMomentMs } from '../../base/index.ts'
import {
  type ActTask,
  type DeviceName,
  type DispatchEventName,
  type DispatchFact,
  field,
  isObject,
} from '../../contracts/index.ts'
import { occurredAtText, type Principal } from '../facts/fact.ts'
import type { OpenedFact } from './act-evidence.ts'
import { isSignedBy, receiptDigest, saidText } from './dispatch-text.ts'

/** What the steps so far add up to. Time passes between steps, so `phaseAt` takes the moment. */
export interface DispatchState {
  /** How many steps were recorded; the number of the next one. */
  readonly steps: number
  readonly offer: {
    readonly device: DeviceName
    readonly way: string
    readonly nonce: string
    readonly digest: string
    readonly at: string
  } | null
  readonly lease: { readonly id: string; readonly untilMs: number } | null
  /** The leases that were given, the one in force last. */
  readonly leases: readonly string[]
  readonly started: { readonly at: string; readonly dueMs: number } | null
  /** What ended it without a receipt. */
  readonly end: { readonly kind: 'silent' | 'unknown' | 'withdrawn'; readonly at: string } | null
  readonly receipts: number
}

export const NO_DISPATCH: DispatchState = {
  steps: 0,
  offer: null,
  lease: null,
  leases: [],
  started: null,
  end: null,
  receipts: 0,
}

export type DispatchPhase =
  | 'waiting'
  | 'due'
  | 'offered'
  | 'claimed'
  | 'started'
  | 'answered'
  | 'overdue'
  | 'silent'
  | 'unknown'
  | 'withdrawn'

const WORD = /^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$/

/** Reads `ID@NAMESPACE`, or an id in a known namespace; null if it is neither. */
export function parseDevice(text: string, namespace: string): DeviceName | null {
  const sign = text.lastIndexOf('@')
  const [id, place] = sign < 0 ? [text, namespace] : [text.slice(0, sign), text.slice(sign + 1)]
  return WORD.test(id) && WORD.test(place) ? { id, namespace: place } : null
}

export function deviceText({ id, namespace }: DeviceName): string {
  return `${id}@${namespace}`
}

/**
 * Returns the device that a task is for: `meta.device_id`, in the namespace of the issuer unless it
 * names another. Null for a task that is for no device; such a task is not dispatched.
 */
export function deviceOfTask(task: unknown): DeviceName | null {
  const named = field(field(task, 'meta'), 'device_id')
  const namespace = field(field(task, 'issuer'), 'namespace')
  if (typeof named !== 'string' || typeof namespace !== 'string') return null
  return parseDevice(named, namespace)
}

export function isDevice(principal: Principal, { id, namespace }: DeviceName): boolean {
  return principal.kind === 'device' && principal.id === id && principal.namespace === namespace
}

/** Takes one fact about the task; facts of other kinds change nothing. */
export function takeDispatchFact(state: DispatchState, fact: OpenedFact): DispatchState {
  if (fact.record.type === 'ao_act_receipt_v0') return { ...state, receipts: state.receipts + 1 }
  if (fact.record.type !== 'dispatch_v1') return state
  // The store judged the record by its contract before it was written.
  return takeStep(state, fact.payload as DispatchFact, fact.principal)
}

function takeStep(state: DispatchState, step: DispatchFact, by: Principal): DispatchState {
  const next = { ...state, steps: state.steps + 1 }
  const { at } = step
  switch (step.event) {
    case 'offered': {
      const { device, way, nonce, digest } = step
      if (device === undefined || way === undefined) return next
      return { ...next, offer: { device, way, at, nonce: nonce ?? '', digest: digest ?? '' } }
    }
    case 'claimed': {
      const id = step.lease ?? ''
      const lease = { id, untilMs: msOf(step.lease_until) }
      return { ...next, lease, leases: [...state.leases, id] }
    }
    case 'started':
      return { ...next, started: { at, dueMs: msOf(step.due_at) } }
    case 'silent':
    case 'unknown':
      return { ...next, end: { kind: step.event, at } }
    case 'withdrawn':
      // What no human recorded withdraws nothing.
      return by.kind === 'human' ? { ...next, end: { kind: 'withdrawn', at } } : next
    case 'answered':
      return next
    default:
      return step.event satisfies never
  }
}

export function foldDispatch(facts: readonly OpenedFact[]): DispatchState {
  return facts.reduce(takeDispatchFact, NO_DISPATCH)
}

function msOf(moment: string | undefined): number {
  return parseIsoMomentMs(moment ?? '') ?? 0
}

/** Where a task is at a moment. `due` and `overdue` wait for the dispatcher to record what follows. */
export function phaseAt(
  state: DispatchState,
  { time_window }: Pick<ActTask, 'time_window'>,
  nowMs: number,
): DispatchPhase {
  if (state.receipts > 0) return 'answered'
  if (state.end !== null) return state.end.kind
  if (state.started !== null) return nowMs < state.started.dueMs ? 'started' : 'overdue'
  if (nowMs >= time_window.end_ts) return 'overdue'
  if (state.offer === null) return nowMs < time_window.start_ts ? 'waiting' : 'due'
  return state.lease !== null && nowMs < state.lease.untilMs ? 'claimed' : 'offered'
}

/** Phases in which nothing happens any more by itself. */
export function isOver(phase: DispatchPhase): boolean {
  return ['answered', 'silent', 'unknown', 'withdrawn'].includes(phase)
}

/** Where a task is, for readers. */
export interface DispatchView {
  readonly state: DispatchPhase
  readonly device: string
  readonly way: string | null
  readonly offered_at: string | null
  readonly lease_until: string | null
  readonly started_at: string | null
  readonly due_at: string | null
  readonly ended_at: string | null
  /** The receipt came after the task had been given up. */
  readonly late: boolean
}

/** Null for a task that is for no device. */
export function dispatchView(facts: readonly OpenedFact[], nowMs: number): DispatchView | null {
  const task = facts.find(({ record }) => record.type === 'ao_act_task_v0')?.payload
  const device = deviceOfTask(task)
  if (device === null) return null
  const state = foldDispatch(facts)
  const { offer, lease, started, end, receipts } = state
  return {
    // A task with a device is one: the store judged the record by its contract.
    state: phaseAt(state, task as ActTask, nowMs),
    device: deviceText(device),
    way: offer?.way ?? null,
    offered_at: offer?.at ?? null,
    lease_until: lease === null ? null : occurredAtText(lease.untilMs),
    started_at: started?.at ?? null,
    due_at: started === null ? null : occurredAtText(started.dueMs),
    ended_at: end?.at ?? null,
    late: receipts > 0 && end !== null,
  }
}

/** A step that does not follow: a code and a sentence. */
export interface StepFault {
  readonly code:
    | 'dispatch.not_offered'
    | 'dispatch.other_device'
    | 'dispatch.claimed'
    | 'dispatch.lease'
    | 'dispatch.started'
    | 'dispatch.ended'
    | 'principal.not_human'
  readonly message: string
}

/** Says why a step may not follow at its moment; null if it may. */
export function stepFault(
  state: DispatchState,
  task: ActTask,
  step: DispatchFact,
  by: Principal,
): StepFault | null {
  const phase = phaseAt(state, task, msOf(step.at))
  switch (step.event) {
    case 'offered':
      return offerFault(phase, task, step)
    case 'claimed':
      return deviceFault(task, by) ?? claimFault(state, phase, task, step)
    case 'started':
      return deviceFault(task, by) ?? startFault(state, phase, step)
    case 'answered':
      if (state.offer === null) return fault('dispatch.not_offered', NOT_OFFERED)
      return deviceFault(task, by)
    case 'silent':
      if (phase === 'overdue' && state.started === null) return null
      return fault('dispatch.ended', 'the time of the task is not over, or the device was heard')
    case 'unknown':
      if (phase === 'overdue' && state.started !== null) return null
      return fault('dispatch.ended', 'the receipt is not overdue')
    case 'withdrawn':
      return withdrawFault(phase, state, by)
    default:
      return step.event satisfies never
  }
}

const NOT_OFFERED = 'the task is not on offer'

function fault(code: StepFault['code'], message: string): StepFault {
  return { code, message }
}

function offerFault(phase: DispatchPhase, task: ActTask, step: DispatchFact): StepFault | null {
  if (phase !== 'due') return fault('dispatch.ended', `the task cannot be offered: it is ${phase}`)
  const device = deviceOfTask(task)
  if (device === null || step.device === undefined || !isSame(device, step.device))
    return fault('dispatch.other_device', 'the offer is not for the device of the task')
  if (step.digest === digestDocument(task)) return null
  return fault('dispatch.not_offered', 'the offer is not of the task as it was issued')
}

function isSame(one: DeviceName, other: DeviceName): boolean {
  return one.id === other.id && one.namespace === other.namespace
}

/** Why a principal may say nothing as the device of a task; null for the device itself. */
export function deviceFault(task: ActTask, by: Principal): StepFault | null {
  const device = deviceOfTask(task)
  if (device !== null && isDevice(by, device)) return null
  return fault('dispatch.other_device', 'the task is for another device')
}

function claimFault(
  { leases }: DispatchState,
  phase: DispatchPhase,
  task: ActTask,
  step: DispatchFact,
): StepFault | null {
  if (phase === 'claimed')
    return fault('dispatch.claimed', 'the device holds the task; ask again when its lease is over')
  if (phase === 'started') return fault('dispatch.started', 'the device has started the task')
  if (phase === 'waiting' || phase === 'due') return fault('dispatch.not_offered', NOT_OFFERED)
  if (phase !== 'offered') return fault('dispatch.ended', endText(phase))
  if (leases.includes(step.lease ?? ''))
    return fault('dispatch.lease', 'a lease of this name has ended; a new claim has a new name')
  const untilMs = msOf(step.lease_until)
  if (untilMs > msOf(step.at) && untilMs <= task.time_window.end_ts) return null
  return fault('dispatch.lease', 'a lease ends after it began and inside the window of the task')
}

function startFault(
  { lease }: DispatchState,
  phase: DispatchPhase,
  step: DispatchFact,
): StepFault | null {
  if (phase === 'started') return fault('dispatch.started', 'the device has started the task')
  if (isOver(phase) || phase === 'overdue') return fault('dispatch.ended', endText(phase))
  if (phase === 'claimed' && lease?.id === step.lease) return null
  return fault('dispatch.lease', 'the lease has ended, or is another one; claim the task again')
}

function withdrawFault(
  phase: DispatchPhase,
  { started }: DispatchState,
  by: Principal,
): StepFault | null {
  if (by.kind !== 'human') return fault('principal.not_human', 'only a human withdraws a task')
  if (started !== null && !isOver(phase))
    return fault(
      'dispatch.started',
      'the device has started the task, so nothing can be taken back',
    )
  return isOver(phase) ? fault('dispatch.ended', endText(phase)) : null
}

const ENDS: Readonly<Partial<Record<DispatchPhase, string>>> = {
  answered: 'the task has a receipt',
  overdue: 'the time of the task is over',
  silent: 'the time of the task is over',
  unknown: 'the device started the task and did not report in time',
  withdrawn: 'a human withdrew the task',
}

function endText(phase: DispatchPhase): string {
  return ENDS[phase] ?? `the task is ${phase satisfies string}`
}

/** What a device signs to cause an event. */
const STATUS_OF: Readonly<Partial<Record<DispatchEventName, string>>> = {
  claimed: 'ACKED',
  started: 'RUNNING',
  answered: 'REPORTED',
}

/** A step that does not follow from the facts before it, by its place; null if each one does. */
export function dispatchBreach(
  facts: readonly OpenedFact[],
  keysOf: (device: DeviceName, at: string) => readonly string[],
): { readonly seq: number; readonly message: string } | null {
  let state = NO_DISPATCH
  const task = facts.find(({ record }) => record.type === 'ao_act_task_v0')
  for (const fact of facts) {
    if (fact.record.type === 'dispatch_v1') {
      // The store judged both records by their contracts before they were written.
      const step = fact.payload as DispatchFact
      const issued = task?.payload as ActTask | undefined
      const message =
        issued === undefined || task === undefined || task.seq > fact.seq
          ? 'there is no task before it'
          : step.step !== state.steps
            ? `it is step ${step.step} where ${state.steps} follows`
            : (stepFault(state, issued, step, fact.principal)?.message ??
              signatureFault(state, issued, step, fact.occurred_at, keysOf) ??
              receiptFault(facts, step))
      if (message !== null) return { seq: fact.seq, message }
    }
    state = takeDispatchFact(state, fact)
  }
  return null
}

/** An answer is about a receipt of the task that is on the record. */
function receiptFault(
  facts: readonly OpenedFact[],
  { event, digest }: DispatchFact,
): string | null {
  if (event !== 'answered') return null
  const isThere = facts.some(
    ({ record, payload }) =>
      record.type === 'ao_act_receipt_v0' && isObject(payload) && receiptDigest(payload) === digest,
  )
  return isThere ? null : 'there is no such receipt'
}

function signatureFault(
  { offer }: DispatchState,
  task: ActTask,
  step: DispatchFact,
  at: string,
  keysOf: (device: DeviceName, at: string) => readonly string[],
): string | null {
  const device = deviceOfTask(task)
  const status = STATUS_OF[step.event]
  if (step.proof === undefined || device === null || status === undefined) return null
  if (!keysOf(device, at).includes(step.proof.key)) return 'the device had no such key'
  const said = saidText({
    command_id: task.act_task_id,
    device: deviceText(device),
    nonce: offer?.nonce ?? '',
    status,
    about: (step.event === 'answered' ? step.digest : step.lease) ?? '',
  })
  return isSignedBy(step.proof.key, said, step.proof.sig) ? null : 'the signature is not valid'
}
