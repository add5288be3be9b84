/**
 * Draws a flow as Mermaid text. Every text of the flow is quoted, and every character with a meaning
 * in Mermaid or HTML is escaped, so that no text of a flow can add to the drawing.
 */
import {
  type Drawing,
  type DrawnEdge,
  type DrawnNode,
  edgeText,
  levelOf,
  nodeTexts,
} from './drawing.ts'
import { LINES, MARK_COLOUR, PROBLEM_COLOUR, WARNING_COLOUR } from './theme.ts'

export function toMermaid(drawing: Drawing): string {
  const lines = [
    '---',
    // A quoted YAML text; JSON is YAML.
    `title: ${JSON.stringify(drawing.title)}`,
    '---',
    'flowchart TD',
    ...drawing.nodes.map(nodeLine),
    ...drawing.edges.map(edgeLine),
    ...legendLines(drawing),
    ...styleLines(drawing),
  ]
  return `${lines.join('\n')}\n`
}

/** Mermaid writes a character by its number as `#NN;`. */
function escapeText(text: string): string {
  return text.replace(
    /[^\p{L}\p{N} .,:_\-+/()=\u2026\u2192]/gu,
    (character) => `#${character.codePointAt(0)};`,
  )
}

const SHAPES = { WORK: ['["', '"]'], CHECK: ['{{"', '"}}'], GOAL: ['(["', '"])'] } as const

function nodeLine(node: DrawnNode, index: number): string {
  const [open, close] = SHAPES[node.kind]
  const level = levelOf(node.problems)
  const sign = level === null ? '' : level === 'error' ? '✖ ' : '⚠ '
  const here = node.isHere ? '▶ ' : ''
  const texts = [...nodeTexts(node), ...(node.caption === null ? [] : [node.caption])].map(
    escapeText,
  )
  return `  n${index}${open}${here}${sign}${texts.join('<br/>')}${close}`
}

function edgeLine(edge: DrawnEdge): string {
  const level = levelOf(edge.problems)
  const sign = level === null ? '' : level === 'error' ? '✖ ' : '⚠ '
  return `  n${edge.source} -->|"${sign}${escapeText(edgeText(edge))}"| n${edge.target}`
}

/** One edge for each class that occurs, with what it means. */
function legendLines({ classes }: Drawing): readonly string[] {
  if (classes.length === 0) return []
  return [
    '  subgraph legend["Legend"]',
    '    direction LR',
    ...classes.flatMap((name, index) => [
      `    k${index}[" "] -->|"${name}"| l${index}["${escapeText(LINES[name].says)}"]`,
    ]),
    '  end',
  ]
}

function styleLines({ nodes, edges, classes }: Drawing): readonly string[] {
  const all = [...edges.map(({ kind }) => kind), ...classes]
  const byClass = new Map<string, number[]>()
  for (const [index, kind] of all.entries()) {
    const list = byClass.get(kind)
    if (list === undefined) byClass.set(kind, [index])
    else list.push(index)
  }
  const links = classes.map((name) => {
    const { colour, dashes, width } = LINES[name]
    const dash = dashes.length === 0 ? '' : `,stroke-dasharray:${dashes.join(' ')}`
    return `  linkStyle ${(byClass.get(name) ?? []).join(',')} stroke:${colour},stroke-width:${width}px${dash}`
  })
  const marked = (name: string, test: (node: DrawnNode) => boolean): readonly string[] => {
    const ids = nodes.flatMap((node, index) => (test(node) ? [`n${index}`] : []))
    return ids.length === 0 ? [] : [`  class ${ids.join(',')} ${name}`]
  }
  return [
    ...links,
    `  classDef here stroke:${MARK_COLOUR},stroke-width:4px`,
    `  classDef problem stroke:${PROBLEM_COLOUR},stroke-width:3px,stroke-dasharray:4 2`,
    `  classDef warning stroke:${WARNING_COLOUR},stroke-width:2px,stroke-dasharray:4 2`,
    ...marked('warning', ({ problems }) => levelOf(problems) === 'warning'),
    ...marked('problem', ({ problems }) => levelOf(problems) === 'error'),
    ...marked('here', ({ isHere }) => isHere),
  ]
}
