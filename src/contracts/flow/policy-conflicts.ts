/**
 * Conflicts that no priority can settle (F-3). A pair is in conflict when either side names the
 * other, and the higher priority wins; so equal priorities are a tie, and the only circle in which
 * policies can override one another is one of ties.
 */
import { at, type Code, showName } from '../../base/index.ts'
import { elements, field, type Subject } from '../kernel/contract.ts'
import { knownPolicies, reportUnknownRefs } from './graph-checks.ts'

interface Rank {
  readonly index: number
  readonly priority: unknown
}

/** What a conflict in this document is called, and the lists whose policies have a rank. */
export interface ConflictWords {
  readonly list: string
  readonly ranked: readonly string[]
  readonly tie: Code
  readonly cycle: Code
}

const FLOW_WORDS: ConflictWords = {
  list: 'policies',
  ranked: ['policies', 'text_policies'],
  tie: 'flow.policy_tie',
  cycle: 'flow.policy_cycle',
}

export function checkPolicyConflicts(subject: Subject): void {
  const { document, report } = subject
  const known = knownPolicies(document)
  const policies = elements(document['policies'])
  for (let index = 0; index < policies.length; index++) {
    const path = `/policies/${index}`
    reportUnknownRefs(policies[index], path, 'conflicts_with', 'policy', known, report)
  }
  reportTies(subject, FLOW_WORDS)
}

/** Reports pairs in conflict that no priority settles, in flows and in law files alike. */
export function reportTies({ document, report }: Subject, words: ConflictWords): void {
  const ranks = ranksOf(document, words.ranked)
  const circles = new Circles(ranks.size)
  const policies = elements(document[words.list])
  for (let index = 0; index < policies.length; index++) {
    const policy = policies[index]
    const own = rankOf(ranks, field(policy, 'policy_id'))
    const others = elements(field(policy, 'conflicts_with'))
    for (let place = 0; place < others.length; place++) {
      const other = rankOf(ranks, others[place])
      if (own === null || other === null || !isTie(own, other)) continue
      const here = at(`/${words.list}/${index}/conflicts_with`, place)
      const name = showName(String(others[place]))
      report.add(
        words.tie,
        here,
        `${name} is in conflict with this policy and has the same priority`,
        'give one of the two a higher priority',
      )
      if (!circles.closes(own.index, other.index)) continue
      report.add(words.cycle, here, `overriding ${name} closes a circle of overrides`)
    }
  }
}

/** Every declared policy with its place among them; the first of two equal ids counts. */
function ranksOf(
  document: Subject['document'],
  lists: readonly string[],
): ReadonlyMap<string, Rank> {
  const ranks = new Map<string, Rank>()
  for (const list of lists) {
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
      // Every entry of `#parents` is an index of `#parents`.
      const parent = this.#parents[current] as number
      this.#parents[current] = this.#parents[parent] as number
      current = parent
    }
    return current
  }
}
