/**
 * Where a law wants several approvals, one human cannot make a second one of themselves or lower the
 * number (W-3): new principals, new credentials and other laws need as many humans as the law.
 */
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import type { Ended } from '../cli-gate/place.ts'
import { type Human, Humans, severalLaw } from './humans.ts'

vi.setConfig({ testTimeout: 120_000 })

let humans: Humans

beforeAll(() => {
  humans = new Humans('endorsements').laws(severalLaw('prod/**', 'TWO_HUMANS', 2)).add('bob')
}, 120_000)

afterAll(() => humans?.remove())

const json = (human: Human, ...args: readonly string[]): Ended =>
  humans.as(human, [...args, '--json'])
const waits = { status: 3, json: { error: { code: 'principal.endorsement' } } }
const principals = (): readonly string[] =>
  humans.place
    .writ(['principal', 'list', '--json'])
    .json.principals.map(({ id }: { id: string }) => id)

describe('a new principal', () => {
  it('waits for a second human, who types the same', () => {
    const first = json('ann', 'principal', 'add', 'ai:new@local')
    expect(first).toMatchObject(waits)
    expect(first.json.error.message).toContain('1 of 2 humans agreed to adding ai:new@local')
    expect(first.json.error.message).toContain('nothing was changed')
    expect(first.json.error.hint).toContain('another human types the same command')
    expect(json('ann', 'principal', 'add', 'ai:new@local')).toMatchObject(waits)
    expect(principals()).not.toContain('new')
    expect(json('bob', 'principal', 'add', 'ai:new@local').status).toBe(0)
    expect(principals()).toContain('new')
  })

  it('is not the same with other streams', () => {
    expect(json('ann', 'principal', 'add', 'ai:two@local', '--stream', 'a')).toMatchObject(waits)
    expect(json('bob', 'principal', 'add', 'ai:two@local', '--stream', 'b')).toMatchObject(waits)
    expect(json('bob', 'principal', 'add', 'ai:two@local', '--stream', 'a').status).toBe(0)
  })
})

describe('a new credential', () => {
  it('of a human whom one human made a token for waits for both', () => {
    humans.add('cid', false)
    const alone = json('cid', 'principal', 'pass')
    expect(alone).toMatchObject(waits)
    expect(alone.json.error.hint).toContain('writ principal endorse human:cid@local')
    const first = json('ann', 'principal', 'endorse', 'human:cid@local')
    expect(first.json).toMatchObject({ needed: 2, given: ['human:ann@local'], enough: false })
    // Cid has no credential of their own: that of the home proves nothing here.
    const own = humans.place.writ(
      ['principal', 'endorse', 'human:cid@local', '--pass-fd', '3', '--json'],
      { passphrase: 'ann says these long words', token: humans.token('cid') ?? '' },
    )
    expect(own.json.error.code).toBe('confirm.own_credential')
    expect(json('cid', 'principal', 'pass')).toMatchObject(waits)
    const second = json('bob', 'principal', 'endorse', 'human:cid@local')
    expect(second.json).toMatchObject({ needed: 2, enough: true })
    expect(json('cid', 'principal', 'pass').status).toBe(0)
    // The next credential is another change.
    expect(json('ann', 'principal', 'endorse', 'human:cid@local').json.enough).toBe(false)
  })
})

describe('other laws', () => {
  const file = () => join(humans.place.project, '.writ', 'laws.yaml')
  const fewer = () =>
    writeFileSync(file(), readFileSync(file(), 'utf8').replace('    approvals: 2\n', ''))

  it('that lower the number wait for a second human', () => {
    const before = readFileSync(file(), 'utf8')
    fewer()
    const accept = ['laws', 'accept', '--yes']
    expect(json('ann', ...accept)).toMatchObject(waits)
    writeFileSync(file(), before)
    // Two humans are still asked.
    const { id } = humans.ask('prod/one')
    expect(humans.as('ann', ['approve', id]).status).toBe(3)
    fewer()
    expect(json('ann', ...accept)).toMatchObject(waits)
    expect(json('cid', ...accept).status).toBe(0)
    expect(json('ann', 'principal', 'add', 'ai:alone@local').status).toBe(0)
    expect(humans.place.writ(['ledger', 'verify', '--json']).json).toMatchObject({ ok: true })
  })
})
