/** The legend of an SVG drawing: lines by class, shapes by kind, and what was found. */
import type { Drawing, DrawnProblem } from './drawing.ts'
import { COLUMN, escapeXml, LINE, number } from './svg-text.ts'
import { cutText, plainText, widthOf } from './text.ts'
import { KIND_SAYS, LINES, MARK_COLOUR, PROBLEM_COLOUR, WARNING_COLOUR } from './theme.ts'

interface Legend {
  readonly width: number
  readonly height: number
  readonly parts: readonly string[]
}

const SAMPLE = 46
const PROBLEMS_MAX = 20
const PROBLEM_COLUMNS = 110

export function legendOf(drawing: Drawing): Legend {
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
