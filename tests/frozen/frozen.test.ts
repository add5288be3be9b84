/**
 * Homes that an earlier version made, opened by the present program: their facts verify and replay,
 * what waits can be answered, what was done can be undone. A change that breaks one of these orphans
 * the history of every user of that version.
 */
import { existsSync, lstatSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest'
import { ensureBuilt } from '../built.ts'
import { verifyBundle } from '../verifier/verify.mjs'
import { FrozenHome, YEAR_MS } from './frozen-home.ts'
import { KINDS } from './layout.mjs'

vi.setConfig({ testTimeout: 120_000, hookTimeout: 300_000 })

const VERSIONS = readdirSync(import.meta.dirname).filter((name) => /^\d+\.\d+\.\d+$/.test(name))
const HOMES = VERSIONS.flatMap((version) => KINDS.map((kind) => ({ version, kind })))

interface Pending {
  readonly action_id: string
}

describe.each(HOMES)('a $kind home of $version', ({ version, kind }) => {
  const place = new FrozenHome(version, kind)
  const { frozen } = place

  beforeAll(async () => {
    ensureBuilt()
    await place.begin()
  })
  beforeEach(() => place.restore())
  afterAll(() => place.end())

  /** Every fact holds, and every recorded decision comes out the same. */
  function holds(): void {
    place.write('kept.txt', frozen.checkpoint)
    const verified = place.writ(['ledger', 'verify', '--from', 'kept.txt', '--key', frozen.key])
    expect(verified.json).toMatchObject({ ok: true, problems: [] })
    // The checkpoint that 0.1.0 printed speaks of one stream.
    expect(verified.json.streams).toContainEqual(
      expect.objectContaining({ stream: 'main', anchor: 'extends' }),
    )
    const replayed = place.writ(['replay'])
    expect(replayed.json).toMatchObject({ ok: true, not_replayed: [] })
    expect(replayed.json.checked).toBeGreaterThan(3)
  }

  it('opens, verifies, replays and exports', () => {
    expect(place.writ(['doctor']).status).toBe(0)
    const { facts } = place.writ(['log']).json
    expect(facts.length).toBeGreaterThan(20)
    expect(place.writ(['task', 'list']).json.tasks).toMatchObject([
      { act_task_id: frozen.task, receipts: 1 },
    ])
    expect(place.writ(['show', frozen.undoable]).status).toBe(0)
    expect(place.writ(['ledger', 'key']).json).toMatchObject({ earlier: [frozen.key] })
    holds()
    expect(place.writ(['ledger', 'export', 'bundle']).status).toBe(0)
    const anchored = { keys: [frozen.key], anchor: frozen.checkpoint }
    const report = verifyBundle(join(place.project, 'bundle'), anchored)
    expect(report).toMatchObject({ ok: true, anchored: true })
  })

  it('knows its tokens', () => {
    const { status, json } = place.writ(['laws', 'accept'], { token: frozen.tokens.bot })
    expect([status, json.error.code]).toEqual([1, 'principal.not_human'])
  })

  it('undoes the act that can be undone, to the byte', () => {
    expect(place.read('notes.txt')).toBe('third\n')
    const undone = place.writ(['undo'])
    expect([undone.status, undone.err]).toEqual([0, ''])
    expect(place.read('notes.txt')).toBe('first\n')
    expect(place.read('old/gone.txt')).toBe('to be deleted\n')
    expect(existsSync(join(place.project, 'new'))).toBe(false)
    expect(lstatSync(join(place.project, 'docs/guide.md')).mode & 0o777).toBe(0o644)
    holds()
  })

  it('does not undo twice', () => {
    const { status, json } = place.writ(['rollback', frozen.undone])
    expect([status, json.error.code]).toEqual([1, 'rollback.nothing'])
  })

  it('shows its questions; one is approved, one denied', () => {
    const { pending } = place.writ(['inbox']).json
    expect(pending.map((one: Pending) => one.action_id).sort()).toEqual(
      [frozen.question, frozen.agent_question].sort(),
    )
    expect(place.writ(['inbox', frozen.question]).json.proposal).toBeDefined()
    const approved = place.writ(['approve', frozen.question], { proven: true })
    expect([approved.status, approved.err]).toEqual([0, ''])
    expect(place.read('db/1.sql')).toBe('create\n')
    expect(place.writ(['deny', frozen.agent_question]).status).toBe(0)
    expect(existsSync(join(place.project, 'db/2.sql'))).toBe(false)
    expect(place.writ(['inbox']).json.pending).toEqual([])
    holds()
  })

  it('does not approve a question whose time is over', () => {
    const late = { proven: true, afterMs: YEAR_MS }
    const { status, json } = place.writ(['approve', frozen.question], late)
    expect([status, json.promoted ?? false]).toEqual([1, false])
    expect(existsSync(join(place.project, 'db'))).toBe(false)
    expect(place.writ(['inbox'], { afterMs: YEAR_MS }).json.pending).toEqual([])
  })

  it('goes on with a run when a person has answered', () => {
    const { flows } = place.writ(['inbox']).json
    expect(flows).toMatchObject([{ run_id: frozen.run, node_id: 'c' }])
    const asked = JSON.parse(place.read(`.writ/runs/${frozen.run}/waiting-c.json`))
    const { review_id, artifact_digest } = asked
    place.write('review.json', JSON.stringify({ review_id, artifact_digest, total_score: 92 }))
    const answer = place.writ(['flow', 'answer', frozen.run, 'c', '--file', 'review.json'], {
      proven: true,
    })
    expect([answer.status, answer.err]).toEqual([0, ''])
    const resumed = place.writ(['flow', 'resume', frozen.run])
    expect([resumed.status, resumed.json.status]).toEqual([0, 'DONE'])
    expect(place.read('artifacts/a/1/out.md')).toBe('made by a')
    holds()
  })

  it('takes new acts after the old ones', () => {
    const asIs = { asIs: true }
    const args = ['exec', '--write', '.', '--', 'sh', '-c', 'echo fourth >> notes.txt']
    expect(place.plain(args, asIs).status).toBe(0)
    expect(place.read('notes.txt')).toBe('third\nfourth\n')
    expect(place.writ(['undo'], asIs).status).toBe(0)
    expect(place.read('notes.txt')).toBe('third\n')
    holds()
  })
})
