/**
 * "The window does not run forwards" over mentioned moments, without comparing each start with each
 * end: the moments are halved again and again, and a window runs backwards when it starts in a later
 * half and ends in an earlier one. A moment that nobody mentions can always be chosen to fit.
 */
import type { ScalarDomain } from './domain.ts'
import type { Formulas } from './formula.ts'
import type { Literal } from './solver.ts'

interface Moment {
  readonly at: number
  readonly isStart: boolean
}

export function backwards(
  formulas: Formulas,
  start: ScalarDomain<number>,
  end: ScalarDomain<number>,
): Literal {
  const moments = [
    ...start.values.map((at): Moment => ({ at, isStart: true })),
    ...end.values.map((at): Moment => ({ at, isStart: false })),
  ].sort(byTime)
  const among = (domain: ScalarDomain<number>, isStart: boolean, range: readonly Moment[]) =>
    formulas.some(
      range.filter((moment) => moment.isStart === isStart).map(({ at }) => domain.equal(at)),
    )
  const within = (range: readonly Moment[]): Literal => {
    if (range.length < 2) return formulas.no
    const middle = range.length >> 1
    const [early, late] = [range.slice(0, middle), range.slice(middle)]
    const across = formulas.every([among(start, true, late), among(end, false, early)])
    return formulas.some([within(early), within(late), across])
  }
  return within(moments)
}

/** At the same moment the end comes first: a window that ends when it starts does not run forwards. */
function byTime(left: Moment, right: Moment): number {
  return left.at - right.at || Number(left.isStart) - Number(right.isStart)
}
