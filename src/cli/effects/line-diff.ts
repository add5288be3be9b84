/**
 * The lines in which two texts differ, as hunks with three lines around them.
 *
 * INVARIANT (bounded, never hidden): the search for the shortest difference has a budget of edits
 * that shrinks with the length of the texts. Beyond it everything between the first and the last
 * line that differ is shown as taken away and put in: longer, and just as true.
 */
import { diffArrays } from 'diff'

export interface DiffLine {
  readonly sign: ' ' | '-' | '+'
  /** Without its line feed. */
  readonly text: string
  /** The last line of its side, which has no line feed. */
  readonly isOpen: boolean
}

export interface Hunk {
  /** Line numbers from 1; the number before the hunk when it has no line of that side. */
  readonly oldStart: number
  readonly oldCount: number
  readonly newStart: number
  readonly newCount: number
  readonly lines: readonly DiffLine[]
}

export interface LineDiff {
  readonly removed: number
  readonly added: number
  readonly hunks: readonly Hunk[]
  /** False: the shortest difference was not looked for to the end. */
  readonly isShortest: boolean
}

const AROUND = 3
const EDITS_MAX = 4_000
/** Edits times lines: some tenths of a second. */
const WORK_MAX = 20_000_000

interface Run {
  readonly kind: 'same' | 'old' | 'new'
  readonly count: number
}

export function diffLines(before: string, after: string): LineDiff {
  const oldLines = linesOf(before)
  const newLines = linesOf(after)
  const head = sharedHead(oldLines, newLines)
  const tail = sharedTail(oldLines, newLines, head)
  const { runs, isShortest } = middle(
    oldLines.slice(head, oldLines.length - tail),
    newLines.slice(head, newLines.length - tail),
  )
  const all: Run[] = [{ kind: 'same', count: head }, ...runs, { kind: 'same', count: tail }]
  const count = (kind: Run['kind']): number =>
    all.reduce((sum, run) => (run.kind === kind ? sum + run.count : sum), 0)
  return {
    removed: count('old'),
    added: count('new'),
    hunks: hunksOf(oldLines, newLines, all),
    isShortest,
  }
}

/** Lines with their line feeds, so that a last line without one is another line. */
function linesOf(text: string): readonly string[] {
  const lines: string[] = []
  for (let from = 0; from < text.length; ) {
    const end = text.indexOf('\n', from)
    const next = end === -1 ? text.length : end + 1
    lines.push(text.slice(from, next))
    from = next
  }
  return lines
}

function sharedHead(one: readonly string[], other: readonly string[]): number {
  const most = Math.min(one.length, other.length)
  let count = 0
  while (count < most && one[count] === other[count]) count++
  return count
}

function sharedTail(one: readonly string[], other: readonly string[], head: number): number {
  const most = Math.min(one.length, other.length) - head
  let count = 0
  while (count < most && one[one.length - 1 - count] === other[other.length - 1 - count]) count++
  return count
}

function middle(
  oldLines: readonly string[],
  newLines: readonly string[],
): { runs: readonly Run[]; isShortest: boolean } {
  if (oldLines.length === 0 || newLines.length === 0) {
    return { runs: replaced(oldLines.length, newLines.length), isShortest: true }
  }
  // Numbers are compared faster than lines, and equal lines have equal numbers.
  const numbers = new Map<string, number>()
  const numberOf = (line: string): number => {
    const known = numbers.get(line)
    if (known !== undefined) return known
    numbers.set(line, numbers.size)
    return numbers.size - 1
  }
  const edits = Math.floor(WORK_MAX / (oldLines.length + newLines.length))
  const found = diffArrays(oldLines.map(numberOf), newLines.map(numberOf), {
    maxEditLength: Math.min(EDITS_MAX, edits),
  })
  if (found === undefined) {
    return { runs: replaced(oldLines.length, newLines.length), isShortest: false }
  }
  const runs = found.map(
    ({ added, removed, count }): Run => ({
      kind: added ? 'new' : removed ? 'old' : 'same',
      count,
    }),
  )
  return { runs, isShortest: true }
}

function replaced(oldCount: number, newCount: number): readonly Run[] {
  return [
    { kind: 'old', count: oldCount },
    { kind: 'new', count: newCount },
  ]
}

class HunkBuilder {
  readonly oldStart: number
  readonly newStart: number
  readonly lines: DiffLine[] = []
  oldCount = 0
  newCount = 0

  constructor(oldStart: number, newStart: number) {
    this.oldStart = oldStart
    this.newStart = newStart
  }

  add(sign: DiffLine['sign'], lines: readonly string[]): void {
    for (const line of lines) {
      const isOpen = !line.endsWith('\n')
      this.lines.push({ sign, text: isOpen ? line : line.slice(0, -1), isOpen })
    }
    if (sign !== '+') this.oldCount += lines.length
    if (sign !== '-') this.newCount += lines.length
  }

  end(): Hunk {
    const { oldCount, newCount, lines } = this
    const start = (index: number, count: number): number => (count === 0 ? index : index + 1)
    return {
      oldStart: start(this.oldStart, oldCount),
      oldCount,
      newStart: start(this.newStart, newCount),
      newCount,
      lines,
    }
  }
}

function hunksOf(
  oldLines: readonly string[],
  newLines: readonly string[],
  runs: readonly Run[],
): readonly Hunk[] {
  const hunks: Hunk[] = []
  let open: HunkBuilder | null = null
  let oldAt = 0
  let newAt = 0
  const last = runs.findLastIndex(({ kind, count }) => kind !== 'same' && count > 0)
  for (const [index, { kind, count }] of runs.entries()) {
    if (count === 0) continue
    if (kind === 'same') {
      const same = oldLines.slice(oldAt, oldAt + count)
      oldAt += count
      newAt += count
      const isWhole: boolean = open !== null && index < last && count <= 2 * AROUND
      if (open !== null) open.add(' ', isWhole ? same : same.slice(0, AROUND))
      if (open === null || isWhole) continue
      hunks.push(open.end())
      open = null
      continue
    }
    open ??= beginHunk(oldLines, oldAt, newAt)
    if (kind === 'old') {
      open.add('-', oldLines.slice(oldAt, oldAt + count))
      oldAt += count
    } else {
      open.add('+', newLines.slice(newAt, newAt + count))
      newAt += count
    }
  }
  if (open !== null) hunks.push(open.end())
  return hunks
}

/** Begins with the lines in front of the first that differs. */
function beginHunk(oldLines: readonly string[], oldAt: number, newAt: number): HunkBuilder {
  const around = Math.min(AROUND, oldAt, newAt)
  const hunk = new HunkBuilder(oldAt - around, newAt - around)
  hunk.add(' ', oldLines.slice(oldAt - around, oldAt))
  return hunk
}
