/** `writ log`: filtered, paged, followed, by the built program. */
import { copyFileSync, renameSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { beforeAll, describe, expect, it } from 'vitest'
import { connect } from '../../src/store/database/sqlite-driver.ts'
import { Follower } from './follower.ts'
import { type Json, Place } from './rig.ts'

describe('writ log', () => {
  const place = new Place('log')
  let pump = ''
  const ids: string[] = []
  beforeAll(() => {
    place.init()
    pump = place.token('device:pump-3@farm')
    for (let count = 0; count < 3; count++) ids.push(place.issue())
    place.submit(ids[0] ?? '', pump)
  }, 60_000)

  const seqs = (args: readonly string[]): number[] =>
    place.writ(['log', '--json', ...args]).json.facts.map(({ seq }: { seq: number }) => seq)

  it('filters by type, task, principal and time', () => {
    expect(seqs([])).toEqual([0, 1, 2, 3])
    expect(seqs(['--type', 'ao_act_receipt_v0'])).toEqual([3])
    expect(seqs(['--task', ids[0] ?? ''])).toEqual([0, 3])
    expect(seqs(['--principal', 'device:pump-3@farm'])).toEqual([3])
    expect(seqs(['--action', 'none'])).toEqual([])
    expect(seqs(['--since', '1h'])).toEqual([0, 1, 2, 3])
    expect(seqs(['--until', '2020-01-01'])).toEqual([])
    const { occurred_at: third } = place.writ(['log', '--json']).json.facts[2]
    expect(seqs(['--since', third])).toEqual(expect.arrayContaining([2, 3]))
    expect(place.writ(['log', '--since', 'yesterday']).status).toBe(2)
    expect(place.writ(['log', '--principal', 'pump']).status).toBe(2)
  }, 60_000)

  it('pages in the order of seq, either way', () => {
    const first = place.writ(['log', '--json', '--limit', '2']).json
    expect(first.facts.map(({ seq }: Json) => seq)).toEqual([0, 1])
    expect(seqs(['--limit', '2', '--after', String(first.next)])).toEqual([2, 3])
    const last = place.writ(['log', '--json', '--limit', '2', '--after', '1']).json
    expect('next' in last).toBe(false)
    expect(seqs(['--newest', '--limit', '3'])).toEqual([3, 2, 1])
  })

  it('prints a table for people and lines for pipes', () => {
    const { out } = place.writ(['log'])
    expect(out.split('\n')[0]).toMatch(/^seq +time +type +principal +about$/)
    expect(out).toContain('device:pump-3@farm')
    expect(place.writ(['log', '--jsonl']).out.trim().split('\n')).toHaveLength(4)
  })

  it('escapes what a terminal would act on', () => {
    const place = new Place('escapes').init()
    const id = place.issue({ meta: { note: '\u202egnitset\u001b[31m' } })
    const { out } = place.writ(['show', id])
    expect(out).toContain('\\u202egnitset')
    // biome-ignore lint/suspicious/noControlCharactersInRegex: none of them may be printed
    expect(out).not.toMatch(/[\u0000-\u0009\u000b-\u001f\u202e]/)
  })

  it('follows', async () => {
    const follower = new Follower(place.project, place.env(undefined), ['--after', '2'])
    try {
      await follower.reached(1)
      const id = place.issue()
      await follower.reached(2)
      expect(follower.seqs).toEqual([3, 4])
      expect(follower.facts[1].record.payload.act_task_id).toBe(id)
    } finally {
      await follower.end()
    }
  }, 60_000)

  it('follows on while the index is made again, and when the file is replaced', async () => {
    const own = new Place('replaced').init()
    own.issue()
    const file = join(own.stateOfHome, 'ledger.db')
    const filter = ['--type', 'ao_act_task_v0']
    const follower = new Follower(own.project, own.env(undefined), filter)
    try {
      await follower.reached(1)
      expect(own.writ(['ledger', 'reindex']).status).toBe(0)
      own.issue()
      await follower.reached(2)
      // No process has it open but the follower, so the file is whole.
      expect(connectAndFold(file)).toBe(true)
      copyFileSync(file, `${file}.new`)
      renameSync(`${file}.new`, file)
      for (const end of ['-wal', '-shm']) rmSync(`${file}${end}`, { force: true })
      own.issue()
      own.issue()
      await follower.reached(4)
      expect(follower.seqs).toEqual([0, 1, 2, 3])
    } finally {
      await follower.end()
    }
  }, 60_000)

  it('does not follow a file that does not go on from what was seen, and says so', async () => {
    const own = new Place('older').init()
    own.issue()
    const file = join(own.stateOfHome, 'ledger.db')
    connectAndFold(file)
    copyFileSync(file, `${file}.old`)
    own.issue()
    const follower = new Follower(own.project, own.env(undefined), [])
    await follower.reached(2)
    renameSync(`${file}.old`, file)
    for (const end of ['-wal', '-shm']) rmSync(`${file}${end}`, { force: true })
    expect(await follower.ended).toBe(4)
    expect(follower.said).toMatch(/does not hold the fact main\/1/)
    expect(follower.said).toMatch(/writ log --follow --after 1/)
  }, 60_000)

  it('shows a long record whole, though it is kept by reference', () => {
    const id = place.issue({ meta: { note: 'x'.repeat(20_000) } })
    const [fact] = place.writ(['log', '--task', id, '--json']).json.facts
    expect(fact.record.payload_ref).toMatch(/^sha256:/)
    expect(fact.record.payload.meta.note).toHaveLength(20_000)
    expect(place.submit(id, pump).status).toBe(0)
    expect(place.writ(['show', id, '--json']).json.integrity_report.ok).toBe(true)
  })
})

/** Folds the log of writes back into the file; says whether that was done. */
function connectAndFold(file: string): boolean {
  const database = connect(file, 'write')
  const [row] = database.prepare('PRAGMA wal_checkpoint(TRUNCATE)').raw().all() as number[][]
  database.close()
  return row?.[0] === 0
}
