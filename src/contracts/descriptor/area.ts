/**
 * The area of the file system that a scope names (G-2). With `recursive: true` a root covers itself and
 * everything below it, with `recursive: false` itself and its direct entries.
 *
 * Each glob must lie inside one root. Roots are never combined, which can only refuse more. Literal
 * roots form a tree of names, so a lookup takes the same time for any number of them.
 */
import { elements, field } from '../kernel/contract.ts'
import {
  type Effort,
  type Glob,
  hasAnyDepth,
  isLiteralSegment,
  matchesName,
  newEffort,
  parseGlob,
  type Segment,
  someIncludes,
  withDescendants,
  withEntries,
} from './glob.ts'
import { HOST_DIRECTORIES, WRIT_PLACES } from './path.ts'

interface Branch {
  isRoot: boolean
  readonly below: Map<string, Branch>
}

export interface Area {
  readonly recursive: boolean
  readonly roots: readonly Glob[]
  /** Literal roots as a tree of names. */
  readonly literal: Branch
  /** Roots with wildcards, as the globs of everything that they cover. */
  readonly patterns: readonly Glob[]
}

export function createArea(roots: readonly Glob[], recursive: boolean): Area {
  const literal = newBranch()
  const patterns: Glob[] = []
  for (const root of roots) {
    if (root.isLiteral) plant(literal, root)
    else if (recursive) patterns.push(withDescendants(root))
    else patterns.push(root, withEntries(root))
  }
  return { recursive, roots, literal, patterns }
}

/** The area of a descriptor's `scope`; null when a part of it cannot be read. */
export function readArea(scope: unknown): Area | null {
  const filesystem = field(scope, 'filesystem')
  const recursive = field(filesystem, 'recursive')
  const paths = field(filesystem, 'paths')
  if (typeof recursive !== 'boolean' || !Array.isArray(paths)) return null
  const roots: Glob[] = []
  for (const path of elements(paths)) {
    const root = typeof path === 'string' ? parseGlob(path) : null
    if (root === null) return null
    roots.push(root)
  }
  return createArea(roots, recursive)
}

function newBranch(): Branch {
  return { isRoot: false, below: new Map() }
}

function plant(tree: Branch, root: Glob): void {
  let branch = tree
  for (const segment of root.segments) {
    const name = segment[0] ?? ''
    let next = branch.below.get(name)
    if (next === undefined) {
      next = newBranch()
      branch.below.set(name, next)
    }
    branch = next
  }
  branch.isRoot = true
}

/** Whether every path of the glob lies in the area. */
export function coversGlob(area: Area, glob: Glob, effort: Effort = newEffort()): boolean {
  if (coversByName(area, glob)) return true
  return someIncludes(area.patterns, glob, effort)
}

/** Whether one path lies in the area. */
export function coversPath(area: Area, path: string, effort: Effort = newEffort()): boolean {
  // A path of an operation holds no wildcard; one that does is read as a glob, which asks for more.
  const glob = parseGlob(path)
  return glob !== null && coversGlob(area, glob, effort)
}

function coversByName(area: Area, glob: Glob): boolean {
  let branch: Branch | undefined = area.literal
  const depth = glob.segments.length
  const isFlat = !hasAnyDepth(glob)
  for (let index = 0; branch !== undefined; index++) {
    if (branch.isRoot && (area.recursive || (isFlat && depth - index <= 1))) return true
    const segment = glob.segments[index]
    if (segment === undefined || !isLiteralSegment(segment)) return false
    branch = branch.below.get(segment[0])
  }
  return false
}

/** Returns whether `outer` covers everything that `root` covers in its own area. */
export function coversRoot(
  outer: Area,
  root: Glob,
  recursive: boolean,
  effort: Effort = newEffort(),
): boolean {
  if (recursive) return coversGlob(outer, withDescendants(root), effort)
  return coversGlob(outer, root, effort) && coversGlob(outer, withEntries(root), effort)
}

/**
 * What no document may reach for (G-2, G-6): the host's own directories, writ's configuration and
 * state, and roots so high that a scope would be the machine. Homes and mounts are not in the text.
 * The host's place that a glob names or can match, as words for a message; null when none. Laws and
 * rules of a home are no such place, but for records of before that.
 */
export function hostPlace(glob: Glob, sharesLaws = true): string | null {
  const [top] = glob.segments
  if (top !== undefined) {
    const directory = HOST_DIRECTORIES.find((name) => canBe(top, name))
    if (directory !== undefined) return `/${directory}`
  }
  if (sharesLaws && isSharedOfWrit(glob.segments)) return null
  const place = WRIT_PLACES.find((names) => holdsInRow(glob.segments, names))
  return place === undefined ? null : place.join('/')
}

/** As `hostPlace`, and also the root, a top-level directory, and every glob that holds one. */
export function hostRoot(glob: Glob, sharesLaws = true): string | null {
  const { segments } = glob
  const depth = segments[segments.length - 1] === '**' ? segments.length - 1 : segments.length
  if (depth === 0) return '/'
  if (depth === 1) return 'a top-level directory'
  return hostPlace(glob, sharesLaws)
}

/** `.writ/laws.yaml`, or something in `.writ/rules`: what people share, and what a human accepts. */
function isSharedOfWrit(segments: readonly Segment[]): boolean {
  const names = segments.map((segment) => (segment === '**' ? '**' : segment.join('*')))
  const place = names.indexOf('.writ')
  if (place < 0 || names.indexOf('.writ', place + 1) >= 0) return false
  const [name, ...rest] = names.slice(place + 1)
  return name === 'rules' ? rest.length > 0 : name === 'laws.yaml' && rest.length === 0
}

function canBe(segment: Segment, name: string): boolean {
  return segment === '**' || matchesName(segment, name)
}

/**
 * Literal names only: a wildcard that could match is no request for the place, and what it really
 * meets is seen in the rehearsal.
 */
function holdsInRow(segments: readonly Segment[], names: readonly string[]): boolean {
  return segments.some((_, start) =>
    names.every((name, offset) => {
      const segment = segments[start + offset]
      return segment !== undefined && isLiteralSegment(segment) && segment[0] === name
    }),
  )
}
