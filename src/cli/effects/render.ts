/**
 * The effects of a rehearsal as text: deletions first, then what runs by itself later, then changes
 * with their lines, then what is new by directory, then findings. Given out piece by piece, so that
 * a diff of any length is shown in bounded memory.
 *
 * INVARIANT (nothing cut): every deletion, every path that runs by itself and every change is there,
 * whatever their number. What is only counted says how to see it: the view `whole` shows all of it.
 */
import { type Change, isBelow, nameOfRaw, type RawPath } from '../../gate/index.ts'
import type { Paint } from '../terminal.ts'
import { counted, grouped, sizeText } from './amount.ts'
import { type Content, READ_BYTES_MAX, readContent } from './content.ts'
import { differences, stateText } from './entry-text.ts'
import { byCode, findingWords } from './finding-text.ts'
import { type AddedGroup, type Finding, sectionsOf } from './sections.ts'
import { visibleLine, visiblePath } from './visible.ts'

export type Side = 'before' | 'after'

/** Opens what a changed file held or would hold; null where there is no file. */
export type ReadSide = (change: Change, side: Side) => AsyncIterable<unknown> | null

export interface Effects {
  readonly changes: readonly Change[]
  readonly findings: readonly Finding[]
  readonly read: ReadSide
}

export interface View {
  readonly paint: Paint
  /** Paths below it are shown without it. */
  readonly base: RawPath
  /** Names and contents of all that is new, and longer files. */
  readonly whole: boolean
}

/** A directory with more new entries than this is told by counts. */
const LISTED_MAX = 20

export async function* renderEffects(effects: Effects, view: View): AsyncGenerator<string> {
  const { deleted, deferred, builds, changed, added, findings } = sectionsOf(
    effects.changes,
    effects.findings,
  )
  const { paint } = view
  if (deleted.length > 0) {
    yield heading(view, 'Deleted', deleted.length)
    for (const change of deleted) yield deletedLine(change, view)
  }
  if (deferred.length > 0) {
    yield heading(view, 'Runs by itself later', deferred.length)
    yield `  ${paint.dim('other programs start or load these without being asked')}\n`
    for (const change of deferred) yield* changedText(change, effects.read, view)
  }
  if (builds.length > 0) {
    yield heading(view, 'Runs when you build or test', builds.length)
    for (const { path } of builds) yield `  ${shownPath(path, view.base)}\n`
  }
  if (changed.length > 0) {
    yield heading(view, 'Changed', changed.length)
    for (const change of changed) yield* changedText(change, effects.read, view)
  }
  if (added.length > 0) {
    yield heading(view, 'Added', addedCount(added))
    for (const group of added) yield* groupText(group, effects.read, view)
  }
  yield* findingsText(findings, paint)
}

function addedCount(groups: readonly AddedGroup[]): number {
  return groups.reduce((sum, { changes, isNew }) => sum + changes.length + (isNew ? 1 : 0), 0)
}

function heading({ paint }: View, words: string, count: number): string {
  return `\n${paint.strong(`${words} (${grouped(count)})`)}\n`
}

/** Relative to the base when below it; a relative path never begins with `/`. */
export function shownPath(path: RawPath, base: RawPath): string {
  if (path === base) return '.'
  const isInside = base !== '/' && isBelow(path, base)
  return visiblePath(isInside ? (path.slice(base.length + 1) as RawPath) : path)
}

function deletedLine({ path, before, after }: Change, { paint, base }: View): string {
  const was = before === null ? '' : ` ${paint.dim(`(${stateText(before)})`)}`
  const by = after === null ? '' : `, replaced by a ${after.kind}`
  return `  ${paint.bad('-')} ${shownPath(path, base)}${was}${by}\n`
}

async function* changedText(change: Change, read: ReadSide, view: View): AsyncGenerator<string> {
  const { paint, base } = view
  const { path, before, after } = change
  const isNew = before === null || before.kind !== after?.kind
  const sign = isNew ? paint.good('+') : paint.accent('~')
  const words = isNew && after !== null ? ` ${paint.dim(`(new ${stateText(after)})`)}` : ''
  yield `  ${sign} ${paint.strong(shownPath(path, base))}${words}\n`
  for (const line of differences(change)) yield `      ${line}\n`
  if (before?.digest === after?.digest) return
  yield* bytesText(change, read, view)
}

/** What changed in a file's bytes. */
async function* bytesText(change: Change, read: ReadSide, view: View): AsyncGenerator<string> {
  const { before, after } = change
  const [old, now] = [
    await contentOf(change, 'before', read, view),
    await contentOf(change, 'after', read, view),
  ]
  if (old.kind === 'text' && now.kind === 'text') {
    yield* diffText(old.text, now.text, view)
    return
  }
  const { paint } = view
  const sizes = `${sizeText(before?.size ?? 0)} → ${sizeText(after?.size ?? 0)}`
  const told = [old, now].find(({ kind }) => kind !== 'text') ?? old
  yield `      ${paint.dim(`${unshown(told, old, now, view)}, ${sizes}`)}\n`
}

function unshown(told: Content, old: Content, now: Content, { whole }: View): string {
  if (told.kind === 'binary') return 'not text'
  if (told.kind === 'unreadable') return `cannot be read (${told.reason})`
  const lines = `${linesText(old)} → ${linesText(now)}`
  return `too long to compare here, ${lines}${whole ? '' : '; `a` compares up to 67 MB'}`
}

function linesText(content: Content): string {
  if (content.kind === 'long')
    return content.lines === null ? 'many lines' : linesCount(content.lines)
  return content.kind === 'text' ? linesCount(content.text.split('\n').length - 1) : 'no lines'
}

function linesCount(lines: number): string {
  return counted(lines, 'line')
}

async function contentOf(change: Change, side: Side, read: ReadSide, view: View): Promise<Content> {
  const state = change[side]
  if (state === null || state.kind !== 'file') return { kind: 'text', text: '' }
  const stream = read(change, side)
  if (stream === null) return { kind: 'unreadable', reason: 'no longer kept' }
  const bytesMax = view.whole ? READ_BYTES_MAX.whole : READ_BYTES_MAX.usual
  return readContent(stream, state.size, bytesMax)
}

async function* diffText(before: string, after: string, { paint }: View): AsyncGenerator<string> {
  // Loaded when the first text differs: most runs change nothing.
  const { diffLines } = await import('./line-diff.ts')
  const { hunks, removed, added, isShortest } = diffLines(before, after)
  const note = isShortest ? '' : ', shown as one block'
  yield `      ${paint.dim(`${linesCount(removed)} removed, ${linesCount(added)} added${note}`)}\n`
  for (const { oldStart, oldCount, newStart, newCount, lines } of hunks) {
    yield `      ${paint.accent(`@@ -${oldStart},${oldCount} +${newStart},${newCount} @@`)}\n`
    for (const { sign, text, isOpen } of lines) {
      const colour = sign === '-' ? paint.bad : sign === '+' ? paint.good : paint.dim
      const style = { text: sign === ' ' ? asItIs : colour, escaped: paint.strong }
      yield `      ${colour(sign)}${visibleLine(text, style)}\n`
      if (isOpen) yield `      ${paint.dim('\\ no line feed at the end')}\n`
    }
  }
}

const asItIs = (text: string): string => text

async function* groupText(group: AddedGroup, read: ReadSide, view: View): AsyncGenerator<string> {
  const { paint, base, whole } = view
  const { directory, isNew, changes } = group
  const isListed = whole || changes.length <= LISTED_MAX
  const name = directory === base ? './' : `${shownPath(directory, base)}/`
  const words = [isNew ? 'new directory' : '', amounts(group)].filter((word) => word !== '')
  const hint = isListed ? '' : paint.dim('; `a` lists them')
  yield `  ${paint.good('+')} ${name} ${paint.dim(`(${words.join(', ')})`)}${hint}\n`
  if (!isListed) return
  for (const change of changes) {
    if (change.after === null) continue
    const below = shownPath(change.path, isNew ? directory : base)
    const own = isNew ? below : visiblePath(nameOfRaw(change.path))
    yield `      ${own} ${paint.dim(`(${stateText(change.after)})`)}\n`
    if (whole && change.after.kind === 'file') yield* bytesText(change, read, view)
  }
}

function amounts({ files, directories, links, bytes }: AddedGroup): string {
  const parts = [
    ...(files === 0 ? [] : [counted(files, 'file')]),
    ...(links === 0 ? [] : [counted(links, 'link')]),
    ...(directories === 0 ? [] : [counted(directories, 'directory', 'directories')]),
    ...(files === 0 ? [] : [sizeText(bytes)]),
  ]
  return parts.join(', ')
}

function* findingsText(findings: readonly Finding[], paint: Paint): Generator<string> {
  if (findings.length === 0) return
  yield `\n${paint.strong(`Found (${grouped(findings.length)})`)}\n`
  for (const [, group] of byCode(findings)) {
    for (const [index, finding] of group.entries()) {
      const { code, says, where } = findingWords(finding)
      if (index === 0) yield `  ${paint.bad(code)}${says === null ? '' : `  ${says}`}\n`
      if (where !== null) yield `      ${where}\n`
    }
  }
}
