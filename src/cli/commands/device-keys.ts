/** `writ device enroll` and `writ device list`: the keys with which devices sign (D-2). */
import { faultError, showName } from '../../base/index.ts'
import { DeviceKeys, recordDeviceKey } from '../../dispatch/index.ts'
import { deviceText, type Principal, parseDevice, samePrincipal } from '../../ledger/index.ts'
import { type CommandCall, type Exit, reply, usageError } from '../call/command.ts'
import { actorOf, requireHuman, requireWholeHost, withHistory, withHome } from '../call/home.ts'
import { table } from '../history/text.ts'

export async function enroll(call: CommandCall): Promise<Exit> {
  const [text, key, ...others] = call.arguments
  const isRemoved = call.options.isOn('remove')
  if (text === undefined || others.length > 0 || (key === undefined) !== isRemoved)
    throw usageError('name a device and its key', '`writ device key` prints it on the device')
  return withHome(call, async (session) => {
    await requireHuman(session, call, 'enrolling a device')
    const device = parseDevice(text, session.caller.principal.namespace)
    if (device === null)
      throw faultError('dispatch.device', text, `${showName(text)} is no device`, 'ID@NAMESPACE')
    const principal: Principal = { kind: 'device', ...device }
    const { principals } = session.register
    if (!principals.some((one) => samePrincipal(one.principal, principal))) {
      const message = `no device ${showName(deviceText(device))} is registered here`
      const hint = `writ principal add device:${deviceText(device)}`
      throw faultError('dispatch.device', text, message, hint)
    }
    const name = deviceText(device)
    const known = await new DeviceKeys(session.ledger).read()
    refuseTaken(known, name, key)
    const before = known.current(device)
    await recordDeviceKey(session.ledger, actorOf(session), device, key ?? null, Date.now())
    const isOther = before !== null && before !== key
    const words = isRemoved
      ? `${name} has no key any more`
      : `${name} signs with this key${isOther ? `, and no longer with ${before}` : ''}`
    return reply(
      call,
      { device: name, key: key ?? null },
      (paint) => `${paint.good('set')}  ${words}\n`,
    )
  })
}

/** Two devices with one key could sign for each other. */
function refuseTaken(known: DeviceKeys, name: string, key: string | undefined): void {
  const holder = known.all().find((one) => one.key === key && deviceText(one.device) !== name)
  if (holder === undefined) return
  const other = deviceText(holder.device)
  const message = `the device ${showName(other)} has this key, and each device signs with its own`
  const hint = `a new one for ${name}: writ device key --dir ANOTHER; or first: writ device enroll ${other} --remove`
  throw faultError('dispatch.key', name, message, hint)
}

export async function list(call: CommandCall): Promise<Exit> {
  return withHistory(call, async ({ ledger, caller }) => {
    requireWholeHost(caller, 'listing devices')
    const keys = (await new DeviceKeys(ledger).read()).all()
    const devices = keys.map(({ device, key, setAt }) => ({
      device: deviceText(device),
      key,
      set_at: setAt,
    }))
    const rows = devices.map(({ device, key, set_at }) => [device, key, set_at])
    return reply(call, { devices }, () => table(call.terminal, ['device', 'key', 'since'], rows))
  })
}
