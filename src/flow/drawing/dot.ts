/**
 * A flow as DOT text for Graphviz. Texts of the flow are quoted strings with backslash and quotation
 * mark escaped, so that no escape sequence of Graphviz and no end of the string can stand in them.
 */
import {
  type Drawing,
  type DrawnEdge,
  type DrawnNode,
  edgeText,
  levelOf,
  nodeTexts,
  problemText,
} from './drawing.ts'
import { LINES, MARK_COLOUR, PROBLEM_COLOUR, WARNING_COLOUR } from './theme.ts'

export function toDot(drawing: Drawing): string {
  const lines = [
    'digraph flow {',
    `  graph [label=${quoted([drawing.title])}, labelloc=t, rankdir=TB, fontname="sans-serif", bgcolor="transparent"]`,
    '  node [fontname="sans-serif", style="filled", fillcolor="#f6f7f9", fontcolor="#14171a", color="#5b6470"]',
    '  edge [fontname="sans-serif", fontsize=10]',
    ...drawing.nodes.map(nodeLine),
    ...drawing.edges.map(edgeLine),
    ...legendLines(drawing),
    '}',
  ]
  return `${lines.join('\n')}\n`
}

/** Lines of one label. */
function quoted(lines: readonly string[]): string {
  const escaped = lines.map((line) => line.replaceAll('\\', '\\\\').replaceAll('"', '\\"'))
  return `"${escaped.join('\\n').replaceAll('\n', '\\n')}"`
}

const SHAPES = { WORK: 'box', CHECK: 'hexagon', GOAL: 'doubleoctagon' } as const

function nodeLine(node: DrawnNode, index: number): string {
  const level = levelOf(node.problems)
  const texts = [...nodeTexts(node), ...(node.caption === null ? [] : [node.caption])]
  const [first = '', ...rest] = texts
  const sign = `${node.isHere ? '▶ ' : ''}${signOf(level)}`
  const attributes = [`label=${quoted([`${sign}${first}`, ...rest])}`, `shape=${SHAPES[node.kind]}`]
  if (level !== null) attributes.push(`color="${colourOf(level)}"`, 'penwidth=2')
  if (node.isHere) attributes.push(`color="${MARK_COLOUR}"`, 'penwidth=4')
  if (level !== null) attributes.push(`tooltip=${quoted(problemText(node.problems).split('\n'))}`)
  return `  n${index} [${attributes.join(', ')}]`
}

function edgeLine(edge: DrawnEdge): string {
  const { colour, width, dot } = LINES[edge.kind]
  const level = levelOf(edge.problems)
  const told = [
    `${edge.kind} ${edge.name}`,
    ...(edge.guard === null ? [] : [edge.guard]),
    ...(level === null ? [] : problemText(edge.problems).split('\n')),
  ]
  const attributes = [
    `label=${quoted([`${signOf(level)}${edgeText(edge)}`])}`,
    `color="${colour}"`,
    `fontcolor="${colour}"`,
    `style="${dot}"`,
    `penwidth=${edge.isTaken === true ? width + 2 : width}`,
    `edgetooltip=${quoted(told)}`,
  ]
  return `  n${edge.source} -> n${edge.target} [${attributes.join(', ')}]`
}

function legendLines({ classes }: Drawing): readonly string[] {
  if (classes.length === 0) return []
  return [
    '  subgraph cluster_legend {',
    '    label="Legend"',
    ...classes.flatMap((name, index) => {
      const { colour, width, dot, says } = LINES[name]
      return [
        `    k${index} [label="", shape=point]`,
        `    l${index} [label=${quoted([says])}, shape=plaintext, style=""]`,
        `    k${index} -> l${index} [label="${name}", color="${colour}", fontcolor="${colour}", style="${dot}", penwidth=${width}]`,
      ]
    }),
    '  }',
  ]
}

function signOf(level: 'error' | 'warning' | null): string {
  if (level === null) return ''
  return level === 'error' ? '✖ ' : '⚠ '
}

function colourOf(level: 'error' | 'warning'): string {
  return level === 'error' ? PROBLEM_COLOUR : WARNING_COLOUR
}
