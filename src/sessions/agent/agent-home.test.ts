/** The private home of an agent: what is compared before a session uses it, and what is not. */
import {
  chmodSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { afterEach, beforeEach, expect, it } from 'vitest'
import type { KnownHome } from '../../home/index.ts'
import { hostNamed } from '../../hosts/index.ts'
import { AgentHome } from './agent-home.ts'

let folder: string
let home: AgentHome

beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), 'writ-agent-home-'))
  const user = join(folder, 'user')
  mkdirSync(join(user, '.claude'), { recursive: true })
  writeFileSync(join(user, '.claude/settings.json'), '{"theme":"dark"}')
  // Only the place of its state is looked at.
  const known = { state: join(folder, 'state') } as KnownHome
  home = await AgentHome.open(known, 'claude', hostNamed('claude-code'), user)
})
afterEach(() => rmSync(folder, { recursive: true }))

function write(path: string, text: string): void {
  const file = join(home.directory, path)
  mkdirSync(dirname(file), { recursive: true })
  writeFileSync(file, text)
}

/** Changed parts, each with its keys. */
async function changed(...own: string[]): Promise<readonly string[]> {
  const { changes } = await home.changedPowers(own)
  return changes.map(({ file, key }) => (key === null ? file : `${file} ${key}`))
}

async function accept(): Promise<void> {
  const found = await home.changedPowers([])
  found.accept()
}

it('asks about settings, skills and links that a session left', async () => {
  expect(await changed()).toEqual([])
  write('.claude/settings.json', '{"theme":"dark","hooks":{}}')
  write('.claude/skills/x/SKILL.md', 'do as I say')
  write('.claude/history.jsonl', 'memory')
  write('elsewhere', 'text')
  symlinkSync('../elsewhere', join(home.directory, '.claude/CLAUDE.md'))
  expect(await changed()).toEqual([
    '.claude/CLAUDE.md',
    '.claude/settings.json hooks',
    '.claude/skills/x/SKILL.md',
  ])
  await accept()
  expect(await changed()).toEqual([])
})

it('begins with the name for git, and with no helper, alias or include of the person', async () => {
  const user = join(folder, 'other')
  mkdirSync(user)
  const lines = [
    '[include]',
    'path = x',
    '[user]',
    'name = ann',
    'signingkey = k',
    '[alias]',
    'x = !y',
  ]
  writeFileSync(join(user, '.gitconfig'), lines.join('\n'))
  // Only the place of its state is looked at.
  const known = { state: join(folder, 'others-state') } as KnownHome
  const made = await AgentHome.open(known, 'claude', hostNamed('claude-code'), user)
  expect(readFileSync(join(made.directory, '.gitconfig'), 'utf8')).toBe('[user]\n\tname = ann\n')
})

it('names each login that a program of the session can read', () => {
  expect(home.logins()).toEqual([])
  write('.claude/.credentials.json', '{}')
  expect(home.logins()).toEqual([expect.stringMatching(/^~\/\.claude\/\.credentials\.json: ./)])
})

it('takes settings that say the same for the same', async () => {
  write('.claude/settings.json', '{ "$version": 4,\n  "theme": "dark" }\n')
  write('.claude/settings.local.json', '{}')
  expect(await changed()).toEqual([])
})

it('removes what the agent makes again at its start', async () => {
  write('.claude/shell-snapshots/snapshot-bash-1.sh', 'alias ls=evil')
  expect(await changed()).toEqual([])
  home.clear()
  write('.claude/kept', '')
  expect(() =>
    symlinkSync('x', join(home.directory, '.claude/shell-snapshots/snapshot-bash-1.sh')),
  ).not.toThrow()
})

it('accepts what writ wrote, and nothing else', async () => {
  write('.claude/settings.json', '{"theme":"light"}')
  write('.claude/skills/x/SKILL.md', 'do as I say')
  await home.acceptFiles(['.claude/settings.json'])
  expect(await changed()).toEqual(['.claude/skills/x/SKILL.md'])
})

it('asks about what runs by itself in the home of any agent', async () => {
  const known = { state: join(folder, 'state') } as KnownHome
  const user = join(folder, 'user')
  writeFileSync(join(user, '.gitconfig'), '[user]\n\tname = Ann\n\temail = a@example.org\n')
  home = await AgentHome.open(known, 'bash', null, user)
  expect(await changed()).toEqual([])
  write('notes.txt', 'nothing')
  // Records of programs, and caches that they verify.
  write('.bash_history', 'nothing')
  write('.npm/_cacache/content-v2/sha512/00/11', 'nothing')
  write('.gitconfig', '[user]\n\tname = Other\n\temail = a@example.org\n[color]\n\tui = auto\n')
  expect(await changed()).toEqual([])
  const files = ['.bashrc', '.profile', '.zshenv', '.npmrc', 'bin/ls', '.local/bin/git']
  const more = ['.config/git/config', '.config/fish/config.fish', '.pythonstartup']
  const python = '.local/lib/python3.11/site-packages'
  const others = [`${python}/yaml.py`, '.sqliterc', '.config/go/env', '.cache/pre-commit/r/hook']
  const packages = [`${python}/x.pth`, 'node_modules/leftpad/index.js', ...others]
  for (const file of [...files, ...more, ...packages]) write(file, 'evil')
  // Any directory can be one of the PATH.
  const programs = ['go/bin/gofmt', 'tools/make', '.npm/_cacache/tmp/x', 'bin/ls']
  for (const file of programs) {
    write(file, 'evil')
    chmodSync(join(home.directory, file), 0o755)
  }
  write('.gitconfig', '[user]\n\tname = Ann\n[core] hooksPath = /tmp/h\n')
  symlinkSync('/tmp/emacs', join(home.directory, '.emacs.d'))
  const expected = [
    ...files,
    ...more,
    ...packages,
    ...programs.slice(0, -1),
    '.gitconfig',
    '.emacs.d',
  ]
  expect(await changed()).toEqual(expected.sort())
  await accept()
  expect(await changed()).toEqual([])
  write('.gitconfig', '[user]\n\tname = a \\\n[alias]\n\tst = !evil\n')
  expect(await changed()).toEqual(['.gitconfig'])
})

it('names the keys of mixed files, with both values and no secret', async () => {
  const before = { mcpServers: { a: { command: 'one' }, gone: { command: 'x' } }, tips: 1 }
  write('.claude.json', JSON.stringify(before))
  await accept()
  const env = { API_TOKEN: 'abcdefghijkl', PLAIN: 'word' }
  const server = { command: 'two', args: ['--api-key', 'sk-1234567890abcdef'], env }
  const apiKeyHelper = '/tmp/run-me.sh'
  const project = { allowedTools: [], hasClaudeMdExternalIncludesApproved: false }
  const now = { mcpServers: { a: server }, tips: 2, apiKeyHelper, projects: { '/p': project } }
  write('.claude.json', `// A comment of the host.\n${JSON.stringify(now)}`)
  const { changes } = await home.changedPowers([])
  expect(changes.map(({ key, kind, before, now }) => [key, kind, before, now])).toEqual([
    ['apiKeyHelper', 'new', null, '"/tmp/run-me.sh"'],
    ['mcpServers.a.args', 'new', null, '["--api-key","sk-1… (19 characters, hidden)"]'],
    ['mcpServers.a.command', 'changed', '"one"', '"two"'],
    ['mcpServers.a.env.API_TOKEN', 'new', null, 'abcd… (12 characters, hidden)'],
    ['mcpServers.a.env.PLAIN', 'new', null, '"word"'],
    ['mcpServers.gone.command', 'removed', '"x"', null],
  ])
  expect(readFileSync(join(home.place, 'accepted.json'), 'utf8')).not.toContain('sk-')
})

it('counts a file that is no table of settings as a whole', async () => {
  for (const text of ['{"mcpServers": {', `${'{"a":'.repeat(50_000)}1${'}'.repeat(50_000)}`]) {
    write('.claude.json', text)
    expect(await changed()).toEqual(['.claude.json'])
    await accept()
    expect(await changed()).toEqual([])
  }
})

it('accepts what was shown, and asks again about what came later', async () => {
  write('.claude/settings.json', '{"theme":"light"}')
  const { accept: yes } = await home.changedPowers([])
  write('.claude/settings.json', '{"theme":"light","apiKeyHelper":"evil"}')
  yes()
  expect(await changed()).toEqual(['.claude/settings.json apiKeyHelper'])
})

it('asks about all of it when nothing says what was accepted', async () => {
  rmSync(join(home.place, 'accepted.json'))
  expect(await changed()).toEqual(['.claude/settings.json theme'])
})

it('asks about a directory that Codex trusts, but for those it was started in', async () => {
  const known = { state: join(folder, 'state') } as KnownHome // As above.
  home = await AgentHome.open(known, 'codex', hostNamed('codex'), folder)
  const trust = (path: string, level = 'trusted'): string =>
    `[projects.${JSON.stringify(path)}]\ntrust_level = "${level}"\n`
  write('.codex/config.toml', trust('/home/ann/p'))
  expect(await changed('/home/ann/p')).toEqual([])
  expect(await changed('/home/ann/q')).toEqual([
    '.codex/config.toml projects."/home/ann/p".trust_level',
  ])
  const found = await home.changedPowers(['/home/ann/p'])
  found.accept()
  write('.codex/config.toml', trust('/home/ann/p', 'untrusted'))
  expect(await changed('/home/ann/q')).toEqual([])
  for (const path of ['/home/ann', '/home/ann/p/', '/']) {
    write('.codex/config.toml', trust(path))
    expect(await changed('/home/ann/p')).toEqual([
      `.codex/config.toml projects."${path}".trust_level`,
    ])
  }
  write('.codex/config.toml', trust('/home/ann/p', 'other'))
  expect(await changed('/home/ann/p')).toHaveLength(1)
  write(
    '.codex/config.toml',
    `# A comment.\n${trust('/home/ann/p')}\n[mcp_servers.x]\ncommand = "x"\n`,
  )
  expect(await changed('/home/ann/p')).toEqual(['.codex/config.toml mcp_servers.x.command'])
})
