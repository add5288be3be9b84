/**
 * The look of a drawn flow: one colour and one kind of line for each class of edges, so that colour is
 * never the only sign. Every colour has a contrast of 3:1 or more with a white and with a dark
 * background, as WCAG requires of graphics; a test checks it.
 */
import type { EdgeClass, NodeKind } from '../../contracts/index.ts'

interface LineStyle {
  readonly colour: string
  /** Lengths of dashes and gaps, as in SVG; empty for a whole line. */
  readonly dashes: readonly number[]
  readonly width: number
  /** The nearest that DOT has. */
  readonly dot: 'solid' | 'dashed' | 'dotted' | 'bold'
  /** What the class is, for the legend. */
  readonly says: string
}

export const LINES: Readonly<Record<EdgeClass, LineStyle>> = {
  Progress: { colour: '#2e8b40', dashes: [], width: 1.6, dot: 'solid', says: 'goes on' },
  Gate: {
    colour: '#2f7bd1',
    dashes: [],
    width: 3,
    dot: 'bold',
    says: 'goes on if the guard holds',
  },
  Decision: {
    colour: '#9361d8',
    dashes: [9, 4],
    width: 1.8,
    dot: 'dashed',
    says: 'one of several',
  },
  Exception: {
    colour: '#dd4238',
    dashes: [3, 4],
    width: 2,
    dot: 'dotted',
    says: 'after a failure',
  },
  Loop: {
    colour: '#b8720a',
    dashes: [10, 4, 2, 4],
    width: 1.8,
    dot: 'dashed',
    says: 'tries again',
  },
  Rollback: {
    colour: '#d0409a',
    dashes: [14, 4],
    width: 2.4,
    dot: 'bold',
    says: 'goes back and undoes',
  },
  Sync: { colour: '#0d8a94', dashes: [], width: 2.2, dot: 'bold', says: 'is waited for' },
  Meta: {
    colour: '#7d7d7d',
    dashes: [1, 5],
    width: 1.4,
    dot: 'dotted',
    says: 'a remark, never taken',
  },
}

/** The grounds that lines are read on. */
export const GROUNDS = { light: '#ffffff', dark: '#14171a' } as const

export const MARK_COLOUR = '#d97706'
export const PROBLEM_COLOUR = '#dd4238'
export const WARNING_COLOUR = '#b8720a'

export const KIND_SAYS: Readonly<Record<NodeKind, string>> = {
  WORK: 'work',
  CHECK: 'a check of work',
  GOAL: 'a goal',
}
