/**
 * What a device may do about a task that is offered to it: claim it, start it, report. The device showed
 * its token, or signed what it says.
 *
 * INVARIANT (asked first): a device that claims and starts here begins nothing that was withdrawn, halted
 *   or whose time is over.
 * INVARIANT (repeated, not doubled): a start that its device asks again under its lease is the first one.
 */
import { faultError, invariant } from '../base/index.ts'
import { type DispatchFact, isObject, type JsonObject } from '../contracts/index.ts'
import {
  deviceFault,
  occurredAtText,
  type Principal,
  phaseAt,
  receiptDigest,
} from '../ledger/index.ts'
import {
  type DispatchHost,
  type ReadPlace,
  refuseHalted,
  type TaskPlace,
  takeStep,
} from './steps.ts'

interface DeviceSpeaker {
  readonly principal: Principal
  /** Through which part of writ. */
  readonly source: string
  /** Of a message that the device signed. */
  readonly proof?: NonNullable<DispatchFact['proof']>
}

interface Lease {
  readonly lease: string
  readonly lease_until: string
}

const LEASE_SECONDS = 60
/** How long after the end of the window a receipt is waited for. */
const REPORT_MS = 60_000

/**
 * Gives the device a lease, which ends with the window at the latest. The device chooses its name, so
 * that a claim whose answer was lost is recognised when it is asked again.
 */
export async function claimTask(
  host: DispatchHost,
  place: ReadPlace,
  { principal, source, proof }: DeviceSpeaker,
  lease: string,
  leaseSeconds: number = LEASE_SECONDS,
): Promise<Lease> {
  if (!LEASE.test(lease))
    throw faultError('dispatch.message', '/lease', 'a lease is 32 hex digits that the device chose')
  await refuseHalted(host)
  const { known, step } = await takeStep(host, place, { principal, source }, (found, nowMs) => {
    const { state, task } = found
    if (state.lease?.id === lease && phaseAt(state, task, nowMs) === 'claimed')
      return deviceFault(task, principal)
    return {
      event: 'claimed',
      lease,
      lease_until: occurredAtText(Math.min(nowMs + leaseSeconds * 1_000, task.time_window.end_ts)),
      ...(proof === undefined ? {} : { proof }),
    }
  })
  const until = step?.lease_until ?? occurredAtText(known.state.lease?.untilMs ?? 0)
  return { lease, lease_until: until }
}

const LEASE = /^[0-9a-f]{32}$/

/** Records that the device starts now. Afterwards it may act. */
export async function startTask(
  host: DispatchHost,
  place: ReadPlace,
  { principal, source, proof }: DeviceSpeaker,
  lease: string,
): Promise<{ readonly due_at: string }> {
  await refuseHalted(host)
  const { known, step } = await takeStep(host, place, { principal, source }, (found) => {
    const { state, task } = found
    if (state.started !== null && state.lease?.id === lease && isOpen(state))
      return deviceFault(task, principal)
    return {
      event: 'started',
      lease,
      due_at: occurredAtText(task.time_window.end_ts + REPORT_MS),
      ...(proof === undefined ? {} : { proof }),
    }
  })
  return { due_at: step?.due_at ?? occurredAtText(known.state.started?.dueMs ?? 0) }
}

function isOpen({ end, receipts }: { readonly end: unknown; readonly receipts: number }): boolean {
  return end === null && receipts === 0
}

/**
 * Keeps the signature under a receipt that is on the record, if there is one; once for each receipt. Fails
 * if the record has another receipt in its place.
 */
export async function keepAnswer(
  host: DispatchHost,
  place: TaskPlace,
  { principal, source, proof }: DeviceSpeaker,
  receipt: JsonObject,
): Promise<void> {
  const digest = receiptDigest(receipt)
  await takeStep(host, place, { principal, source }, ({ facts }) => {
    const has = (type: string, isIt: (payload: JsonObject) => boolean): boolean =>
      facts.some(
        ({ record, payload }) => record.type === type && isObject(payload) && isIt(payload),
      )
    if (!has('ao_act_receipt_v0', (payload) => receiptDigest(payload) === digest)) {
      const message = 'the device gave another receipt under the same key, and the first one counts'
      throw faultError('receipt.duplicate', place.taskId, message, `writ task show ${place.taskId}`)
    }
    const isKept = has('dispatch_v1', (payload) => payload['digest'] === digest)
    return isKept || proof === undefined ? null : { event: 'answered', digest, proof }
  })
}

/** A human ends the offer of a task that no device has started. */
export async function withdrawTask(
  host: DispatchHost,
  place: TaskPlace,
  principal: Principal,
  reason: string | null,
): Promise<DispatchFact> {
  const { step } = await takeStep(host, place, { principal, source: 'dispatch' }, () => ({
    event: 'withdrawn',
    ...(reason === null ? {} : { reason }),
  }))
  invariant(step !== null, 'a withdrawal is recorded or refused')
  return step
}
