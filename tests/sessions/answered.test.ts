/** What a running session shows after a person answered, undid or discarded something (S-1, S-2, S-3, S-10). */
import { mkdirSync, readlinkSync, renameSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { type RunningAgent, SessionPlace } from './session-place.ts'

const PASS = 'correct horse battery staple'

let place: SessionPlace
let agent: RunningAgent
beforeEach(() => {
  place = new SessionPlace('answered')
  place.commit({ t: 't\n', t2: 't2\n' })
  place.write('u', 'u\n')
  place.init(PASS)
  agent = place.agentRun(['--settle', 'never'])
}, 300_000)
afterEach(async () => {
  await agent.ends()
  place.remove()
})

const settle = (): string => place.writ(['session', 'settle']).out
const undo = () => expect(place.writ(['undo']).status).toBe(0)

function approve(...more: readonly string[]) {
  const [{ id }] = place.pending()
  return place.writ(['approve', '--yes', '--pass-fd', '3', ...more, id], { passphrase: PASS })
}

/** Replaces a file as an editor does. */
function edit(name: string, text: string): void {
  place.write('.new', text)
  renameSync(join(place.project, '.new'), join(place.project, name))
}

/** Why each pending path is not real yet, by its name. */
function reasons(): Record<string, string> {
  const { pending } = place.writ(['session', 'show', '--json']).json
  return Object.fromEntries(
    pending.map(({ path, why }: { path: string; why: string }) => [
      path.slice(place.project.length + 1),
      why,
    ]),
  )
}

describe('after an approval, without another settle', { timeout: 120_000 }, () => {
  it('an undo is seen, and what the agent appends then is no conflict', async () => {
    await agent.does('echo g >> u')
    expect(settle()).toContain('wait for an answer')
    expect(approve().status).toBe(0)
    expect(reasons()).toEqual({})
    undo()
    await agent.sees('test "$(cat u)" = u')
    await agent.does('echo more >> u')
    expect(settle()).toContain('wait for an answer')
    expect(approve().status).toBe(0)
    expect(place.text('u')).toBe('u\nmore\n')
  })

  it('an edit of a person is seen', async () => {
    place.write('t', 't\nP\n')
    await agent.sees('grep -q P t')
    await agent.does('echo g >> t')
    expect(settle()).toContain('wait for an answer')
    const seen = place.writ(['inbox', place.pending()[0].id]).out
    // Git tracks the file, and does not have what the person wrote.
    expect(seen).toContain('git does not have the version from before')
    expect(seen).not.toContain('does not track')
    expect(approve().status).toBe(0)
    expect(place.text('t')).toBe('t\nP\ng\n')
    edit('t', 'PR\n')
    await agent.sees('test "$(cat t)" = PR')
  })

  it('a hard link that was undone is gone', async () => {
    await agent.does('echo c > n')
    settle()
    await agent.does('ln n h')
    settle()
    if (place.pending().length > 0) expect(approve().status).toBe(0)
    expect(place.text('h')).toBe('c\n')
    undo()
    expect(place.has('h')).toBe(false)
    await agent.sees('test ! -e h')
    expect(settle()).not.toContain('a process of it uses it')
    expect(place.text('n')).toBe('c\n')
  })
})

describe('`session show`', { timeout: 120_000 }, () => {
  it('calls what was denied denied, and names no inbox that is empty', async () => {
    await agent.does('echo g >> u')
    settle()
    const [{ id }] = place.pending()
    expect(place.writ(['deny', id]).status).toBe(0)
    expect(reasons()).toEqual({ u: 'denied' })
    const { out } = place.writ(['session', 'show'])
    expect(out).not.toContain('writ inbox')
    expect(out).toMatch(/denied.*writ session discard/s)
  })

  it('calls the rest of an approved part not taken', async () => {
    place.write('u2', 'u2\n')
    await agent.sees('test -e u2')
    await agent.does('rm u; rm u2')
    settle()
    expect(approve('--only', 'u').status).toBe(0)
    expect(reasons()).toEqual({ u2: 'not taken' })
    const { out } = place.writ(['session', 'show'])
    expect(out).not.toContain('writ inbox')
    expect(out).toContain('writ session settle')
    expect(settle()).toContain('wait for an answer')
  })
})

describe('a file below a directory that the agent removed', { timeout: 120_000 }, () => {
  it('comes back when a person discards its removal, and is asked about no more', async () => {
    mkdirSync(join(place.project, 'k'))
    place.write('k/f', '1\n')
    place.write('k/g', '2\n')
    await agent.sees('test -e k/g')
    await agent.does('rm -rf k')
    settle()
    const [{ id }] = place.pending()
    const [{ session_id }] = place.sessions()
    const discarded = place.writ(['session', 'discard', session_id, 'k/f'])
    expect(discarded.status, discarded.err).toBe(0)
    await agent.sees('test -e k/f && test ! -e k/g')
    expect(reasons()).toEqual({ 'k/g': 'asked' })
    expect(place.pending()[0].id).not.toBe(id)
    expect(approve().status).toBe(0)
    expect([place.has('k/f'), place.has('k/g')]).toEqual([true, false])
  })
})

describe('a directory that an undo takes from under a question', { timeout: 120_000 }, () => {
  it('leaves no stop without a cause and a way out', async () => {
    await agent.does('echo n > n')
    settle()
    await agent.does('mkdir d')
    settle()
    await agent.does('ln n d/h')
    expect(settle()).toContain('wait for an answer')
    undo()
    expect(place.has('d')).toBe(false)
    // The question could not be approved any more, so it ends.
    expect(settle()).toMatch(/blocked: .*\/d: .*session\.conflict.*`writ session show/)
    expect(place.pending()).toEqual([])
    expect(reasons()).toEqual({ d: 'conflict', 'd/h': 'held' })
    expect(settle()).toMatch(/nothing new to settle; 2 changes still pending: `writ session show/)
    const { out } = place.writ(['session', 'show'])
    expect(out).toMatch(/--take PATH.*writ session discard/s)
    expect(out).not.toContain('writ-real')
    // Each way out that it names works.
    const taken = place.writ(['session', 'settle', '--take', 'd', '--yes'])
    expect(taken.out).toContain('promoted 2 added')
    expect(place.text('d/h')).toBe('n\n')
    expect(reasons()).toEqual({})
  })
})

describe('an undo below a directory that the agent removed', { timeout: 120_000 }, () => {
  beforeEach(async () => {
    await agent.does('mkdir d; ln -s nowhere d/l')
    settle()
    place.write('d/p', 'p\n')
    await agent.does('echo n > n')
    settle()
    await agent.does('rm -rf d')
    // What the session made goes at once; the rest waits, and so does the directory.
    expect(settle()).toContain('promoted 1 deleted')
    expect(place.has('d/p')).toBe(true)
    undo()
  })

  it('is not undone by the next settle, and the directory waits for it', async () => {
    expect(settle()).toMatch(/wait for an answer.*blocked: .*`writ session show/s)
    expect(reasons()).toEqual({ d: 'held', 'd/l': 'conflict', 'd/p': 'asked' })
    expect(place.writ(['session', 'show']).out).toMatch(/held: .*holds a conflict/)
    expect(approve().status).toBe(0)
    expect(readlinkSync(join(place.project, 'd/l'))).toBe('nowhere')
    expect(place.has('d/p')).toBe(false)
    // The way out that it names works.
    const taken = place.writ(['session', 'settle', '--take', 'd/l', '--yes'])
    expect(taken.status, taken.err).toBe(0)
    if (place.pending().length > 0) expect(approve().status).toBe(0)
    expect(place.has('d')).toBe(false)
    expect(reasons()).toEqual({})
  })

  it('is seen after a discard', async () => {
    const [{ session_id }] = place.sessions()
    const discarded = place.writ(['session', 'discard', session_id, 'd'])
    expect(discarded.status, discarded.err).toBe(0)
    await agent.sees('test -L d/l && test -e d/p')
    expect(reasons()).toEqual({})
  })
})
