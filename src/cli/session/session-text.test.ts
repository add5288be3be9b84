/** Words about a settle: what stood in the way, and what was left out. */
import { expect, it } from 'vitest'
import type { GateAnswer } from '../../service/index.ts'
import type { Settled } from '../../sessions/index.ts'
import { busyLines, settledLines } from './session-text.ts'

const NOTHING: Settled = {
  promoted: null,
  asked: null,
  blocked: null,
  busy: [],
  stale: [],
  answered: null,
}
// Only these parts of an answer are read.
const stopped = {
  promoted: false,
  result: null,
  decision: { code: 'stage.tool' },
  obstacles: [{ code: 'stage.tool', path: '/p', detail: 'no space is left on the disk' }],
} as unknown as GateAnswer

it('names the obstacle, then the code', () => {
  expect(settledLines({ ...NOTHING, promoted: stopped })).toEqual([
    'not promoted: no space is left on the disk (stage.tool)',
  ])
  const { obstacles: _, ...rest } = stopped
  expect(settledLines({ ...NOTHING, asked: rest })).toEqual([
    'refused changes: a tool of the system failed while changes were set aside (stage.tool)',
  ])
})

it('names files that a process writes to', () => {
  expect(busyLines(NOTHING)).toEqual([])
  expect(busyLines({ ...NOTHING, busy: ['/p/a', '/p/b', '/p/c', '/p/d'] })).toEqual([
    'left out, because a process writes to it: /p/a, /p/b, /p/c and 1 more',
  ])
})
