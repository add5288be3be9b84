/**
 * Globs over absolute paths (G-2). `*` matches any run of characters within one name. `**` alone in its
 * segment matches any number of names, or none, so `d/**` matches `d`. Names that begin with a dot are
 * not special. Nothing else is special: no `?`, no brackets, no escapes.
 *
 * INVARIANT (no blow-up): matching backtracks to the last wildcard only; inclusion spends an `Effort`
 * and returns false once it is spent.
 */
import { pathFault, pathSegments } from './path.ts'

/** One name of a glob: the literal pieces between its stars; one piece is a literal name. */
type NamePattern = readonly [string, ...string[]]

/** A segment of a glob: a name, or any number of names. */
export type Segment = NamePattern | '**'

export interface Glob {
  readonly text: string
  readonly segments: readonly Segment[]
  /** No wildcard: the glob is one path. */
  readonly isLiteral: boolean
}

/** How many steps may still be spent on inclusion. The checks of one list share one effort. */
export interface Effort {
  steps: number
}

const STEPS_MIN = 20_000
const STEPS_PER_CHARACTER = 8
/** What a comparison costs before its first step. */
const CALL_STEPS = 6

/** An effort in proportion to the texts that will be compared: honest ones need a small part. */
export function newEffort(characters = 100_000): Effort {
  return { steps: STEPS_MIN + STEPS_PER_CHARACTER * characters }
}

/** With wildcards a glob is kept short, so that a place in it is one of few. */
const PATTERN_SEGMENTS_MAX = 64

/**
 * Reads a glob; null when its path form is wrong, when `**` shares a segment with anything else, or
 * when a glob with wildcards has more than 64 segments.
 */
export function parseGlob(text: string): Glob | null {
  if (pathFault(text) !== null) return null
  const segments: Segment[] = []
  for (const name of pathSegments(text)) {
    if (name === '**') pushStars(segments)
    else if (name.includes('**')) return null
    // A split string has at least one piece.
    else segments.push(name.split('*') as unknown as NamePattern)
  }
  const glob = makeGlob(text, segments)
  return glob.isLiteral || segments.length <= PATTERN_SEGMENTS_MAX ? glob : null
}

/** `**` twice in a row says no more than once. */
function pushStars(segments: Segment[]): void {
  if (segments[segments.length - 1] !== '**') segments.push('**')
}

function makeGlob(text: string, segments: readonly Segment[]): Glob {
  return { text, segments, isLiteral: segments.every(isLiteralSegment) }
}

export function isLiteralSegment(segment: Segment): segment is readonly [string] {
  return segment !== '**' && segment.length === 1
}

export function hasAnyDepth(glob: Glob): boolean {
  return glob.segments.includes('**')
}

/** The glob and everything below what it matches. */
export function withDescendants(glob: Glob): Glob {
  const segments = [...glob.segments]
  pushStars(segments)
  return makeGlob(extend(glob, '**'), segments)
}

/** The direct entries of what the glob matches, without that itself. */
export function withEntries(glob: Glob): Glob {
  return makeGlob(extend(glob, '*'), [...glob.segments, ['', '']])
}

function extend(glob: Glob, segment: string): string {
  return glob.text === '/' ? `/${segment}` : `${glob.text}/${segment}`
}

/** Whether the glob matches a path; a path of wrong form matches nothing. */
export function matchesPath(glob: Glob, path: string): boolean {
  if (pathFault(path) !== null) return false
  if (glob.isLiteral) return glob.text === path
  return matchesNames(glob.segments, pathSegments(path))
}

/** Whether a row of names fits the segments of a glob; the names are not judged. */
export function matchesNames(segments: readonly Segment[], names: readonly string[]): boolean {
  let at = 0
  let name = 0
  let lastStars = -1
  let resumeName = 0
  while (name < names.length) {
    const segment = segments[at]
    if (segment === '**') {
      lastStars = at++
      resumeName = name
    } else if (segment !== undefined && matchesName(segment, names[name] ?? '')) {
      at++
      name++
    } else if (lastStars >= 0) {
      // Let the last `**` take one name more; earlier ones never need to be reconsidered.
      at = lastStars + 1
      name = ++resumeName
    } else {
      return false
    }
  }
  while (segments[at] === '**') at++
  return at === segments.length
}

/** Whether one name fits one name pattern. */
export function matchesName(pattern: NamePattern, name: string): boolean {
  const first = pattern[0]
  if (pattern.length === 1) return first === name
  const last = pattern[pattern.length - 1] ?? ''
  if (name.length < first.length + last.length) return false
  if (!name.startsWith(first) || !name.endsWith(last)) return false
  let from = first.length
  const end = name.length - last.length
  for (let index = 1; index < pattern.length - 1; index++) {
    const piece = pattern[index] ?? ''
    const found = name.indexOf(piece, from)
    if (found < 0 || found + piece.length > end) return false
    from = found + piece.length
  }
  return true
}

/**
 * A text that only a star matches, because no path holds NUL. With it in place of every star, a pattern
 * becomes its worst case: a glob that matches the worst case matches every name of the pattern.
 */
const ANY = '\0'

function worstName(pattern: NamePattern): string {
  return pattern.join(ANY)
}

/**
 * Returns whether `outer` matches every path that `inner` matches. Exact: walks `inner` and keeps the
 * set of places where `outer` may be. A name leads to one set, a `**` to one set per number of names,
 * of which only finitely many differ. Returns false when the effort is spent.
 */
export function includesGlob(outer: Glob, inner: Glob, effort: Effort): boolean {
  if (outer.isLiteral) return inner.isLiteral && outer.text === inner.text
  effort.steps -= CALL_STEPS
  const seen = new Map<number, (readonly number[])[]>()
  const open: [number, readonly number[]][] = [[0, rest(outer, [0])]]
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    const [start, from] = next
    const [end, places] = alongNames(outer, inner, start, from, effort)
    if (effort.steps < 0 || places.length === 0) return false
    if (end === inner.segments.length) {
      if (places[places.length - 1] !== outer.segments.length) return false
    } else if (!isKnown(seen, end, places, effort)) {
      // The `**` at `end` takes no further name, or one more.
      open.push([end + 1, places], [end, advance(outer, places, ANY, effort)])
    }
  }
  return true
}

/** Follows the names of `inner` from `start` to its next `**` or its end. */
function alongNames(
  outer: Glob,
  inner: Glob,
  start: number,
  from: readonly number[],
  effort: Effort,
): [number, readonly number[]] {
  let places = from
  for (let index = start; ; index++) {
    const segment = inner.segments[index]
    const isSpent = effort.steps < 0 || places.length === 0
    if (segment === undefined || segment === '**' || isSpent) return [index, places]
    places = advance(outer, places, worstName(segment), effort)
  }
}

/**
 * Whether a set that is no larger was met here before; else remembers this one. A smaller set is
 * harder to satisfy, so a set that holds a known one adds nothing.
 */
function isKnown(
  seen: Map<number, (readonly number[])[]>,
  position: number,
  places: readonly number[],
  effort: Effort,
): boolean {
  const known = seen.get(position) ?? []
  effort.steps -= 1 + known.length * (1 + (places.length >> 2))
  if (known.some((fewer) => isSubset(fewer, places))) return true
  seen.set(position, known)
  known.push(places)
  return false
}

/** Where `outer` may be after one more name. Places ascend; the last one is the end. */
function advance(
  outer: Glob,
  places: readonly number[],
  name: string,
  effort: Effort,
): readonly number[] {
  const next: number[] = []
  for (const place of places) {
    const segment = outer.segments[place]
    if (segment === undefined) continue
    effort.steps -= 1 + (name.length >> 4)
    if (segment === '**') next.push(place)
    else if (matchesName(segment, name)) next.push(place + 1)
  }
  return rest(outer, next)
}

/** Adds the places that are reached without a name: past a `**`. No two `**` are adjacent. */
function rest(outer: Glob, places: readonly number[]): readonly number[] {
  const closed: number[] = []
  for (const place of places) {
    push(closed, place)
    if (outer.segments[place] === '**') push(closed, place + 1)
  }
  return closed
}

function push(ascending: number[], place: number): void {
  if ((ascending[ascending.length - 1] ?? -1) < place) ascending.push(place)
}

function isSubset(fewer: readonly number[], more: readonly number[]): boolean {
  let index = 0
  for (const place of fewer) {
    while (index < more.length && (more[index] ?? 0) < place) index++
    if (more[index] !== place) return false
  }
  return true
}

/** Whether one of the globs includes `inner`. */
export function someIncludes(outers: readonly Glob[], inner: Glob, effort: Effort): boolean {
  for (const outer of outers) {
    if (includesGlob(outer, inner, effort)) return true
    if (effort.steps < 0) return false
  }
  return false
}
