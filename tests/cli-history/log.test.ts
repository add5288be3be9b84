/** `writ log`: filtered, paged, followed, by the built program in real processes. */
import { spawn } from 'node:child_process'
import { beforeAll, describe, expect, it } from 'vitest'
import { type Json, Place, PROGRAM } from './rig.ts'

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
    const follower = spawn(
      process.execPath,
      [PROGRAM, 'log', '--follow', '--jsonl', '--after', '2'],
      {
        cwd: place.project,
        env: place.env(undefined),
      },
    )
    let out = ''
    const ended = new Promise((resolve) => follower.once('close', resolve))
    const reached = (lines: number) =>
      new Promise<void>((resolve, reject) => {
        const timer = setTimeout(() => reject(new Error(`followed: ${out}`)), 20_000)
        const look = (): void => {
          if (out.split('\n').length <= lines) return
          clearTimeout(timer)
          resolve()
        }
        follower.stdout.on('data', look)
        look()
      })
    follower.stdout.on('data', (chunk) => {
      out += chunk
    })
    try {
      await reached(1)
      const id = place.issue()
      await reached(2)
      const facts = out
        .trim()
        .split('\n')
        .map((line) => JSON.parse(line))
      expect(facts.map(({ seq }) => seq)).toEqual([3, 4])
      expect(facts[1].record.payload.act_task_id).toBe(id)
    } finally {
      follower.kill()
      await ended
    }
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
