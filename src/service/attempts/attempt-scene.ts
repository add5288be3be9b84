/**
 * The sandbox of one attempt: it covers the workspace and the attempt's bases, and stays open until the
 * attempt is over. Runs commands and scans; decides nothing. It is opened when something runs; a file of
 * the host alone lies on a shelf.
 */
import { randomUUID } from 'node:crypto'
import { dirname } from 'node:path'
import { type FaultError, faultError, invariant } from '../../base/index.ts'
import type { ActionDescriptor, NetworkConnection, Proposal } from '../../contracts/index.ts'
import {
  isBelow,
  type NetworkTerms,
  type OperationCommand,
  PROXY_ENVIRONMENT,
  type RawPath,
  rawOfText,
  sandboxEnvironment,
} from '../../gate/index.ts'
import { readPlainFile, writePlainFile } from '../../machine/index.ts'
import { RunProxy } from '../../network/index.ts'
import {
  type Layer,
  layerDirectory,
  type RunOutcome,
  type RunRequest,
  type Sandbox,
  type ToolChannel,
} from '../../sandbox/index.ts'
import {
  type Marker,
  makeMarker,
  ownIds,
  PATH_BYTES_MAX,
  type Scan,
  scanLayers,
  withClosedDirectories,
} from '../../tree/index.ts'
import type { LawBook } from '../laws/law-book.ts'
import type { GateParts, Terms } from '../lifecycle/act.ts'
import { hostFactsOf } from '../lifecycle/draft.ts'
import { watchHalt } from '../readings/halt.ts'
import { realPathOf } from '../readings/host-facts.ts'
import { withoutRefreshedIndexes } from '../rehearsal/refreshed-index.ts'
import { sandboxRequest } from '../rehearsal/sandbox-request.ts'
import { stagePlaceFor, stagePlaces } from '../stage/stage-place.ts'
import type { AttemptOrder, ParticipantCommand } from '../surface/attempt-surface.ts'
import { type GateContext, isRoot } from '../surface/context.ts'
import { type LaidBases, layBases } from './attempt-bases.ts'
import type { AttemptOutputs } from './attempt-outputs.ts'
import { attemptDescriptor, attemptResources } from './attempt-proposal.ts'
import { type AttemptGround, HostShelf } from './host-shelf.ts'
import { lastPromotion, madeSince } from './made-meanwhile.ts'
import { sealedPlaces } from './sealed-paths.ts'

const MEBIBYTE = 1024 * 1024
const NOTHING_MADE: ReadonlySet<RawPath> = new Set()
const NOTHING_HIDING: ReadonlySet<RawPath> = new Set()
/** The most that is read of one file for the host. */
const FILE_BYTES_MAX = 64 * 1024 * 1024
/** What a line gets that is too long to be read, in the form of all answers. */
const TOO_LONG = JSON.stringify({ decision: 'BLOCK', codes: ['attempt.line'], result: null })

type OnOutput = RunRequest['onOutput']

interface SceneParts {
  readonly gate: GateParts
  readonly order: AttemptOrder
}

export class AttemptScene {
  readonly context: GateContext
  readonly order: AttemptOrder
  /** How everything of the attempt is proposed. */
  readonly terms: Terms
  readonly resources: ActionDescriptor['resources']
  readonly sandboxId: string
  /** Of writ's own, on the filesystem of the workspace. */
  readonly place: string
  readonly #gate: GateParts
  readonly #book: LawBook
  /** The last promotion when it began. */
  readonly #lastPromotion: string | null
  readonly #marker: Marker
  readonly #host: AttemptHost
  readonly #stop: Stop
  /** Null until something runs. */
  #sandbox: Sandbox | null = null
  /** A file of the host, while nothing ran. */
  #shelf: HostShelf | null = null
  /** What was laid out for it. */
  readonly #laid: LaidBases
  /** The way to the hosts that the participant lives by; null without any. */
  readonly #service: RunProxy | null
  readonly #connections: NetworkConnection[] = []

  private constructor(
    { gate, order }: SceneParts,
    parts: Pick<AttemptScene, 'terms' | 'resources' | 'sandboxId' | 'place'> & {
      readonly marker: Marker
      readonly host: AttemptHost
      readonly stop: Stop
      readonly laid: LaidBases
      readonly service: RunProxy | null
      readonly lastPromotion: string | null
    },
  ) {
    const { context, book } = gate
    this.#gate = gate
    this.#lastPromotion = parts.lastPromotion
    this.context = context
    this.order = order
    this.terms = parts.terms
    this.resources = parts.resources
    this.sandboxId = parts.sandboxId
    this.place = parts.place
    this.#book = book
    this.#marker = parts.marker
    this.#host = parts.host
    this.#stop = parts.stop
    this.#laid = parts.laid
    this.#service = parts.service
  }

  static async open(gate: GateParts, order: AttemptOrder): Promise<AttemptScene> {
    const parts = { gate, order }
    const sandboxId = randomUUID()
    const place = stagePlaceFor(gate.context.home, order.workspace)
    const laid = await layBases(gate, order, () =>
      layerDirectory(place, coveredBy(parts), sandboxId),
    )
    try {
      return await AttemptScene.#open(parts, { sandboxId, place, laid })
    } catch (error) {
      laid.remove()
      throw error
    }
  }

  static async #open(
    parts: SceneParts,
    { sandboxId, place, laid }: Pick<AttemptScene, 'sandboxId' | 'place'> & { laid: LaidBases },
  ): Promise<AttemptScene> {
    const { gate, order } = parts
    const { context, book } = gate
    const terms: Terms = {
      door: 'propose',
      declaredByApproval: false,
      dryRun: false,
      abort: order.abort,
      actorKind: 'ai',
      held: { asked: false, bases: laid.bases },
      ...(order.run === undefined ? {} : { run: order.run }),
    }
    const resources = attemptResources(order.limits, book.settings.ceilings)
    const host = await hostOf(parts, resources)
    const before = await lastPromotion(gate)
    const marker = makeMarker(place, sandboxId, host.roots, context.nowMs)
    const service = serviceOf(parts)
    const stop = new Stop(context.home.state, order.abort)
    const own = { terms, resources, sandboxId, place, marker, host, stop, laid, service }
    const scene = new AttemptScene(parts, { ...own, lastPromotion: before })
    if (order.isElsewhere === true && laid.layers.length === 0) return scene
    try {
      await scene.enter()
    } catch (error) {
      stop.end()
      throw error
    }
    return scene
  }

  /** Opens the sandbox unless it is open. What lies on the shelf is put there. */
  async enter(): Promise<Sandbox> {
    if (this.#sandbox !== null) return this.#sandbox
    const { context, order, sandboxId, resources } = this
    const { lists, settings } = this.#book
    const request = sandboxRequest({
      sandboxId,
      home: context.home,
      stateRoot: context.stateRoot,
      roots: this.#host.roots,
      ownHomes: this.#host.homes,
      resources,
      lists,
      sockets: settings.unixSockets ?? 'inside',
      ...(this.#service === null ? {} : { network: this.#service }),
    })
    const sandbox = await context.driver.open({
      ...request,
      banned: order.hidden,
      readOnly: [...order.readOnly, ...sealedPlaces(order)],
      bases: this.#laid.layers,
      hasChannel: true,
      hasClosedOutput: order.hasClosedOutput === true,
    })
    this.#sandbox = sandbox
    const shelf = this.#shelf
    this.#shelf = null
    if (shelf !== null) this.#writeInside(sandbox, shelf.file.path, shelf.file.bytes)
    await shelf?.close()
    return sandbox
  }

  /** What the attempt changed lies there. */
  get holding(): AttemptGround {
    const holding = this.#sandbox ?? this.#shelf
    invariant(holding !== null, 'an attempt that is judged ran or wrote something')
    return holding
  }

  /** A file as the participant sees it; null when there is none. */
  read(path: string): Uint8Array | null {
    const { workspace } = this.order
    if (this.#sandbox !== null) {
      const { root, merged } = this.#layerOf(this.#sandbox, path)
      return readPlainFile(merged, path.slice(root.length), FILE_BYTES_MAX)
    }
    if (this.#shelf?.file.path === path) return this.#shelf.file.bytes
    if (!isBelow(rawOfText(path), rawOfText(workspace))) throw outside(path)
    return readPlainFile(workspace, path.slice(workspace.length), FILE_BYTES_MAX)
  }

  /** Puts a file of the host there: on a shelf while nothing ran, where that is possible. */
  async write(path: string, bytes: Uint8Array): Promise<void> {
    if (this.#sandbox === null && this.#shelf === null) {
      const file = { workspace: this.order.workspace, path, bytes }
      this.#shelf = HostShelf.put(this.place, this.sandboxId, file)
      if (this.#shelf !== null) return
    }
    this.#writeInside(await this.enter(), path, bytes)
  }

  #writeInside(sandbox: Sandbox, path: string, bytes: Uint8Array): void {
    const { root, merged } = this.#layerOf(sandbox, path)
    writePlainFile(merged, path.slice(root.length), bytes)
  }

  #layerOf({ layers }: Sandbox, path: string): Layer {
    const [layer] = layers
      .filter(({ root }) => path.startsWith(`${root}/`))
      .sort((one, other) => other.root.length - one.root.length)
    if (layer !== undefined && isBelow(rawOfText(path), rawOfText(this.order.workspace)))
      return layer
    throw outside(path)
  }

  /** Aborts when the caller stops this attempt or a human halts everything. */
  get abort(): AbortSignal {
    return this.#stop.signal
  }

  /** What the participant's process sent to the hosts it lives by. */
  get connections(): readonly NetworkConnection[] {
    return this.#connections
  }

  /** The participant's process, with its secrets, which nothing else here gets to see. */
  async runMain(
    command: ParticipantCommand,
    outputs: Pick<AttemptOutputs, 'take'>,
  ): Promise<RunOutcome> {
    const { argv, cwd, env, stdin, onLine, abort } = command
    this.#service?.obey(serviceTerms(this.order))
    const proxied = this.#service === null ? {} : PROXY_ENVIRONMENT
    const outcome = await this.#run(
      { argv, cwd, env: { ...env, ...proxied, ...this.order.secrets }, stdin },
      (stream, bytes) => outputs.take(stream, bytes),
      { onLine, tooLong: TOO_LONG },
      abort,
    )
    this.#connections.push(...((await this.#service?.settle()) ?? []))
    // What runs later is not the participant.
    this.#service?.obey(NO_HOSTS)
    return outcome
  }

  runOperation(command: OperationCommand, onOutput: OnOutput): Promise<RunOutcome> {
    return this.#run(command, onOutput)
  }

  /** Runs a command in the sandbox next to the participant's process; returns its exit status. */
  async runBeside(command: OperationCommand, onOutput: OnOutput): Promise<number | null> {
    const env = { ...this.#environment(), ...command.env }
    return (await this.enter()).runBeside({ ...command, env, onOutput })
  }

  /** Everything that the attempt changed so far. Nothing may run meanwhile. */
  async scan(startedAtMs: number): Promise<Scan> {
    const scan = await this.#scan(startedAtMs, NOTHING_MADE)
    if (!scan.findings.some(({ code }) => code === 'rehearsal.interfered')) return scan
    const made = await madeSince(this.#gate, this.#lastPromotion)
    return made.size === 0 ? scan : this.#scan(startedAtMs, made)
  }

  async #scan(startedAtMs: number, madeMeanwhile: ReadonlySet<RawPath>): Promise<Scan> {
    const { layers } = this.holding
    const scan = await scanLayers(layers, {
      marker: this.#marker,
      commandStartedAtMs: startedAtMs,
      maxBytes: this.resources.max_disk_mb * MEBIBYTE,
      pathBytesMax: PATH_BYTES_MAX,
      scopeRoots: this.#host.roots,
      isRoot: isRoot(),
      ids: ownIds(),
      exclude: stagePlaces(this.context.home),
      known: this.#laid.known,
      madeMeanwhile,
      // No overlay can be asked for what a shelf hides, and it hides nothing.
      ...(this.#sandbox === null ? { hiding: NOTHING_HIDING } : {}),
    })
    return withClosedDirectories(withoutRefreshedIndexes(scan, layers), isRoot())
  }

  async close(): Promise<void> {
    this.#stop.end()
    await this.#sandbox?.close()
    await this.#shelf?.close()
    await this.#service?.close()
    this.#laid.remove()
  }

  async #run(
    command: OperationCommand,
    onOutput: OnOutput,
    channel?: ToolChannel,
    abort?: AbortSignal,
  ): Promise<RunOutcome> {
    const { argv, cwd, env, stdin } = command
    const { signal } = this.#stop
    const sandbox = await this.enter()
    const outcome = await sandbox.run({
      argv,
      cwd,
      env: { ...this.#environment(), ...env },
      stdin,
      terminal: null,
      onOutput,
      abort: abort === undefined ? signal : AbortSignal.any([signal, abort]),
      ...(channel === undefined ? {} : { channel }),
      isTraced: this.order.isTraced,
    })
    // The run was ended, and the attempt was not.
    return abort?.aborted === true && !signal.aborted ? { ...outcome, aborted: false } : outcome
  }

  #environment(): Readonly<Record<string, string>> {
    const { environment, userDirectory } = this.context
    const inherited = sandboxEnvironment(this.#book.lists, { ...environment, HOME: userDirectory })
    // Python would leave its bytecode next to every module, also next to those that are sealed.
    return { PYTHONDONTWRITEBYTECODE: '1', ...inherited }
  }
}

/** A model may think for as long as its participant has time. */
const SERVICE_IDLE_MS = 3_600_000

function serviceOf({ gate: { context }, order }: SceneParts): RunProxy | null {
  if (order.egress.length === 0) return null
  const { resolve } = context
  const terms = serviceTerms(order)
  const options = { idleMs: SERVICE_IDLE_MS, ...(resolve === undefined ? {} : { resolve }) }
  return new RunProxy(terms, options)
}

const NO_HOSTS: NetworkTerms = { hosts: [], readOnlyHosts: [], release: null }

function serviceTerms({ egress }: Pick<AttemptOrder, 'egress'>): NetworkTerms {
  return { ...NO_HOSTS, service: egress }
}

/** Real paths that the overlays of an attempt lie over, or inside of. */
function coveredBy({ gate: { context }, order }: SceneParts): readonly string[] {
  const { home, userDirectory } = context
  return [order.workspace, dirname(home.directory), userDirectory].map(realPathOf)
}

interface AttemptHost {
  /** Where the workspace really lies. */
  readonly roots: readonly string[]
  /** The homes of the actor. */
  readonly homes: readonly string[]
}

async function hostOf(
  { gate, order }: SceneParts,
  resources: ActionDescriptor['resources'],
): Promise<AttemptHost> {
  const terms = { order, resources, createdAt: '' }
  const descriptor = attemptDescriptor(terms, order.actionId, 'COMMAND_EXECUTION')
  // Only its scope is looked at.
  const proposal: Proposal = { descriptor }
  const { context, book, view } = gate
  const host = hostFactsOf(context, book, proposal, await view.standing(), context.nowMs())
  return {
    roots: host.roots.map(({ real }) => real),
    homes: host.homes.filter(({ own }) => own).map(({ path }) => path),
  }
}

function outside(path: string): FaultError {
  return faultError('attempt.order', path, 'the file lies outside the workspace')
}

/** One abort signal for two sources: the caller of the attempt, and a halt. */
class Stop {
  readonly #controller = new AbortController()
  readonly #abort: AbortSignal
  readonly #unwatch: () => void
  readonly #onAbort = (): void => this.#controller.abort()

  constructor(state: string, abort: AbortSignal) {
    this.#abort = abort
    abort.addEventListener('abort', this.#onAbort, { once: true })
    if (abort.aborted) this.#onAbort()
    this.#unwatch = watchHalt(state, this.#onAbort)
  }

  get signal(): AbortSignal {
    return this.#controller.signal
  }

  end(): void {
    this.#unwatch()
    this.#abort.removeEventListener('abort', this.#onAbort)
  }
}
