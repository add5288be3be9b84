/**
 * One rehearsal: a fresh sandbox over the real tree, the operation or the children in their order, and
 * after each a scan of what it left. Tells what happened and judges nothing.
 *
 * The sandbox stays open until the caller has what it wants of its layers.
 */
import { randomUUID } from 'node:crypto'
import { statSync } from 'node:fs'
import { dirname } from 'node:path'
import { invariant } from '../../base/index.ts'
import type {
  ActionDescriptor,
  HostFacts,
  NetworkConnection,
  NetworkGrounds,
  Proposal,
  SandboxResult,
} from '../../contracts/index.ts'
import {
  type Change,
  changesSince,
  leavesOf,
  type RawPath,
  sandboxEnvironment,
} from '../../gate/index.ts'
import type {
  Control,
  RunOutcome,
  RunRequest,
  Sandbox,
  SocketProfile,
} from '../../sandbox/index.ts'
import {
  type Marker,
  makeMarker,
  ownIds,
  PATH_BYTES_MAX,
  type Scan,
  scanLayers,
  type TreeFinding,
  withClosedDirectories,
} from '../../tree/index.ts'
import { actCommand, actFindings } from '../acts/act-command.ts'
import type { LawBook } from '../laws/law-book.ts'
import type { HostReadings } from '../readings/host-readings.ts'
import { stagePlaceFor, stagePlaces } from '../stage/stage-place.ts'
import { type GateContext, isRoot, workspaceOf } from '../surface/context.ts'
import type { SessionBytes } from '../surface/session-surface.ts'
import type { ProposeOptions } from '../surface/surface.ts'
import { withoutRefreshedIndexes } from './refreshed-index.ts'
import { hiddenFromRun, RunNetwork, sandboxRequest, toolSettings } from './sandbox-request.ts'

const MEBIBYTE = 1024 * 1024
const OUTPUT_BYTES_MAX = 256 * 1024

interface RehearsalRequest {
  readonly proposal: Proposal
  readonly host: HostFacts
  readonly book: LawBook
  readonly sockets: SocketProfile
  readonly live: ProposeOptions['live']
  readonly abort: AbortSignal
  /** The proposal is on the record; nothing runs before. */
  readonly recorded: Promise<void>
  /** By which rules something of it runs with a network. */
  readonly network?: NetworkGrounds
  /** Stages nothing, even if there are changes. */
  readonly isDry: boolean
}

/** What one child did beyond those before it. */
export interface RehearsedStep {
  readonly descriptor: ActionDescriptor
  readonly outcome: RunOutcome
  readonly changes: readonly Change[]
}

export interface Rehearsal {
  readonly sandboxId: string
  /** Its layers hold what is judged; closed when they are not needed any more. */
  readonly sandbox: Pick<Sandbox, 'close' | 'controls' | 'layers'>
  /** Directories of writ's own on the scope's filesystem. */
  readonly place: string
  readonly steps: readonly RehearsedStep[]
  /** Of the whole, against the real tree. */
  readonly changes: readonly Change[]
  readonly findings: readonly TreeFinding[]
  /** What the acts themselves said about why they failed. */
  readonly told: SandboxResult['findings']
  /** Directories that were removed and created again. */
  readonly emptied: Scan['emptied']
  readonly controls: readonly Control[]
  readonly outputs: Pick<Outputs, 'document'>
  /** What went out, or was to. */
  readonly network?: readonly NetworkConnection[]
  /** Of a session: changed or deleted entries that it created before. */
  readonly made?: ReadonlySet<RawPath>
  /** What the session of the act knows of the bytes before. */
  readonly session?: SessionBytes
  /** What the host was found to say about these changes a moment ago, with all processes stopped. */
  readonly readings?: HostReadings
}

export async function runRehearsal(
  context: GateContext,
  request: RehearsalRequest,
): Promise<Rehearsal> {
  const { proposal, host, book, sockets } = request
  const roots = scopeDirectories(host)
  const place = stagePlaceFor(context.home, roots[0] ?? workspaceOf(context))
  const sandboxId = randomUUID()
  const marker = makeMarker(place, sandboxId, roots, context.nowMs)
  const ownHomes = host.homes.filter(({ own }) => own).map(({ path }) => path)
  const network =
    request.network === undefined
      ? null
      : new RunNetwork(request.network, ownHomes, proxyOptions(context, request))
  const order = {
    sandboxId,
    home: context.home,
    stateRoot: context.stateRoot,
    roots,
    ownHomes,
    resources: proposal.descriptor.resources,
    lists: book.lists,
    sockets,
    ...(network === null ? {} : { network: network.door }),
  }
  const asked = sandboxRequest(order)
  request.live?.onHidden?.(hiddenFromRun(order, asked.hidden))
  const sandbox = await context.driver.open(asked)
  try {
    await request.recorded
    const outputs = new Outputs()
    const scene = { sandbox, marker, roots, outputs, network }
    const walked = await runSteps(context, request, scene)
    return { sandboxId, sandbox, place, controls: sandbox.controls, outputs, ...walked }
  } catch (error) {
    await sandbox.close()
    throw error
  } finally {
    await network?.close()
  }
}

function proxyOptions({ resolve }: GateContext, { live }: RehearsalRequest) {
  const onRefused = live?.onRefused
  return {
    ...(resolve === undefined ? {} : { resolve }),
    ...(onRefused === undefined ? {} : { onRefused }),
  }
}

interface Scene {
  readonly sandbox: Sandbox
  readonly marker: Marker
  readonly roots: readonly string[]
  readonly outputs: Outputs
  readonly network: RunNetwork | null
}

/** Children after the first that does not succeed are not run: the whole is refused anyway. */
async function runSteps(context: GateContext, request: RehearsalRequest, scene: Scene) {
  const steps: RehearsedStep[] = []
  let changes: readonly Change[] = []
  let findings: readonly TreeFinding[] = []
  let emptied: Scan['emptied'] = []
  let startedAtMs: number | null = null
  let told: SandboxResult['findings'] = []
  const connections: NetworkConnection[] = []
  const leaves = leavesOf(request.proposal)
  const { layers } = scene.sandbox
  for (const [index, { proposal }] of leaves.entries()) {
    const proxied = scene.network?.begin(proposal, index === leaves.length - 1) ?? {}
    const order = runRequest(context, request, proposal, scene, proxied)
    const outcome = await scene.sandbox.run(order)
    connections.push(...((await scene.network?.end()) ?? []))
    if ((outcome.leftovers ?? 0) > 0) request.live?.onLeftovers?.(outcome.leftovers ?? 0)
    startedAtMs ??= outcome.startedAtMs
    const whole = await scanLayers(layers, {
      marker: scene.marker,
      commandStartedAtMs: startedAtMs,
      maxBytes: request.proposal.descriptor.resources.max_disk_mb * MEBIBYTE,
      pathBytesMax: PATH_BYTES_MAX,
      scopeRoots: scene.roots,
      isRoot: isRoot(),
      ids: ownIds(),
      exclude: stagePlaces(context.home),
    })
    const scan = withClosedDirectories(withoutRefreshedIndexes(whole, layers), isRoot())
    const { descriptor } = proposal
    steps.push({ descriptor, outcome, changes: changesSince(changes, scan.changes) })
    changes = scan.changes
    findings = scan.findings
    emptied = scan.emptied
    told = actFindings(proposal.operation, outcome)
    if (!isSuccess(outcome)) break
  }
  return { steps, changes, findings, emptied, told, network: connections }
}

export function isSuccess({ exitCode, killedBy, aborted }: RunOutcome): boolean {
  return exitCode === 0 && killedBy === null && !aborted
}

function runRequest(
  context: GateContext,
  { book, live, abort }: RehearsalRequest,
  { descriptor, operation }: Proposal,
  { sandbox, outputs }: Scene,
  proxied: Readonly<Record<string, string>>,
): RunRequest {
  invariant(operation !== undefined, 'a leaf of a proposal has an operation')
  const path = context.environment['PATH'] ?? ''
  const command = actCommand(operation, { descriptor, path })
  live?.onStarted?.((name) => sandbox.signal(name))
  const environment = sandboxEnvironment(
    book.lists,
    { ...context.environment, HOME: context.userDirectory },
    book.settings.passEnvironment,
  )
  return {
    argv: command.argv,
    cwd: command.cwd,
    env: { ...toolSettings(context.userDirectory), ...environment, ...proxied, ...command.env },
    stdin: live === undefined ? command.stdin : live.stdin,
    terminal: live?.terminal ?? null,
    onOutput: (stream, bytes) => {
      outputs.take(stream, bytes)
      live?.onOutput(stream, bytes)
    },
    abort,
    ...(live?.onUnreachable === undefined ? {} : { onUnreachable: live.onUnreachable }),
  }
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

/** The output of a command: the record keeps it up to a bound, a live reader gets all of it. */
class Outputs {
  readonly #parts: Record<'stdout' | 'stderr', Buffer[]> = { stdout: [], stderr: [] }
  readonly #kept = { stdout: 0, stderr: 0 }
  #isTruncated = false

  take(stream: 'stdout' | 'stderr', bytes: Uint8Array): void {
    const room = OUTPUT_BYTES_MAX - this.#kept[stream]
    if (bytes.length > room) this.#isTruncated = true
    if (room <= 0) return
    const part = Buffer.from(bytes.subarray(0, room))
    this.#parts[stream].push(part)
    this.#kept[stream] += part.length
  }

  /** As text; bytes that spell nothing become U+FFFD. */
  document(): { readonly stdout: string; readonly stderr: string; readonly truncated: boolean } {
    const text = (stream: 'stdout' | 'stderr'): string =>
      Buffer.concat(this.#parts[stream]).toString('utf8')
    return { stdout: text('stdout'), stderr: text('stderr'), truncated: this.#isTruncated }
  }
}
