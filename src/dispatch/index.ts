/**
 * Room: dispatch. Brings tasks to the devices that they are for, and takes what devices say. Sees base,
 * contracts, ledger, store, service, history, notifications and broker.
 */
export { DeviceDesk } from './device-desk.ts'
export { DeviceKeys, recordDeviceKey } from './device-keys.ts'
export { claimTask, startTask, withdrawTask } from './device-says.ts'
export { DispatchLoop } from './dispatch-loop.ts'
export type { LoopNews, WayNews } from './news.ts'
export { HomeSigner } from './offer.ts'
export { isHaltedNow, readTask, unknownTask } from './steps.ts'
export { tryBroker } from './try-broker.ts'
export { WaySet } from './ways.ts'
