/**
 * Room: device. The reference executor of a device: believes offers that the home signed, carries each
 * out at most once, and reports. Sees api, base, contracts, ledger, machine and broker.
 */
export { calls } from './call-file.ts'
export { type CarryOut, command, simulation } from './carry-out.ts'
export { openDeviceKey } from './device-key.ts'
export type { DeviceLink } from './device-link.ts'
export { type DeviceNews, Executor } from './executor.ts'
export { HttpLink } from './http-link.ts'
export { DeviceJournal } from './journal.ts'
export { MqttLink } from './mqtt-link.ts'
