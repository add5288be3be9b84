/** A turn of a job, without a server: what no worker does, and what is not added again for ever. */
import type { Job } from 'graphile-worker'
import { expect, it } from 'vitest'
import { FaultError, fault, faultError } from '../base/index.ts'
import type { HomeServer } from '../store/index.ts'
import { addPatiently, takeTurn, type WorkerNews } from './turn.ts'

/** Takes a turn of a job with this payload; returns its news, its failure and the SQL that was asked. */
async function turnOf(payload: unknown, again: () => Promise<boolean> = async () => true) {
  const news: WorkerNews[] = []
  const asked: string[] = []
  const foreign: string[][] = []
  const queries = {
    query: async (sql: string) => {
      asked.push(sql)
      return { rows: [] }
    },
  }
  const failure = await takeTurn(
    {
      // Of a server a turn asks its queries alone.
      server: { schema: 'writ_x', queries } as unknown as HomeServer,
      flags: { isForeign: (flags) => foreign.push([...flags]) > 0 },
      standing: { isOut: async () => false },
      tell: (one) => news.push(one),
    },
    {
      words: { task: 'run', run: 'r' },
      payload,
      // Of a job a turn reads these.
      job: { id: '1', task_identifier: 'run', key: null, flags: null } as unknown as Job,
      work: async () => {
        throw faultError('halted', '')
      },
      again,
    },
  ).then(
    () => null,
    (error: Error) => error.message,
  )
  return { news, asked, foreign, failure }
}

it.each([4_000_000_000, 1e300, 1.5, 0, -1, '2', null, { toString: 1 }, [2]])(
  'refuses a job of the format %j, which no writ makes',
  async (v) => {
    const { news, asked, foreign, failure } = await turnOf({ v, run: 'r' })
    expect(news.map(({ kind, code }) => [kind, code])).toEqual([
      ['taken', undefined],
      ['failed', 'machine.job'],
    ])
    expect(failure).toMatch(/^refused: .*no writ makes jobs of the format/)
    expect(asked).toEqual([expect.stringContaining('SET attempts = max_attempts')])
    expect(foreign).toEqual([])
  },
)

it.each([[null], ['text'], [[]]])('refuses a job that is %j', async (payload) => {
  expect((await turnOf(payload)).news.at(-1)).toMatchObject({ kind: 'failed', code: 'machine.job' })
})

it('leaves a job of a newer writ to others by one label', async () => {
  const { news, foreign, failure } = await turnOf({ v: 900, run: 'r' })
  expect([news.at(-1)?.kind, foreign, failure]).toEqual(['passed_on', [['job:900']], null])
})

it('fails with the reason why a job cannot be added again', async () => {
  const { news, failure } = await turnOf({ v: 1, run: 'r' }, () =>
    Promise.reject(faultError('ledger.tampered', '', 'a\0 table \ud800 is gone')),
  )
  expect(news.at(-1)).toMatchObject({ kind: 'failed', code: 'ledger.tampered' })
  expect(failure).toContain('a\ufffd table \ufffd is gone')
})

/** Adds a job that fails this often; returns how often it was tried. */
async function triesOf(error: unknown, failures: number): Promise<number> {
  let tries = 0
  await addPatiently(new AbortController().signal, async () => {
    if (tries++ < failures) throw error
  }).catch((reason: unknown) => expect(reason).toBe(error))
  return tries
}

function unreachable(code: string): Error {
  const cause = Object.assign(new Error('x'), { code })
  return new FaultError(fault('ledger.unreachable', '', { reason: 'x' }), { cause })
}

it('adds a job again until the server is back', async () => {
  const busy = new FaultError(fault('ledger.busy', '', { waitedMs: 0 }))
  for (const error of [busy, unreachable('ECONNREFUSED'), unreachable('57P03')])
    expect(await triesOf(error, 1)).toBe(2)
})

it('adds no job again that the server refuses every time', async () => {
  const errors = [
    faultError('machine.unknown', ''),
    faultError('ledger.tampered', ''),
    new TypeError('a bug'),
    unreachable('22P05'),
    unreachable('23514'),
  ]
  for (const error of errors) expect(await triesOf(error, 3)).toBe(1)
})
