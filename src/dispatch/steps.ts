/**
 * Records the steps of a task on its way to its device.
 *
 * INVARIANT (one order): step N of a task has the key `dispatch/<task>/N`. A process that finds it taken
 *   reads again and judges again, so two processes never take two steps from one state.
 * INVARIANT (judged first): no step is recorded that `stepFault` refuses.
 */
import { canonicalJson, FaultError, fault, faultError, invariant, showName } from '../base/index.ts'
import type { ActTask, DispatchFact } from '../contracts/index.ts'
import { allFacts, openFact } from '../history/index.ts'
import {
  type DispatchState,
  deviceOfTask,
  foldDispatch,
  HOST_STREAM,
  type OpenedFact,
  occurredAtText,
  type Principal,
  type StepFault,
  stepFault,
} from '../ledger/index.ts'
import { isHalted } from '../service/index.ts'
import type { Ledger } from '../store/index.ts'

/** A home whose tasks are dispatched. */
export interface DispatchHost {
  readonly ledger: Ledger
  /** The state directory. */
  readonly state: string
  readonly nowMs: () => number
}

export interface TaskPlace {
  readonly stream: string
  readonly taskId: string
}

/** A task that was read a moment ago; it is read again only if another step came between. */
export interface ReadPlace extends TaskPlace {
  readonly known?: KnownTask
}

/** A task with what became of it. */
export interface KnownTask {
  readonly task: ActTask
  readonly facts: readonly OpenedFact[]
  readonly state: DispatchState
}

/** Reads a task that is for a device; null if the stream has none of this id. */
export async function readTask(
  ledger: Ledger,
  { stream, taskId }: TaskPlace,
): Promise<KnownTask | null> {
  const facts = await allFacts(ledger, { stream, task: taskId })
  const issued = facts.find(({ record }) => record.type === 'ao_act_task_v0')
  if (issued === undefined || deviceOfTask(issued.payload) === null) return null
  // The store judged the record by its contract before it was written.
  return { task: issued.payload as ActTask, facts, state: foldDispatch(facts) }
}

export function unknownTask(taskId: string): FaultError {
  const message = `there is no task ${showName(taskId)} for a device`
  return faultError('dispatch.unknown_task', taskId, message, 'writ task list --open')
}

/** What a step says besides its number, its task and its time. */
export type StepWords = Omit<DispatchFact, 'act_task_id' | 'step' | 'at'>

/** Null: there is nothing to record. */
type Choice = (known: KnownTask, nowMs: number) => StepWords | StepFault | null

interface StepActor {
  readonly principal: Principal
  readonly source: string
}

const TRIES = 50

/** Takes one step, chosen from the state of the task. Returns the state before it and the step. */
export async function takeStep(
  { ledger, nowMs }: DispatchHost,
  place: ReadPlace,
  { principal, source }: StepActor,
  choose: Choice,
): Promise<{ readonly known: KnownTask; readonly step: DispatchFact | null }> {
  const { stream, taskId } = place
  for (let tried = 0; tried < TRIES; tried++) {
    const isRead = tried === 0 && place.known !== undefined
    const known = isRead ? place.known : await readTask(ledger, place)
    if (known === null) throw unknownTask(taskId)
    const now = nowMs()
    const words = choose(known, now)
    if (words === null) return { known, step: null }
    if ('code' in words) throw refusedStep(words, taskId)
    const step = stepOf(known, words, now)
    const refused = stepFault(known.state, known.task, step, principal)
    if (refused !== null) throw refusedStep(refused, taskId)
    const recorded = await ledger.record({ stream, source, principal, ...entryOf(step) })
    invariant(recorded.ok, 'a step that writ made follows its contract')
    if (!recorded.appended.repeated) return { known, step }
    if (await isOwn(ledger, stream, recorded.appended.seq, step)) return { known, step }
  }
  throw faultError('dispatch.claimed', taskId, 'other processes kept changing this task; try again')
}

export function stepOf({ task, state }: KnownTask, words: StepWords, nowMs: number): DispatchFact {
  const { act_task_id } = task
  return { ...words, act_task_id, step: state.steps, at: occurredAtText(nowMs) }
}

/** The record of a step and its key. */
export function entryOf(step: DispatchFact) {
  return {
    record: { type: 'dispatch_v1', payload: step },
    idempotencyKey: `dispatch/${step.act_task_id}/${step.step}`,
  }
}

/** A store that appended a draft and tried again reports the draft's own fact as repeated. */
async function isOwn(
  ledger: Ledger,
  stream: string,
  seq: number,
  step: DispatchFact,
): Promise<boolean> {
  const [stored] = await ledger.store.read(stream, seq, 1)
  if (stored === undefined) return false
  const { payload } = await openFact(ledger, stored.text)
  return canonicalJson(payload) === canonicalJson(step)
}

const NEXT: Readonly<Partial<Record<StepFault['code'], string>>> = {
  'dispatch.started': 'stop the machine where it is; `writ task show ID` shows what it reports',
  'dispatch.ended': 'a retry is a new task: `writ task issue FILE`',
  'dispatch.lease': 'claim the task again',
}

function refusedStep({ code, message }: StepFault, taskId: string): FaultError {
  const hint = NEXT[code]?.replace('ID', taskId)
  return new FaultError(
    fault(code, taskId, null, hint === undefined ? { message } : { message, hint }),
  )
}

/** Fails while a human has halted everything: the file of this machine, or the newest fact. */
export async function refuseHalted(host: Pick<DispatchHost, 'ledger' | 'state'>): Promise<void> {
  if (!(await isHaltedNow(host))) return
  const message = 'a human halted everything, so no task begins'
  throw faultError('halted', '', message, 'a human ends it: `writ resume`')
}

export async function isHaltedNow({
  ledger,
  state,
}: Pick<DispatchHost, 'ledger' | 'state'>): Promise<boolean> {
  if (isHalted(state)) return true
  const query = { stream: HOST_STREAM, type: 'halt_v1', limit: 1, order: 'newest_first' } as const
  const [last] = (await ledger.store.find(query)).facts
  return last !== undefined && JSON.parse(last.text).record.payload.state === 'HALTED'
}
