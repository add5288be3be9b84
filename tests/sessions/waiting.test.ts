/** What waits in a session: the one question about it, and what a person takes out of it (S-2, S-3). */
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { SessionPlace } from './session-place.ts'

const PASS = 'correct horse battery staple'

let place: SessionPlace
beforeEach(() => {
  place = new SessionPlace('waiting')
  place.commit({ 'a.txt': 'one\n', 'b.txt': 'two\n' })
  place.init(PASS)
})
afterEach(() => place.remove())

/** Runs a script in a session to its end, without a terminal. */
function runs(script: string): string {
  const { status, err } = place.writ(['run', '--', 'sh', '-c', script])
  expect(status, err).toBe(0)
  return err
}

const approve = (id: string) =>
  place.writ(['approve', '--yes', '--pass-fd', '3', id], { passphrase: PASS })

const there = (): readonly boolean[] => ['a.txt', 'b.txt'].map((name) => place.has(name))

describe('what waits in a session', { timeout: 90_000 }, () => {
  it('is asked about without what a person discarded, also after they looked at it', () => {
    runs('rm a.txt b.txt')
    const [{ id }] = place.pending()
    place.writ(['inbox', id])
    const [{ session_id }] = place.sessions()
    const discarded = place.writ(['session', 'discard', session_id, 'a.txt'])
    expect(discarded.out).toContain('asked again without it')
    const [{ id: newer }] = place.pending()
    expect(newer).not.toBe(id)
    const old = approve(id)
    expect([old.status, there()]).toEqual([1, [true, true]])
    expect(old.err).toContain(`writ approve ${newer}`)
    expect(old.err).toContain('what is pending in the session changed')
    expect(approve(newer).status).toBe(0)
    expect(there()).toEqual([true, false])
    expect(place.sessions()).toEqual([])
  })

  it('is asked about no more when all of it is discarded, while the agent runs', async () => {
    const agent = place.agentRun()
    await agent.does('rm a.txt')
    await agent.hears('wait for an answer')
    const [{ id }] = place.pending()
    place.writ(['inbox', id])
    const [{ session_id }] = place.sessions()
    expect(place.writ(['session', 'discard', session_id, '--all']).out).toContain('withdrawn')
    expect(place.pending()).toEqual([])
    const old = approve(id)
    expect(old.err).toMatch(
      /took back what it was about, or the real files changed[\s\S]*writ session show \S+/,
    )
    expect(there()).toEqual([true, true])
    await agent.ends()
    expect(place.sessions()).toEqual([])
  })

  it('is one question at the end, with what came after the first', async () => {
    const agent = place.agentRun()
    await agent.does('rm a.txt')
    await agent.hears('wait for an answer')
    await agent.does('rm b.txt')
    await agent.ends()
    expect(agent.err).toContain('2 changes are still pending')
    const [{ id }, ...others] = place.pending()
    expect(others).toEqual([])
    expect(approve(id).status).toBe(0)
    expect(there()).toEqual([false, false])
    expect(place.sessions()).toEqual([])
  })

  it('stays one question where a law asks about every act', async () => {
    for (const name of ['x', 'y', 'z']) {
      runs(`echo 1 > ${name}`)
      expect(place.writ(['undo']).status).toBe(0)
    }
    const agent = place.agentRun()
    await agent.does('echo n > n.txt')
    await agent.hears('wait for an answer: `writ inbox')
    const [{ id, action_id }] = place.pending()
    place.writ(['session', 'settle'])
    expect(place.pending().map(({ id: open }) => open)).toEqual([id])
    expect(place.sessions()[0].question).toBe(action_id)
    const [shown] = place.writ(['session', 'show', '--json']).json.pending
    expect(shown.why).toBe('asked')
    expect(approve(id).status).toBe(0)
    expect(place.text('n.txt')).toBe('n\n')
    await agent.ends()
  })
})

describe('the end of a session with an open question', { timeout: 90_000 }, () => {
  const left = (): readonly unknown[] => [
    place.text('mine.txt'),
    place.text('a.txt'),
    place.has('n'),
  ]
  const MORE = 'echo new > n; echo changed > a.txt'

  beforeEach(() => place.write('mine.txt', 'mine\n'))

  it('settles nothing that only a command settles', async () => {
    const agent = place.agentRun(['--settle', 'never'])
    await agent.does('echo theirs > mine.txt')
    place.writ(['session', 'settle'])
    const [{ id }] = place.pending()
    await agent.does(MORE)
    await agent.ends()
    expect([agent.err, ...left()]).toEqual([
      expect.stringContaining('3 changes'),
      'mine\n',
      'one\n',
      false,
    ])
    expect(approve(id).status).toBe(0)
    expect(left()).toEqual(['theirs\n', 'one\n', false])
    const [{ session_id }] = place.sessions()
    const { pending } = place.writ(['session', 'show', session_id, '--json']).json
    expect(pending.map(({ path }: { path: string }) => path.split('/').pop())).toEqual([
      'a.txt',
      'n',
    ])
  })

  it('settles nothing that a limit interrupted', async () => {
    const agent = place.agentRun(['--time', '8s'])
    await agent.does('echo theirs > mine.txt')
    await agent.hears('wait for an answer')
    // A file that is open for writing is not settled while the agent runs.
    await agent.does('exec 7> n; exec 8>> a.txt; echo half >&7; echo half >&8')
    await agent.exited
    expect([agent.err, ...left()]).toEqual([
      expect.stringContaining('3 changes'),
      'mine\n',
      'one\n',
      false,
    ])
  })
})
