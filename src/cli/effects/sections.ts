/**
 * The effects of a rehearsal in the order in which a person must see them: what is deleted, what will
 * run by itself later, what is changed, what is new, and what git keeps for itself. Every change is in
 * at least one section; one that replaces a file by a directory is in two.
 */
import {
  type Change,
  displayOfRaw,
  type EntryState,
  type Finding,
  isBelow,
  listsOf,
  parentOfRaw,
  type RawPath,
} from '../../gate/index.ts'

export interface Sections {
  readonly deleted: readonly DeletedGroup[]
  /** Added or changed paths that other programs run or load by themselves (G-15a). */
  readonly deferred: readonly Change[]
  readonly changed: readonly Change[]
  /** Build configuration among the changed and the added; shown in those sections as well. */
  readonly builds: readonly Change[]
  readonly added: readonly AddedGroup[]
  /** What git keeps for itself; empty in the whole view, which lists it with the rest. */
  readonly git: readonly Change[]
  /** Findings that are about no path that is shown. */
  readonly findings: readonly Finding[]
}

/** One path, or a directory with everything that was in it. */
export interface DeletedGroup {
  readonly change: Change
  readonly below: readonly Change[]
}

/** What is new in one directory: in one that was there, or in one that is new with all it holds. */
export interface AddedGroup {
  readonly directory: RawPath
  /** The directory itself where it is new. */
  readonly own: Change | null
  readonly changes: readonly Change[]
  readonly files: number
  readonly directories: number
  readonly links: number
  readonly bytes: number
}

const DEFERRED = 'effect.deferred_execution'
const BUILD = 'effect.build_execution'

export interface Sectioned {
  readonly changes: readonly Change[]
  readonly findings: readonly Finding[]
  /** From the whole manifest: findings name the first paths only. */
  readonly deferred: ReadonlySet<RawPath>
  readonly builds: ReadonlySet<RawPath>
}

/** `folded` are paths that git keeps for itself, and that need no line of their own. */
export function sectionsOf(
  effects: Sectioned,
  whole: boolean,
  folded: ReadonlySet<RawPath>,
): Sections {
  const { changes, findings, deferred, builds } = effects
  const isDeferred = (change: Change): boolean => change.after !== null && deferred.has(change.path)
  const isFolded = (change: Change): boolean =>
    !whole && !isDeferred(change) && folded.has(change.path)
  const listed = changes.filter((change) => !isFolded(change))
  const inList = (name: ReturnType<typeof listsOf>[number]): readonly Change[] =>
    listed.filter((change) => listsOf(change).includes(name))
  return {
    deleted: deletedGroups(inList('deleted'), whole),
    deferred: changes.filter(isDeferred),
    changed: inList('modified').filter((change) => !isDeferred(change)),
    builds: changes.filter(({ path }) => builds.has(path)),
    added: groupsOf(inList('added').filter((change) => !isDeferred(change))),
    git: changes.filter(isFolded),
    findings: findings.filter(({ code }) => code !== DEFERRED && code !== BUILD),
  }
}

/** A deleted directory with more than this in it is one line. */
const BELOW_MAX = 20

/** Changes are sorted by path, so a directory comes before everything in it. */
function deletedGroups(deleted: readonly Change[], whole: boolean): readonly DeletedGroup[] {
  const groups: { change: Change; below: Change[] }[] = []
  for (const change of deleted) {
    const last = groups.at(-1)
    const isOfLast =
      last !== undefined &&
      last.change.before?.kind === 'directory' &&
      last.change.after === null &&
      isBelow(change.path, last.change.path)
    if (isOfLast) last.below.push(change)
    else groups.push({ change, below: [] })
  }
  return groups.flatMap((group) =>
    whole || group.below.length <= BELOW_MAX
      ? [group.change, ...group.below].map((change) => ({ change, below: [] }))
      : [group],
  )
}

/** Counts of one directory, for a summary. */
interface DirectoryCounts {
  readonly directory: string
  readonly deleted: number
  readonly modified: number
  readonly added: number
}

/** By the first name below the base, most changes first; what lies elsewhere is under its parent. */
export function countsByDirectory(
  changes: readonly Change[],
  base: RawPath,
): readonly DirectoryCounts[] {
  const rows = new Map<string, { deleted: number; modified: number; added: number }>()
  for (const change of changes) {
    const inside = base !== '/' && isBelow(change.path, base) && change.path !== base
    // The rest of a raw path behind a slash is a raw path.
    const rest = inside ? displayOfRaw(change.path.slice(base.length + 1) as RawPath) : null
    const first = rest === null ? displayOfRaw(parentOfRaw(change.path)) : firstOf(rest)
    const row = rows.get(first) ?? { deleted: 0, modified: 0, added: 0 }
    rows.set(first, row)
    for (const list of listsOf(change)) row[list]++
  }
  const size = (row: DirectoryCounts): number => row.deleted + row.modified + row.added
  return [...rows]
    .map(([directory, counts]) => ({ directory, ...counts }))
    .sort((one, other) => size(other) - size(one))
}

function firstOf(path: string): string {
  const end = path.indexOf('/')
  return end === -1 ? './' : path.slice(0, end + 1)
}

interface GroupBuilder {
  own: Change | null
  readonly changes: Change[]
}

/** Changes come sorted by path, so a new directory comes before everything in it. */
function groupsOf(added: readonly Change[]): readonly AddedGroup[] {
  const topOf = new Map<RawPath, RawPath>()
  const groups = new Map<RawPath, GroupBuilder>()
  for (const change of added) {
    const isDirectory = change.after?.kind === 'directory'
    const parent = parentOfRaw(change.path)
    const top = topOf.get(parent) ?? (isDirectory ? change.path : null)
    if (isDirectory && top !== null) topOf.set(change.path, top)
    const directory = top ?? parent
    const group = groups.get(directory) ?? { own: null, changes: [] }
    groups.set(directory, group)
    if (change.path === top) group.own = change
    else group.changes.push(change)
  }
  return [...groups]
    .sort(([one], [other]) => (one < other ? -1 : 1))
    .map(([directory, { own, changes }]) => ({ directory, own, changes, ...tally(changes) }))
}

export function tally(changes: readonly Change[], side: 'before' | 'after' = 'after') {
  const count = (kind: EntryState['kind']): number =>
    changes.reduce((sum, change) => (change[side]?.kind === kind ? sum + 1 : sum), 0)
  return {
    files: count('file'),
    directories: count('directory'),
    links: count('symlink'),
    bytes: changes.reduce((sum, change) => sum + (change[side]?.size ?? 0), 0),
  }
}

export interface RenderLimits {
  /** The entries of a directory with more new ones than this are counted, not listed. */
  readonly listed: number
  /** Lines of diffs in one section; then names, then numbers. */
  readonly diffLines: number
  readonly named: number
  readonly groups: number
  readonly directories: number
  /** Findings of one code that are listed; more are counted by directory. */
  readonly findings: number
}

export const WIDEST: RenderLimits = {
  listed: 20,
  diffLines: 80,
  named: 30,
  groups: 15,
  directories: 12,
  findings: 8,
}

const NARROWER: readonly RenderLimits[] = [
  { listed: 8, diffLines: 12, named: 10, groups: 6, directories: 6, findings: 4 },
  { listed: 4, diffLines: 5, named: 4, groups: 3, directories: 4, findings: 2 },
  { listed: 0, diffLines: 0, named: 2, groups: 2, directories: 3, findings: 1 },
]

/** Two screens of 24 lines without the head and the question. */
const ROWS = 32
const COLUMNS = 80
// biome-ignore lint/suspicious/noControlCharactersInRegex: colours begin with one.
const COLOUR = /\u001b\[\d*m/g

/**
 * How much of each section the brief view shows. The effects of many changes are shown with the
 * first limits that leave them room on two screens, together with the head and the question;
 * deletions and what runs by itself later are named in full with every limit. Returns how many rows
 * of a terminal a text takes.
 */
export function rowsOf(text: string, columns: number | null): number {
  const width = columns === null ? COLUMNS : Math.max(columns, 1)
  const lines = text.replace(COLOUR, '').split('\n').slice(0, -1)
  return lines.reduce((sum, line) => sum + Math.max(1, Math.ceil(line.length / width)), 0)
}

/** Gives out the first text that fits; the narrowest one whether it fits or not. */
export async function* fitting(
  render: (limits: RenderLimits) => AsyncIterable<string>,
  columns: number | null,
): AsyncGenerator<string> {
  const [narrowest = WIDEST, ...others] = [WIDEST, ...NARROWER].reverse()
  for (const limits of others.reverse()) {
    const pieces = await fittingPieces(render(limits), columns)
    if (pieces === null) continue
    yield* pieces
    return
  }
  yield* render(narrowest)
}

/** Returns null as soon as there is more than fits. */
async function fittingPieces(
  pieces: AsyncIterable<string>,
  columns: number | null,
): Promise<readonly string[] | null> {
  const kept: string[] = []
  let rows = 0
  for await (const piece of pieces) {
    rows += rowsOf(piece, columns)
    if (rows > ROWS) return null
    kept.push(piece)
  }
  return kept
}

/** A number of lines that several texts share; null: no end. */
export class LineBudget {
  #left: number | null

  constructor(lines: number | null) {
    this.#left = lines
  }

  /** How many texts were not shown at all. */
  leftOut = 0

  leaveOut(): void {
    this.leftOut++
  }

  get isSpent(): boolean {
    return this.#left !== null && this.#left <= 0
  }

  /** Gives out the lines of a text while there is room, and says when there was more. */
  async *spend(pieces: AsyncIterable<string>): AsyncGenerator<string> {
    for await (const piece of pieces) {
      if (this.isSpent) {
        yield '      … `a` shows the rest\n'
        return
      }
      yield piece
      if (this.#left !== null) this.#left -= piece.split('\n').length - 1
    }
  }
}
