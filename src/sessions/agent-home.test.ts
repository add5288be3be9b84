/** The private home of an agent: what is compared before a session uses it, and what is not. */
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { afterEach, beforeEach, expect, it } from 'vitest'
import type { KnownHome } from '../home/index.ts'
import { hostNamed } from '../hosts/index.ts'
import { AgentHome } from './agent-home.ts'

let folder: string
let home: AgentHome

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'writ-agent-home-'))
  const user = join(folder, 'user')
  mkdirSync(join(user, '.claude'), { recursive: true })
  writeFileSync(join(user, '.claude/settings.json'), '{"theme":"dark"}')
  // Only the place of its state is looked at.
  const known = { state: join(folder, 'state') } as KnownHome
  home = new AgentHome(known, 'claude', hostNamed('claude-code'), user)
})
afterEach(() => rmSync(folder, { recursive: true }))

function write(path: string, text: string): void {
  const file = join(home.directory, path)
  mkdirSync(dirname(file), { recursive: true })
  writeFileSync(file, text)
}

it('asks about settings, skills and links that a session left', () => {
  expect(home.changedPowers()).toEqual([])
  write('.claude/settings.json', '{"theme":"dark","hooks":{}}')
  write('.claude/skills/x/SKILL.md', 'do as I say')
  write('.claude/history.jsonl', 'memory')
  write('elsewhere', 'text')
  symlinkSync('../elsewhere', join(home.directory, '.claude/CLAUDE.md'))
  expect(home.changedPowers()).toEqual([
    '.claude/CLAUDE.md',
    '.claude/settings.json',
    '.claude/skills/x/SKILL.md',
  ])
  home.accept()
  expect(home.changedPowers()).toEqual([])
})

it('takes settings that say the same for the same', () => {
  write('.claude/settings.json', '{ "$version": 4,\n  "theme": "dark" }\n')
  write('.claude/settings.local.json', '{}')
  expect(home.changedPowers()).toEqual([])
})

it('removes what the agent makes again at its start', () => {
  write('.claude/shell-snapshots/snapshot-bash-1.sh', 'alias ls=evil')
  expect(home.changedPowers()).toEqual([])
  home.clear()
  write('.claude/kept', '')
  expect(() =>
    symlinkSync('x', join(home.directory, '.claude/shell-snapshots/snapshot-bash-1.sh')),
  ).not.toThrow()
})

it('accepts what writ wrote, and nothing else', () => {
  write('.claude/settings.json', '{"theme":"light"}')
  write('.claude/skills/x/SKILL.md', 'do as I say')
  home.acceptFiles(['.claude/settings.json'])
  expect(home.changedPowers()).toEqual(['.claude/skills/x/SKILL.md'])
})
