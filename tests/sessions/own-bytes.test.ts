/** Whose bytes a session may replace unasked: its own, and those of commits from before it. */
import { rmSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { SessionPlace } from './session-place.ts'

const MINE = 'my own text, hours of work\n'

let place: SessionPlace
beforeEach(() => {
  place = new SessionPlace('own-bytes')
  place.commit({ 'a.txt': 'one\n' })
  place.init()
})
afterEach(() => place.remove())

describe('a file that the session once made', { timeout: 120_000 }, () => {
  it('is the person’s after an edit or a replacement, and its own otherwise', async () => {
    const agent = place.agentRun(['--settle', 'never'])
    await agent.does('for f in edited replaced changed own; do echo agent > $f.md; done')
    expect(place.writ(['session', 'settle']).out).toContain('4 added')
    place.write('edited.md', MINE)
    rmSync(join(place.project, 'replaced.md'))
    place.write('replaced.md', MINE)
    place.write('changed.md', MINE)
    await place.until(() => {
      agent.child.stdin?.write('cat edited.md replaced.md changed.md | grep -c hours\n')
      return agent.out.includes('3\n')
    }, 'the agent sees the edits')
    await agent.does('rm edited.md replaced.md own.md; echo agent again > changed.md')
    place.writ(['session', 'settle'])
    const texts = ['edited.md', 'replaced.md', 'changed.md'].map((name) => place.text(name))
    expect(texts).toEqual([MINE, MINE, MINE])
    expect(place.has('own.md')).toBe(false)
    expect(place.pending()).toHaveLength(1)
    await agent.ends()
  })
})

describe('a commit of the agent', { timeout: 120_000 }, () => {
  it('does not make a person’s uncommitted work tracked', async () => {
    place.commit({ '.gitignore': 'ignored.txt\n' })
    for (const name of ['notes.txt', 'ignored.txt', 'a.txt']) place.write(name, MINE)
    const agent = place.agentRun(['--settle', 'never'])
    await agent.does('git add -f notes.txt a.txt ignored.txt; git commit -qm wip; echo x > c.txt')
    place.writ(['session', 'settle'])
    expect(place.git('log', '--oneline')).toMatch(/wip/)
    await agent.does('echo gone > notes.txt; echo gone > a.txt; echo gone > ignored.txt')
    await agent.does('git add c.txt; git commit -qm c; echo y > c.txt')
    place.writ(['session', 'settle'])
    const texts = ['notes.txt', 'a.txt', 'ignored.txt'].map((name) => place.text(name))
    expect(texts).toEqual([MINE, MINE, MINE])
    expect([place.text('c.txt'), place.pending().length]).toEqual(['y\n', 1])
    await agent.ends()
  })

  it('does not make it tracked for other sessions, at the same time or later', async () => {
    for (const name of ['notes.txt', 'a.txt']) place.write(name, MINE)
    const other = place.agentRun(['--settle', 'end'])
    const agent = place.agentRun(['--settle', 'end'])
    await agent.does('echo x > c.txt; git add notes.txt a.txt c.txt; git commit -qm wip')
    await agent.ends()
    expect(place.git('log', '--oneline')).toMatch(/wip/)
    await other.sees('git log --oneline | grep -q wip')
    await other.does('echo gone > notes.txt')
    await other.ends()
    const later = place.agentRun(['--settle', 'end'])
    await later.does('echo gone > a.txt; echo y > c.txt; git add c.txt; git commit -qm c')
    await later.ends()
    const texts = ['notes.txt', 'a.txt', 'c.txt'].map((name) => place.text(name))
    expect(texts).toEqual([MINE, MINE, 'y\n'])
    expect(place.pending()).toHaveLength(2)
    // A person who commits on top of it takes it over.
    place.git('commit', '--allow-empty', '-qm', 'mine')
    const trusted = place.agentRun(['--settle', 'end'])
    await trusted.does('echo agreed > a.txt')
    await trusted.ends()
    expect(place.text('a.txt')).toBe('agreed\n')
  })

  it('leaves what the session and commits of a person wrote to the session', async () => {
    const agent = place.agentRun(['--settle', 'never'])
    await agent.does('echo two > a.txt; git commit -qam two')
    expect(place.writ(['session', 'settle']).out).toContain('promoted')
    place.commit({ 'p.txt': 'person\n' })
    await agent.does('until test -e p.txt; do sleep 0.1; done; sleep 1')
    await agent.does('echo three > a.txt; echo q > p.txt')
    expect(place.writ(['session', 'settle']).out).toContain('2 changed')
    expect([place.text('a.txt'), place.text('p.txt')]).toEqual(['three\n', 'q\n'])
    expect(place.pending()).toEqual([])
    await agent.ends()
  })
})
