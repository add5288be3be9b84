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

it('asks about what runs by itself in the home of any agent', () => {
  const known = { state: join(folder, 'state') } as KnownHome
  const user = join(folder, 'user')
  writeFileSync(join(user, '.gitconfig'), '[user]\n\tname = Ann\n\temail = a@example.org\n')
  home = new AgentHome(known, 'bash', null, user)
  expect(home.changedPowers()).toEqual([])
  write('notes.txt', 'nothing')
  write('.cache/x/.bashrc', 'nothing')
  write('.gitconfig', '[user]\n\tname = Other\n\temail = a@example.org\n[color]\n\tui = auto\n')
  expect(home.changedPowers()).toEqual([])
  const files = ['.bashrc', '.profile', '.zshenv', '.npmrc', 'bin/ls', '.local/bin/git']
  const more = ['.config/git/config', '.config/fish/config.fish', '.pythonstartup']
  const python = '.local/lib/python3.11/site-packages'
  for (const file of [...files, ...more, `${python}/x.pth`]) write(file, 'evil')
  write(`${python}/pkg/mod.py`, 'a package')
  write('.gitconfig', '[user]\n\tname = Ann\n[core] hooksPath = /tmp/h\n')
  symlinkSync('/tmp/emacs', join(home.directory, '.emacs.d'))
  const expected = [...files, ...more, `${python}/x.pth`, '.gitconfig', '.emacs.d']
  expect(home.changedPowers()).toEqual(expected.sort())
  home.accept()
  expect(home.changedPowers()).toEqual([])
  write('.gitconfig', '[user]\n\tname = a \\\n[alias]\n\tst = !evil\n')
  expect(home.changedPowers()).toEqual(['.gitconfig'])
})

it('does not ask about projects that Codex notes for itself', () => {
  const known = { state: join(folder, 'state') } as KnownHome // As above.
  home = new AgentHome(known, 'codex', hostNamed('codex'), folder)
  const noted = '[projects."/home/ann/p"]\ntrust_level = "trusted"\n'
  write('.codex/config.toml', noted)
  expect(home.changedPowers()).toEqual([])
  write('.codex/config.toml', 'model = "m"\n')
  home.accept()
  write('.codex/config.toml', `model = "m"\n\n${noted}`)
  expect(home.changedPowers()).toEqual([])
  for (const more of ['mcp_servers = {}\n', '[mcp_servers.x]\ncommand = "x"\n']) {
    write('.codex/config.toml', `model = "m"\n\n${noted}${more}`)
    expect(home.changedPowers()).toEqual(['.codex/config.toml'])
  }
})
