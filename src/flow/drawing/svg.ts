/**
 * A flow as one SVG file: no scripts, no links, no fonts from elsewhere; light and dark by the reader's
 * preference. Everything the flow says is text, escaped for XML. Deterministic to the byte.
 */
import {
  cutText,
  type Drawing,
  type DrawnEdge,
  type DrawnNode,
  type DrawnProblem,
  edgeText,
  levelOf,
  nodeTexts,
  plainText,
  problemText,
  widthOf,
  wrapText,
} from './drawing.ts'
import { type Box, type Layout, layOut, type Point, type Size } from './layout.ts'
import { GROUNDS, KIND_SAYS, LINES, MARK_COLOUR, PROBLEM_COLOUR, WARNING_COLOUR } from './theme.ts'

const NODE_COLUMNS = 24
const NODE_LINES = 3
const LABEL_COLUMNS = 26
const PADDING = 12
const TITLE_HEIGHT = 40
const SAMPLE = 46
const PROBLEMS_MAX = 20
const PROBLEM_COLUMNS = 110
/** Edges that a run has taken are wider, the others faint. */
const TAKEN_WIDTH = 2
/** Width of a column and height of a line, in user units at 13 px. */
const COLUMN = 7.4
const LINE = 17

export async function toSvg(drawing: Drawing): Promise<string> {
  const texts = drawing.nodes.map(linesOf)
  const labels = drawing.edges.map((edge) => cutText(edgeText(edge), LABEL_COLUMNS))
  const layout = await layOut(drawing, texts.map(sizeOfNode), labels.map(sizeOfLabel))
  const legend = legendOf(drawing)
  const width =
    Math.max(layout.width, legend.width, widthOf(drawing.title) * COLUMN * 1.3) + 2 * PADDING
  const height = TITLE_HEIGHT + layout.height + legend.height + 3 * PADDING
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${number(width)} ${number(height)}" width="${number(width)}" height="${number(height)}" role="img" aria-label="${escapeXml(drawing.title)}" font-family="system-ui, 'Noto Sans', 'Noto Sans CJK SC', 'PingFang SC', 'Microsoft YaHei', sans-serif" font-size="13">`,
    STYLE,
    `<title>${escapeXml(drawing.title)}</title>`,
    `<defs>${drawing.classes.map(arrow).join('')}</defs>`,
    '<rect class="ground" width="100%" height="100%"/>',
    `<text class="text" x="${PADDING}" y="26" font-size="17" font-weight="600">${escapeXml(drawing.title)}</text>`,
    `<g transform="translate(${PADDING} ${TITLE_HEIGHT})">`,
    ...drawing.edges.map((edge, index) => edgePart(edge, layout.edges[index])),
    ...drawing.nodes.map((node, index) => nodePart(node, texts[index] ?? [], layout.nodes[index])),
    ...drawing.edges.map((edge, index) =>
      labelPart(edge, labels[index] ?? '', layout.edges[index]),
    ),
    '</g>',
    `<g transform="translate(${PADDING} ${number(TITLE_HEIGHT + layout.height + PADDING)})">`,
    ...legend.parts,
    '</g>',
    '</svg>',
    '',
  ].join('\n')
}

const STYLE = `<style>.ground{fill:${GROUNDS.light}}.text{fill:#14171a}.quiet{fill:#5b6470}.box{fill:#f6f7f9;stroke:#5b6470}.halo{fill:${GROUNDS.light};fill-opacity:.86}@media (prefers-color-scheme:dark){.ground{fill:${GROUNDS.dark}}.text{fill:#eef1f4}.quiet{fill:#a9b2bd}.box{fill:#22272e;stroke:#8b949e}.halo{fill:${GROUNDS.dark};fill-opacity:.86}}</style>`

function linesOf(node: DrawnNode): readonly string[] {
  const [first = '', second] = nodeTexts(node)
  return [
    ...wrapText(first, NODE_COLUMNS, NODE_LINES),
    ...(second === undefined ? [] : [cutText(second, NODE_COLUMNS)]),
    ...(node.caption === null ? [] : [cutText(node.caption, NODE_COLUMNS)]),
  ]
}

function sizeOfNode(lines: readonly string[]): Size {
  const widest = Math.max(6, ...lines.map(widthOf))
  return {
    width: widest * COLUMN + 3 * PADDING,
    height: Math.max(1, lines.length) * LINE + 2 * PADDING,
  }
}

function sizeOfLabel(label: string): Size {
  return { width: widthOf(label) * COLUMN * 0.85 + 6, height: 15 }
}

function arrow(name: keyof typeof LINES): string {
  return `<marker id="to-${name}" viewBox="0 0 10 10" refX="9" refY="5" markerWidth="8" markerHeight="8" markerUnits="userSpaceOnUse" orient="auto-start-reverse"><path d="M0 0L10 5L0 10z" fill="${LINES[name].colour}"/></marker>`
}

function edgePart(edge: DrawnEdge, placed: Layout['edges'][number] | undefined): string {
  const { colour, dashes, width: usual } = LINES[edge.kind]
  const dash = dashes.length === 0 ? '' : ` stroke-dasharray="${dashes.join(' ')}"`
  const width = edge.isTaken === true ? usual + TAKEN_WIDTH : usual
  const faint = edge.isTaken === false ? ' opacity="0.3"' : ''
  const told = [
    `${edge.kind} ${edgeText(edge)}${edge.isTaken === true ? ', taken' : ''}`,
    ...(edge.guard === null ? [] : [edge.guard]),
    ...(edge.problems.length === 0 ? [] : [problemText(edge.problems)]),
  ]
  return `<path class="${edge.kind}" d="${way(placed?.points ?? [])}" fill="none" stroke="${colour}" stroke-width="${width}"${dash}${faint} marker-end="url(#to-${edge.kind})"><title>${escapeXml(told.join('\n'))}</title></path>`
}

/** A line with rounded corners through the points. */
function way(points: readonly Point[]): string {
  const [first, ...rest] = points
  if (first === undefined) return ''
  const parts = [`M${number(first.x)} ${number(first.y)}`]
  for (const [index, point] of rest.entries()) {
    const next = rest[index + 1]
    if (next === undefined) parts.push(`L${number(point.x)} ${number(point.y)}`)
    else {
      const middle = { x: (point.x + next.x) / 2, y: (point.y + next.y) / 2 }
      parts.push(`Q${number(point.x)} ${number(point.y)} ${number(middle.x)} ${number(middle.y)}`)
    }
  }
  return parts.join('')
}

function labelPart(
  edge: DrawnEdge,
  label: string,
  placed: Layout['edges'][number] | undefined,
): string {
  if (placed === undefined) return ''
  const { width, height } = sizeOfLabel(label)
  const { x, y } = placed.label
  const badge = badgePart(edge.problems, x + width / 2 + 8, y)
  return `<rect class="halo" x="${number(x - width / 2)}" y="${number(y - height / 2)}" width="${number(width)}" height="${height}"/><text x="${number(x)}" y="${number(y + 4)}" font-size="11" text-anchor="middle" fill="${LINES[edge.kind].colour}">${escapeXml(label)}</text>${badge}`
}

function nodePart(node: DrawnNode, lines: readonly string[], box: Box | undefined): string {
  if (box === undefined) return ''
  const top = box.y - (lines.length * LINE) / 2
  const texts = lines.map((line, index) => {
    const quiet = index > 0 && index >= lines.length - (node.caption === null ? 1 : 2)
    return `<text class="${quiet ? 'quiet' : 'text'}" x="${number(box.x)}" y="${number(top + index * LINE + 13)}" text-anchor="middle">${escapeXml(line)}</text>`
  })
  const told = [`${node.kind} ${nodeTexts(node).join(' · ')}`, problemText(node.problems)]
  const here = node.isHere
    ? `<path class="here" d="${outline(node, box, 6)}" fill="none" stroke="${MARK_COLOUR}" stroke-width="4"/><text x="${number(box.x - box.width / 2 - 4)}" y="${number(box.y - box.height / 2 - 6)}" fill="${MARK_COLOUR}" font-weight="700">▶</text>`
    : ''
  const inner = node.kind === 'GOAL' ? `<path class="box" d="${outline(node, box, -4)}"/>` : ''
  const badge = badgePart(node.problems, box.x + box.width / 2, box.y - box.height / 2)
  return `<g class="${node.kind}"><title>${escapeXml(told.filter((line) => line !== '').join('\n'))}</title>${here}<path class="box" d="${outline(node, box, 0)}"/>${inner}${texts.join('')}${badge}</g>`
}

/** A box for work, a hexagon for checks, round ends for goals; `grow` makes it larger all around. */
function outline({ kind }: Pick<DrawnNode, 'kind'>, box: Box, grow: number): string {
  const [left, right] = [box.x - box.width / 2 - grow, box.x + box.width / 2 + grow]
  const [top, bottom] = [box.y - box.height / 2 - grow, box.y + box.height / 2 + grow]
  const [l, r, t, b, m] = [left, right, top, bottom, box.y].map(number)
  if (kind === 'WORK') return `M${l} ${t}H${r}V${b}H${l}z`
  const [inner, outer] = [number(left + 12), number(right - 12)]
  if (kind === 'CHECK') return `M${inner} ${t}H${outer}L${r} ${m}L${outer} ${b}H${inner}L${l} ${m}z`
  return `M${inner} ${t}H${outer}Q${r} ${t} ${r} ${m}Q${r} ${b} ${outer} ${b}H${inner}Q${l} ${b} ${l} ${m}Q${l} ${t} ${inner} ${t}z`
}

function badgePart(problems: readonly DrawnProblem[], x: number, y: number): string {
  const level = levelOf(problems)
  if (level === null) return ''
  const [colour, sign] = level === 'error' ? [PROBLEM_COLOUR, '✖'] : [WARNING_COLOUR, '!']
  return `<g class="${level}"><title>${escapeXml(problemText(problems))}</title><circle cx="${number(x)}" cy="${number(y)}" r="8" fill="${colour}"/><text x="${number(x)}" y="${number(y + 4)}" font-size="11" font-weight="700" text-anchor="middle" fill="#ffffff">${sign}</text></g>`
}

interface Legend {
  readonly width: number
  readonly height: number
  readonly parts: readonly string[]
}

/** The legend of a drawing: lines by class, shapes by kind, and what was found. */
function legendOf(drawing: Drawing): Legend {
  const rows = [
    ...drawing.classes.map((name) => ({
      sample: lineSample(name),
      text: `${name}: ${LINES[name].says}`,
    })),
    {
      sample: '',
      text: `box: ${KIND_SAYS.WORK} · hexagon: ${KIND_SAYS.CHECK} · round: ${KIND_SAYS.GOAL}`,
    },
    ...(drawing.nodes.some(({ isHere }) => isHere)
      ? [{ sample: hereSample(), text: 'the run is here' }]
      : []),
    ...(drawing.edges.some(({ isTaken }) => isTaken !== null)
      ? [{ sample: '', text: 'wide lines were taken, faint ones were not' }]
      : []),
    ...problemRows(drawing),
  ]
  return {
    width: Math.max(...rows.map(({ text }) => widthOf(text) * COLUMN * 0.92 + SAMPLE + 12)),
    height: rows.length * LINE + LINE,
    parts: rows.map(({ sample, text }, index) => {
      const y = index * LINE + LINE
      return `<g transform="translate(0 ${y})">${sample}<text class="text" x="${SAMPLE + 8}" y="4" font-size="12">${escapeXml(text)}</text></g>`
    }),
  }
}

function lineSample(name: keyof typeof LINES): string {
  const { colour, dashes, width } = LINES[name]
  const dash = dashes.length === 0 ? '' : ` stroke-dasharray="${dashes.join(' ')}"`
  return `<path d="M0 0H${SAMPLE}" fill="none" stroke="${colour}" stroke-width="${width}"${dash} marker-end="url(#to-${name})"/>`
}

function hereSample(): string {
  return `<path d="M10 -6H${SAMPLE - 10}V6H10z" fill="none" stroke="${MARK_COLOUR}" stroke-width="4"/>`
}

/** The first findings in words; the drawing itself has a sign at each. */
function problemRows(
  drawing: Drawing,
): readonly { readonly sample: string; readonly text: string }[] {
  const all: readonly DrawnProblem[] = [
    ...drawing.problems,
    ...drawing.nodes.flatMap(({ problems }) => problems),
    ...drawing.edges.flatMap(({ problems }) => problems),
  ].sort((one, other) => Number(one.level === 'warning') - Number(other.level === 'warning'))
  const rows = all.slice(0, PROBLEMS_MAX).map(({ level, code, path, message }) => ({
    sample: `<circle cx="${number(SAMPLE / 2)}" cy="0" r="6" fill="${level === 'error' ? PROBLEM_COLOUR : WARNING_COLOUR}"/>`,
    text: cutText(plainText(`${code} ${path}: ${message}`), PROBLEM_COLUMNS),
  }))
  const more = all.length - PROBLEMS_MAX
  return more > 0 ? [...rows, { sample: '', text: `and ${more} more` }] : rows
}

/** Texts come from outside: nothing in them may end a text, an attribute or an element. */
function escapeXml(text: string): string {
  return text.replace(/[&<>"']/g, (character) => `&#${character.charCodeAt(0)};`)
}

/** At most one digit behind the point, so that no machine writes it differently. */
function number(value: number): string {
  return String(Math.round(value * 10) / 10)
}
