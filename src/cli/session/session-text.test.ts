/** Words about a settle: what stood in the way, and what was left out. */
import { expect, it } from 'vitest'
import type { GateAnswer } from '../../service/index.ts'
import type { SessionFiles, Settled } from '../../sessions/index.ts'
import type { Paint } from '../call/terminal.ts'
import { busyLines, nothingNew, pendingText, settledLines } from './session-text.ts'

const NOTHING: Settled = {
  promoted: null,
  asked: null,
  blocked: null,
  busy: [],
  stale: [],
  answered: null,
}
const ID = '01a1ef23-fe1f-70f9-93b0-779c3606ab96'
// Only these parts of an answer are read.
const stopped = {
  promoted: false,
  result: null,
  decision: { code: 'stage.tool' },
  obstacles: [{ code: 'stage.tool', path: '/p', detail: 'no space is left on the disk' }],
} as unknown as GateAnswer

it('names the obstacle, then the code', () => {
  expect(settledLines({ ...NOTHING, promoted: stopped }, ID)).toEqual([
    'not promoted: no space is left on the disk (stage.tool)',
  ])
  const { obstacles: _, ...rest } = stopped
  expect(settledLines({ ...NOTHING, asked: rest }, ID)).toEqual([
    'refused changes: a tool of the system failed while changes were set aside (stage.tool)',
  ])
})

it('names the next step where something was blocked', () => {
  const lines = settledLines({ ...NOTHING, blocked: stopped }, ID)
  expect(lines).toEqual([expect.stringContaining('`writ session show 3606ab96`')])
})

it('says that changes are left where a settle had nothing new', () => {
  expect(nothingNew(ID, 0)).toBe('nothing new to settle')
  expect(nothingNew(ID, 2)).toContain('2 changes still pending: `writ session show 3606ab96`')
})

it('names files that a process writes to', () => {
  expect(busyLines(NOTHING)).toEqual([])
  expect(busyLines({ ...NOTHING, busy: ['/p/a', '/p/b', '/p/c', '/p/d'] })).toEqual([
    'left out, because a process writes to it: /p/a, /p/b, /p/c and 1 more',
  ])
})

it('counts what is pending beyond two hundred rows, and names what cannot become real', () => {
  const pending = Array.from({ length: 300 }, (_, index) => {
    return { path: `/p/f${index}`, change: 'added', why: 'refused' as const }
  })
  const use = {
    model: { requests: 0, failures: 0, input_tokens: 0, output_tokens: 0 },
    network: [],
  }
  const left = [{ path: '/p/pipe', detail: 'is a fifo' }]
  const shown = { session_id: ID, state: 'stopped', question: null, conflicts: [], stale: [] }
  const files = { terms: () => ({ agent: 'bash' }) } as unknown as SessionFiles // No more is read.
  const plain = (text: string): string => text
  const paint = { strong: plain, dim: plain, bad: plain } as unknown as Paint // As above.
  const text = pendingText({ ...shown, pending, left, use } as never, files, paint)
  expect(text.match(/\/p\/f\d+/g)).toHaveLength(200)
  expect(text).toContain('100 added, refused')
  expect(text).toContain('/p/pipe  is a fifo')
})
