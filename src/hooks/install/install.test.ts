/** Installing and removing hooks in configurations of every shape. */
import {
  chmodSync,
  chownSync,
  cpSync,
  existsSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { type AgentHost, HOSTS, hostNamed } from '../../hosts/index.ts'
import {
  type HookPlaces,
  install,
  installations,
  planInstall,
  planUninstall,
  unhookCopy,
  uninstall,
} from './install.ts'

let folder: string
let places: HookPlaces

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'writ-install-'))
  const home = join(folder, 'home')
  const project = join(folder, 'project')
  for (const path of [home, project]) mkdirSync(path)
  const state = join(folder, 'state')
  places = {
    home,
    project,
    state,
    writ: '/opt/writ',
    shell: '/opt/writ-shell',
    plugins: '/opt/plugins',
    seconds: 60,
  }
})
afterEach(() => rmSync(folder, { recursive: true }))

function host(name: string): AgentHost {
  const found = hostNamed(name)
  if (found === null) throw new Error(name)
  return found
}

function tree(): Readonly<Record<string, string>> {
  const files = readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .filter((name) => !name.startsWith('state'))
    .sort()
  return Object.fromEntries(
    files.map((name) => {
      const path = join(folder, name)
      return [name, lstatSync(path).isFile() ? readFileSync(path, 'latin1') : '']
    }),
  )
}

function write(name: string, text: string): string {
  const file = join(places.home, name)
  mkdirSync(dirname(file), { recursive: true })
  writeFileSync(file, text)
  return file
}

const CASES = HOSTS.flatMap((one) =>
  one.hooks.levels
    .filter((level) => level !== 'managed')
    .flatMap((level) => one.hooks.modes.map((mode) => [one.name, level, mode] as const)),
)

describe.each(CASES)('%s, %s, %s', (name, level, mode) => {
  it('comes once and goes without a trace', async () => {
    const before = tree()
    install(await planInstall(host(name), level, mode, places), places)
    expect(tree()).not.toEqual(before)
    expect((await planInstall(host(name), level, mode, places)).changes).toEqual([])
    expect(installations(places).map((one) => [one.host, one.level, one.mode])).toEqual([
      [name, level, mode],
    ])
    uninstall(await planUninstall(host(name), level, places), places)
    expect(tree()).toEqual(before)
    expect(installations(places)).toEqual([])
  })
})

const OWN = `{
  // mine
  "model": "opus",   "env": {"A":"b"},
  "hooks": {
    "PreToolUse": [ { "matcher": "Write", "hooks": [ { "type": "command", "command": "mine" } ] } ],
  },
  "permissions": { "deny": ["WebFetch"] },
}
`

describe('a copy of a home with hooks that wrap', () => {
  it.each(
    HOSTS.filter(({ hooks }) => hooks.modes.includes('session') && hooks.modes.includes('wrap')),
  )('has nothing of them in a session of $name', async (agent) => {
    const own = agent.name === 'claude-code' ? '{"permissions":{"deny":["WebFetch"]}}\n' : null
    if (own !== null) write('.claude/settings.json', own)
    const before = tree()
    const copy = join(folder, 'copy')
    const isCopied = (name: string): boolean => name.startsWith('home/')
    install(await planInstall(agent, 'user', 'wrap', places), places)
    cpSync(places.home, copy, { recursive: true })
    expect(await unhookCopy(agent, places, copy)).not.toEqual([])
    const files = Object.entries(tree()).filter(
      ([name, text]) => /^copy\/.+/.test(name) && text !== '',
    )
    const wanted = Object.entries(before).filter(([name, text]) => isCopied(name) && text !== '')
    expect(files.map(([name, text]) => [name.replace(/^copy/, 'home'), text])).toEqual(wanted)
    expect(await unhookCopy(agent, places, copy)).toEqual([])
    // A person who added a rule of their own keeps it.
    if (own === null) return
    const settings = join(copy, '.claude/settings.json')
    cpSync(join(places.home, '.claude/settings.json'), settings)
    const value = JSON.parse(readFileSync(settings, 'utf8'))
    writeFileSync(settings, JSON.stringify({ ...value, model: 'opus' }))
    await unhookCopy(agent, places, copy)
    expect(JSON.parse(readFileSync(settings, 'utf8'))).toEqual({
      ...JSON.parse(own),
      model: 'opus',
    })
  })

  it('has nothing of those that report to a session either', async () => {
    const agent = host('claude-code')
    const copy = join(folder, 'copy')
    install(await planInstall(agent, 'user', 'session', places), places)
    cpSync(places.home, copy, { recursive: true })
    expect(await unhookCopy(agent, places, copy)).toEqual(['.claude/settings.json'])
    expect(existsSync(join(copy, '.claude/settings.json'))).toBe(false)
  })
})

describe('a configuration of the user', () => {
  it('keeps every byte that is not writ’s, and gets all of them back', async () => {
    const file = write('.claude/settings.json', OWN)
    chmodSync(file, 0o600)
    install(await planInstall(host('claude-code'), 'user', 'wrap', places), places)
    const text = readFileSync(file, 'utf8')
    for (const line of OWN.split('\n').slice(1, 3)) expect(text).toContain(line.slice(0, 20))
    expect(text).toContain('"command": "mine"')
    expect(text).toContain('/opt/writ hook event --wrap claude-code')
    expect(lstatSync(file).mode & 0o777).toBe(0o600)
    uninstall(await planUninstall(host('claude-code'), 'user', places), places)
    expect(readFileSync(file, 'utf8')).toBe(OWN)
  })

  it('loses exactly writ’s parts after a later change', async () => {
    const file = write('.claude/settings.json', OWN)
    install(await planInstall(host('claude-code'), 'user', 'wrap', places), places)
    writeFileSync(file, readFileSync(file, 'utf8').replace('"opus"', '"sonnet"'))
    uninstall(await planUninstall(host('claude-code'), 'user', places), places)
    expect(readFileSync(file, 'utf8')).toBe(OWN.replace('"opus"', '"sonnet"'))
  })

  it('gets a value back that was replaced, unless another one took its place', async () => {
    const file = write('.codex/config.toml', 'sandbox_mode = "workspace-write" # mine\n')
    install(await planInstall(host('codex'), 'user', 'wrap', places), places)
    expect(readFileSync(file, 'utf8')).toContain('sandbox_mode = "read-only"')
    writeFileSync(file, `${readFileSync(file, 'utf8')}\n[mine]\nx = 1\n`)
    uninstall(await planUninstall(host('codex'), 'user', places), places)
    expect(readFileSync(file, 'utf8')).toContain('sandbox_mode = "workspace-write" # mine')
    expect(readFileSync(file, 'utf8')).not.toContain('trusted_hash')
    expect(readFileSync(file, 'utf8')).toContain('x = 1')
  })

  it('keeps a file of writ’s that was changed since', async () => {
    install(await planInstall(host('cline'), 'user', 'session', places), places)
    const file = join(places.home, '.cline/hooks/PreToolUse')
    writeFileSync(file, '#!/bin/sh\nmine\n')
    const plan = await planUninstall(host('cline'), 'user', places)
    expect(plan.kept).toHaveLength(1)
    uninstall(plan, places)
    expect(readFileSync(file, 'utf8')).toContain('mine')
  })

  it('trusts the hook of Codex behind one that is there', async () => {
    write(
      '.codex/hooks.json',
      '{"hooks":{"PreToolUse":[{"hooks":[{"type":"command","command":"mine"}]}]}}',
    )
    install(await planInstall(host('codex'), 'user', 'session', places), places)
    const text = readFileSync(join(places.home, '.codex/config.toml'), 'utf8')
    expect(text).toContain('/.codex/hooks.json:pre_tool_use:1:0"')
    expect(text).toContain('/.codex/hooks.json:stop:0:0"')
  })
})

describe('the managed level', () => {
  it('of Codex forces hooks and sandbox', async () => {
    const { changes } = await planInstall(host('codex'), 'managed', 'wrap', places)
    expect(changes.map(({ file }) => file)).toEqual(['/etc/codex/requirements.toml'])
    const text = changes[0]?.after ?? ''
    expect(text).toMatch(/allowed_sandbox_modes = \["read-only"\]/)
    expect(text).toMatch(/hooks = true/)
    expect(text).toContain('/opt/writ hook event --wrap codex')
  })
})

describe('refuses', () => {
  const plan = (): Promise<unknown> => planInstall(host('claude-code'), 'user', 'session', places)

  it('a symbolic link, as a file and on the way', async () => {
    write('real.json', '{}')
    mkdirSync(join(places.home, '.claude'))
    symlinkSync(join(places.home, 'real.json'), join(places.home, '.claude/settings.json'))
    await expect(plan()).rejects.toThrow(/symbolic link/)
    rmSync(join(places.home, '.claude'), { recursive: true })
    mkdirSync(join(folder, 'elsewhere'))
    symlinkSync(join(folder, 'elsewhere'), join(places.home, '.claude'))
    await expect(plan()).rejects.toThrow(/symbolic link/)
  })

  it('what every user may write to', async () => {
    chmodSync(write('.claude/settings.json', '{}'), 0o666)
    await expect(plan()).rejects.toThrow(/every user may write/)
  })

  // Only root can give a file away.
  it.runIf(process.getuid?.() === 0)('what belongs to another user', async () => {
    chownSync(write('.claude/settings.json', '{}'), 65_534, 65_534)
    await expect(plan()).rejects.toThrow(/another user/)
  })

  it('a text that is no configuration, and a list that is none', async () => {
    write('.claude/settings.json', '{ "hooks": ')
    await expect(plan()).rejects.toThrow(/was not changed: line 1/)
    write('.claude/settings.json', '{ "hooks": { "PreToolUse": 7 } }')
    await expect(plan()).rejects.toThrow(/PreToolUse is no list/)
  })

  it('a file of another author where writ needs one of its own', async () => {
    write('.cline/hooks/PreToolUse', '#!/bin/sh\n')
    await expect(planInstall(host('cline'), 'user', 'session', places)).rejects.toThrow(
      /another program/,
    )
  })

  it('a path of writ that a shell would interpret', async () => {
    const odd = { ...places, writ: '/opt/my writ' }
    await expect(planInstall(host('codex'), 'user', 'wrap', odd)).rejects.toThrow(
      /shells interpret/,
    )
  })

  it('a level or a mode that the host does not have', async () => {
    await expect(planInstall(host('pi'), 'managed', 'wrap', places)).rejects.toThrow(
      /level managed/,
    )
    await expect(planInstall(host('cursor'), 'user', 'session', places)).rejects.toThrow(
      /only wrap/,
    )
  })
})
