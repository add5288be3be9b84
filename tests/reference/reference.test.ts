/** Help, settings, completions and manual pages: all made from one table of commands. */
import { execFileSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { commandGroups } from '../../src/cli/call/help.ts'
import { COMMANDS } from '../../src/cli/commands/table.ts'
import { SETTINGS, VARIABLES } from '../../src/cli/reference/settings.ts'
import { SettingsSchema } from '../../src/contracts/gate/laws-file.ts'
import { ensureBuilt } from '../built.ts'
import { Place } from '../cli-gate/place.ts'
import { warmProgram } from '../warm-program.ts'

const PROGRAM = join(process.cwd(), 'bin', 'writ.cjs')
const folder = mkdtempSync(join(tmpdir(), 'writ-reference-'))
beforeAll(ensureBuilt, 180_000)
afterAll(() => rmSync(folder, { recursive: true, force: true }))

const writ = (args: readonly string[], env: Record<string, string> = {}) =>
  warmProgram(PROGRAM).call({
    argv: args,
    cwd: process.cwd(),
    env: { PATH: process.env['PATH'] ?? '', HOME: folder, ...env },
    input: '',
    secret: null,
    timeoutMs: 60_000,
  })

// biome-ignore lint/suspicious/noControlCharactersInRegex: ASCII begins with the controls.
const BEYOND_ASCII = /[^\u0000-\u007f]/

describe('help', () => {
  it('puts every command into one group, and few into the last', () => {
    const groups = commandGroups(COMMANDS)
    const named = groups.flatMap(({ rows }) => rows.map(({ name }) => name))
    expect([...named].sort()).toEqual(COMMANDS.map(({ name }) => name).sort())
    expect(groups.at(-1)?.rows.length).toBeLessThan(10)
    const { out } = writ(['--help'])
    for (const { title } of groups) expect(out).toContain(`\n${title}\n`)
  })

  it('is ASCII where the locale knows no more', () => {
    const shown = (env: Record<string, string>) => writ(['exec', '--help'], env).out
    expect(shown({ LANG: 'C.UTF-8' })).toContain('the command’s own · 125')
    expect(shown({ LANG: 'C.UTF-8', LC_ALL: 'C' })).toContain("the command's own | 125")
    expect(shown({})).not.toMatch(BEYOND_ASCII)
    expect(writ(['--help']).out).not.toMatch(BEYOND_ASCII)
  })
})

describe('the reference of settings', () => {
  it('names every setting that a law file may have', () => {
    // A TypeBox schema is a JSON Schema; only its properties are read here.
    expect(SETTINGS.map(({ name }) => name).sort()).toEqual(
      namesIn(SettingsSchema as Schema).sort(),
    )
  })

  it('names every variable of writ that the sources read', () => {
    const named = new Set(VARIABLES.map(({ name }) => name))
    const read = sourceTexts().flatMap((text) =>
      [...text.matchAll(/env\[['"]((?:WRIT|XDG_STATE|NO_COLOR|PAGER)[A-Z_]*)['"]\]/g)].map(
        ([, name = '']) => name,
      ),
    )
    expect(read.length).toBeGreaterThan(3)
    expect([...new Set(read)].filter((name) => !named.has(name))).toEqual([])
  })

  it('is the page in docs', () => {
    expect(readFileSync('docs/reference.md', 'utf8')).toBe(writ(['config', 'reference']).out)
  })

  it('shows value and origin, and never a token', () => {
    const home = join(folder, 'home', '.writ')
    mkdirSync(home, { recursive: true })
    writeFileSync(join(home, 'laws.yaml'), 'laws: []\nsettings: { retention: { undo_days: 3 } }\n')
    const env = { WRIT_HOME: home, WRIT_TOKEN: 'very-secret' }
    const { out: stdout, status } = writ(['config', 'show', '--origin'], env)
    expect(status).toBe(0)
    expect(stdout).toMatch(/^retention\.undo_days +3 {2}\(.*laws\.yaml\)$/m)
    expect(stdout).toMatch(/^cooldown_minutes +15 {2}\(default\)$/m)
    expect(stdout).toMatch(/^WRIT_TOKEN +\(set\) {2}\(environment\)$/m)
    expect(stdout).not.toContain('very-secret')
  })
})

interface Schema {
  readonly properties?: Readonly<Record<string, Schema>>
}

/** The names of all settings, with dots between the levels. */
function namesIn({ properties = {} }: Schema, before = ''): string[] {
  return Object.entries(properties).flatMap(([name, schema]) =>
    schema.properties === undefined ? [before + name] : namesIn(schema, `${before}${name}.`),
  )
}

function sourceTexts(): readonly string[] {
  return readdirSync('src', { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.ts') && !name.endsWith('.test.ts'))
    .map((name) => readFileSync(join('src', name), 'utf8'))
}

describe('completions', () => {
  const completed = (words: readonly string[]) => {
    const script = join(folder, 'completion.bash')
    writeFileSync(script, writ(['completion', 'bash']).out)
    const ask = `source ${script}; COMP_WORDS=(${words.map((word) => `'${word}'`).join(' ')}); COMP_CWORD=${words.length - 1}; _writ; echo "\${COMPREPLY[@]}"`
    return execFileSync('bash', ['-c', ask], { encoding: 'utf8' }).trim().split(' ')
  }

  it('complete commands, second words and options in bash', () => {
    expect(completed(['writ', 'led'])).toEqual(['ledger'])
    expect(completed(['writ', 'ledger', 'ver'])).toEqual(['verify'])
    expect(completed(['writ', 'exec', '--wri'])).toEqual(['--write'])
    expect(completed(['writ', 'ledger', 'verify', '--fro'])).toEqual(['--from'])
    expect(completed(['writ', 'exec', 'file'])).toEqual([''])
    expect(completed(['writ', 'exec', '--js'])).toEqual([''])
    expect(completed(['writ', 'log', '--js'])).toContain('--json')
  })

  it('manual pages of a first word name those of its commands', () => {
    const { status, err: stderr } = writ(['man', 'laws'])
    expect(status).toBe(2)
    expect(stderr).toContain('writ man laws check')
  })

  it('offer the ids of questions and acts, and nothing where no home is', () => {
    const place = new Place('completion').init()
    try {
      for (const name of ['one', 'two']) place.exec([], `echo x > ${name}`)
      const [first, second] = place.pending()
      expect(place.writ(['deny', second.id]).status).toBe(0)
      const ids = (kind: string) => place.writ(['completion', '--ids', kind]).out.trim().split('\n')
      expect(ids('questions')).toEqual([first.id])
      expect(ids('acts')).toContain(first.action_id.slice(0, 13))
      const bin = join(place.folder, 'bin')
      mkdirSync(bin)
      const called = `#!/bin/sh\nexec ${process.execPath} ${PROGRAM} "$@"\n`
      writeFileSync(join(bin, 'writ'), called, { mode: 0o755 })
      const env = { ...place.env(), PATH: `${bin}:${process.env['PATH']}` }
      const script = join(folder, 'completion.bash')
      writeFileSync(script, writ(['completion', 'bash']).out)
      const ask = `source ${script}; COMP_WORDS=(writ approve ''); COMP_CWORD=2; _writ; echo "\${COMPREPLY[@]}"`
      const run = { cwd: place.project, env, encoding: 'utf8' } as const
      expect(execFileSync('bash', ['-c', ask], run).trim()).toBe(first.id)
    } finally {
      place.remove()
    }
    const without = writ(['completion', '--ids', 'questions', '--home', '/nowhere'])
    expect([without.status, without.out, without.err]).toEqual([0, '', ''])
  })

  it('are there for zsh and fish, and for no other shell', () => {
    expect(writ(['completion', 'zsh']).out).toContain('bashcompinit')
    const fish = writ(['completion', 'fish']).out
    for (const { name } of COMMANDS) expect(fish).toContain(` -a ${name.split(' ').at(-1)} `)
    expect(writ(['completion', 'tcsh']).status).toBe(2)
  })
})

describe('manual pages', () => {
  it('are one a command, with its options, and one of the program', () => {
    const pages = new Map(
      readdirSync('dist/man').map((name) => [name, readFileSync(join('dist/man', name), 'utf8')]),
    )
    expect(pages.size).toBe(COMMANDS.length + 1)
    for (const page of pages.values()) expect(page).not.toMatch(BEYOND_ASCII)
    for (const { name, options } of COMMANDS) {
      const page = pages.get(`writ-${name.replace(' ', '-')}.1`) ?? ''
      for (const option of options)
        expect(page).toContain(`\\-\\-${option.name.replaceAll('-', '\\-')}`)
      expect(pages.get('writ.1')).toContain(`.B ${name.replaceAll('-', '\\-')}\n`)
    }
  })
})
