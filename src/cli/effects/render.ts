/**
 * The effects of a rehearsal as text: deletions first, then what runs by itself later, then changes
 * with their lines, then what is new by directory, then what git keeps for itself, then findings. Given
 * out piece by piece, so that a diff of any length is shown in bounded memory.
 *
 * INVARIANT (nothing hidden): every deletion and every path that runs by itself is there, however many
 * there are; a deleted directory is one line for all that was in it. Where the text only counts, it says
 * how to see the rest: the view `whole` shows everything.
 */
import { type Change, type ChangeSide, isBelow, nameOfRaw, type RawPath } from '../../gate/index.ts'
import {
  counted,
  countsText,
  grouped,
  sizeText,
  visibleName,
  visiblePath,
} from '../../words/index.ts'
import type { Paint } from '../call/terminal.ts'
import { bytesText } from './change-text.ts'
import { differences, foundText, oddities, stateText } from './entry-text.ts'
import { foldedGit, gitLines } from './git-fold.ts'
import {
  type AddedGroup,
  countsByDirectory,
  type DeletedGroup,
  fitting,
  LineBudget,
  type RenderLimits,
  type Sectioned,
  type Sections,
  sectionsOf,
  tally,
  WIDEST,
} from './sections.ts'

/** Opens what a changed file held or would hold; null where there is no file. */
export type ReadSide = (change: Change, side: ChangeSide) => AsyncIterable<unknown> | null

interface Effects extends Sectioned {
  readonly read: ReadSide
}

export interface View {
  readonly paint: Paint
  /** Paths below it are shown without it. */
  readonly base: RawPath
  /** Names and contents of all that is new, and longer files. */
  readonly whole: boolean
  /** The width of the terminal, to which paths are shortened; null: they are not. */
  readonly columns?: number | null
  /** The reader is no person: what files hold may be hidden from it. */
  readonly hidesContents?: boolean
}

/** From so many changes on, counts by directory come first. */
const SUMMARISED = 40
const ELLIPSIS = '…'
/** Of a path at least so much is left. */
const LEAST = 16

/** What is shown of every section, and how much. */
interface Measured extends View {
  readonly limits: RenderLimits
}

export async function* renderEffects(effects: Effects, view: View): AsyncGenerator<string> {
  const folded = await foldedGit(effects.changes, effects.read)
  const sections = sectionsOf(effects, view.whole, folded)
  const render = (limits: RenderLimits) => sectionsText(effects, sections, { ...view, limits })
  const isLarge = effects.changes.length + effects.findings.length >= SUMMARISED
  if (view.whole || !isLarge) yield* render(WIDEST)
  else yield* fitting(render, view.columns ?? null)
}

async function* sectionsText(
  effects: Effects,
  sections: Sections,
  view: Measured,
): AsyncGenerator<string> {
  const { deleted, deferred, builds, changed, added, git, findings } = sections
  yield* summaryText(effects, view)
  if (deleted.length > 0) {
    yield heading(view, 'Deleted', deletedCount(deleted))
    for (const group of deleted) yield deletedLine(group, view)
  }
  if (deferred.length > 0) {
    yield heading(view, 'Runs by itself later', deferred.length)
    yield `  ${view.paint.dim('other programs start or load these without being asked')}\n`
    const budget = new LineBudget(view.whole ? null : view.limits.diffLines)
    const full = { ...view, columns: null }
    for (const change of deferred) yield* changedText(change, effects.read, full, budget)
    yield* leftOutText(budget, view)
  }
  if (builds.length > 0) yield* buildsText(builds, view)
  if (changed.length > 0) yield* changedSection(changed, effects.read, view)
  if (added.length > 0) yield* addedSection(added, effects.read, view)
  yield* gitSection(git, view.whole ? [] : effects.changes, effects.read, view)
  yield* foundText(findings, view, view.limits.findings)
}

/** By their names, or by counts where those would fill the screen. */
function* buildsText(builds: readonly Change[], view: Measured): Generator<string> {
  yield heading(view, 'Runs when you build or test', builds.length)
  if (view.whole || builds.length <= view.limits.named) {
    for (const { path } of builds) yield `  ${shownPath(path, view.base)}\n`
    return
  }
  yield* directoriesText(builds, view)
  yield `  ${view.paint.dim('`a` lists them')}\n`
}

function* summaryText({ changes }: Effects, view: Measured): Generator<string> {
  if (changes.length < SUMMARISED) return
  yield `\n${view.paint.strong('By directory')}\n`
  yield* directoriesText(changes, view)
}

function* directoriesText(
  changes: readonly Change[],
  { paint, base, limits }: Measured,
): Generator<string> {
  const rows = countsByDirectory(changes, base)
  for (const row of rows.slice(0, limits.directories)) {
    yield `  ${visibleName(row.directory)} ${paint.dim(countsText(row))}\n`
  }
  const more = rows.length - limits.directories
  if (more > 0)
    yield `  ${paint.dim(`and ${counted(more, 'more directory', 'more directories')}`)}\n`
}

function deletedCount(groups: readonly DeletedGroup[]): number {
  return groups.reduce((sum, { below }) => sum + 1 + below.length, 0)
}

function heading({ paint }: View, words: string, count: number): string {
  return `\n${paint.strong(`${words} (${grouped(count)})`)}\n`
}

/** Relative to the base when below it; a relative path never begins with `/`. */
function shownPath(path: RawPath, base: RawPath, columns: number | null = null): string {
  if (path === base) return '.'
  const isInside = base !== '/' && isBelow(path, base)
  // The rest of a raw path behind a slash is a raw path.
  const text = visiblePath(isInside ? (path.slice(base.length + 1) as RawPath) : path)
  return columns === null ? text : shortened(text, columns)
}

/** Room for a sign in front of a path, and for some words behind it. */
const ROOM = 16

function nameOf(path: RawPath, { base, columns = null, whole }: Measured): string {
  return shownPath(path, base, columns === null || whole ? null : columns - ROOM)
}

function deletedLine({ change, below }: DeletedGroup, view: Measured): string {
  const { paint } = view
  const { path, before, after } = change
  const was = before === null ? '' : stateText(before)
  const all = below.length === 0 ? '' : ` with all in it: ${amounts(tally(below, 'before'))}`
  const by = after === null ? '' : `, replaced by a ${after.kind}`
  return `  ${paint.bad('-')} ${shownPath(path, view.base)} ${paint.dim(`(${was}${all})`)}${by}\n`
}

async function* changedSection(
  changed: readonly Change[],
  read: ReadSide,
  view: Measured,
): AsyncGenerator<string> {
  const { paint, whole } = view
  yield heading(view, 'Changed', changed.length)
  const budget = new LineBudget(whole ? null : view.limits.diffLines)
  const named = whole ? changed : changed.slice(0, view.limits.named)
  for (const change of named) yield* changedText(change, read, view, budget)
  yield* leftOutText(budget, view)
  const more = changed.length - named.length
  if (more > 0) yield `  ${paint.accent('~')} and ${counted(more, 'more file')}; \`a\` shows them\n`
}

function* leftOutText({ leftOut }: LineBudget, { paint }: Measured): Generator<string> {
  if (leftOut === 0) return
  const words = `the lines of ${counted(leftOut, 'file')} are not shown here; \`a\` shows them`
  yield `  ${paint.dim(words)}\n`
}

async function* changedText(
  change: Change,
  read: ReadSide,
  view: Measured,
  budget: LineBudget,
): AsyncGenerator<string> {
  const { paint } = view
  const { path, before, after } = change
  const isNew = before === null || before.kind !== after?.kind
  const sign = isNew ? paint.good('+') : paint.accent('~')
  const words = isNew && after !== null ? ` ${paint.dim(`(new ${stateText(after)})`)}` : ''
  yield `  ${sign} ${paint.strong(nameOf(path, view))}${words}\n`
  for (const line of differences(change)) yield `      ${line}\n`
  if (isNew) for (const line of oddities(after)) yield `      ${line}\n`
  if (before?.digest === after?.digest) return
  if (budget.isSpent) budget.leaveOut()
  else yield* budget.spend(bytesText(change, read, view))
}

async function* addedSection(
  added: readonly AddedGroup[],
  read: ReadSide,
  view: Measured,
): AsyncGenerator<string> {
  const { paint, whole } = view
  const count = added.reduce((sum, { changes, own }) => sum + changes.length + (own ? 1 : 0), 0)
  yield heading(view, 'Added', count)
  const listed = whole ? added : added.slice(0, view.limits.groups)
  for (const group of listed) yield* groupText(group, read, view)
  for (const group of added.slice(listed.length)) yield* oddLines(group, view)
  const more = added.length - listed.length
  if (more === 0) return
  const rest = added.slice(listed.length).flatMap(({ changes }) => changes)
  const words = `and ${counted(more, 'more directory', 'more directories')}: ${amounts(tally(rest))}`
  yield `  ${paint.good('+')} ${words}; \`a\` lists them\n`
}

async function* groupText(
  group: AddedGroup,
  read: ReadSide,
  view: Measured,
): AsyncGenerator<string> {
  const { paint, base, whole } = view
  const { directory, own, changes } = group
  const isListed = whole || changes.length <= view.limits.listed
  const name = directory === base ? './' : `${nameOf(directory, view)}/`
  const words = [own === null ? '' : 'new directory', amounts(group)].filter((word) => word !== '')
  const hint = isListed ? '' : paint.dim('; `a` lists them')
  yield `  ${paint.good('+')} ${name} ${paint.dim(`(${words.join(', ')})`)}${hint}\n`
  for (const line of oddities(own?.after ?? null)) yield `      ${line}\n`
  if (!isListed) yield* oddLines({ ...group, own: null }, view)
  if (!isListed) return
  for (const change of changes) {
    if (change.after === null) continue
    yield `      ${nameIn(group, change, view)} ${paint.dim(`(${stateText(change.after)})`)}\n`
    for (const line of oddities(change.after)) yield `          ${line}\n`
    if (whole && change.after.kind === 'file') yield* bytesText(change, read, view)
  }
}

/** Of what is only counted, the entries whose mode, owner or attributes are not the ordinary ones. */
function* oddLines(group: AddedGroup, view: Measured): Generator<string> {
  const entries = group.own === null ? group.changes : [group.own, ...group.changes]
  for (const change of entries) {
    const odd = oddities(change.after)
    if (odd.length > 0) yield `      ${nameIn(group, change, view)}: ${odd.join(', ')}\n`
  }
}

function nameIn({ directory, own }: AddedGroup, { path }: Change, { base }: Measured): string {
  if (own !== null && path !== directory) return shownPath(path, directory)
  return path === directory ? shownPath(path, base) : visiblePath(nameOfRaw(path))
}

function amounts({ files, directories, links, bytes }: ReturnType<typeof tally>): string {
  const parts = [
    ...(files === 0 ? [] : [counted(files, 'file')]),
    ...(links === 0 ? [] : [counted(links, 'link')]),
    ...(directories === 0 ? [] : [counted(directories, 'directory', 'directories')]),
    ...(files === 0 ? [] : [sizeText(bytes)]),
  ]
  return parts.join(', ')
}

async function* gitSection(
  git: readonly Change[],
  changes: readonly Change[],
  read: ReadSide,
  view: Measured,
): AsyncGenerator<string> {
  const { paint } = view
  const lines = await gitLines(changes, read)
  if (git.length + lines.length === 0) return
  yield heading(view, 'Git', git.length)
  for (const line of lines) yield `  ${paint.accent('~')} ${line}\n`
  if (git.length === 0) return
  yield `  ${paint.dim(`${counted(git.length, 'path')} that git keeps for itself; \`a\` lists them`)}\n`
}

/**
 * Texts for narrow terminals: paths shortened in the middle.
 *
 * Keeps the beginning and, longer, the end, where the name is.
 */
function shortened(path: string, columns: number): string {
  const width = Math.max(columns, LEAST)
  if (path.length <= width) return path
  const head = Math.floor((width - 1) / 3)
  return `${path.slice(0, head)}${ELLIPSIS}${path.slice(path.length - (width - 1 - head))}`
}
