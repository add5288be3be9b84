/** The private home of an agent whose hooks wrap outside of sessions. */
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { AGENT, RunningAgent, SessionPlace } from './session-place.ts'

let place: SessionPlace
beforeEach(() => {
  place = new SessionPlace('wrapped-home')
  place.commit({ 'a.txt': 'one\n' }).init()
}, 120_000)
afterEach(() => place.remove())

it('has no rule that denies the tools of the agent (S-8)', { timeout: 90_000 }, async () => {
  const bin = join(place.project, 'bin')
  mkdirSync(bin)
  writeFileSync(join(bin, 'claude'), `#!/bin/bash\n${AGENT}`, { mode: 0o755 })
  const settings = join(place.home, '.claude/settings.json')
  mkdirSync(join(place.home, '.claude'), { recursive: true })
  writeFileSync(settings, '{"permissions":{"deny":["WebFetch"]}}\n')
  const words = ['hook', 'install', 'claude-code', '--user', '--mode', 'wrap', '--yes']
  const installed = place.writ(words)
  expect(installed.status, installed.err).toBe(0)
  expect(JSON.parse(readFileSync(settings, 'utf8')).permissions.deny).toContain('Write')
  const agent = new RunningAgent(place.start(['run', '--', join(bin, 'claude')]))
  await agent.does('cat ~/.claude/settings.json')
  const { permissions, env } = JSON.parse(agent.out.split('done: ')[0] ?? '')
  expect([permissions, env]).toEqual([{ deny: ['WebFetch'] }, undefined])
  expect(agent.out).not.toContain('--wrap')
  expect(await agent.ends()).toBe(0)
})
