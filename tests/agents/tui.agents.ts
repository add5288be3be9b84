/**
 * Claude Code at a terminal in `writ run`, as a person uses it: the first start, a turn, a question that is
 * answered elsewhere while it runs, another window size, Ctrl-C, and the question at the end.
 */
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, beforeAll, expect, it } from 'vitest'
import { ensureBuilt } from '../built.ts'
import { AgentSession } from './agent-session.ts'

const WANTED = (process.env['WRIT_AGENTS'] ?? '').split(',').filter((name) => name !== '')
const isWanted = WANTED.length === 0 || WANTED.includes('claude-code')
const SECONDS = 150
const CTRL_C = '\u0003'
const DOWN = '\u001b[B'
const NARROW = 90

let place: AgentSession | null = null
beforeAll(ensureBuilt, 120_000)
afterEach(() => place?.end())

it.runIf(isWanted)('Claude Code at a terminal', { timeout: SECONDS * 1_000 }, async () => {
  const agent = new AgentSession('claude-code').begin({ 'one.txt': 'one\n', 'two.txt': 'two\n' })
  place = agent
  const answered = join(agent.folder, 'answered')
  const { trial } = agent
  const { seen } = await agent.atTerminal(
    [
      trial.shell('rm one.txt; echo made > made.txt'),
      trial.shell(`for i in $(seq 600); do test -e go.txt && break; sleep 0.1; done; rm two.txt`),
      { text: 'finished' },
    ],
    [
      // Claude Code asks whether to trust the directory; the first answer is no.
      { expect: 'confirm' },
      { pause: 1 },
      { send: DOWN },
      { pause: 1 },
      { send: '\r' },
      { expect: 'cycle' },
      { pause: 1 },
      { send: 'go on' },
      { pause: 1 },
      { send: '\r' },
      { await: answered },
      { resize: [30, NARROW] },
      { expect: 'finished' },
      { pause: 2 },
      { send: CTRL_C },
      { pause: 0.2 },
      { send: CTRL_C },
      { expect: '[y/N' },
      { send: 'y\r' },
    ],
    SECONDS - 20,
  )
  await agent.until(() => agent.waiting().length === 1, 'the deletion waits')
  expect([agent.has('one.txt'), agent.text('made.txt')]).toEqual([true, 'made\n'])
  agent.approve(agent.waiting()[0].id)
  expect(agent.has('one.txt')).toBe(false)
  // The agent sees what a person makes in the real tree.
  agent.write('go.txt')
  writeFileSync(answered, '')
  const { output, failed, mode } = await seen
  expect(failed, output.slice(-2_000)).toBeNull()
  expect(mode).toEqual({ echo: true, lines: true })
  expect(agent.has('two.txt')).toBe(false)
  // Rulers are as long as the window is wide.
  expect(output).toContain('─'.repeat(NARROW))
  expect(agent.did(['session', 'list', '--json']).json.sessions).toEqual([])
  agent.did(['replay', '--json'])
})
