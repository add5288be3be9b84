/**
 * Long lines of a diff, cut around what changed: of what is equal on both sides some characters are
 * left, so that a person sees the change and not 200 kB around it.
 */
import type { LineDiff } from './line-diff.ts'

type DiffLine = LineDiff['hunks'][number]['lines'][number]

/** Lines up to this are never cut. */
const LONG = 300
/** Of what did not change, on each side. */
const CONTEXT = 80
/** Between the first and the last change, in the brief view: half at each end. */
const CHANGED_MAX = 240

/** The lines of a hunk with long ones cut; `whole` cuts only what did not change. */
export function cutLines(lines: readonly DiffLine[], whole: boolean): readonly DiffLine[] {
  if (lines.every(({ text }) => text.length <= LONG)) return lines
  const partners = partnersOf(lines)
  return lines.map((line, index) => {
    if (line.text.length <= LONG) return line
    if (line.sign === ' ') return { ...line, text: keep(line.text, 0, CONTEXT) }
    const partner = partners.get(index)?.text ?? ''
    const start = commonStart(line.text, partner)
    const end = line.text.length - commonEnd(line.text, partner, start)
    const from = Math.max(0, start - CONTEXT)
    const until = Math.min(line.text.length, end + CONTEXT)
    if (whole || end - start <= CHANGED_MAX) return { ...line, text: keep(line.text, from, until) }
    const middle = [start + CHANGED_MAX / 2, end - CHANGED_MAX / 2] as const
    return { ...line, text: keepEnds(line.text, from, middle, until) }
  })
}

/** Says that changes may lie in what is left out, so that none of them is hidden in silence. */
function keepEnds(
  text: string,
  from: number,
  [cut, resumed]: readonly [number, number],
  until: number,
): string {
  const first = keep(text.slice(0, cut), from, cut)
  const last = keep(text.slice(resumed), 0, until - resumed)
  return `${first} … [${resumed - cut} characters that may differ: show all] … ${last}`
}

function keep(text: string, from: number, until: number): string {
  const [before, after] = [from, text.length - until]
  const head = before === 0 ? '' : `[${before} characters] … `
  const tail = after === 0 ? '' : ` … [${after} characters]`
  return `${head}${text.slice(from, until)}${tail}`
}

/** The n-th removed line of a block belongs to the n-th added line behind it. */
function partnersOf(lines: readonly DiffLine[]): ReadonlyMap<number, DiffLine> {
  const partners = new Map<number, DiffLine>()
  for (let at = 0; at < lines.length; ) {
    const removed = runOf(lines, at, '-')
    const added = runOf(lines, at + removed, '+')
    for (let n = 0; n < Math.min(removed, added); n++) {
      const [old, now] = [lines[at + n], lines[at + removed + n]]
      if (old !== undefined && now !== undefined) {
        partners.set(at + n, now)
        partners.set(at + removed + n, old)
      }
    }
    at += Math.max(1, removed + added)
  }
  return partners
}

function runOf(lines: readonly DiffLine[], from: number, sign: DiffLine['sign']): number {
  let count = 0
  while (lines[from + count]?.sign === sign) count++
  return count
}

function commonStart(one: string, other: string): number {
  const most = Math.min(one.length, other.length)
  let count = 0
  while (count < most && one.charCodeAt(count) === other.charCodeAt(count)) count++
  return count
}

function commonEnd(one: string, other: string, start: number): number {
  const most = Math.min(one.length, other.length) - start
  let count = 0
  while (count < most && one.at(-1 - count) === other.at(-1 - count)) count++
  return count
}
