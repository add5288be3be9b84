/**
 * Devices that ask for their tasks, claim and start them (D-2).
 *
 * INVARIANT (own tasks only): a device sees and takes what is for itself; a human may look. Others are
 * refused.
 */
import { type FaultError, faultError, showName } from '../../base/index.ts'
import type { DeviceName } from '../../contracts/index.ts'
import {
  claimTask as claim,
  readTask,
  startTask as start,
  unknownTask,
} from '../../dispatch/index.ts'
import { type Caller, deviceText, isDevice, parseDevice } from '../../ledger/index.ts'
import { knownStreams } from './actions.ts'
import type { Handler, RouteCall } from './route-call.ts'

export const listDeviceTasks: Handler<'listDeviceTasks'> = async (call) => {
  const { caller, params, home, waitSeconds, gone, stop } = call
  const device = deviceOf(params.id, caller)
  const waiting = { waitMs: waitSeconds * 1_000, gone: AbortSignal.any([gone, stop]) }
  return { value: { offers: await home.devices.offers(device, caller.streams, waiting) } }
}

export const claimTask: Handler<'claimTask'> = async (call) => {
  const { lease, lease_seconds } = call.body
  const saying = { principal: call.caller.principal, source: 'api' }
  return { value: await claim(hostOf(call), await placeOf(call), saying, lease, lease_seconds) }
}

export const startTask: Handler<'startTask'> = async (call) => {
  const saying = { principal: call.caller.principal, source: 'api' }
  return { value: await start(hostOf(call), await placeOf(call), saying, call.body.lease) }
}

export const sayAsDevice: Handler<'sayAsDevice'> = async (call) => {
  const { caller, params, home, body } = call
  const device = deviceOf(params.id, caller)
  // A human may look at what is offered to a device, and speaks for none.
  if (!isDevice(caller.principal, device)) throw foreign(device)
  const { command_id, status, lease = '', receipt = null } = body
  const place = await placeIn(call, command_id)
  const said = { command_id, status, lease, receipt }
  return { value: await home.devices.answer(place, caller, said) }
}

function hostOf({ home }: Pick<RouteCall, 'home'>) {
  return { ledger: home.ledger, state: home.home.state, nowMs: Date.now }
}

function placeOf(call: RouteCall<'claimTask'> | RouteCall<'startTask'>) {
  return placeIn(call, call.params.id)
}

/** The task in a stream that the caller may know of; what lies in another does not exist. */
async function placeIn(call: Pick<RouteCall, 'home' | 'caller'>, taskId: string) {
  for (const stream of await knownStreams(call)) {
    const place = { stream, taskId }
    if ((await readTask(call.home.ledger, place)) !== null) return place
  }
  throw unknownTask(taskId)
}

function deviceOf(text: string, caller: Caller): DeviceName {
  const device = parseDevice(text, caller.principal.namespace)
  if (device === null) throw faultError('dispatch.device', text)
  if (caller.principal.kind === 'human' || isDevice(caller.principal, device)) return device
  throw foreign(device)
}

function foreign(device: DeviceName): FaultError {
  const text = deviceText(device)
  const message = `the tasks of ${showName(text)} are for that device`
  return faultError('dispatch.other_device', text, message)
}
