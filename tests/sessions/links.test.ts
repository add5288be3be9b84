/** Links of a session that lead out of the scope, also by what a later act changes. */
import { lstatSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { SessionPlace } from './session-place.ts'

let place: SessionPlace
beforeEach(() => {
  place = new SessionPlace('links')
  place.commit({ 'a.txt': 'one\n' })
  place.init()
})
afterEach(() => place.remove())

describe('links of a session', { timeout: 120_000 }, () => {
  it('are judged again when a later act moves what they pass through', async () => {
    const agent = place.agentRun(['--settle', 'never'])
    await agent.does(
      'mkdir -p w/k node_modules/m; ln -s w/k/../bin out; ln -s ../../w/k/../b node_modules/m/o',
    )
    expect(place.writ(['session', 'settle']).out).toMatch(/promoted/)
    expect(place.pending()).toEqual([])
    await agent.does('rmdir w/k; ln -s .. w/k')
    place.writ(['session', 'settle'])
    const [{ id }] = place.pending()
    const shown = place.writ(['inbox', id, '--all']).out
    expect(shown).toMatch(/Runs by itself later[\s\S]*w\/k \(new link to \.\.\)/)
    expect(lstatSync(join(place.project, 'w/k')).isDirectory()).toBe(true)
    await agent.ends()
  })

  it('are asked about if they lead to git, to writ or to a process', async () => {
    const agent = place.agentRun(['--settle', 'never'])
    const links = 'ln -s /proc/self/cwd l1; ln -s .git/config l2; ln -s .writ l3; ln -s /dev/fd l4'
    await agent.does(`${links}; ln -s a.txt fine`)
    expect(place.writ(['session', 'settle']).out).toContain('promoted 1 added')
    const [{ id }] = place.pending()
    const shown = place.writ(['inbox', id, '--all']).out
    for (const name of ['l1', 'l2', 'l3', 'l4']) expect(shown).toContain(name)
    await agent.ends()
  })
})
