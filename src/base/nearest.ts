/**
 * The nearest legal name to a misspelt one, or nothing when none is near. Optimal string alignment
 * distance, without case; at most a third of the name may differ. Rows that can no longer come near
 * are given up, so that a name like no other costs a few comparisons, not its length squared.
 */

const NAME_LENGTH_MAX = 64

export function nearest(name: string, legal: Iterable<string>): string | null {
  if (name.length === 0 || name.length > NAME_LENGTH_MAX) return null
  const wanted = name.toLowerCase()
  let best: string | null = null
  let bestDistance = Math.max(1, Math.floor(wanted.length / 3)) + 1
  for (const candidate of legal) {
    // Lower case may lengthen a text a little; far longer ones need not be looked at.
    if (candidate.length > 2 * NAME_LENGTH_MAX) continue
    const other = candidate.toLowerCase()
    if (Math.abs(other.length - wanted.length) >= bestDistance) continue
    const distance = alignmentDistance(wanted, other, bestDistance)
    if (distance < bestDistance) {
      best = candidate
      bestDistance = distance
    }
  }
  return best
}

/** The distance if it is below `limit`; otherwise some number that is not. */
function alignmentDistance(left: string, right: string, limit: number): number {
  let beforeLast: number[] = []
  let last = Array.from({ length: right.length + 1 }, (_, column) => column)
  for (let row = 1; row <= left.length; row++) {
    const current = [row]
    let rowMin = row
    for (let column = 1; column <= right.length; column++) {
      const same = left.charCodeAt(row - 1) === right.charCodeAt(column - 1)
      let cost = Math.min(
        cell(last, column) + 1,
        cell(current, column - 1) + 1,
        cell(last, column - 1) + (same ? 0 : 1),
      )
      if (isSwap(left, right, row, column)) cost = Math.min(cost, cell(beforeLast, column - 2) + 1)
      current.push(cost)
      if (cost < rowMin) rowMin = cost
    }
    // The least of a row grows by one at most, so a swap, which reaches back two, helps no more.
    if (rowMin >= limit) return limit
    beforeLast = last
    last = current
  }
  return cell(last, right.length)
}

function isSwap(left: string, right: string, row: number, column: number): boolean {
  return (
    row > 1 &&
    column > 1 &&
    left.charCodeAt(row - 1) === right.charCodeAt(column - 2) &&
    left.charCodeAt(row - 2) === right.charCodeAt(column - 1)
  )
}

function cell(row: readonly number[], column: number): number {
  return row[column] ?? Number.POSITIVE_INFINITY
}
