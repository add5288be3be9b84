/**
 * What an actor that is no person may do without a question (G-8b). A declaration says what an act
 * will do; only a grant lets it happen without a question. An effect that no grant covers, or that
 * exceeds the bounds of its grant, is a finding that asks a human.
 *
 * INVARIANT (grants only spare a question): a grant removes no block and no question that a law, an
 *   effect class or another finding causes.
 */
import { parseIsoMomentMs } from '../../base/index.ts'
import {
  type Evaluation,
  type Glob,
  type GrantDocument,
  matchesNames,
  pathSegments,
} from '../../contracts/index.ts'
import { type LawPlaces, placeGlob } from '../../policy/index.ts'
import { type FindingList, isAmended } from '../evidence/findings.ts'
import { isGitWork, isInGit, namesGit } from '../evidence/git-state.ts'
import { type Change, type ChangeList, type EntryState, listsOf } from '../evidence/manifest.ts'
import { displayOfRaw, type RawPath } from '../paths/raw-path.ts'

/** How much an actor did. */
export interface Amount {
  readonly files: number
  readonly bytes: number
}

/** Whose act is judged, where and when. */
export interface GrantCase {
  /** The words that a grant may name the actor by: its kind, its kind with its name. */
  readonly actors: ReadonlySet<string>
  readonly nowMs: number
  readonly places: LawPlaces
  /** Changed files that git tracked before. */
  readonly tracked: ReadonlySet<RawPath>
  /** Changed files of git whose bytes are as git's commands leave them. */
  readonly gitChecked: ReadonlySet<RawPath>
  /** Changed or deleted entries that the same session created. */
  readonly made: ReadonlySet<RawPath>
  /** What the actor did in the hour before. */
  readonly hour: Amount
  /** What a human granted at a question. */
  readonly given: readonly GrantDocument[]
}

type Judged = Pick<
  Evaluation,
  'actor_kind' | 'agent' | 'basis' | 'evaluator' | 'held' | 'host' | 'session'
>

/** What the host found out about the changed paths. */
type FoundPaths = Partial<Pick<GrantCase, 'gitChecked' | 'made' | 'tracked'>>

const NONE: ReadonlySet<RawPath> = new Set()

/** The words for the actor of a record; none for a person who was not started by an agent. */
export function actorWords({
  actor_kind,
  agent,
  basis,
  session,
}: Pick<Judged, 'actor_kind' | 'agent' | 'basis' | 'session'>): readonly string[] {
  const words: string[] = []
  if (actor_kind !== 'human') words.push(actor_kind)
  if (actor_kind !== 'human' && basis !== undefined) words.push(`${actor_kind}:${basis.actor}`)
  if (agent !== undefined) words.push('agent', `agent:${agent}`)
  if (session !== undefined) words.push('session', `session:${session.session_id}`)
  return words
}

/** Returns whether an act is bounded as an actor's: one of a flow is if its record says what it displaces. */
export function isBounded(evaluation: Judged & Pick<Evaluation, 'comparison'>): boolean {
  if (evaluation.held !== undefined) return evaluation.comparison?.undo !== undefined
  return actorWords(evaluation).length > 0
}

/**
 * Null where no grant is needed: a person acts, a human declared with a flow what its participants may
 * write, or the record is of before grants.
 */
export function grantCase(
  evaluation: Judged,
  { tracked = NONE, gitChecked = NONE, made = NONE }: FoundPaths = {},
): GrantCase | null {
  const { basis, host, held } = evaluation
  const actors = new Set(actorWords(evaluation))
  if (!isAmended(evaluation) || basis === undefined || held !== undefined) return null
  if (actors.size === 0) return null
  return {
    actors,
    nowMs: host.now_ms,
    places: { home: basis.home, workspace: host.workspace },
    tracked,
    gitChecked,
    made,
    hour: basis.hour_use ?? { files: 0, bytes: 0 },
    given: (basis.given ?? []).map(givenDocument),
  }
}

/** More at once is no routine. */
const GIVEN_PER_ACT = { files: 200, mb: 64 }

/** A grant of a human in the form of those of the laws: create and change, for one agent. */
function givenDocument({
  grant_id,
  agent,
  glob,
  until,
}: NonNullable<NonNullable<Judged['basis']>['given']>[number]): GrantDocument {
  const globs = { create: [glob], change: [glob] }
  return { grant_id, actors: [`agent:${agent}`], ...globs, until, per_act: GIVEN_PER_ACT }
}

const NEEDED = { added: 'create', modified: 'change', deleted: 'delete' } as const

class HeldGrant {
  readonly grant: GrantDocument
  readonly #globs: Readonly<Record<ChangeList, readonly Glob[]>>
  files = 0
  bytes = 0

  constructor(grant: GrantDocument, places: LawPlaces) {
    this.grant = grant
    const globs = (list: ChangeList): readonly Glob[] => placed(grant[NEEDED[list]] ?? [], places)
    this.#globs = { added: globs('added'), modified: globs('modified'), deleted: globs('deleted') }
  }

  names(list: ChangeList, path: RawPath): boolean {
    const globs = this.#globs[list]
    if (globs.length === 0) return false
    const segments = pathSegments(displayOfRaw(path))
    const isGits = isInGit(path)
    return globs.some(
      ({ text, segments: wanted }) => (!isGits || namesGit(text)) && matchesNames(wanted, segments),
    )
  }

  take({ before, after }: Change): void {
    this.files++
    this.bytes += after?.size ?? before?.size ?? 0
  }
}

function placed(texts: readonly string[], places: LawPlaces): readonly Glob[] {
  return texts.flatMap((text) => placeGlob(text, places) ?? [])
}

/** The grants that an actor has at this time. */
function inForce(
  grants: readonly GrantDocument[],
  { actors, nowMs }: Pick<GrantCase, 'actors' | 'nowMs'>,
): readonly GrantDocument[] {
  return grants.filter(({ actors: named, until }) => {
    if (named !== undefined && !named.some((name) => actors.has(name))) return false
    return until === undefined || nowMs < (parseIsoMomentMs(until) ?? 0)
  })
}

/** Globs outside the workspace that an actor may name as its scope. */
export function grantedScopes(
  grants: readonly GrantDocument[],
  subject: Pick<GrantCase, 'actors' | 'nowMs' | 'places'>,
): readonly Glob[] {
  return inForce(grants, subject).flatMap(({ scope = [] }) => placed(scope, subject.places))
}

/** Changed files of which it matters whether git tracked them. */
export function pathsToTrack(
  changes: readonly Change[],
  grants: readonly GrantDocument[],
  subject: GrantCase,
): readonly RawPath[] {
  const held = inForce(grants, subject).map((grant) => new HeldGrant(grant, subject.places))
  const plain = held.filter(({ grant }) => grant.tracked !== true && grant.own !== true)
  const tracking = held.filter(({ grant }) => grant.tracked === true)
  return changes
    .filter((change) => listsOf(change).some((list) => needsTracking(change, list)))
    .filter(({ path }) => !plain.some((one) => one.names('modified', path)))
    .filter(({ path }) => tracking.some((one) => one.names('modified', path)))
    .map(({ path }) => path)
}

function needsTracking({ before }: Change, list: ChangeList): boolean {
  return list === 'modified' && before !== null && before.kind !== 'directory'
}

/**
 * Adds what no grant covers, path by path, and each bound that is passed. Returns the ids of grants that
 * a human gave at a question and that were needed: those of the laws come first.
 */
export function addGrantFindings(
  changes: readonly Change[],
  grants: readonly GrantDocument[],
  subject: GrantCase,
  findings: FindingList,
): readonly string[] {
  const held = inForce([...grants, ...subject.given], subject).map(
    (grant) => new HeldGrant(grant, subject.places),
  )
  for (const change of changes) {
    for (const list of listsOf(change)) {
      const grant = held.find((one) => covers(one, list, change, subject))
      if (grant !== undefined) grant.take(change)
      else findings.add('effect.ungranted', displayOfRaw(change.path), wordsFor(list, change, held))
    }
  }
  for (const { grant, files, bytes } of held) {
    if (files === 0) continue
    const whole = { files: files + subject.hour.files, bytes: bytes + subject.hour.bytes }
    const beyond = [
      ...boundWords(grant, 'act', { files, bytes }, grant.per_act),
      ...boundWords(grant, 'hour', whole, grant.per_hour),
    ]
    for (const words of beyond) findings.add('effect.ungranted', subject.places.workspace, words)
  }
  const given = new Set(subject.given.map(({ grant_id }) => grant_id))
  return held
    .filter(({ grant, files }) => files > 0 && given.has(grant.grant_id))
    .map(({ grant }) => grant.grant_id)
}

function covers(
  held: HeldGrant,
  list: ChangeList,
  change: Change,
  { tracked, gitChecked, made }: GrantCase,
): boolean {
  if (!held.names(list, change.path)) return false
  if (held.grant.own === true && !made.has(change.path)) return false
  if (held.grant.git === true && !isGitWork(change, list, gitChecked)) return false
  if (held.grant.git !== true && accessWords(list, change) !== null) return false
  return held.grant.tracked !== true || list !== 'modified' || tracked.has(change.path)
}

function wordsFor(list: ChangeList, change: Change, held: readonly HeldGrant[]): string {
  if (isInGit(change.path)) return `${GIT_WORDS[list]}; git's ordinary commands do not do this`
  if (list === 'deleted') return 'deleted; the act did not make it'
  const access = accessWords(list, change)
  if (access !== null) return access
  if (list === 'added') return 'created'
  const isUntracked = held.some((one) => one.grant.tracked === true && one.names(list, change.path))
  return isUntracked ? 'changed; git does not track it' : 'changed'
}

const GIT_WORDS = { added: 'created', modified: 'changed', deleted: 'deleted' } as const

const MB = 1024 * 1024

function boundWords(
  { grant_id }: GrantDocument,
  span: 'act' | 'hour',
  { files, bytes }: Amount,
  bound: GrantDocument['per_act'],
): readonly string[] {
  if (bound === undefined) return []
  const holds = (most: string): string => `the grant ${grant_id} holds ${most} in one ${span}`
  const words: string[] = []
  if (files > bound.files) words.push(`${files} files, and ${holds(`${bound.files}`)}`)
  if (bytes > bound.mb * MB) {
    words.push(`${Math.ceil(bytes / MB)} MB, and ${holds(`${bound.mb} MB`)}`)
  }
  return words
}

const EXECUTE = 0o111
/** A program that writes a file again under the usual umask takes these away. */
const SHARED_WRITE = 0o022
const OTHERS_WRITE = 0o002
const SET_ID = 0o6000
const ACCESS_LIST = 'system.posix_acl_'

/**
 * Who may use an entry: its mode, owner, access control list and attributes. git keeps of these only
 * whether a file can be executed, so that no commit brings the rest back; a grant does not cover it.
 * Returns what an act did to the access to an entry beyond what grants cover; null for nothing.
 */
function accessWords(list: ChangeList, { before, after }: Change): string | null {
  if (after === null || after.kind === 'symlink') return null
  if (list === 'added') return createdWords(after)
  if (list !== 'modified' || before === null) return null
  const what = [
    ...(isOtherMode(before.mode, after.mode) ? [`mode ${octal(before)} to ${octal(after)}`] : []),
    ...(isSameOwner(before, after) ? [] : ['owner or group']),
    ...(isSameText(before.attributes, after.attributes) ? [] : ['attributes or access list']),
  ]
  return what.length === 0 ? null : `changed: ${what.join(', ')}; git does not keep that`
}

/** An owner is recorded only for root, whose new entries are root's. */
function createdWords({ kind, mode, owner, attributes }: EntryState): string | null {
  if ((mode & OTHERS_WRITE) !== 0) return 'created; every user of this machine may write to it'
  if (kind === 'file' && (mode & SET_ID) !== 0)
    return 'created; it runs with the rights of its owner'
  if (owner !== null && owner.uid !== 0) return `created for another owner, uid ${owner.uid}`
  const hasList = attributes.some(([name]) => name.startsWith(ACCESS_LIST))
  return hasList ? 'created with an access list of its own' : null
}

function isOtherMode(before: number, after: number): boolean {
  const changed = (before ^ after) & ~EXECUTE
  const isNarrowed = (after & changed) === 0 && (changed & ~SHARED_WRITE) === 0
  return changed !== 0 && !isNarrowed
}

function isSameOwner({ owner: one }: EntryState, { owner: other }: EntryState): boolean {
  return one?.uid === other?.uid && one?.gid === other?.gid
}

function isSameText(one: unknown, other: unknown): boolean {
  return JSON.stringify(one) === JSON.stringify(other)
}

function octal({ mode }: EntryState): string {
  return mode.toString(8).padStart(4, '0')
}
