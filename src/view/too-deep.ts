/** Trees that are deeper than paths may be long: refused as a whole, since no part of one is what was made. */
import { type Change, parentOfRaw, type RawPath } from '../gate/index.ts'
import type { TreeFinding } from '../tree/index.ts'
import type { UpperTree } from './upper.ts'

const CODE = 'diff.path_too_long'

/** Findings of a scan, those about such a tree at the uppermost directory that the session made for it. */
export function atTheirTops(
  tree: UpperTree,
  changes: readonly Change[],
  findings: readonly TreeFinding[],
): readonly TreeFinding[] {
  const cut = [...tree.byPath.values()].filter(({ isCut }) => isCut).map(({ path }) => path)
  const deep = findings.filter(({ code }) => code === CODE).map(({ path }) => path)
  if (cut.length + deep.length === 0) return findings
  const byPath = new Map(changes.map((change) => [change.path, change]))
  const tops = new Set([...cut, ...deep].map((path) => topOf(path, byPath)))
  const others = findings.filter(({ code }) => code !== CODE)
  return [...others, ...[...tops].map((path) => ({ code: CODE, path, detail: DETAIL }) as const)]
}

const DETAIL = 'holds paths that are too long'

function topOf(path: RawPath, changes: ReadonlyMap<RawPath, Change>): RawPath {
  let nearest = path
  while (nearest !== '/' && !changes.has(nearest)) nearest = parentOfRaw(nearest)
  if (nearest === '/') return path
  for (;;) {
    const above = parentOfRaw(nearest)
    const change = changes.get(above)
    if (change === undefined || change.before?.kind === 'directory') return nearest
    nearest = above
  }
}
