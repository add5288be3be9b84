/**
 * Room: view. The live view of a session: stops its processes, finds what is pending, and shows the real
 * tree again where nothing is in use. Sees base, gate, machine, sandbox and tree.
 */
export { openView } from './live-view.ts'
export { probeView } from './probe.ts'
export type {
  Discarded,
  FrozenView,
  LiveView,
  PendingScan,
  Pruned,
  ViewConflict,
} from './view.ts'
