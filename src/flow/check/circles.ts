/**
 * Circles of a graph: the edges that close one, and the strongly connected components. Iterative, so
 * that a long chain costs no stack.
 */
import { closingPlaces } from '../../base/index.ts'
import type { Graph } from './graph.ts'

/** Returns the edges that close a circle in a depth-first walk, in the order of the document. */
export function closingEdges(graph: Graph, leads: (edge: number) => boolean): readonly number[] {
  const { starts, items } = graph.outgoing
  const closing = closingPlaces(starts, (place) => {
    const edge = items[place] ?? 0
    return leads(edge) ? (graph.target[edge] ?? 0) : -1
  })
  return closing.map((place) => items[place] ?? 0).sort((one, other) => one - other)
}

/** Numbers the strongly connected component of each node (Tarjan). */
export function componentsOf(graph: Graph, leads: (edge: number) => boolean): Int32Array {
  const count = graph.nodes.length
  const component = new Int32Array(count).fill(-1)
  const order = new Int32Array(count).fill(-1)
  const low = new Int32Array(count)
  const place = new Int32Array(count)
  const held: number[] = []
  const way: number[] = []
  let visits = 0
  let components = 0
  const visit = (node: number): void => {
    order[node] = visits
    low[node] = visits++
    held.push(node)
    way.push(node)
  }
  for (let root = 0; root < count; root++) {
    if (order[root] !== -1) continue
    visit(root)
    for (let node = way.at(-1); node !== undefined; node = way.at(-1)) {
      const next = nextOf(graph, node, place, leads)
      if (next !== null) {
        if (order[next] === -1) visit(next)
        else if (component[next] === -1) lower(low, node, order[next] ?? 0)
        continue
      }
      way.pop()
      const before = way[way.length - 1]
      if (before !== undefined) lower(low, before, low[node] ?? 0)
      if (low[node] !== order[node]) continue
      for (let one = held.pop(); one !== undefined; one = held.pop()) {
        component[one] = components
        if (one === node) break
      }
      components++
    }
  }
  return component
}

function lower(low: Int32Array, node: number, value: number): void {
  if (value < (low[node] ?? 0)) low[node] = value
}

/** The next node in line: by an edge, or from work to a CHECK that judges it. */
function nextOf(
  graph: Graph,
  node: number,
  place: Int32Array,
  leads: (edge: number) => boolean,
): number | null {
  const { outgoing, checks } = graph
  const first = outgoing.starts[node] ?? 0
  const count = (outgoing.starts[node + 1] ?? 0) - first
  const firstCheck = checks.starts[node] ?? 0
  const all = count + (checks.starts[node + 1] ?? 0) - firstCheck
  for (;;) {
    const index = place[node] ?? 0
    place[node] = index + 1
    if (index >= all) return null
    if (index >= count) return checks.items[firstCheck + index - count] ?? 0
    const edge = outgoing.items[first + index] ?? 0
    if (leads(edge)) return graph.target[edge] ?? 0
  }
}
