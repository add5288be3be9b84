/**
 * One rehearsal: a fresh sandbox over the real tree, the operation or the children in their order, and
 * after each a scan of what it left. Tells what happened and judges nothing.
 *
 * The sandbox stays open until the caller has what it wants of its layers.
 */
import { randomUUID } from 'node:crypto'
import { lstatSync, readdirSync, statSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fault } from '../../base/index.ts'
import type { ActionDescriptor, HostFacts, Operation, Proposal } from '../../contracts/index.ts'
import {
  type Change,
  changesSince,
  commandOf,
  hiddenPaths,
  leavesOf,
  sandboxEnvironment,
} from '../../gate/index.ts'
import type { Control, RunOutcome, RunRequest, Sandbox, SocketProfile } from '../sandbox/driver.ts'
import { SandboxFailure } from '../sandbox/failure.ts'
import type { TreeFinding } from '../tree/findings.ts'
import { type Marker, makeMarker } from '../tree/marker.ts'
import { PATH_BYTES_MAX, type Scan, scanLayers } from '../tree/scan.ts'
import { type GateContext, isRoot, workspaceOf } from './context.ts'
import type { LawBook } from './law-book.ts'
import { Outputs } from './outputs.ts'
import { stagePlaceFor, stagePlaces } from './stage-place.ts'
import type { ProposeOptions } from './surface.ts'

/** More than any build starts, fewer than would hurt; threads count. */
const PROCESSES_MAX = 1_024
const MEBIBYTE = 1024 * 1024

export interface RehearsalRequest {
  readonly proposal: Proposal
  readonly host: HostFacts
  readonly book: LawBook
  readonly sockets: SocketProfile
  readonly live: ProposeOptions['live']
  readonly abort: AbortSignal
  /** The proposal is on the record; nothing runs before. */
  readonly recorded: Promise<void>
}

/** What one child did beyond those before it. */
export interface RehearsedStep {
  readonly descriptor: ActionDescriptor
  readonly outcome: RunOutcome
  readonly changes: readonly Change[]
}

export interface Rehearsal {
  readonly sandboxId: string
  readonly sandbox: Sandbox
  /** Directories of writ's own on the scope's filesystem. */
  readonly place: string
  readonly steps: readonly RehearsedStep[]
  /** Of the whole, against the real tree. */
  readonly changes: readonly Change[]
  readonly findings: readonly TreeFinding[]
  /** Directories that were emptied and made anew. */
  readonly emptied: Scan['emptied']
  readonly controls: readonly Control[]
  readonly outputs: Outputs
}

export async function rehearse(
  context: GateContext,
  request: RehearsalRequest,
): Promise<Rehearsal> {
  const { proposal, host, sockets } = request
  const { resources } = proposal.descriptor
  const roots = scopeDirectories(host)
  const place = stagePlaceFor(context.home, roots[0] ?? workspaceOf(context))
  const sandboxId = randomUUID()
  const marker = makeMarker(place, sandboxId, roots, context.nowMs)
  const sandbox = await context.driver.open({
    sandboxId,
    scopeRoots: roots,
    watchedRoots: [workspaceOf(context), ...ownHomes(host)],
    hidden: hiddenFrom(context, request),
    caps: {
      cpuMs: resources.max_cpu_ms,
      memoryMb: resources.max_memory_mb,
      diskMb: resources.max_disk_mb,
      durationMs: resources.max_duration_ms,
      processes: PROCESSES_MAX,
    },
    sockets,
    foreignOwners: isRoot() && roots.some(hasForeignOwners),
  })
  try {
    await request.recorded
    const outputs = new Outputs()
    const walked = await runSteps(context, request, { sandbox, marker, roots, outputs })
    return { sandboxId, sandbox, place, controls: sandbox.controls, outputs, ...walked }
  } catch (error) {
    await sandbox.close()
    throw error
  }
}

interface Scene {
  readonly sandbox: Sandbox
  readonly marker: Marker
  readonly roots: readonly string[]
  readonly outputs: Outputs
}

/** Children after the first that does not succeed are not run: the whole is refused anyway. */
async function runSteps(context: GateContext, request: RehearsalRequest, scene: Scene) {
  const steps: RehearsedStep[] = []
  let changes: readonly Change[] = []
  let findings: readonly TreeFinding[] = []
  let emptied: Scan['emptied'] = []
  let startedAtMs: number | null = null
  for (const { proposal } of leavesOf(request.proposal)) {
    const outcome = await scene.sandbox.run(runRequest(context, request, proposal, scene))
    startedAtMs ??= outcome.startedAtMs
    const scan = await scanLayers(scene.sandbox.layers, {
      marker: scene.marker,
      commandStartedAtMs: startedAtMs,
      maxBytes: request.proposal.descriptor.resources.max_disk_mb * MEBIBYTE,
      pathBytesMax: PATH_BYTES_MAX,
      scopeRoots: scene.roots,
      isRoot: isRoot(),
      exclude: stagePlaces(context.home),
    })
    const { descriptor } = proposal
    steps.push({ descriptor, outcome, changes: changesSince(changes, scan.changes) })
    changes = scan.changes
    findings = scan.findings
    emptied = scan.emptied
    if (!isSuccess(outcome)) break
  }
  return { steps, changes, findings, emptied }
}

export function isSuccess({ exitCode, killedBy, aborted }: RunOutcome): boolean {
  return exitCode === 0 && killedBy === null && !aborted
}

function runRequest(
  context: GateContext,
  { book, live, abort }: RehearsalRequest,
  { operation }: Proposal,
  { sandbox, outputs }: Scene,
): RunRequest {
  const command = operation === undefined ? null : commandOf(operation)
  if (command === null) throw notRunnable(operation)
  live?.onStarted?.((name) => sandbox.signal(name))
  const environment = sandboxEnvironment(book.lists, {
    ...context.environment,
    HOME: context.userDirectory,
  })
  return {
    argv: command.argv,
    cwd: command.cwd,
    env: { ...environment, ...command.env },
    stdin: live === undefined ? command.stdin : live.stdin,
    terminal: live?.terminal ?? null,
    onOutput: (stream, bytes) => {
      outputs.take(stream, bytes)
      live?.onOutput(stream, bytes)
    },
    abort,
  }
}

function notRunnable(operation: Operation | undefined): SandboxFailure {
  const type = operation?.type ?? 'nothing'
  const message = `acts of the kind ${type} cannot be rehearsed by this version`
  return new SandboxFailure(fault('sandbox.control_missing', type, null, { message }))
}

/** The directories that a scope lies in: a root that is a file, or not there yet, by what holds it. */
function scopeDirectories({ roots }: HostFacts): readonly string[] {
  return [...new Set(roots.map(({ real, kind }) => (kind === 'directory' ? real : above(real))))]
}

function above(path: string): string {
  for (let place = dirname(path); ; place = dirname(place)) {
    if (statSync(place, { throwIfNoEntry: false })?.isDirectory() || place === '/') return place
  }
}

function ownHomes({ homes }: HostFacts): readonly string[] {
  return homes.filter(({ own }) => own).map(({ path }) => path)
}

/** Credentials and writ's own places; what is not there hides nothing. */
function hiddenFrom(context: GateContext, { book, host }: RehearsalRequest): readonly string[] {
  const listed = hiddenPaths(book.lists, ownHomes(host))
  return [...new Set([...listed, context.stateRoot, ...stagePlaces(context.home)])].filter(
    (path) => lstatSync(path, { throwIfNoEntry: false }) !== undefined,
  )
}

const OWNERS_LOOKED_AT = 1_000

/** Looked at the root and what is right in it: deeper owners are met when a run touches them. */
function hasForeignOwners(root: string): boolean {
  if (isForeign(root)) return true
  return readdirSync(root)
    .slice(0, OWNERS_LOOKED_AT)
    .some((name) => isForeign(join(root, name)))
}

function isForeign(path: string): boolean {
  const found = lstatSync(path, { throwIfNoEntry: false })
  if (found === undefined) return false
  return found.uid !== process.getuid?.() || found.gid !== process.getgid?.()
}
