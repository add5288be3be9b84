/**
 * Findings as they are gathered. Whatever a run did, the list stays short enough to be read and
 * recorded: past a number of paths for one code the rest is counted. The manifest names every path.
 */
import { type Code, compareCodePoints } from '../base/index.ts'
import type { SandboxResult } from '../contracts/index.ts'

type Finding = SandboxResult['findings'][number]

export const FINDINGS_PER_CODE_MAX = 200

/** In the order they are listed: what blocks for good first, what only reports last. */
const ORDER: readonly Code[] = [
  'effect.host_state',
  'effect.privileged',
  'effect.out_of_scope',
  'effect.undeclared',
  'effect.deferred_execution',
  'effect.discarded',
  'effect.not_observed',
]

export class FindingList {
  readonly #found = new Map<Code, Map<string, Finding>>()
  readonly #counted = new Map<Code, Map<string, number>>()

  add(code: Code, path: string, detail?: string): void {
    const paths = this.#found.get(code) ?? new Map<string, Finding>()
    this.#found.set(code, paths)
    const key = detail === undefined ? path : `${path}\0${detail}`
    if (!paths.has(key)) {
      paths.set(key, detail === undefined ? { code, path } : { code, path, detail })
    }
  }

  /** One more of something that is told by its number. */
  count(code: Code, path: string): void {
    const paths = this.#counted.get(code) ?? new Map<string, number>()
    this.#counted.set(code, paths)
    paths.set(path, (paths.get(path) ?? 0) + 1)
  }

  has(code: Code): boolean {
    return this.#found.has(code) || this.#counted.has(code)
  }

  finish(): readonly Finding[] {
    return ORDER.flatMap((code) => {
      const counted = [...(this.#counted.get(code) ?? [])].map(([path, count]) => ({
        code,
        path,
        detail: count === 1 ? '1 entry' : `${count} entries`,
      }))
      return cut(code, [...(this.#found.get(code)?.values() ?? []), ...counted])
    })
  }
}

function cut(code: Code, findings: readonly Finding[]): readonly Finding[] {
  const sorted = [...findings].sort(
    (one, other) =>
      compareCodePoints(one.path ?? '', other.path ?? '') ||
      compareCodePoints(one.detail ?? '', other.detail ?? ''),
  )
  const more = sorted.length - FINDINGS_PER_CODE_MAX
  if (more <= 0) return sorted
  return [...sorted.slice(0, FINDINGS_PER_CODE_MAX), { code, detail: `and ${more} more` }]
}
