/** Agents in the parent chain: by program, by what an interpreter runs, by marks in the environment. */
import { describe, expect, it } from 'vitest'
import { DEFAULT_LISTS, knownAgent } from '../../gate/index.ts'
import { ancestorNames, programNames } from './ancestors.ts'

describe('command lines', () => {
  it.each([
    ['claude', 'claude'],
    ['/usr/bin/python3.11 -m aider --model x', 'aider'],
    ['python -u -m aider.main', 'aider'],
    ['node --max-old-space-size=4096 /opt/x/gemini.js', 'gemini'],
    [
      '/usr/bin/node --no-warnings -r /x/y.js /home/a/node_modules/@google/gemini-cli/dist/index.js',
      'gemini-cli',
    ],
    ['npx --yes codex exec', 'codex'],
    ['node /home/a/gemini/scripts/build.js', null],
    ['bash -c claude', null],
    ['vim notes-about-aider.md', null],
  ])('%s', (line, agent) => {
    expect(knownAgent(DEFAULT_LISTS, programNames(line.split(' ')))).toBe(agent)
  })
})

it('marks in the environment tell an agent', () => {
  const own = knownAgent(DEFAULT_LISTS, ancestorNames({}))
  expect(knownAgent(DEFAULT_LISTS, ancestorNames({ CODEX_THREAD_ID: '1' }))).toBe('codex')
  expect(knownAgent(DEFAULT_LISTS, ancestorNames({ CODEX_THREAD_ID: '' }))).toBe(own)
})
