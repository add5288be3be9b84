/**
 * Room: tree. Reads what a run changed in its layers, and sets those changes aside, durable and
 * checked. Sees base, gate, machine and sandbox.
 */
export { captureChanges } from './capture.ts'
export { withClosedDirectories } from './closed.ts'
export type { TreeFinding } from './findings.ts'
export { type OwnIds, ownIds } from './lost-owners.ts'
export { isSameRoot, type Marker, makeMarker, type RootIdentity, TICK_MS_MAX } from './marker.ts'
export { readSeen } from './read-seen.ts'
export { PATH_BYTES_MAX, type Scan, scanLayers } from './scan.ts'
export { readStage, stagedPath, writeStage } from './stage.ts'
export { makeStageLayer } from './stage-layer.ts'
