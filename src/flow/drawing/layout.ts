/**
 * Places the nodes and edges of a drawing. Dagre lays out graphs up to `DAGRE_MAX`. Larger graphs are
 * laid out in linear time: rows by distance from the start, with straight lines.
 * Deterministic: the same drawing has the same layout.
 */
import type { Drawing, DrawnEdge } from './drawing.ts'

export interface Box {
  /** Of the middle. */
  readonly x: number
  readonly y: number
  readonly width: number
  readonly height: number
}

export interface Point {
  readonly x: number
  readonly y: number
}

export interface Layout {
  readonly width: number
  readonly height: number
  readonly nodes: readonly Box[]
  /** By edge: its way, from border to border, and the place of its label. */
  readonly edges: readonly { readonly points: readonly Point[]; readonly label: Point }[]
}

export interface Size {
  readonly width: number
  readonly height: number
}

/** Nodes and edges together; dagre takes a second or two at this size. */
const DAGRE_MAX = 600

export async function layOut(
  drawing: Drawing,
  nodeSizes: readonly Size[],
  labelSizes: readonly Size[],
): Promise<Layout> {
  if (drawing.nodes.length === 0) return { width: 0, height: 0, nodes: [], edges: [] }
  if (drawing.nodes.length + drawing.edges.length > DAGRE_MAX) return inRows(drawing, nodeSizes)
  return byDagre(drawing, nodeSizes, labelSizes)
}

async function byDagre(
  { edges }: Drawing,
  nodeSizes: readonly Size[],
  labelSizes: readonly Size[],
): Promise<Layout> {
  const { Graph, layout } = await import('@dagrejs/dagre')
  const graph = new Graph({ multigraph: true })
  graph.setGraph({ rankdir: 'TB', nodesep: 28, ranksep: 46, edgesep: 14, marginx: 8, marginy: 8 })
  graph.setDefaultEdgeLabel(() => ({}))
  for (const [index, { width, height }] of nodeSizes.entries())
    graph.setNode(String(index), { width, height })
  for (const [index, edge] of edges.entries()) {
    const { width, height } = labelSizes[index] ?? { width: 0, height: 0 }
    const [from, to] = isTurned(edge) ? [edge.target, edge.source] : [edge.source, edge.target]
    graph.setEdge(String(from), String(to), { width, height, labelpos: 'c' }, String(index))
  }
  layout(graph)
  // `layout` has written the size of the drawing into the label of the graph.
  const { width = 0, height = 0 } = graph.graph() as Partial<Size>
  return {
    width,
    height,
    // `layout` has added the centre to the size that each node was given above.
    nodes: nodeSizes.map((_, index) => graph.node(String(index)) as Box),
    edges: edges.map((edge, index) => {
      const [from, to] = isTurned(edge) ? [edge.target, edge.source] : [edge.source, edge.target]
      // `layout` has written the points into the label of each edge; its types do not say so.
      const placed = graph.edge(String(from), String(to), String(index)) as unknown as Placed
      const points = isTurned(edge) ? placed.points.toReversed() : placed.points
      const middle = points[Math.floor(points.length / 2)] ?? { x: 0, y: 0 }
      return { points, label: { x: placed.x ?? middle.x, y: placed.y ?? middle.y } }
    }),
  }
}

interface Placed {
  readonly points: readonly Point[]
  readonly x?: number
  readonly y?: number
}

/** Returns whether to lay an edge out from target to source, as a back edge is. */
function isTurned({ kind, source, target }: DrawnEdge): boolean {
  return (kind === 'Loop' || kind === 'Rollback') && source !== target
}

const GAP = 36

/** Rows by the number of edges from the beginning. */
function inRows(drawing: Drawing, sizes: readonly Size[]): Layout {
  const ranks = ranksOf(drawing)
  const rows: number[][] = []
  for (const [node, rank] of ranks.entries()) {
    const row = rows[rank]
    if (row === undefined) rows[rank] = [node]
    else row.push(node)
  }
  const nodes: Box[] = new Array(sizes.length)
  let y = GAP
  let width = 0
  for (const row of rows) {
    let x = GAP
    let tallest = 0
    for (const node of row ?? []) {
      const size = sizes[node] ?? { width: 0, height: 0 }
      nodes[node] = { ...size, x: x + size.width / 2, y: y + size.height / 2 }
      x += size.width + GAP
      tallest = Math.max(tallest, size.height)
    }
    width = Math.max(width, x)
    y += tallest + GAP * 2
  }
  const edges = drawing.edges.map(({ source, target }) => {
    // Every node has a rank, so the rows above have placed every node.
    const [from, to] = [nodes[source] as Box, nodes[target] as Box]
    const points = [border(from, to), border(to, from)]
    const label = { x: (from.x + to.x) / 2, y: (from.y + to.y) / 2 }
    return { points, label }
  })
  return { width, height: y, nodes, edges }
}

function ranksOf({ nodes, edges }: Drawing): Int32Array {
  const next: number[][] = nodes.map(() => [])
  const incoming = new Int32Array(nodes.length)
  for (const edge of edges) {
    if (edge.kind === 'Loop' || edge.kind === 'Rollback' || edge.kind === 'Meta') continue
    next[edge.source]?.push(edge.target)
    incoming[edge.target] = (incoming[edge.target] ?? 0) + 1
  }
  const ranks = new Int32Array(nodes.length).fill(-1)
  const queue: number[] = []
  const enter = (node: number, rank: number): void => {
    if (ranks[node] !== -1) return
    ranks[node] = rank
    queue.push(node)
  }
  for (let node = 0; node < nodes.length; node++) if (incoming[node] === 0) enter(node, 0)
  for (let node = 0, place = 0; node < nodes.length; node++) {
    // What is only on circles begins where the document names it first.
    enter(node, 0)
    for (; place < queue.length; place++) {
      const here = queue[place] as number
      for (const target of next[here] ?? []) enter(target, (ranks[here] ?? 0) + 1)
    }
  }
  return ranks
}

/** Where the line between the middles leaves the box. */
function border(box: Box, other: Point): Point {
  const [dx, dy] = [other.x - box.x, other.y - box.y]
  if (dx === 0 && dy === 0) return { x: box.x, y: box.y + box.height / 2 }
  const scale = Math.min(
    dx === 0 ? Number.POSITIVE_INFINITY : box.width / 2 / Math.abs(dx),
    dy === 0 ? Number.POSITIVE_INFINITY : box.height / 2 / Math.abs(dy),
  )
  return { x: box.x + dx * scale, y: box.y + dy * scale }
}
