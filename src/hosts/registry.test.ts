/** Recognition of hosts, and what a session adds to their start. */
import { describe, expect, it } from 'vitest'
import {
  HOSTS,
  hostNamed,
  KEY_PLACEHOLDER,
  recogniseHost,
  sessionStart,
  switchedOff,
} from './index.ts'

function recognised(line: string, resolve?: (program: string) => string | null): unknown {
  const found = recogniseHost(line.split(' '), resolve)
  return found === null ? null : [found.host.name, found.at]
}

describe('a command line is recognised', () => {
  it.each([
    ['claude -p hello', ['claude-code', 0]],
    ['/opt/bin/claude', ['claude-code', 0]],
    ['npx -y @anthropic-ai/claude-code@latest -p x', ['claude-code', 2]],
    ['npx --package @openai/codex codex exec x', ['codex', 3]],
    ['npm exec -- @openai/codex exec x', ['codex', 3]],
    ['env A=b -u C codex', ['codex', 4]],
    ['nice -n 5 gemini', ['gemini', 3]],
    [
      'node --import x /usr/lib/node_modules/@google/gemini-cli/bundle/gemini.js -p y',
      ['gemini', 3],
    ],
    ['node ./node_modules/@qwen-code/qwen-code/cli.js', ['qwen', 1]],
    ['pnpm dlx opencode-ai run x', ['opencode', 2]],
    ['bun x cline', ['cline', 2]],
    ['pi -p x', ['pi', 0]],
    ['copilot -p x', ['copilot', 0]],
    ['cursor-agent', ['cursor', 0]],
    ['bash -c claude', null],
    ['npm run claude', null],
    ['node script.js claude', null],
    ['', null],
  ])('%j', (line, want) => {
    expect(recognised(line)).toEqual(want)
  })

  it('by the file that a shim leads to', () => {
    const real = '/usr/lib/node_modules/@openai/codex/bin/codex.js'
    expect(recognised('cdx exec', (word) => (word === 'cdx' ? real : null))).toEqual(['codex', 0])
  })

  it('by name', () => {
    expect(hostNamed('claude')?.name).toBe('claude-code')
    expect(hostNamed('codex')?.name).toBe('codex')
    expect(hostNamed('emacs')).toBeNull()
  })
})

describe('a session adds', () => {
  function started(line: string, env: Record<string, string> = {}) {
    const argv = line.split(' ')
    const found = recogniseHost(argv)
    if (found === null) throw new Error(line)
    return sessionStart(argv, found, env)
  }

  it('what turns the sandbox of Codex off, in front of its subcommand', () => {
    const { argv, notes } = started('npx codex exec x')
    expect(argv.slice(0, 4)).toEqual(['npx', 'codex', '-s', 'danger-full-access'])
    expect(argv.slice(-2)).toEqual(['exec', 'x'])
    expect(notes[0]).toMatch(/^Codex CLI: added -s danger-full-access \(/)
  })

  it.each(['codex -s read-only', 'codex --sandbox=read-only', 'codex exec --yolo x'])(
    'nothing that the caller decided: %s',
    (line) => {
      expect(started(line).argv.join(' ')).not.toContain('danger-full-access')
    },
  )

  it('a flag behind `--` decides nothing', () => {
    expect(started('codex -- -s').argv).toContain('danger-full-access')
  })

  it('no variable that is set', () => {
    expect(started('claude').variables['DISABLE_AUTOUPDATER']).toBe('1')
    const { variables, notes } = started('claude', { DISABLE_AUTOUPDATER: '0' })
    expect(variables).not.toHaveProperty('DISABLE_AUTOUPDATER')
    expect(notes.join()).not.toContain('DISABLE_AUTOUPDATER')
  })
})

describe('a file of the repository', () => {
  const claude = hostNamed('claude-code')
  if (claude === null) throw new Error('no Claude Code')

  it.each([
    [{ disableAllHooks: true }, ['disableAllHooks']],
    [{ disableAllHooks: false }, []],
    [{ env: { CLAUDE_CODE_SHELL_PREFIX: '' } }, ['env']],
    [undefined, []],
    ['text', []],
  ])('%j', (value, want) => {
    const found = switchedOff(claude, (file) =>
      file.endsWith('settings.json') ? value : undefined,
    )
    expect(found.map(({ keys }) => keys[0])).toEqual(want)
  })
})

describe('every adapter', () => {
  it.each(HOSTS.map((host) => [host.name, host] as const))('%s is whole', (_, host) => {
    expect(host.programs.length).toBeGreaterThan(0)
    const { places, powers, remade, mixed, copied, logins } = host.state
    for (const path of [...powers, ...remade, ...copied, ...mixed.map(({ file }) => file)]) {
      expect(places.some((place) => path === place || path.startsWith(place))).toBe(true)
    }
    for (const path of [...places, ...logins.map(({ file }) => file)]) {
      expect(path).not.toMatch(/^[/~]|\.\./)
    }
    for (const { key, redirect, calls } of host.endpoints) {
      expect(key.placeholder).toBe(KEY_PLACEHOLDER)
      expect(calls.length).toBeGreaterThan(0)
      expect(JSON.stringify(redirect('http://127.0.0.1:1/t'))).toContain('http://127.0.0.1:1/t')
    }
    if (host.tested.length > 0) {
      expect(host.hooks.modes).toContain('session')
      expect(host.endpoints.length).toBeGreaterThan(0)
      expect(host.hooks.events).toHaveProperty('after')
    }
  })
})
