/** Questions that are alike, answered together: each shown, one proof, a confirmation for each. */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, it, vi } from 'vitest'
import { type Json, Place } from '../cli-gate/place.ts'

vi.setConfig({ testTimeout: 120_000 })

const WORDS = 'correct horse battery staple'
let place: Place

beforeAll(() => {
  place = new Place('batch', { runs: 'warm' }).init(WORDS)
  place.write('.git/hooks/README')
}, 180_000)

afterAll(() => place?.remove())

function hook(name: string): string {
  return `echo "#!/bin/sh" > .git/hooks/${name}`
}

function confirmations(): Json[] {
  const { facts } = place.writ(['log', '--type', 'confirmation_v1', '--json']).json
  return facts.map((fact: Json) => fact.record.payload)
}

it('takes one passphrase for all that are alike, and records an answer for each', () => {
  for (const name of ['pre-commit', 'post-commit', 'pre-push']) {
    expect(place.exec([], hook(name)).status).toBe(75)
  }
  const pending = place.pending()
  expect(new Set(pending.map(({ shape }) => shape)).size).toBe(1)
  const [{ id }] = pending
  const bare = place.writ(['approve', '--like', id, '--json'])
  expect(bare).toMatchObject({ status: 1, json: { error: { code: 'credential.required' } } })
  const { status, json } = place.writ(['approve', '--like', id, '--json', '--pass-fd', '3'], {
    passphrase: WORDS,
  })
  expect(status, JSON.stringify(json)).toBe(0)
  expect(json.answers.map(({ promoted }: Json) => promoted)).toEqual([true, true, true])
  expect(
    ['pre-commit', 'post-commit', 'pre-push'].map((name) => place.has(`.git/hooks/${name}`)),
  ).toEqual([true, true, true])
  const answers = confirmations().slice(-3)
  expect(answers.map(({ result_digest }) => result_digest).toSorted()).toEqual(
    pending.map(({ result_digest }) => result_digest).toSorted(),
  )
  for (const answer of answers) {
    expect(answer).toMatchObject({ answer: 'APPROVED', assurance: 'passphrase' })
  }
  expect(place.pending()).toEqual([])
})

it('never takes a deletion among additions', () => {
  place.write('gone')
  for (const script of ['echo 1 > one', 'echo 2 > two', 'rm gone']) {
    expect(place.exec([], script).status).toBe(75)
  }
  const ids = place.pending().map(({ id }) => id)
  const all = place.writ(['approve', ...ids, '--json'])
  expect(all).toMatchObject({ status: 1, json: { error: { code: 'confirm.unlike' } } })
  expect(place.has('one')).toBe(false)
  const alike = place.writ(['approve', ids[0], ids[1], ids[0], '--yes', '--json'])
  expect(alike.status, alike.out + alike.err).toBe(0)
  expect(alike.json.answers).toHaveLength(2)
  expect([place.has('one'), place.has('two'), place.has('gone')]).toEqual([true, true, true])
  expect(place.writ(['deny', ids[2]]).status).toBe(0)
})

it('shows each at a terminal before it asks once', () => {
  for (const script of ['echo 3 > three', 'echo 4 > four']) {
    expect(place.exec([], script).status).toBe(75)
  }
  const [{ id }] = place.pending()
  const shown = [
    { expect: '1 of 2' },
    { expect: 'three' },
    { expect: '2 of 2' },
    { expect: 'four' },
    { expect: 'promote all 2? [y, N: leave them waiting] ' },
  ]
  const no = place.person(['approve', '--like', id], [...shown, { send: 'n\n' }])
  expect(no).toMatchObject({ failed: null, status: 3 })
  expect(place.pending()).toHaveLength(2)
  const yes = place.person(['approve', '--like', id], [...shown, { send: 'y\n' }])
  expect(yes).toMatchObject({ failed: null, status: 0 })
  expect([place.has('three'), place.has('four')]).toEqual([true, true])
})

it('counts how often a person was asked about an act', () => {
  const report = join(place.folder, 'report.json')
  const prompts = (options: readonly string[], script: string): Json => {
    expect(place.exec([...options, '--yes', '--report', report], script).status).toBe(0)
    return JSON.parse(readFileSync(report, 'utf8')).prompts
  }
  expect(prompts([], 'true')).toBe(0)
  expect(prompts([], 'echo 5 > five')).toBe(1)
  expect(prompts(['--write', 'six'], 'echo 6 > six')).toBe(0)
})
