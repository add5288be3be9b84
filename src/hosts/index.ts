/**
 * Room: hosts. Adapters of coding agents: how each is recognised, what a session adds to its start,
 * its state and model endpoints, and translators of its hooks. Pure. Sees base.
 */
export { KEY_PLACEHOLDER } from './host.ts'
export { HOSTS, hostNamed, recogniseHost } from './registry.ts'
export { sessionStart, switchedOff } from './session-start.ts'
