/**
 * Compares what happened with what was declared (G-15, G-15a, G-16). Pure, and about linear in the
 * number of changes: it looks at each change once, and matches declared patterns until an effort is
 * spent. From then on a change counts as not declared.
 *
 * INVARIANT (reality beats intent, I2): every change is a finding unless the declaration covers it.
 *   Discarded changes are findings too, and they are never promoted.
 */
import type { Code } from '../../base/index.ts'
import type {
  ActionDescriptor,
  EffectKind,
  HostFacts,
  NetworkConnection,
  NetworkGrounds,
  SandboxResult,
} from '../../contracts/index.ts'
import { holderOf } from '../data/ephemeral.ts'
import type { GateLists } from '../data/lists.ts'
import { type CompiledLists, compiledLists } from '../data/lists.ts'
import { FindingList } from '../evidence/findings.ts'
import {
  type Change,
  type ChangeList,
  isPrivileged,
  listsOf,
  verbOf,
} from '../evidence/manifest.ts'
import { groundTerms, networkFindings, networkRules } from '../network/rules.ts'
import { newTryingEffort, type TryingEffort } from '../paths/path-set.ts'
import {
  displayOfRaw,
  isBelow,
  nameOfRaw,
  parentOfRaw,
  type RawPath,
  rawOfText,
} from '../paths/raw-path.ts'
import { Declaration, type Declared } from './declaration.ts'
import { type Deferral, DeferredPaths, POINTERS, type PointedBy } from './deferred.ts'
import { addGrantFindings, type GrantCase } from './grants.ts'
import { takenPart } from './groups.ts'
import { isSharedOfHome, writOf } from './writ-files.ts'

export type Finding = SandboxResult['findings'][number]

export interface ComparisonInput {
  readonly descriptor: ActionDescriptor
  /** Sorted by raw path, each path once. */
  readonly changes: readonly Change[]
  readonly lists: GateLists
  readonly host: Pick<HostFacts, 'roots' | 'real_paths' | 'homes' | 'writ_places'> &
    Partial<Pick<HostFacts, 'workspace'>>
  /** By the amended rules (evaluator 3); records of before are compared as they were. */
  readonly isAmended: boolean
  /** The human's approval of the shown effects is the declaration (exec without globs). */
  readonly declaredByApproval: boolean
  /** Real paths that an edit tool names in its arguments; nothing else may be changed then. */
  readonly namedPaths?: readonly string[]
  /** What a run changed in the home outside the scope is left out, and does not block. */
  readonly leavesHomeOut?: boolean
  /** Instead of being left out it is kept, as the person chose. */
  readonly keepsHome?: boolean
  /** The package.json files whose `scripts` differ, or could not be read. */
  readonly scriptsChanged: ReadonlySet<RawPath>
  /** Real paths of the directories that commands are looked for in. */
  readonly pathDirectories: readonly string[]
  /** Changed paths that configuration or a link points to, as the host found them. */
  readonly pointed?: ReadonlyMap<RawPath, PointedBy>
  /** Files that changed branches and indexes of git bring. */
  readonly brought?: ReadonlyMap<RawPath, readonly RawPath[]>
  /** What went out, and by which rules; without a network nothing does. */
  readonly network?: ComparedNetwork
  /** Whose act it is, where only a grant spares a question; null or absent where none is needed. */
  readonly grants?: GrantCase | null
  /** The part that a person took of what would be promoted, by paths and globs (N-4). */
  readonly only?: readonly string[]
  /** How many findings of one code are listed; the rest is counted. */
  readonly findingsMax?: number
}

export interface ComparedNetwork {
  readonly connections: readonly NetworkConnection[]
  readonly grounds: NetworkGrounds | null
}

export interface Comparison {
  readonly findings: readonly Finding[]
  /** What would be promoted, in the order of the input. */
  readonly promoted: readonly Change[]
  /** What was dropped; never promoted. */
  readonly discarded: readonly Change[]
  /** Those of `promoted` that other programs run by themselves. */
  readonly deferred: readonly Change[]
  /** Those of `promoted` that a build or a test runs. */
  readonly builds: readonly Change[]
  readonly counts: SandboxResult['diff']['counts']
  /** Of the files as they would be. */
  readonly bytes: number
  readonly effectsDeclared: boolean
  readonly withinScope: boolean
  /** Grants that a human gave at a question and without which one would be asked, by their ids. */
  readonly givenUsed: readonly string[]
}

export function compareEffects(input: ComparisonInput): Comparison {
  const findings = new FindingList(input.findingsMax)
  const effort = newTryingEffort()
  const lists = new ComparedLists(input)
  const step = compareStep(input, lists, findings, effort)
  compareNetwork(input, findings)
  return summarise(input, step, findings)
}

/** One child of a composite with what it changed beyond the ones before it (G-22). */
export interface ComparedStep {
  readonly descriptor: ActionDescriptor
  readonly changes: readonly Change[]
}

/**
 * A composite: each child against its own declaration; `input.changes` is what all of them together
 * did to the real tree, and `input.descriptor` the composite's own.
 */
export function compareSteps(steps: readonly ComparedStep[], input: ComparisonInput): Comparison {
  const findings = new FindingList(input.findingsMax)
  const effort = newTryingEffort()
  const lists = new ComparedLists(input)
  const discarded = new Set<RawPath>()
  const deferred = new Set<RawPath>()
  const builds = new Set<RawPath>()
  const kept = new Set<RawPath>()
  for (const { descriptor, changes } of steps) {
    const step = compareStep({ ...input, descriptor, changes }, lists, findings, effort)
    for (const path of step.discarded) discarded.add(path)
    for (const path of step.deferred) deferred.add(path)
    for (const path of step.builds) builds.add(path)
    for (const { path } of changes) if (!step.discarded.has(path)) kept.add(path)
  }
  compareNetwork(input, findings)
  // What one child declared is kept, though another touched it in passing.
  for (const path of kept) discarded.delete(path)
  return summarise(input, { discarded, deferred, builds }, findings)
}

const NO_HOSTS: NetworkGrounds = { hosts: [], read_only_hosts: [], release: null }

function compareNetwork({ network, lists }: ComparisonInput, findings: FindingList): void {
  if (network === undefined) return
  const rules = networkRules(groundTerms(network.grounds ?? NO_HOSTS))
  networkFindings(network.connections, rules, findings, lists.harmless !== undefined)
}

/** Answers what the lists say about a path. Declarations play no part here. */
class ComparedLists {
  readonly #input: ComparisonInput
  readonly #homes: readonly string[]
  #deferred: DeferredPaths | null = null
  #compiled: CompiledLists | null = null
  /** Names of directories that hold an ephemeral place, according to the list. */
  readonly #holders: ReadonlySet<string>
  readonly #writPlaces: readonly RawPath[]

  constructor(input: ComparisonInput) {
    const { lists, host } = input
    this.#input = input
    this.#homes = host.homes.filter(({ own }) => own).map(({ path }) => path)
    this.#holders = new Set(lists.ephemeral.flatMap(holderOf))
    this.#writPlaces = host.writ_places.map(rawOfText)
  }

  /** Made when the first path is asked about: most commands change none. */
  get deferred(): DeferredPaths {
    const { lists, scriptsChanged, pathDirectories, pointed = new Map(), host } = this.#input
    this.#deferred ??= new DeferredPaths({
      lists,
      homes: this.#homes,
      ...(host.workspace === undefined ? {} : { workspace: host.workspace }),
      scriptsChanged,
      pathDirectories,
      pointed,
    })
    return this.#deferred
  }

  /** Returns the ephemeral place that the path lies in; null when it lies in none. */
  ephemeralRoot(path: RawPath): string | null {
    const text = displayOfRaw(path)
    this.#compiled ??= compiledLists(this.#input.lists, this.#homes)
    const found = this.#compiled.ephemeral.find(text)
    return found === null ? null : text.slice(0, found.rootLength)
  }

  /** Lists of evaluators before 3 hold no harmless paths; there a pattern declared nothing that defers. */
  get isAmended(): boolean {
    return this.#input.lists.harmless !== undefined
  }

  /** Whether the act is one of an actor, which has what grants give it. */
  get isActors(): boolean {
    return (this.#input.grants ?? null) !== null
  }

  /** What points to a path; of a branch or an index with the files that it brings. */
  wordsFor(path: RawPath, by: PointedBy): string {
    const names = (this.#input.brought?.get(path) ?? []).map(displayOfRaw)
    return names.length === 0 ? POINTERS[by] : `brings ${names.join(', ')}; ${POINTERS[by]}`
  }

  isHolder(path: RawPath): boolean {
    return this.#holders.has(displayOfRaw(nameOfRaw(path)))
  }

  /** Laws and rules that people share: an act may change them, and none applies by that alone. */
  isShared(change: Change): boolean {
    return this.#input.isAmended && isSharedOfHome(change)
  }

  isWrits(path: RawPath): boolean {
    if (`${path}/`.includes('/.writ/')) return true
    return this.#writPlaces.some((place) => isBelow(path, place))
  }
}

interface StepOutcome {
  readonly discarded: ReadonlySet<RawPath>
  readonly deferred: ReadonlySet<RawPath>
  readonly builds: ReadonlySet<RawPath>
}

function compareStep(
  input: ComparisonInput,
  lists: ComparedLists,
  findings: FindingList,
  effort: TryingEffort,
): StepOutcome {
  const { descriptor, changes, host, declaredByApproval, leavesHomeOut = false } = input
  const declaration = new Declaration(descriptor, host, effort)
  const homes = leavesHomeOut ? host.homes.filter(({ own }) => own) : []
  const step = new Step(declaration, lists, declaredByApproval, findings)
  if (input.namedPaths !== undefined) step.allowOnly(input.namedPaths.map(rawOfText))
  step.leaveOut(
    homes.map(({ path }) => rawOfText(path)),
    input.keepsHome === true,
  )
  if (input.only !== undefined) step.taken = takenPart(changes, input.only).taken
  if (input.isAmended) step.keepWrit(changes)
  if (input.isAmended) step.takeAlong(changes)
  // From the end: what lies below a directory comes before the directory itself.
  for (let index = changes.length - 1; index >= 0; index--) step.judge(changes[index] as Change)
  // Where an approval or grants decide, a declared effect is no promise.
  const unseen = declaredByApproval ? [] : declaration.unseen(happenedIn(changes))
  for (const { kind, text } of unseen) {
    findings.add('effect.not_observed', text, kind)
  }
  return step
}

const NEEDED: Readonly<Record<ChangeList, EffectKind>> = {
  added: 'create',
  modified: 'modify',
  deleted: 'delete',
}

function happenedIn(changes: readonly Change[]): Record<EffectKind, string[]> {
  const happened: Record<EffectKind, string[]> = { create: [], modify: [], delete: [] }
  for (const change of changes) {
    for (const list of listsOf(change)) happened[NEEDED[list]].push(displayOfRaw(change.path))
  }
  return happened
}

class Step implements StepOutcome {
  readonly discarded = new Set<RawPath>()
  readonly deferred = new Set<RawPath>()
  readonly builds = new Set<RawPath>()
  readonly #declaration: Declaration
  readonly #lists: ComparedLists
  readonly #byApproval: boolean
  readonly #findings: FindingList
  /** Directories below which something declared was created. */
  readonly #needed = new Set<RawPath>()
  /** Directories that hold a change which is kept, and those that hold one which is not. */
  readonly #keeps = new Set<RawPath>()
  readonly #drops = new Map<RawPath, string>()
  #homes: readonly RawPath[] = []
  #isHomeKept = false
  /** Null where no tool named any. */
  #named: readonly RawPath[] | null = null
  /** Changes of all other paths are listed, and not promoted; null where a person takes everything. */
  taken: ReadonlySet<RawPath> | null = null
  /** Directories of writ that the run deleted with their id, and deleted directories around them. */
  readonly #staying = new Set<RawPath>()
  /** Directories that the run deleted or replaced. */
  readonly #gone = new Set<RawPath>()

  constructor(
    declaration: Declaration,
    lists: ComparedLists,
    byApproval: boolean,
    findings: FindingList,
  ) {
    this.#declaration = declaration
    this.#lists = lists
    this.#byApproval = byApproval
    this.#findings = findings
  }

  /** Changes below these and outside the scope are listed, and promoted only if a person chose so. */
  leaveOut(homes: readonly RawPath[], isKept: boolean): void {
    this.#homes = homes
    this.#isHomeKept = isKept
  }

  /** Only these paths, and directories that were made for them, may be changed. */
  allowOnly(named: readonly RawPath[]): void {
    this.#named = named
  }

  #isNamed({ path, before, after }: Change): boolean {
    if (this.#named === null || this.#named.includes(path)) return true
    const isParent = before === null && after?.kind === 'directory'
    return isParent && this.#named.some((named) => isBelow(named, path))
  }

  /** Keeps a `.writ` directory that the run deleted together with its id, as `git clean -fdx` does. */
  keepWrit(changes: readonly Change[]): void {
    for (const { path, after } of changes) {
      if (after === null && path.endsWith('/.writ/id')) this.#staying.add(parentOfRaw(path))
    }
  }

  /** Notes deleted directories. Ephemeral places in them are deleted along, or `rmdir` would fail. */
  takeAlong(changes: readonly Change[]): void {
    for (const { path, before, after } of changes) {
      if (before?.kind === 'directory' && after?.kind !== 'directory') this.#gone.add(path)
    }
  }

  #goesAlong({ path, after }: Change, root: string): boolean {
    if (after !== null || this.#gone.size === 0) return false
    for (let at = parentOfRaw(path); at !== '/'; at = parentOfRaw(at)) {
      if (this.#gone.has(at) && displayOfRaw(at).length < root.length) return true
    }
    return false
  }

  #staysBehind({ path, after }: Change): boolean {
    if (after !== null || this.#staying.size === 0) return false
    return this.#staying.has(path) || this.#staying.has(writOf(path))
  }

  judge(change: Change): void {
    const { path } = change
    if (this.#staysBehind(change)) {
      // The directory around it stays as well.
      if (this.#staying.has(path)) this.#staying.add(parentOfRaw(path))
      this.discarded.add(path)
      return this.#findings.add('effect.writ_kept', displayOfRaw(path), verbOf(change))
    }
    const isShared = this.#lists.isShared(change)
    // Laws and rules take effect only after a human accepts them.
    const deferral = isShared ? null : this.#lists.deferred.of(change)
    const isDeclared = this.#isDeclared(change, deferral)
    if (!isShared && this.#lists.isWrits(path)) {
      this.#keeps.add(parentOfRaw(path))
      return this.#findings.add('effect.host_state', displayOfRaw(path), verbOf(change))
    }
    const inScope = this.#declaration.covers(path)
    const root = isDeclared ? null : this.#droppedWith(change, inScope)
    const goesAlong = root !== null && this.#goesAlong(change, root)
    if (root !== null && !goesAlong) return this.#drop(path, root)
    if (this.taken?.has(path) === false) {
      this.discarded.add(path)
      return this.#findings.add('effect.not_taken', displayOfRaw(path), verbOf(change))
    }
    const isOfHome =
      !inScope && !isPrivileged(change) && this.#homes.some((home) => isBelow(path, home))
    if (isOfHome && !this.#isHomeKept) {
      this.discarded.add(path)
      return this.#findings.add('effect.left_out', displayOfRaw(path), verbOf(change))
    }
    if (isOfHome) this.#findings.add('effect.home_kept', displayOfRaw(path), verbOf(change))
    if (isShared) this.#findings.add('effect.laws_file', displayOfRaw(path), verbOf(change))
    this.#keep(change, isDeclared || goesAlong, inScope || isOfHome, deferral)
  }

  /**
   * Returns whether every kind of the change is declared. A change that acts later is asked about even
   * if it is declared; before evaluator 3 only its exact path declared it.
   */
  #isDeclared(change: Change, deferral: Deferral): boolean {
    const needsName = deferral?.kind === 'ask' && !this.#lists.isAmended
    let all = true
    for (const list of listsOf(change)) {
      const declared: Declared = this.#declaration.declares(NEEDED[list], change.path)
      if (declared === null || (needsName && declared === 'pattern')) all = false
    }
    return all || this.#isAwaited(change)
  }

  /** A declared creation covers its missing parents inside scope. */
  #isAwaited({ path, before, after }: Change): boolean {
    if (before !== null || after?.kind !== 'directory') return false
    if (!this.#needed.has(path) && !this.#declaration.awaits(path)) return false
    return this.#declaration.covers(path)
  }

  /**
   * Returns the ephemeral place with which a change is discarded; null for a change that is kept. A
   * new directory is discarded when everything in it is. It is kept if a person will approve it
   * anyway, unless the list names such directories as holders of an ephemeral place.
   */
  #droppedWith({ path, before, after }: Change, inScope: boolean): string | null {
    const root = this.#lists.ephemeralRoot(path)
    if (root !== null) return this.#isAboutIt(path, root) ? null : root
    if (before !== null || after?.kind !== 'directory') return null
    const isLeft = inScope && this.#byApproval && !this.#lists.isHolder(path)
    if (this.#keeps.has(path) || isLeft) return null
    return this.#drops.get(path) ?? null
  }

  /** Returns whether the scope lies inside the ephemeral place: then the act is meant to change it. */
  #isAboutIt(path: RawPath, root: string): boolean {
    const length = this.#declaration.scopeRootLength(path)
    // The root of the scope ends at the end of a name.
    return displayOfRaw(path.slice(0, length) as RawPath).length >= root.length
  }

  #drop(path: RawPath, root: string): void {
    this.discarded.add(path)
    this.#drops.set(parentOfRaw(path), root)
    this.#findings.count('effect.discarded', root)
  }

  #keep(change: Change, isDeclared: boolean, inScope: boolean, deferral: Deferral): void {
    const { path, before, after } = change
    const text = displayOfRaw(path)
    this.#keeps.add(parentOfRaw(path))
    if (isDeclared && before === null && after !== null) this.#needed.add(parentOfRaw(path))
    if (isPrivileged(change)) this.#findings.add('effect.privileged', text)
    if (!inScope) this.#findings.add('effect.out_of_scope', text, verbOf(change))
    else if (!this.#isNamed(change)) {
      this.#findings.add(
        'effect.undeclared',
        text,
        `${verbOf(change)}; the edit tool did not name it`,
      )
    } else if (!isDeclared && !this.#byApproval) {
      this.#findings.add('effect.undeclared', text, verbOf(change))
    }
    if (deferral?.kind === 'note') {
      this.builds.add(path)
      this.#findings.add('effect.build_execution', text)
    }
    if (deferral?.kind !== 'ask') return
    this.deferred.add(path)
    const reason = deferral.by === null ? undefined : this.#lists.wordsFor(path, deferral.by)
    if (deferral.by === 'git_forged' && this.#lists.isActors) {
      this.#findings.add('effect.git_forged', text, reason)
    }
    this.#findings.add('effect.deferred_execution', text, reason)
  }
}

function summarise(
  { changes, lists, grants = null }: ComparisonInput,
  marked: StepOutcome,
  findings: FindingList,
): Comparison {
  const counts = { added: 0, modified: 0, deleted: 0 }
  const promoted: Change[] = []
  const discarded: Change[] = []
  let bytes = 0
  for (const change of changes) {
    if (marked.discarded.has(change.path)) {
      discarded.push(change)
      continue
    }
    promoted.push(change)
    for (const list of listsOf(change)) counts[list]++
    bytes += change.after?.size ?? 0
  }
  const givenUsed =
    grants === null ? [] : addGrantFindings(promoted, lists.grants ?? [], grants, findings)
  const has = (code: Code): boolean => findings.has(code)
  return {
    findings: findings.finish(),
    promoted,
    discarded,
    deferred: promoted.filter(({ path }) => marked.deferred.has(path)),
    builds: promoted.filter(({ path }) => marked.builds.has(path)),
    counts,
    bytes,
    effectsDeclared: !has('effect.undeclared'),
    withinScope: !has('effect.out_of_scope') && !has('effect.host_state'),
    givenUsed,
  }
}
