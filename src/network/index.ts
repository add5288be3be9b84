/**
 * Room: network. The proxy through which a run reaches the hosts that it declared, and nothing else.
 * Sees base, contracts, gate and machine.
 */
export { type AddressRules, connectOnce, type Resolve } from './connect.ts'
export { InsideConnector } from './connector.ts'
export { openListener } from './listener.ts'
export { type OnRefused, type ProxyOptions, RunProxy } from './proxy.ts'
