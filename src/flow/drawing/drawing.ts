/**
 * What there is to draw: nodes and edges with their texts, what is marked as the present place, and
 * what was found about them. The same for every format.
 *
 * Texts of a drawing: made harmless, cut, broken into lines by their width. Chinese and other wide
 * characters count two columns, as East Asian Width says; marks that combine count none.
 */
import { EDGE_CLASSES, type EdgeClass, type Flow, type NodeKind } from '../../contracts/index.ts'

export interface DrawnProblem {
  readonly level: 'error' | 'warning'
  readonly code: string
  /** JSON Pointer into the flow. */
  readonly path: string
  readonly message: string
}

export interface DrawingOptions {
  /** Ids of the nodes where the run is. */
  readonly at?: readonly string[]
  /** What each node's state is, for its caption, such as `done` or `2 attempts`. */
  readonly captions?: ReadonlyMap<string, string>
  readonly problems?: readonly DrawnProblem[]
  /** Ids of the edges that a run has taken; absent for a flow that no run walks. */
  readonly taken?: ReadonlySet<string>
}

export interface DrawnNode {
  readonly name: string
  readonly title: string
  readonly kind: NodeKind
  readonly isHere: boolean
  readonly caption: string | null
  readonly problems: readonly DrawnProblem[]
}

export interface DrawnEdge {
  readonly name: string
  readonly label: string
  readonly source: number
  readonly target: number
  readonly kind: EdgeClass
  readonly guard: string | null
  readonly problems: readonly DrawnProblem[]
  /** Null where no run is drawn. */
  readonly isTaken: boolean | null
}

export interface Drawing {
  readonly title: string
  readonly nodes: readonly DrawnNode[]
  /** Without those whose ends do not exist. */
  readonly edges: readonly DrawnEdge[]
  /** Classes that occur, in their usual order. */
  readonly classes: readonly EdgeClass[]
  /** What was found about the flow and not about a node or an edge. */
  readonly problems: readonly DrawnProblem[]
}

const NAME_COLUMNS = 40
const TITLE_COLUMNS = 60
const GUARD_COLUMNS = 120
const HARMFUL = /[\p{Cc}\p{Cf}\ufffe\uffff]/gu
const SPACE = /\s+/g

const WIDE =
  /[\u1100-\u115f\u2e80-\u303e\u3041-\u33ff\u3400-\u4dbf\u4e00-\u9fff\ua000-\ua4cf\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe4f\uff00-\uff60\uffe0-\uffe6]|[\u{1f300}-\u{1faff}\u{20000}-\u{3fffd}]/u

const MARK = /\p{M}/u

export function drawingOf(flow: Flow, options: DrawingOptions = {}): Drawing {
  const indexOf = new Map<string, number>()
  for (const [index, { node_id }] of flow.nodes.entries()) {
    if (!indexOf.has(node_id)) indexOf.set(node_id, index)
  }
  const here = new Set(options.at ?? [])
  const found = problemsByPlace(options.problems ?? [])
  const nodes = flow.nodes.map((node, index) => ({
    name: cutText(plainText(node.node_id), NAME_COLUMNS),
    title: cutText(plainText(node.title), TITLE_COLUMNS),
    kind: node.kind,
    isHere: here.has(node.node_id),
    caption: captionOf(options, node.node_id),
    problems: found.get(`nodes/${index}`) ?? [],
  }))
  const edges = flow.edges.flatMap((edge, index) => {
    const [source, target] = [indexOf.get(edge.source), indexOf.get(edge.target)]
    if (source === undefined || target === undefined) return []
    return [
      {
        name: cutText(plainText(edge.edge_id), NAME_COLUMNS),
        label: cutText(plainText(edge.label ?? ''), NAME_COLUMNS),
        source,
        target,
        kind: edge.class,
        guard:
          edge.guard_expr === undefined ? null : cutText(plainText(edge.guard_expr), GUARD_COLUMNS),
        problems: found.get(`edges/${index}`) ?? [],
        isTaken: options.taken === undefined ? null : options.taken.has(edge.edge_id),
      },
    ]
  })
  const occurring = new Set(edges.map(({ kind }) => kind))
  return {
    title: cutText(plainText(flow.title === '' ? flow.flow_id : flow.title), TITLE_COLUMNS * 2),
    nodes,
    edges,
    classes: EDGE_CLASSES.filter((name) => occurring.has(name)),
    problems: found.get('') ?? [],
  }
}

function captionOf({ captions }: DrawingOptions, id: string): string | null {
  const caption = captions?.get(id)
  return caption === undefined ? null : cutText(plainText(caption), NAME_COLUMNS)
}

function problemsByPlace(
  problems: readonly DrawnProblem[],
): ReadonlyMap<string, readonly DrawnProblem[]> {
  const byPlace = new Map<string, DrawnProblem[]>()
  for (const problem of problems) {
    const place = /^\/((?:nodes|edges)\/\d+)/.exec(problem.path)?.[1] ?? ''
    const list = byPlace.get(place)
    if (list === undefined) byPlace.set(place, [problem])
    else list.push(problem)
  }
  return byPlace
}

/** The worst that was found at a place; null when nothing was. */
export function levelOf(problems: readonly DrawnProblem[]): DrawnProblem['level'] | null {
  if (problems.length === 0) return null
  return problems.some(({ level }) => level === 'error') ? 'error' : 'warning'
}

/** One line a problem, for tooltips. */
export function problemText(problems: readonly DrawnProblem[]): string {
  return problems.map(({ code, message }) => `${code}: ${plainText(message)}`).join('\n')
}

/** Returns the lines of a node's label: its title, then its id if the two differ. */
export function nodeTexts({ name, title }: DrawnNode): readonly string[] {
  return title === '' || title === name ? [name] : [title, name]
}

export function edgeText({ name, label }: DrawnEdge): string {
  return label === '' ? name : `${name} ${label}`
}

/** One line, without anything that a terminal, a browser or a parser would obey. */
export function plainText(text: string): string {
  return text.toWellFormed().replace(SPACE, ' ').replace(HARMFUL, '\ufffd').trim()
}

/** In columns: a Latin letter is one wide. */
export function widthOf(text: string): number {
  let width = 0
  for (const character of text) width += columnsOf(character)
  return width
}

function columnsOf(character: string): number {
  if (MARK.test(character)) return 0
  return WIDE.test(character) ? 2 : 1
}

/** At most so many columns, with an ellipsis when something is left out. */
export function cutText(text: string, columns: number): string {
  if (widthOf(text) <= columns) return text
  let width = 1
  let kept = ''
  for (const character of text) {
    width += columnsOf(character)
    if (width > columns) break
    kept += character
  }
  return `${kept.trimEnd()}…`
}

/** Lines of at most so many columns, broken at spaces where there are any; the last one is cut. */
export function wrapText(text: string, columns: number, linesMax: number): readonly string[] {
  const lines: string[] = []
  let line = ''
  for (const word of piecesOf(text, columns)) {
    const joined = line + word
    if (line === '' || widthOf(joined.trimEnd()) <= columns) {
      line = joined
      continue
    }
    lines.push(line.trimEnd())
    line = word
  }
  if (line.trim() !== '') lines.push(line.trimEnd())
  if (lines.length <= linesMax) return lines
  const kept = lines.slice(0, linesMax)
  const last = `${kept[linesMax - 1] ?? ''} …`
  return [...kept.slice(0, -1), widthOf(last) <= columns ? last : cutText(last, columns)]
}

/** Words with the space behind them; what is too long for a line, or wide, breaks anywhere. */
function* piecesOf(text: string, columns: number): Iterable<string> {
  for (const [word] of text.matchAll(/\S+\s*|\s+/g)) {
    if (widthOf(word) <= columns && !WIDE.test(word)) yield word
    else yield* word
  }
}
