/**
 * What a scan found wrong, path by path. The gate decides what follows from it. A flood of one kind is
 * cut, and says so.
 */
import { type RawPath, rawOfText } from '../gate/index.ts'

type TreeFindingCode =
  | 'diff.unsupported'
  | 'diff.link_split'
  | 'diff.owner_lost'
  | 'diff.too_large'
  | 'diff.path_too_long'
  | 'diff.clock'
  | 'rehearsal.interfered'

export interface TreeFinding {
  readonly code: TreeFindingCode
  readonly path: RawPath
  readonly detail?: string
}

const EACH_MAX = 1000

export class TreeFindings {
  readonly #found = new Map<string, TreeFinding>()
  readonly #counts = new Map<TreeFindingCode, number>()

  add(code: TreeFindingCode, path: RawPath, detail?: string): void {
    const key = `${code} ${path}`
    if (this.#found.has(key)) return
    const count = (this.#counts.get(code) ?? 0) + 1
    this.#counts.set(code, count)
    if (count > EACH_MAX) return
    this.#found.set(key, detail === undefined ? { code, path } : { code, path, detail })
  }

  /** By path, then by code. */
  list(): readonly TreeFinding[] {
    const sorted = [...this.#found.values()].sort(
      (one, other) => order(one.path, other.path) || order(one.code, other.code),
    )
    for (const [code, count] of this.#counts) {
      if (count <= EACH_MAX) continue
      sorted.push({ code, path: rawOfText('/'), detail: `and ${count - EACH_MAX} more` })
    }
    return sorted
  }
}

function order(one: string, other: string): number {
  return one < other ? -1 : one > other ? 1 : 0
}
