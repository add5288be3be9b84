/**
 * What acts of other runs, of sessions and of people changed since a run began, where its reviewers might
 * load it. Pins see what was there; of what a tool finds by itself the record of those acts tells.
 *
 * INVARIANT (no window): the changes are read right before a reviewer runs and once more when its review is
 * taken, each time when no promotion is under way; what was put back in between counts the second time.
 */
import { type Flow, type Glob, matchesPath, parseGlob } from '../../contracts/index.ts'
import { RUN_ARTIFACTS } from '../../flow/index.ts'
import {
  type DataOnly,
  type PromotedChange,
  type PromotedChanges,
  strayReason,
} from '../../service/index.ts'
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

type Before = PromotedChange['change']['before']

/** What is asked of a run, and of the stream that it is in. */
interface WatchedRun {
  readonly runId: string
  readonly workspace: string
  /** The folder of its artifacts. */
  artifacts(): string
  rules(): OthersRules
  /** The fact behind which acts count: its beginning, or its last migration, which takes over what was there. */
  begunAt(): Promise<number>
  promotedBehind(seq: number): Promise<readonly PromotedChanges[]>
  /** Null when it is not kept any more. */
  flowOf(run: string): Promise<BegunFlow | null>
}

/** What another run was begun with. */
export interface BegunFlow {
  readonly flow: Flow
  readonly artifacts: string
}

interface Touch {
  /** Relative to the workspace; the id of an act whose changes are not kept. */
  readonly path: string
  /** What was there before; undefined where that is not known. */
  readonly before: Before | undefined
}

export class OthersChanges {
  readonly #run: WatchedRun
  readonly #touches: Touch[] = []
  readonly #names = new Map<string, readonly string[]>()
  #behind: number | null = null

  constructor(run: WatchedRun) {
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
    const { files } = this.#run.rules()
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
    const run = this.#run
    this.#behind ??= await run.begunAt()
    const acts = await run.promotedBehind(this.#behind)
    const rules = acts.length === 0 ? null : new Judged(run)
    for (const act of acts) {
      this.#behind = Math.max(this.#behind, act.seq)
      if (act.runId === run.runId) continue
      if (act.changes === null) this.#touches.push({ path: act.actionId, before: undefined })
      const named = act.runId === null ? [] : await this.#namedBy(act.runId)
      for (const change of act.changes ?? []) {
        const path = rules?.touched(change, named) ?? null
        if (path !== null) this.#touches.push({ path, before: change.change.before })
      }
    }
  }

  /** What the flow of another run names: a person has looked at that, as at this one. */
  async #namedBy(run: string): Promise<readonly string[]> {
    const known = this.#names.get(run)
    if (known !== undefined) return known
    const begun = await this.#run.flowOf(run)
    const named = begun === null ? [] : namedData(begun.flow, begun.artifacts)
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

  constructor(run: WatchedRun) {
    this.workspace = run.workspace
    this.artifacts = run.artifacts()
    this.#rules = run.rules()
    this.#sealed = globsOf(this.#rules.patterns)
    this.#anywhere = globsOf(this.#rules.anywhere)
    this.#own = namedData(this.#rules.flow, this.artifacts)
  }

  /** The path of a change that a reviewer may see the effect of; null for any other. */
  touched({ path: absolute, change }: PromotedChange, named: readonly string[]): string | null {
    const { flow, only } = this.#rules
    const { workspace, artifacts } = this
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

function isAs(files: WorkspaceFiles, path: string, before: Before): boolean {
  const now = files.stateAt(path)
  if (before === null || now === null) return before === now
  if (before.kind !== now.kind) return false
  if (before.kind === 'directory') return true
  if (before.kind === 'symlink') return now.target === before.target
  return before.kind === 'file' && now.mode === before.mode && files.digest(path) === before.digest
}
