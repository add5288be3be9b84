/**
 * Graphs over ids: reachability and cycles, iterative and linear in nodes and edges, so that a plan
 * of two million values costs a second and no stack.
 */
import { closingPlaces } from '../../base/index.ts'

export interface Arc {
  readonly from: string
  readonly to: string
}

/** Every id that a walk along the arcs meets, the starts included. */
export function reachable(arcs: Iterable<Arc>, starts: Iterable<string>): ReadonlySet<string> {
  const next = new Map<string, string[]>()
  for (const { from, to } of arcs) {
    const targets = next.get(from)
    if (targets === undefined) next.set(from, [to])
    else targets.push(to)
  }
  const seen = new Set(starts)
  // A set is walked in the order of insertion, and what is added on the way is met as well.
  for (const id of seen) for (const target of next.get(id) ?? []) seen.add(target)
  return seen
}

/** The same arcs against their direction. */
export function* reversed(arcs: Iterable<Arc>): Iterable<Arc> {
  for (const { from, to } of arcs) yield { from: to, to: from }
}

/**
 * The arcs that close a cycle, as indices into `arcs`: those that lead back to an id which the
 * depth-first walk, in the order of the arcs, has not yet left. Without them there is no cycle.
 */
export function closingArcs(arcs: readonly Arc[]): readonly number[] {
  const { heads, targets, order } = adjacency(arcs)
  // Places lie between 0 and the number of arcs, the length of both arrays.
  const closing = closingPlaces(heads, (place) => targets[place] as number)
  return closing.map((place) => order[place] as number).sort((left, right) => left - right)
}

/** Arcs grouped by their start: those of node n are at heads[n] up to heads[n + 1]. */
function adjacency(arcs: readonly Arc[]) {
  const numbers = new Map<string, number>()
  const numberOf = (id: string): number => {
    const known = numbers.get(id) ?? numbers.size
    numbers.set(id, known)
    return known
  }
  const ends = arcs.map(({ from, to }) => [numberOf(from), numberOf(to)] as const)
  const heads = new Int32Array(numbers.size + 1)
  // Node numbers are below `numbers.size`, and `heads` is one longer.
  for (const [from] of ends) heads[from + 1] = (heads[from + 1] as number) + 1
  for (let node = 0; node < numbers.size; node++) {
    heads[node + 1] = (heads[node + 1] as number) + (heads[node] as number)
  }
  const free = heads.slice()
  const targets = new Int32Array(arcs.length)
  const order = new Int32Array(arcs.length)
  for (const [index, [from, to]] of ends.entries()) {
    const place = free[from] as number // `free` is as long as `heads`.
    free[from] = place + 1
    targets[place] = to
    order[place] = index
  }
  return { heads, targets, order }
}
