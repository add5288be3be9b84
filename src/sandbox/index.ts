/**
 * Room: sandbox. Runs a command over layers of the real tree, with nothing of the machine in reach
 * but what the request names. Sees base, contracts, machine and network.
 */
export { layerDirectory } from './apart.ts'
export type {
  Caps,
  Control,
  Layer,
  NetworkDoor,
  Probe,
  RunOutcome,
  RunRequest,
  Sandbox,
  SandboxDriver,
  SandboxRequest,
  SocketProfile,
  ToolChannel,
} from './driver.ts'
export { sandboxBase, sandboxLeftovers } from './leftovers.ts'
export { createDriver } from './linux.ts'
export { isGone, isLeftBehind, ownerMark } from './owner.ts'
export { mayMapOwners } from './owner-map.ts'
export { killStragglers } from './stragglers.ts'
