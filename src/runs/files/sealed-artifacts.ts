/**
 * What a participant may not change below `artifacts` (F-5c): everything that another node, an earlier
 * attempt or another run handed in. The directory of its own attempt is free.
 */
import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import { RUN_ARTIFACTS } from '../../flow/index.ts'
import type { SealedPaths } from '../../service/index.ts'

export const ARTIFACTS = 'artifacts'

const CODE = 'flow.artifact_touched'

/**
 * Each read-only mount costs every start some 0.25 ms of processor time; a stage that changes any of it is blocked
 * all the same.
 */
const PLACES_MAX = 16

interface NodeEntries {
  readonly nodeId: string
  /** The number of its last attempt. */
  readonly entries: number
}

/** Whose attempt it is. `nodes` are all of the run. */
interface OwnAttempt {
  readonly workspace: string
  /** The folder of the run's artifacts, relative to the workspace. */
  readonly folder: string
  readonly nodeId: string
  readonly attempt: number
  readonly nodes: readonly NodeEntries[]
}

export function sealedArtifacts(own: OwnAttempt): readonly SealedPaths[] {
  const { workspace, folder, nodeId, attempt } = own
  const nodes = own.nodes.filter((node) => node.nodeId !== nodeId && isPlain(node.nodeId))
  const others = nodes.map((node) => `${folder}/${node.nodeId}`)
  const before = attemptsOf(folder, { nodeId, entries: attempt - 1 })
  const free = `${folder}/${nodeId}/${attempt}`
  const runs = runFolders(workspace).filter((one) => one !== folder)
  const begun = nodes.filter(({ entries }) => entries > 0)
  const made = begun.map((node) => `${folder}/${node.nodeId}`)
  const places = [...before, ...made, ...runs].filter((place) => !isWithin(free, place))
  // Runs of earlier versions have no folder of their own: other entries of the folder are free there.
  const ofRun = folder === ARTIFACTS ? [...before, ...others] : [folder]
  // A node may be called as an attempt of this one is.
  const inside = nodes.flatMap((node) => attemptsOf(folder, node))
  const sealed = inside.filter((place) => place !== free && isWithin(place, free))
  return [
    {
      code: CODE,
      patterns: [`${ARTIFACTS}/run-*`, ...ofRun].map((place) => `${place}/**`),
      places: places.slice(0, PLACES_MAX),
      own: free,
    },
    { code: CODE, patterns: sealed.map((place) => `${place}/**`), places: [] },
  ]
}

function attemptsOf(folder: string, { nodeId, entries }: NodeEntries): readonly string[] {
  return Array.from({ length: entries }, (_, index) => `${folder}/${nodeId}/${index + 1}`)
}

function isWithin(path: string, directory: string): boolean {
  return path === directory || path.startsWith(`${directory}/`)
}

/** No artifact lies below an id of another form. */
function isPlain(id: string): boolean {
  return id.split('/').every((name) => name !== '' && name !== '.' && name !== '..')
}

/** The folders of runs that left artifacts in a workspace, relative to it. */
export function runFolders(workspace: string): readonly string[] {
  try {
    const folders = readdirSync(join(workspace, ARTIFACTS)).map((name) => `${ARTIFACTS}/${name}`)
    return folders.filter((folder) => RUN_ARTIFACTS.test(`${folder}/`))
  } catch {
    return []
  }
}
