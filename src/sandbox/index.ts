/**
 * Room: sandbox. Runs a command over layers of the real tree, with nothing of the machine in reach
 * but what the request names. Sees base, contracts, machine and network.
 */
export type {
  Caps,
  Control,
  EndedCommands,
  Keeper,
  KeeperTask,
  Layer,
  NetworkDoor,
  Probe,
  RefusedAccess,
  RunOutcome,
  RunRequest,
  Sandbox,
  SandboxDriver,
  SandboxRequest,
  SocketProfile,
  ToolChannel,
} from './driver/driver.ts'
export { isGone, isLeftBehind, mayMapOwners, ownerMark, startedAt } from './driver/owner.ts'
export { sandboxBase, sandboxLeftovers } from './layers/leftovers.ts'
export { layerDirectory } from './layers/overlay-plan.ts'
export { createDriver } from './linux.ts'
export { removeKeptLayers } from './preparation/sandbox-resources.ts'
export { killStragglers } from './processes/waiting-shell.ts'
