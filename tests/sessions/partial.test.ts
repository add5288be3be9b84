/** What a session sees, and what becomes of its later changes, when part of its work is real already. */
import { rmSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { type RunningAgent, SessionPlace } from './session-place.ts'

/** A file that runs later by itself, so that it waits for an answer. */
const WAITS = `echo '{"scripts":{"postinstall":"x"}}' > app/package.json`

let place: SessionPlace
let agent: RunningAgent
beforeEach(() => {
  place = new SessionPlace('partial')
  place.commit({ 'a.txt': 'one\n' })
  for (const name of ['u1', 'u2', 'old/x']) place.write(name, `${name}\n`)
  place.init()
  agent = place.agentRun(['--settle', 'never'])
}, 300_000)
afterEach(async () => {
  await agent.ends()
  place.remove()
})

function settle(): string {
  return place.writ(['session', 'settle']).out
}

function approve(): void {
  const [{ id }] = place.pending()
  const seen = place.person(['approve', id], [{ expect: '[y' }, { send: 'y\r' }])
  expect(seen.failed, seen.output).toBeNull()
}

describe('a new directory in which a file waits', { timeout: 120_000 }, () => {
  beforeEach(async () => {
    await agent.does(`mkdir app; echo 1 > app/i.js; echo 2 > app/j.js; ${WAITS}`)
    expect(settle()).toContain('promoted')
    expect([place.has('app/i.js'), place.has('app/package.json')]).toEqual([true, false])
  })

  it('shows what a person does in it, and a commit of the agent keeps it (S-1)', async () => {
    place.commit({ 'app/README': 'person\n' })
    place.write('app/i.js', 'edited\n')
    rmSync(join(place.project, 'app/j.js'))
    await agent.sees('grep -q person app/README && grep -q edited app/i.js && test ! -e app/j.js')
    // The agent commits on what the person committed.
    await agent.sees('git log -1 --name-only --format= | grep -q app/README')
    await agent.does('echo two > a.txt; git commit -qam agent')
    settle()
    expect(place.git('show', '--name-status', '--format=%s')).toBe('agent\n\nM\ta.txt\n')
    expect([place.text('app/README'), place.text('app/i.js')]).toEqual(['person\n', 'edited\n'])
    expect(place.has('app/j.js')).toBe(false)
  })

  it('shows the real file again after `session discard`', async () => {
    await agent.does('chmod 600 app/i.js; rm app/j.js')
    const [{ session_id: id }] = place.sessions()
    const paths = ['app/i.js', 'app/j.js']
    expect(place.writ(['session', 'discard', id, ...paths]).status).toBe(0)
    await agent.sees('grep -q 1 app/i.js && test -e app/j.js')
    settle()
    expect(paths.map((path) => place.has(path))).toEqual([true, true])
  })
})

describe('a new directory in use', { timeout: 120_000 }, () => {
  it('protects a person’s file that it cannot show yet (S-10)', async () => {
    await agent.does(`mkdir app; echo 1 > app/i.js; ${WAITS}; cd app`)
    expect(settle()).toContain('promoted')
    place.write('app/README', 'person\n')
    await agent.does('sleep 1; echo agent > README')
    expect(settle()).toContain('session.conflict')
    expect(place.text('app/README')).toBe('person\n')
    await agent.does('cd ..')
  })
})

describe('after a yes', { timeout: 120_000 }, () => {
  it('the next change of the same path is another act and no conflict (S-3)', async () => {
    await agent.does('echo a >> u1')
    settle()
    await agent.does('echo b >> u1')
    approve()
    await agent.does('echo c >> u1')
    expect(place.text('u1')).toBe('u1\na\n')
    expect(settle()).not.toContain('session.conflict')
    approve()
    expect(place.text('u1')).toBe('u1\na\nb\nc\n')
  })

  it('what the agent removed or moved before it is the next act', async () => {
    await agent.does('mv u1 n1; mv u2 n2; mv old new')
    settle()
    await agent.does('rm n1; mv n2 n3; rm -r new')
    approve()
    expect(place.text('n1')).toBe('u1\n')
    settle()
    expect(['n1', 'n2', 'new'].map((path) => place.has(path))).toEqual([false, false, false])
    expect(place.text('n3')).toBe('u2\n')
    await agent.sees('test ! -e n1 && test ! -e n2 && test -e n3 && test ! -e new')
  })

  it('that met a conflict, the rest is asked again', async () => {
    await agent.does('rm u1 u2')
    settle()
    place.write('u1', 'person\n')
    approve()
    expect([place.text('u1'), place.has('u2'), place.pending()]).toEqual(['person\n', true, []])
    expect(settle()).toContain('session.conflict')
    expect(place.pending()).toHaveLength(1)
    approve()
    expect([place.text('u1'), place.has('u2')]).toEqual(['person\n', false])
  })
})

describe('a change of type that waits', { timeout: 120_000 }, () => {
  it('keeps what lies below it waiting, and nothing else', async () => {
    await agent.does('rm u1; mkdir u1')
    settle()
    await agent.does('echo x > u1/f; echo y > other')
    expect(settle()).not.toContain('promote.conflict')
    expect([place.text('u1'), place.text('other')]).toEqual(['u1\n', 'y\n'])
    approve()
    settle()
    expect(place.text('u1/f')).toBe('x\n')
  })
})
