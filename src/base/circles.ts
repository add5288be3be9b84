/**
 * Finds the cycles of a graph whose edges are grouped by the node they leave: those of node n are at
 * `heads[n]` up to `heads[n + 1]`. Iterative and linear, so that a long chain costs no stack.
 */

const NEW = 0
const ON_WAY = 1
const LEFT = 2

/**
 * Returns the places of the edges that close a cycle: they lead to a node that the depth-first walk, in
 * the order of the edges, has not yet left. Without them the graph has no cycle. `targetAt` returns -1
 * for an edge to skip.
 */
export function closingPlaces(heads: Int32Array, targetAt: (place: number) => number): number[] {
  const count = heads.length - 1
  const state = new Uint8Array(count)
  const next = heads.slice()
  const closing: number[] = []
  const way: number[] = []
  for (let start = 0; start < count; start++) {
    if (state[start] !== NEW) continue
    state[start] = ON_WAY
    way.push(start)
    while (way.length > 0) {
      const node = way[way.length - 1] as number // `way` is not empty.
      const place = next[node] as number // `next` has an entry for every node.
      if (place === heads[node + 1]) {
        state[node] = LEFT
        way.pop()
        continue
      }
      next[node] = place + 1
      const target = targetAt(place)
      if (target === -1) continue
      if (state[target] === ON_WAY) closing.push(place)
      if (state[target] !== NEW) continue
      state[target] = ON_WAY
      way.push(target)
    }
  }
  return closing
}
