/**
 * How much of each section the brief view shows. The effects of many changes are shown with the first
 * limits that leave them room on two screens, together with the head and the question; deletions and
 * what runs by itself later are named in full with every limit.
 */

export interface RenderLimits {
  /** The entries of a directory with more new ones than this are counted, not listed. */
  readonly listed: number
  /** Lines of diffs in one section; then names, then numbers. */
  readonly diffLines: number
  readonly named: number
  readonly groups: number
  readonly directories: number
  /** Findings of one code that are listed; more are counted by directory. */
  readonly findings: number
}

export const WIDEST: RenderLimits = {
  listed: 20,
  diffLines: 80,
  named: 30,
  groups: 15,
  directories: 12,
  findings: 8,
}

const NARROWER: readonly RenderLimits[] = [
  { listed: 8, diffLines: 12, named: 10, groups: 6, directories: 6, findings: 4 },
  { listed: 4, diffLines: 5, named: 4, groups: 3, directories: 4, findings: 2 },
  { listed: 0, diffLines: 0, named: 2, groups: 2, directories: 3, findings: 1 },
]

/** Two screens of 24 lines without the head and the question. */
const ROWS = 32
const COLUMNS = 80
// biome-ignore lint/suspicious/noControlCharactersInRegex: colours begin with one.
const COLOUR = /\u001b\[\d*m/g

/** Returns how many rows of a terminal a text takes. */
export function rowsOf(text: string, columns: number | null): number {
  const width = columns === null ? COLUMNS : Math.max(columns, 1)
  const lines = text.replace(COLOUR, '').split('\n').slice(0, -1)
  return lines.reduce((sum, line) => sum + Math.max(1, Math.ceil(line.length / width)), 0)
}

/** Gives out the first text that fits; the narrowest one whether it fits or not. */
export async function* fitting(
  render: (limits: RenderLimits) => AsyncIterable<string>,
  columns: number | null,
): AsyncGenerator<string> {
  const [narrowest = WIDEST, ...others] = [WIDEST, ...NARROWER].reverse()
  for (const limits of others.reverse()) {
    const pieces = await fittingPieces(render(limits), columns)
    if (pieces === null) continue
    yield* pieces
    return
  }
  yield* render(narrowest)
}

/** Returns null as soon as there is more than fits. */
async function fittingPieces(
  pieces: AsyncIterable<string>,
  columns: number | null,
): Promise<readonly string[] | null> {
  const kept: string[] = []
  let rows = 0
  for await (const piece of pieces) {
    rows += rowsOf(piece, columns)
    if (rows > ROWS) return null
    kept.push(piece)
  }
  return kept
}

/** A number of lines that several texts share; null: no end. */
export class LineBudget {
  #left: number | null

  constructor(lines: number | null) {
    this.#left = lines
  }

  /** How many texts were not shown at all. */
  leftOut = 0

  leaveOut(): void {
    this.leftOut++
  }

  get isSpent(): boolean {
    return this.#left !== null && this.#left <= 0
  }

  /** Gives out the lines of a text while there is room, and says when there was more. */
  async *spend(pieces: AsyncIterable<string>): AsyncGenerator<string> {
    for await (const piece of pieces) {
      if (this.isSpent) {
        yield '      … `a` shows the rest\n'
        return
      }
      yield piece
      if (this.#left !== null) this.#left -= piece.split('\n').length - 1
    }
  }
}
