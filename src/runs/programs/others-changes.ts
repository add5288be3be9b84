/**
 * What acts of other runs, of sessions and of people changed since a run began, where its reviewers might
 * load it. Pins see what was there; of what a tool finds by itself the record of those acts tells.
 *
 * INVARIANT (no window): the changes are read right before a reviewer runs and once more when its review is
 * taken, each time when no promotion is under way; what was put back in between counts the second time.
 */
import { type Flow, type Glob, matchesPath, parseGlob } from '../../contracts/index.ts'
import { RUN_ARTIFACTS } from '../../flow/index.ts'
import { displayOfRaw, textOfRaw } from '../../gate/index.ts'
import type { Fact as LedgerFact } from '../../ledger/index.ts'
import { type DataOnly, type PromotedChanges, strayReason } from '../../service/index.ts'
import type { FlowRun } from '../run.ts'
import { keptDocument, payloadOf } from '../run-records.ts'
import { namedData } from './named-data.ts'
import { isDeclared } from './protected-programs.ts'
import type { WorkspaceFiles } from './workspace-files.ts'

export interface OthersRules {
  readonly files: WorkspaceFiles
  readonly flow: Flow
  /** What is sealed. */
  readonly patterns: readonly string[]
  /** What tools load from any directory. */
  readonly anywhere: readonly string[]
  /** While a reviewer is open. */
  readonly only: DataOnly | null
}

type Change = NonNullable<PromotedChanges['changes']>[number]

interface Touch {
  /** Relative to the workspace; the id of an act whose changes are not kept. */
  readonly path: string
  /** What was there before; undefined where that is not known. */
  readonly before: Change['before'] | undefined
}

export class OthersChanges {
  readonly #run: FlowRun
  readonly #touches: Touch[] = []
  readonly #names = new Map<string, readonly string[]>()
  #behind: number | null = null

  constructor(run: FlowRun) {
    this.#run = run
  }

  get count(): number {
    return this.#touches.length
  }

  /** Paths that are not as they were when the run began. */
  async standing(): Promise<readonly string[]> {
    await this.#look()
    const first = new Map<string, Touch>()
    for (const touch of this.#touches) if (!first.has(touch.path)) first.set(touch.path, touch)
    const { files } = this.#run.programs.othersRules()
    return [...first.values()].flatMap(({ path, before }) =>
      before !== undefined && isAs(files, path, before) ? [] : [path],
    )
  }

  /** Paths that were touched behind the first so many changes. */
  async since(count: number): Promise<readonly string[]> {
    await this.#look()
    return [...new Set(this.#touches.slice(count).map(({ path }) => path))]
  }

  /** Takes in the acts that were recorded behind the last look. */
  async #look(): Promise<void> {
    const { options, range } = this.#run
    this.#behind ??= await this.#begin(range.from)
    const acts = await options.host.attempts.promotedBehind(this.#behind)
    const rules = acts.length === 0 ? null : new Judged(this.#run)
    for (const act of acts) {
      this.#behind = Math.max(this.#behind, act.seq)
      if (act.runId === options.runId) continue
      if (act.changes === null) this.#touches.push({ path: act.actionId, before: undefined })
      const named = act.runId === null ? [] : await this.#namedBy(act.runId)
      for (const change of act.changes ?? []) {
        const path = rules?.touched(change, named) ?? null
        if (path !== null) this.#touches.push({ path, before: change.before })
      }
    }
  }

  /** A migration pins anew: what acts did before it is what a person has taken over. */
  async #begin(first: number): Promise<number> {
    const migrated = this.#run.facts.findLast(
      ({ type, payload }) =>
        type === 'flow_event_v1' && payload.kind === 'event' && payload.event.type === 'migrated',
    )
    if (migrated === undefined) return first
    const { host, runId } = this.#run.options
    const idempotencyKey = `flow/${runId}/${migrated.payload.seq}`
    const { facts } = await host.ledger.store.find({
      ...{ stream: host.stream, idempotencyKey, limit: 1 },
      order: 'oldest_first',
    })
    return facts[0]?.seq ?? first
  }

  /** What the flow of another run names: a person has looked at that, as at this one. */
  async #namedBy(run: string): Promise<readonly string[]> {
    const known = this.#names.get(run)
    if (known !== undefined) return known
    const { ledger, stream } = this.#run.options.host
    const { facts } = await ledger.store.find({
      ...{ stream, run, type: 'flow_started_v1', limit: 1 },
      order: 'oldest_first',
    })
    const [first] = facts
    const named = first === undefined ? [] : await namedIn(ledger, first.text)
    this.#names.set(run, named)
    return named
  }
}

/** The rules by which changes are judged, read once for many of them. */
class Judged {
  readonly workspace: string
  readonly artifacts: string
  readonly #rules: OthersRules
  readonly #sealed: readonly Glob[]
  readonly #anywhere: readonly Glob[]
  readonly #own: readonly string[]

  constructor({ options, state, programs }: FlowRun) {
    this.workspace = options.workspace
    this.artifacts = state.artifacts
    this.#rules = programs.othersRules()
    this.#sealed = globsOf(this.#rules.patterns)
    this.#anywhere = globsOf(this.#rules.anywhere)
    this.#own = namedData(this.#rules.flow, state.artifacts)
  }

  /** The path of a change that a reviewer may see the effect of; null for any other. */
  touched(change: Change, named: readonly string[]): string | null {
    const { flow, only } = this.#rules
    const { workspace, artifacts } = this
    const absolute = textOfRaw(change.path) ?? displayOfRaw(change.path)
    if (!absolute.startsWith(`${workspace}/`)) return null
    const path = absolute.slice(workspace.length + 1)
    const isFolder = [change.before, change.after].every(
      (side) => side?.kind !== 'file' && side?.kind !== 'symlink',
    )
    if (!isFolder && isAmong(this.#sealed, path)) return path
    if (!isFolder && isAmong(this.#anywhere, path) && !isDeclared(path, flow.nodes)) return path
    if (only === null) return null
    // What another run hands in lies in its own folder, where only its name could make a runner take it.
    const isHandedIn = RUN_ARTIFACTS.test(path) && !path.startsWith(`${artifacts}/`)
    const paths = [...this.#own, ...named, ...(isHandedIn ? [path, `${path}/_`] : [])]
    const artifact = { folder: `${artifacts}/_`, stems: [] }
    return strayReason(change, { ...only, paths, artifact }, workspace) === null ? null : path
  }
}

function globsOf(patterns: readonly string[]): readonly Glob[] {
  return patterns.flatMap((pattern) => parseGlob(`/${pattern}`) ?? [])
}

function isAmong(globs: readonly Glob[], path: string): boolean {
  return globs.some((glob) => matchesPath(glob, `/${path}`))
}

async function namedIn(
  ledger: FlowRun['options']['host']['ledger'],
  text: string,
): Promise<readonly string[]> {
  const { record } = JSON.parse(text) as LedgerFact
  // The ledger has checked the payload against the contract of its type.
  const { flow_digest, origin } = (await payloadOf(ledger, record)) as {
    readonly flow_digest: string
    readonly origin?: { readonly artifacts?: string }
  }
  // A flow was checked before it was kept.
  const flow = (await keptDocument(ledger, flow_digest)) as Flow | null
  return flow === null ? [] : namedData(flow, origin?.artifacts ?? 'artifacts')
}

function isAs(files: WorkspaceFiles, path: string, before: Change['before']): boolean {
  const now = files.stateAt(path)
  if (before === null || now === null) return before === now
  if (before.kind !== now.kind) return false
  if (before.kind === 'directory') return true
  if (before.kind === 'symlink') return now.target === before.target
  return before.kind === 'file' && now.mode === before.mode && files.digest(path) === before.digest
}
