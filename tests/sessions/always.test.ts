/** The answer "always" at a question of an agent (G-8b): what it grants, what it does not, and its end. */
import { afterEach, beforeEach, expect, it } from 'vitest'
import { SessionPlace } from './session-place.ts'

let place: SessionPlace
beforeEach(() => {
  place = new SessionPlace('always')
  place.commit({ 'a.txt': 'one\n' })
  for (const name of ['docs/one.txt', 'docs/two.txt', 'docs/deep/three.txt', 'notes.txt']) {
    place.write(name, 'mine\n')
  }
  place.init()
})
afterEach(() => place.remove())

it('lets an agent change one directory, until it is revoked', { timeout: 120_000 }, async () => {
  const agent = place.agentRun()
  await agent.does('echo theirs > docs/one.txt')
  await agent.hears('1 changed wait for an answer')
  const [{ id }] = place.pending()
  const seen = place.person(
    ['approve', id],
    [
      { expect: '(always: bash may create and change docs/*)' },
      { send: 'always\r' },
      { expect: 'for 14 days and at most 50 acts' },
      { expect: '[y/N] ' },
      { send: 'y\r' },
    ],
  )
  expect(seen.failed, seen.output).toBeNull()
  expect(place.text('docs/one.txt')).toBe('theirs\n')
  await agent.does('echo theirs > docs/two.txt')
  await agent.hears('promoted 1 changed')
  expect(place.text('docs/two.txt')).toBe('theirs\n')
  const [grant] = place.writ(['grant', 'list', '--json']).json.grants
  expect(grant).toMatchObject({ agent: 'bash', glob: 'docs/*', used: 1, uses: 50 })
  // Neither a directory below, nor a deletion, nor another mode is covered.
  await agent.does('echo x > docs/deep/three.txt; rm docs/one.txt; chmod 666 docs/two.txt')
  await place.until(() => place.pending().length === 1, 'a question waits')
  expect([place.text('docs/deep/three.txt'), place.has('docs/one.txt')]).toEqual(['mine\n', true])
  place.writ(['deny', place.pending()[0].id])
  expect(place.writ(['grant', 'revoke', grant.grant_id.slice(0, 8)]).out).toContain('docs/*')
  expect(place.writ(['grant', 'list', '--json']).json.grants).toEqual([])
  await agent.does('chmod 644 docs/two.txt; echo again > docs/two.txt')
  await place.until(() => place.pending().length === 1, 'it is asked about again')
  expect(place.text('docs/two.txt')).toBe('theirs\n')
  await agent.ends()
  expect(place.writ(['replay', '--json']).status).toBe(0)
  expect(place.writ(['ledger', 'verify', '--json']).json).toMatchObject({ ok: true })
})
