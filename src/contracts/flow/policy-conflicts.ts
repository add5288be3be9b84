/**
 * Conflicts that no priority can settle (F-3). A pair is in conflict when either side names the
 * other, and the higher priority wins; so equal priorities are a tie, and the only circle in which
 * policies can override one another is one of ties.
 */
import { at, showName } from '../../base/index.ts'
import { elements, field, type Subject } from '../kernel/contract.ts'
import { knownPolicies, reportUnknownRefs } from './graph-checks.ts'

interface Rank {
  readonly index: number
  readonly priority: unknown
}

export function checkPolicyConflicts({ document, report }: Subject): void {
  const known = knownPolicies(document)
  const ranks = ranksOf(document)
  const circles = new Circles(ranks.size)
  const policies = elements(document['policies'])
  for (let index = 0; index < policies.length; index++) {
    const policy = policies[index]
    const path = `/policies/${index}`
    reportUnknownRefs(policy, path, 'conflicts_with', 'policy', known, report)
    const own = rankOf(ranks, field(policy, 'policy_id'))
    const others = elements(field(policy, 'conflicts_with'))
    for (let place = 0; place < others.length; place++) {
      const other = rankOf(ranks, others[place])
      if (own === null || other === null || !isTie(own, other)) continue
      const here = at(`${path}/conflicts_with`, place)
      const name = showName(String(others[place]))
      report.add(
        'flow.policy_tie',
        here,
        `${name} is in conflict with this policy and has the same priority`,
        'give one of the two a higher priority',
      )
      if (!circles.closes(own.index, other.index)) continue
      report.add('flow.policy_cycle', here, `overriding ${name} closes a circle of overrides`)
    }
  }
}

/** Every declared policy with its place among them; the first of two equal ids counts. */
function ranksOf(document: Subject['document']): ReadonlyMap<string, Rank> {
  const ranks = new Map<string, Rank>()
  for (const list of ['policies', 'text_policies']) {
    for (const item of elements(document[list])) {
      const id = field(item, 'policy_id')
      if (typeof id !== 'string' || ranks.has(id)) continue
      ranks.set(id, { index: ranks.size, priority: field(item, 'priority') })
    }
  }
  return ranks
}

function rankOf(ranks: ReadonlyMap<string, Rank>, id: unknown): Rank | null {
  return typeof id === 'string' ? (ranks.get(id) ?? null) : null
}

function isTie(left: Rank, right: Rank): boolean {
  return typeof left.priority === 'number' && left.priority === right.priority
}

/** Which pairs close a circle: those whose ends were connected by other pairs before. */
class Circles {
  readonly #parents: Int32Array
  readonly #pairs = new Set<number>()

  constructor(size: number) {
    this.#parents = Int32Array.from({ length: size }, (_, index) => index)
  }

  closes(left: number, right: number): boolean {
    const pair = Math.min(left, right) * this.#parents.length + Math.max(left, right)
    // A pair that names itself, or is named from both sides, is one tie and no circle.
    if (left === right || this.#pairs.has(pair)) return false
    this.#pairs.add(pair)
    const [a, b] = [this.#root(left), this.#root(right)]
    this.#parents[a] = b
    return a === b
  }

  /** Halves the way at every step, so that many unions stay cheap. */
  #root(index: number): number {
    let current = index
    while (this.#parents[current] !== current) {
      const parent = this.#parents[current] as number
      this.#parents[current] = this.#parents[parent] as number
      current = parent
    }
    return current
  }
}
