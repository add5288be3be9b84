/** Files that an agent and a person changed: how each of them solves the conflict (S-10). */
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { SessionPlace } from './session-place.ts'

const PASS = 'correct horse battery staple'

let place: SessionPlace
beforeEach(() => {
  place = new SessionPlace('conflicts')
  place.commit({ 'a.txt': 'one\n' })
  place.init(PASS)
})
afterEach(() => place.remove())

const settle = (...words: readonly string[]) => place.writ(['session', 'settle', ...words])

describe('a file that a session and a person changed', { timeout: 90_000 }, () => {
  it('is settled when the agent reads the real version and changes it once more', async () => {
    const agent = place.agentRun(['--settle', 'never'])
    await agent.does('echo agent >> a.txt')
    place.write('a.txt', 'one\nperson\n')
    expect(settle().out).toContain('session.conflict')
    const seen = place.writ(['session', 'diff']).out
    expect(seen).toMatch(
      /base, then real:[\s\S]*\+person[\s\S]*real, then view:[\s\S]*-person[\s\S]*\+agent/,
    )
    // What the agent changes without having read the real version stays a conflict.
    await agent.does('echo more >> a.txt')
    expect(settle().out).toContain('session.conflict')
    await agent.does('writ-real a.txt; writ-real other.txt 2>&1')
    expect(agent.out).toMatch(/one\nperson\nwrit: .*other\.txt is in no conflict/)
    await agent.does('writ-real a.txt > /tmp/real; (cat /tmp/real; echo agent) > a.txt')
    // The real version is not committed, so a person is asked about replacing it.
    expect(settle().out).toContain('1 changed wait for an answer')
    const [{ id }] = place.pending()
    const words = ['approve', '--yes', '--pass-fd', '3', id]
    expect(place.writ(words, { passphrase: PASS }).status).toBe(0)
    expect(place.text('a.txt')).toBe('one\nperson\nagent\n')
    await agent.ends()
    expect(place.sessions()).toEqual([])
  })

  it('is settled by a person who takes the side of the session', async () => {
    const agent = place.agentRun(['--settle', 'never'])
    await agent.does('echo agent >> a.txt')
    place.commit({ 'a.txt': 'person\n' })
    await agent.ends()
    expect(settle().out).toContain('session.conflict')
    const unasked = settle('--take', 'a.txt')
    expect([unasked.status, place.text('a.txt')]).toEqual([2, 'person\n'])
    const taken = settle('--take', 'a.txt', '--yes')
    expect(taken.out).toMatch(/-person[\s\S]*\+agent[\s\S]*promoted 1 changed/)
    expect(place.text('a.txt')).toBe('one\nagent\n')
    expect(place.sessions()).toEqual([])
    expect(place.writ(['undo']).status).toBe(0)
    expect(place.text('a.txt')).toBe('person\n')
  })
})
