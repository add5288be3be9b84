/** What becomes of an agent's changes in a session, with real processes. */
import { chmodSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { SessionPlace } from './session-place.ts'

let place: SessionPlace
beforeEach(() => {
  place = new SessionPlace('settle')
  place.commit({ 'a.txt': 'one\n', 'b.txt': 'two\n', 'src/c.txt': 'three\n' })
  place.write('notes.txt', 'mine\n')
  place.init()
})
afterEach(() => place.remove())

describe('a session', { timeout: 90_000 }, () => {
  it('promotes tracked changes and new files while the agent runs (S-3)', async () => {
    const agent = place.agentRun()
    await agent.does('echo more >> a.txt; echo new > new.txt')
    await agent.hears('promoted 1 changed, 1 added')
    expect([place.text('a.txt'), place.text('new.txt')]).toEqual(['one\nmore\n', 'new\n'])
    await agent.does('echo again >> new.txt; rm new.txt')
    await agent.hears('promoted 1 deleted')
    expect(place.has('new.txt')).toBe(false)
    expect(await agent.ends()).toBe(0)
    expect(place.sessions()).toEqual([])
    const [started, ended] = place.facts('session_v1')
    expect(started).toMatchObject({ event: 'STARTED', agent: 'bash', confinement: 'confined' })
    expect(ended).toMatchObject({ event: 'ENDED', ended: 'exited', exit_code: 0, pending: 0 })
  })

  it('goes on after a fault of the disk stopped a settle, and loses nothing', async () => {
    const agent = place.agentRun()
    const state = join(place.folder, 'state', 'writ', place.text('.writ/id').trim())
    const stage = join(state, 'stage')
    rmSync(stage, { recursive: true, force: true })
    writeFileSync(stage, 'in the way')
    await agent.does('echo more >> a.txt')
    await agent.hears('could not settle, what is pending stays: EEXIST')
    await agent.does('sleep 4')
    expect(agent.err.match(/could not settle/g)).toHaveLength(1)
    expect(place.text('a.txt')).toBe('one\n')
    rmSync(stage)
    await agent.hears('promoted 1 changed')
    expect(place.text('a.txt')).toBe('one\nmore\n')
    expect(await agent.ends()).toBe(0)
  })

  it('asks about a deletion and goes on; the answer comes from another process', async () => {
    const agent = place.agentRun()
    await agent.does('rm b.txt')
    await agent.hears('1 deleted wait for an answer')
    await agent.does('echo on > on.txt')
    await agent.hears('promoted 1 added')
    expect([place.has('b.txt'), place.has('on.txt')]).toEqual([true, true])
    const [{ id }] = place.pending()
    const seen = place.person(['approve', id], [{ expect: '[y' }, { send: 'y\r' }])
    expect(seen.failed, seen.output).toBeNull()
    expect(place.has('b.txt')).toBe(false)
    await agent.does('test ! -e b.txt && echo gone')
    expect(agent.out).toContain('gone')
    expect(await agent.ends()).toBe(0)
    expect(place.sessions()).toEqual([])
  })

  it('asks about a file that was there and is not tracked, and keeps a denied change in view', async () => {
    const agent = place.agentRun()
    await agent.does('echo theirs > notes.txt')
    await agent.hears('1 changed wait for an answer')
    const [{ id }] = place.pending()
    expect(place.writ(['deny', id, '--reason', 'leave it']).status).toBe(0)
    await agent.does('echo x > x.txt; cat notes.txt')
    await agent.hears('was denied')
    expect([place.text('notes.txt'), agent.out]).toEqual([
      'mine\n',
      expect.stringContaining('theirs'),
    ])
    await agent.ends()
    // It is not asked about again before it changes.
    expect(place.pending()).toEqual([])
    expect(place.sessions()).toHaveLength(1)
  })

  it('blocks what may never be, and lets the rest go on', async () => {
    const agent = place.agentRun()
    await agent.does('cp /bin/true tool; chmod u+s tool; echo fine > fine.txt')
    await agent.hears('blocked')
    await agent.hears('promoted 1 added')
    expect([place.has('tool'), place.has('fine.txt')]).toEqual([false, true])
    await agent.does('rm tool; echo later > later.txt')
    await place.until(() => place.has('later.txt'), 'the rest is promoted')
    expect(await agent.ends()).toBe(0)
    expect(place.sessions()).toEqual([])
  })

  it('does not overwrite what a person changed or removed meanwhile (S-10)', async () => {
    place.commit({ 'c.txt': 'three\n' })
    const agent = place.agentRun(['--settle', 'never'])
    await agent.does('echo agent >> a.txt')
    place.write('a.txt', 'person\n')
    const settled = place.writ(['session', 'settle'])
    expect(settled.out).toContain('session.conflict')
    expect(place.text('a.txt')).toBe('person\n')
    // A removal that the session knows nothing of, next to one of its own.
    await agent.does('echo agent >> c.txt; rm b.txt')
    rmSync(join(place.project, 'c.txt'))
    const again = place.writ(['session', 'settle'])
    expect(again.out).toMatch(/c\.txt: .*\(session\.conflict\)/)
    expect(place.has('c.txt')).toBe(false)
    await agent.ends()
  })

  it('shows the agent what people change and take back (S-1)', async () => {
    const agent = place.agentRun()
    await agent.does('cat a.txt; echo mine > own.txt')
    await agent.hears('promoted 1 added')
    expect(place.writ(['undo']).status).toBe(0)
    place.write('a.txt', 'edited\n')
    rmSync(join(place.project, 'b.txt'))
    const before = agent.out.length
    await place.until(() => {
      agent.child.stdin?.write('cat a.txt; ls\n')
      return /edited[\s\S]*a\.txt\n(?!b\.txt|own)/.test(agent.out.slice(before))
    }, 'the agent sees the real tree')
    await agent.ends()
  })

  it('holds in replay and in the verification of the ledger', async () => {
    const agent = place.agentRun()
    await agent.does('echo more >> a.txt; rm b.txt; mkdir -p d/e; echo 1 > d/e/f; chmod 755 d/e/f')
    await agent.hears('wait for an answer')
    await agent.does('git add -A; git commit -qm second')
    await agent.hears('promoted')
    await agent.ends()
    expect(place.git('log', '--oneline')).toMatch(/second/)
    const replayed = place.writ(['replay', '--json'])
    expect(replayed.status, replayed.err + replayed.out).toBe(0)
    expect(place.writ(['ledger', 'verify', '--json']).json).toMatchObject({ ok: true })
  })

  it('promotes nothing of a read-only file mode trick', async () => {
    chmodSync(join(place.project, 'a.txt'), 0o644)
    const agent = place.agentRun()
    await agent.does('chmod 666 a.txt')
    await agent.hears('wait for an answer')
    await agent.ends()
  })
})
