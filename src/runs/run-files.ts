/**
 * What a run writes for people: the orchestration log (F-11), the manifests of sub-phases (F-10), and
 * requests to people (F-12). Each file is whole and synced before the run goes on.
 */
import { lstatSync, mkdirSync, readdirSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { canonicalJson, digestBytes, faultError, showPath } from '../base/index.ts'
import {
  type CompiledFlow,
  elementAt,
  type NeededDocument,
  plainName,
  RUN_ARTIFACTS,
  type RunState,
  type RunStop,
} from '../flow/index.ts'
import type { Home } from '../home/index.ts'
import { quote, readIfThere, writeWholeAside } from '../machine/index.ts'
import { ARTIFACTS } from './files/sealed-artifacts.ts'
import { LOG_FILE } from './programs/workspace-files.ts'
import { isLogOfRun, type RunFolder } from './run-folder.ts'

/** Returns the folder of a run's artifacts; its name is a part of the id that commands accept. */
export function artifactsFolder(runId: string): string {
  return `${ARTIFACTS}/run-${runId.slice(-RUN_DIGITS)}`
}

/**
 * Returns a path of the flow as it is in this run: `artifacts/NODE/…` means the folder of the run. Runs
 * of earlier versions have no folder of their own.
 */
export function ownPath(path: string, folder: string): string {
  const isOfNode = path.startsWith(`${ARTIFACTS}/`) && !RUN_ARTIFACTS.test(path)
  return isOfNode ? `${folder}${path.slice(ARTIFACTS.length)}` : path
}

/** The last group of the id, which is random. */
const RUN_DIGITS = 12

/**
 * Creates the folder of artifacts up front. Otherwise the first attempt that leaves an artifact would
 * create it: concurrent attempts would conflict over it, and the first could not be undone without the
 * others.
 */
export function makeArtifacts(workspace: string, folder: string): void {
  try {
    const isMade = makeOwn(join(workspace, ARTIFACTS))
    if (isMade && folder !== ARTIFACTS) makeOwn(join(workspace, folder))
  } catch {
    // It exists, or the attempt that leaves an artifact fails with the reason.
  }
}

/** Returns whether a folder is there; a link in its place leads elsewhere, and nothing is made there. */
function makeOwn(folder: string): boolean {
  const found = lstatSync(folder, { throwIfNoEntry: false })
  if (found === undefined) mkdirSync(folder, { mode: 0o755 })
  return found?.isDirectory() ?? true
}

/**
 * Fails if a file in the place of the log was not written by a run of this home: the log would replace
 * it, and no act could take that back.
 */
export function refuseForeignLog(home: Pick<Home, 'state' | 'directory'>, workspace: string): void {
  const file = join(workspace, LOG_FILE)
  const found = lstatSync(file, { throwIfNoEntry: false })
  if (found === undefined) return
  if (found.isFile() && isLogOfRun(home, readIfThere(file) ?? '', LOG_FILE)) return
  const message = `${showPath(file)} was not written by a run of this home, and a run would replace it`
  const hint = `rename it: mv ${quote(file)} ${quote(`${file}.old`)}, then call again`
  throw faultError('flow.log_foreign', file, message, hint)
}

/** Writes the log; returns the digest of what is in the workspace afterwards. */
export async function writeLog(
  text: string,
  runId: string,
  { home, workspace, folder }: LogPlace,
): Promise<string> {
  refuseForeignLog(home, workspace)
  folder.noteLog(digestBytes(text))
  // One process walks a run: after a crash the next one finds what the last one began.
  await writeWholeAside(join(workspace, LOG_FILE), text, 0o644, runId)
  // A copy of this run's own, since the next run in the workspace writes its log over this one.
  folder.copy(LOG_FILE, text)
  return digestBytes(text)
}

/** Writes the run's own copy of the log as it would be now; the workspace has the one of the last phase. */
export function copyLog(text: string, folder: RunFolder): void {
  folder.noteCopiedLog(LOG_FILE)
  folder.copy(LOG_FILE, text)
}

const BLOCKED_FILE = 'blocked.md'

/** Says for people why a run is blocked, and what to type; without stops the file goes. */
export function showBlocked(stops: readonly RunStop[], folder: RunFolder): void {
  if (stops.length === 0) folder.hide(BLOCKED_FILE)
  else folder.show(BLOCKED_FILE, instructions(stops, []))
}

interface LogPlace {
  readonly home: Pick<Home, 'state' | 'directory'>
  readonly workspace: string
  readonly folder: RunFolder
}

interface ManifestFile {
  readonly path: string
  /** Null when it is not there. */
  readonly bytes: number | null
  readonly sha256: string | null
}

interface Manifest {
  readonly type: 'subphase_manifest'
  readonly run_id: string
  readonly subphase_id: string
  readonly nodes: readonly {
    readonly node_id: string
    readonly attempt: number
    readonly artifact: { readonly path: string; readonly digest: string } | null
  }[]
  readonly files: readonly ManifestFile[]
}

/** Reads a file of the workspace as this run has it, staged or promoted; null when there is none. */
type ReadFile = (path: string) => Promise<Uint8Array | null>

export async function writeManifest(
  flow: CompiledFlow,
  state: RunState,
  subphase: string,
  changed: readonly string[],
  read: ReadFile,
  folder: RunFolder,
): Promise<string> {
  const span = flow.subphases[flow.subphaseIndex.get(subphase) ?? -1]
  const nodes = (span?.nodes ?? []).map((index) => {
    const { entries, work } = elementAt(state.nodes, index)
    const artifact =
      work.artifact === null ? null : { path: work.artifact.path, digest: work.artifact.digest }
    return { node_id: flow.nodes[index]?.document.node_id ?? '', attempt: entries, artifact }
  })
  const required = (span?.nodes ?? []).flatMap(
    (index) => flow.nodes[index]?.document.required_files ?? [],
  )
  const paths = new Set([
    ...required,
    ...changed,
    ...nodes.flatMap(({ artifact }) => artifact?.path ?? []),
  ])
  const files = await Promise.all([...paths].sort().map((path) => fileOf(path, read)))
  const run_id = state.runId ?? ''
  const manifest: Manifest = {
    type: 'subphase_manifest',
    run_id,
    subphase_id: subphase,
    nodes,
    files,
  }
  const text = `${canonicalJson(manifest)}\n`
  folder.show(manifestName(subphase), text)
  return digestBytes(text)
}

async function fileOf(path: string, read: ReadFile): Promise<ManifestFile> {
  const bytes = await read(path)
  if (bytes === null) return { path, bytes: null, sha256: null }
  return { path, bytes: bytes.length, sha256: digestBytes(bytes) }
}

/**
 * The digest of a manifest as it is found now: of the file when the tree is as it says, else of what
 * it would have to say. `moved` are paths that the run itself changed later.
 */
export async function foundManifest(
  subphase: string,
  moved: ReadonlySet<string>,
  read: ReadFile,
  folder: RunFolder,
): Promise<string | null> {
  const text = readIfThere(join(folder.shown, manifestName(subphase)))
  if (text === null) return null
  const manifest = manifestIn(text)
  if (manifest === null) return digestBytes(text)
  const files = await Promise.all(
    manifest.files.map((file) => (moved.has(file.path) ? file : fileOf(file.path, read))),
  )
  const isSame = canonicalJson(files) === canonicalJson(manifest.files)
  return digestBytes(isSame ? text : `${canonicalJson({ ...manifest, files })}\n`)
}

function manifestIn(text: string): Manifest | null {
  try {
    // Any JSON may be there: the check below decides, and what is no object throws.
    const value = JSON.parse(text) as Manifest
    const isWhole =
      Array.isArray(value.files) && value.files.every(({ path }) => typeof path === 'string')
    return isWhole ? value : null
  } catch {
    return null
  }
}

function manifestName(subphase: string): string {
  return `${plainName(subphase)}.json`
}

/** Returns whether a folder is there itself, and no link to one. */
export function isFolder(path: string): boolean {
  return lstatSync(path, { throwIfNoEntry: false })?.isDirectory() ?? false
}

/** The file itself, or those in the folder; none when there is nothing. */
export function filesAt(path: string): readonly string[] {
  const found = statSync(path, { throwIfNoEntry: false })
  if (found === undefined) return []
  if (found.isFile()) return [path]
  if (!found.isDirectory()) return []
  return readdirSync(path, { withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => `${path}/${entry.name}`)
}

/** What a person is asked, why, and what to type. */
export function instructions(stops: readonly RunStop[], needs: readonly NeededDocument[]): string {
  const lines = stops.flatMap(({ kind, node_id = '', title, says, next }) => [
    `# ${oneLine(title)} ${STOP_HEADS[kind] ?? 'needs a decision'}\n`,
    ...(title === node_id ? [] : [`Node: ${oneLine(node_id)}\n`]),
    `${oneLine(says)}\n`,
    ...(needs.length === 0 ? [] : [`${needs.map(neededText).join('\n')}\n`]),
    'Type one of:\n',
    ...next.map((command) => `    ${command}\n`),
  ])
  return `${lines.join('\n')}\n`
}

const STOP_HEADS: Readonly<Partial<Record<RunStop['kind'], string>>> = {
  input: 'needs input',
  blocked: 'is blocked',
  refused: 'is refused',
}

function neededText({ name, description, accepted_types, suggested_path }: NeededDocument): string {
  return [
    `- **${oneLine(name)}**: ${oneLine(description)}`,
    accepted_types.length === 0 ? '' : `  - types: ${accepted_types.map(oneLine).join(', ')}`,
    suggested_path === null ? '' : `  - put it at: \`${oneLine(suggested_path)}\``,
  ]
    .filter((line) => line !== '')
    .join('\n')
}

function oneLine(text: string): string {
  return text.replace(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]+/gu, ' ').trim()
}
