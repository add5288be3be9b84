/** The question of a session, and what the record and people see of it (S-3, S-5, S-14). */
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { SessionPlace } from './session-place.ts'

let place: SessionPlace
beforeEach(() => {
  place = new SessionPlace('questions')
  place.commit({ 'a.txt': 'one\n', 'b.txt': 'two\n' })
  place.write('notes.txt', 'mine\n')
  place.init()
})
afterEach(() => place.remove())

describe('the question of a session', { timeout: 90_000 }, () => {
  it('stays while a person looks at it, and ends when the agent takes its changes back', async () => {
    const agent = place.agentRun()
    await agent.does('cp -p notes.txt /tmp/before; echo theirs > notes.txt')
    await agent.hears('wait for an answer')
    const [{ id }] = place.pending()
    expect(place.writ(['inbox', id]).out).toMatch(/confinement: confined .*custody: seatbelt/)
    const shown = place.writ(['inbox', id, '--json']).json
    expect(shown).toMatchObject({ confinement: 'confined', custody: 'seatbelt' })
    const marks = place.facts('evaluation_v1').flatMap(({ session }) => session ?? [])
    expect(marks.at(-1).programs[0]).toMatch(/^bash -c/)
    await agent.does('echo again > notes.txt')
    place.writ(['session', 'settle'])
    expect(place.pending().map(({ id: open }) => open)).toEqual([id])
    place.forgetLooks()
    place.writ(['session', 'settle'])
    const [{ id: newer }] = place.pending()
    expect(newer).not.toBe(id)
    await agent.does('cp -p /tmp/before notes.txt')
    place.writ(['session', 'settle'])
    expect(place.pending()).toEqual([])
    expect(await agent.ends()).toBe(0)
    expect(place.sessions()).toEqual([])
  })

  it('is taken in part: the rest stays pending, and is asked about again (N-4)', async () => {
    place.write('other.txt', 'mine too\n')
    const agent = place.agentRun()
    await agent.does('echo theirs > notes.txt; echo theirs > other.txt')
    await agent.hears('wait for an answer')
    const [{ id }] = place.pending()
    const { status, output } = place.person(
      ['approve', id, '--only', 'notes.txt'],
      [
        { expect: 'stays pending in its session (1 path)' },
        { expect: 'show all] ' },
        { send: 'y\n' },
      ],
    )
    expect(status, output).toBe(0)
    expect([place.text('notes.txt'), place.text('other.txt')]).toEqual(['theirs\n', 'mine too\n'])
    place.writ(['session', 'settle'])
    const [next, ...more] = place.pending()
    expect([next.effects.modified, more]).toEqual([1, []])
    expect(place.writ(['inbox', next.id]).out).toContain('other.txt')
    await agent.ends()
  })
})
