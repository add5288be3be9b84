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
  newEffort,
  parseGlob,
  someIncludes,
  withDescendants,
  withEntries,
} from './glob.ts'

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
