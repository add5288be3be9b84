/** The staged bytes of all waiting questions stay below `question_quota_mb`. */
import { execFileSync } from 'node:child_process'
import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, it, vi } from 'vitest'
import { commandProposal } from '../gate/document.ts'
import { type Json, Place } from './place.ts'

vi.setConfig({ testTimeout: 120_000 })

const MEGABYTE = 1024 ** 2
let place: Place

beforeAll(() => {
  place = new Place('quota', { runs: 'warm' }).init()
  place.write('.writ/laws.yaml', 'laws: []\nsettings: { question_quota_mb: 3 }\n')
  expect(place.writ(['laws', 'accept', '--yes']).status).toBe(0)
}, 180_000)

afterAll(() => place?.remove())

function fill(name: string, bytes = 2 * MEGABYTE) {
  return place.exec([], `head -c ${bytes} /dev/zero > ${name}`)
}

function stages(): readonly string[] {
  const [id = ''] = readdirSync(join(place.folder, 'state/writ')).filter((one) => one.length === 36)
  const names = readdirSync(join(place.folder, 'state/writ', id, 'stage'))
  return names.filter((name) => name.length === 36)
}

it('refuses a question beyond the quota in words, and takes it again when there is room', () => {
  expect(fill('one').status).toBe(75)
  const refused = fill('two')
  expect(refused.status).toBe(125)
  for (const word of [
    'nothing was changed',
    'question_quota_mb',
    'writ inbox',
    'writ deny',
    'writ gc',
  ])
    expect(refused.err).toContain(word)
  expect(refused.err).toContain('question.quota')
  expect(stages()).toHaveLength(1)
  expect(place.has('two')).toBe(false)
  const [first] = place.pending() as Json[]
  expect(place.writ(['deny', first.id]).status).toBe(0)
  expect(fill('two').status).toBe(75)
  expect(place.writ(['deny', place.pending()[0].id]).status).toBe(0)
})

it('refuses at the terminal before anything is asked', () => {
  const seen = place.execAsPerson([], `head -c ${4 * MEGABYTE} /dev/zero > big`, [
    { expect: 'question.quota' },
  ])
  expect(seen.failed).toBe(null)
  expect(seen.status).toBe(125)
  expect(seen.output).not.toContain('[y/N]')
  expect(place.has('big')).toBe(false)
  expect(place.pending()).toEqual([])
})

it('refuses the question of an agent as a BLOCK that is not permanent', () => {
  const token = place.token('ai:bot@local')
  place.write('work/a.txt')
  const proposal = commandProposal(place, `head -c ${4 * MEGABYTE} /dev/zero > big`, {
    create: ['work/big'],
    confirm: true,
  })
  const { json } = place.writ(['propose', '-', '--json'], {
    token,
    input: JSON.stringify(proposal),
  })
  expect(json.decision).toMatchObject({
    decision: 'BLOCK',
    code: 'question.quota',
    permanent: false,
  })
  expect(json.promoted).toBe(false)
})

it('promotes a declared act of any size: it never waits', () => {
  const { status, err } = place.exec(['--write', 'big'], `head -c ${4 * MEGABYTE} /dev/zero > big`)
  expect(status, err).toBe(0)
  expect(place.has('big')).toBe(true)
})

it('counts a stage that does not tell its size', () => {
  expect(fill('old').status).toBe(75)
  const [id = ''] = readdirSync(join(place.folder, 'state/writ')).filter((one) => one.length === 36)
  const [stage = ''] = stages()
  execFileSync('rm', [join(place.folder, 'state/writ', id, 'stage', stage, 'asked')])
  expect(fill('new').lastLine).toContain('question.quota')
})
