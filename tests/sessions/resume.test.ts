/** Sessions whose processes die, and commands about sessions that do not run (S-11). */
import { spawn } from 'node:child_process'
import { readdirSync, readlinkSync, renameSync } from 'node:fs'
import { basename, join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { AGENT, RunningAgent, SessionPlace } from './session-place.ts'

let place: SessionPlace
beforeEach(() => {
  place = new SessionPlace('resume')
  place.commit({ 'a.txt': 'one\n', 'b.txt': 'two\n' })
  place.init()
})
afterEach(() => place.remove())

describe('a session that was interrupted', { timeout: 90_000 }, () => {
  it('keeps what is pending, and goes on with a new process', async () => {
    const agent = place.agentRun(['--settle', 'never'])
    await agent.does(
      'echo more >> a.txt; echo scratch > /tmp/kept; rm b.txt; mkdir d; echo 1 > d/x',
    )
    agent.child.kill('SIGKILL')
    await agent.exited
    const [session] = place.sessions()
    expect(session).toMatchObject({ state: 'stopped', agent: 'bash' })
    const shown = place.writ(['session', 'show', '--json'])
    expect(
      shown.json.pending.map(({ path }: { path: string }) => path.slice(place.project.length)),
    ).toEqual(['/a.txt', '/b.txt', '/d', '/d/x'])
    expect([place.text('a.txt'), place.has('b.txt')]).toEqual(['one\n', true])
    const again = new RunningAgent(
      place.start(['run', '--resume', session.session_id, '--', 'bash', '-c', AGENT]),
    )
    await again.does('cat a.txt /tmp/kept; ls')
    expect(again.out).toMatch(/one\nmore\nscratch\na\.txt\nd\n/)
    const settled = place.writ(['session', 'settle', '--json'])
    expect(settled.json.promoted.promoted, settled.err).toBe(true)
    expect([place.text('a.txt'), place.text('d/x')]).toEqual(['one\nmore\n', '1\n'])
    await again.ends()
    expect(place.facts('session_v1').map(({ event }) => event)).toEqual([
      'STARTED',
      'RESUMED',
      'ENDED',
    ])
  })

  it('does not run because another process has the number of its own now', async () => {
    const agent = place.agentRun(['--settle', 'never'])
    await agent.does('echo more >> a.txt')
    agent.child.kill('SIGKILL')
    await agent.exited
    const state = join(place.folder, 'state')
    const marks = readdirSync(state, { recursive: true, encoding: 'utf8' })
    const mark = join(state, marks.find((name) => basename(name).startsWith('owner-')) ?? '')
    renameSync(mark, mark.replace(/owner-\d+/, `owner-${process.pid}`))
    expect(place.sessions()).toMatchObject([{ state: 'stopped' }])
  })

  it('is settled and emptied without an agent', async () => {
    const agent = place.agentRun(['--settle', 'never'])
    await agent.does('echo more >> a.txt; echo no > no.txt')
    agent.child.kill('SIGKILL')
    await agent.exited
    const [{ session_id }] = place.sessions()
    expect(place.writ(['session', 'diff']).out).toMatch(/\+more/)
    expect(place.writ(['session', 'discard', session_id, 'no.txt']).out).toContain('no.txt')
    const settled = place.writ(['session', 'settle'])
    expect(settled.out).toContain('promoted 1 changed')
    expect([place.text('a.txt'), place.has('no.txt')]).toEqual(['one\nmore\n', false])
  })

  it('is resumed after what was decided before the kill is done', async () => {
    const agent = place.agentRun(['--settle', 'never'])
    await agent.does('echo more >> a.txt')
    const held = spawn('flock', [place.project, 'sh', '-c', 'echo held; read end'])
    await new Promise((resolve) => held.stdout.once('data', resolve))
    const settling = place.start(['session', 'settle'])
    await place.until(() => place.facts('decision_v1').length > 0, 'a decision')
    agent.child.kill('SIGKILL')
    await agent.exited
    settling.kill('SIGKILL')
    held.stdin.end()
    await new Promise((resolve) => held.once('exit', resolve))
    expect(place.text('a.txt')).toBe('one\n')
    const [{ session_id }] = place.sessions()
    const again = new RunningAgent(
      place.start(['run', '--resume', session_id, '--', 'bash', '-c', AGENT]),
    )
    await again.does('cat a.txt')
    expect([again.out.split('\n')[1], place.text('a.txt')]).toEqual(['more', 'one\nmore\n'])
    expect(place.writ(['session', 'show', '--json']).json.pending).toEqual([])
    await again.ends()
    expect(place.facts('promotion_v1')).toHaveLength(1)
  })

  it('keeps what a limit interrupted, and says so', () => {
    const ended = place.writ(['run', '--time', '1', '--', 'sh', '-c', 'echo half >h; sleep 60'])
    expect(ended.err).toContain('the session reached its time of')
    expect(ended.err).toContain('1 change is still pending')
    expect(place.has('h')).toBe(false)
    expect(place.writ(['session', 'settle']).out).toContain('promoted 1 added')
    expect(place.text('h')).toBe('half\n')
  })

  it('leaves no process, mount or control group', async () => {
    const agent = place.agentRun(['--settle', 'never'])
    await agent.does('sleep 300 & echo $!; echo more >> a.txt')
    agent.child.kill('SIGKILL')
    await agent.exited
    const mark = `writ-cli-gate-resume-`
    await place.until(() => livingWith(mark) === 0, 'every process is gone')
  })
})

describe('commands about sessions', { timeout: 60_000 }, () => {
  it('stop an agent and keep what is pending', async () => {
    const agent = place.agentRun(['--settle', 'end'])
    await agent.does('rm b.txt')
    expect(place.writ(['session', 'stop']).status).toBe(0)
    await agent.exited
    expect(place.has('b.txt')).toBe(true)
    expect(place.pending()).toHaveLength(1)
    expect(place.sessions()).toHaveLength(1)
  })

  it('stop a shell that ignores signals', async () => {
    const words = ['run', '--settle', 'end', '--', 'bash', '-c', `trap '' TERM HUP\n${AGENT}`]
    const agent = new RunningAgent(place.start(words))
    await agent.does('echo half > half.txt; rm b.txt')
    expect(place.writ(['session', 'stop']).out).toContain('killed')
    await agent.exited
    expect(place.sessions()).toMatchObject([{ state: 'stopped' }])
    // What was cut off may be half written: a person settles it.
    expect([place.has('half.txt'), place.has('b.txt')]).toEqual([false, true])
    expect(place.pending()).toEqual([])
  })

  it('are refused to agents', () => {
    const token = place.token('ai:builder@local')
    const refused = place.writ(['session', 'settle'], { token })
    expect(refused.status).not.toBe(0)
  })

  it('refuse a program that is not there, and a session inside a session', async () => {
    const missing = place.writ(['run', '--', 'no-such-agent'])
    expect([missing.status, missing.err]).toEqual([125, expect.stringContaining('no-such-agent')])
    const nested = place.writ(['run', '--', 'true'], { env: { WRIT_SESSION: 'x' } })
    expect(nested.err).toContain('session.nested')
    expect(place.sessions()).toEqual([])
  })
})

/** How many processes work in the place. */
function livingWith(mark: string): number {
  return readdirSync('/proc').filter((name) => /^\d+$/.test(name) && cwdOf(name).includes(mark))
    .length
}

function cwdOf(pid: string): string {
  try {
    return readlinkSync(join('/proc', pid, 'cwd'))
  } catch {
    return ''
  }
}
