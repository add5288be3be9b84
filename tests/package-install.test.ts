/**
 * The packed file, installed by an ordinary user into an empty directory where nothing compiled can be
 * had: on a Node that has SQLite inside it works at once, on one that has none it says what to do, and
 * works when the compiled part of better-sqlite3 is there.
 */
import { execFileSync, spawnSync } from 'node:child_process'
import {
  chmodSync,
  chownSync,
  copyFileSync,
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  realpathSync,
  rmSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { ensureBuilt } from './built.ts'
import { node24 } from './node-24.ts'

const NOBODY = 65_534

const folder = mkdtempSync(join(tmpdir(), 'writ-install-'))
const [app, home, bin] = ['app', 'home', 'bin'].map((name) => join(folder, name)) as [
  string,
  string,
  string,
]
const installed = join(app, 'node_modules', 'writ')
const hasOwnSqlite = process.getBuiltinModule('node:sqlite') !== undefined

/** Runs a program as an ordinary user, also where this test runs as root. */
function run(command: string, args: readonly string[], cwd: string) {
  const owner = process.getuid?.() === 0 ? { uid: NOBODY, gid: NOBODY } : {}
  const { status, stdout, stderr } = spawnSync(command, args, {
    ...owner,
    cwd,
    encoding: 'utf8',
    env: {
      ...process.env,
      HOME: home,
      XDG_STATE_HOME: join(home, 'state'),
      PATH: `${bin}:${process.env['PATH']}`,
      npm_config_cache: join(home, '.npm'),
      // No headers, so that nothing is compiled in this test.
      npm_config_nodedir: '/nonexistent',
    },
  })
  return { status, out: stdout, err: stderr }
}

beforeAll(() => {
  ensureBuilt()
  chmodSync(folder, 0o755)
  for (const one of [app, home, bin, join(home, 'project')]) {
    mkdirSync(one)
    if (process.getuid?.() === 0) chownSync(one, NOBODY, NOBODY)
  }
  copyFileSync(node24(), join(bin, 'node'))
  const pack = ['pack', '--pack-destination', folder, '--ignore-scripts', '--silent']
  const file = execFileSync('npm', pack, { encoding: 'utf8' }).trim()
  const npm = realpathSync(execFileSync('which', ['npm'], { encoding: 'utf8' }).trim())
  const words = ['install', '--no-audit', '--no-fund', '--loglevel=error', `../${file}`]
  const made = run(join(bin, 'node'), [npm, ...words], app)
  expect(made.status, made.err).toBe(0)
}, 600_000)

afterAll(() => rmSync(folder, { recursive: true, force: true }))

const writ = (node: string, ...words: readonly string[]) =>
  run(node, [join(installed, 'bin', 'writ.cjs'), ...words], join(home, 'project'))

it('works at once on a Node that has SQLite inside', () => {
  expect(existsSync(join(app, 'node_modules', 'better-sqlite3', 'build', 'Release'))).toBe(false)
  const node = join(bin, 'node')
  expect(writ(node, 'init', '--no-pass')).toMatchObject({ status: 0, err: '' })
  const ran = writ(node, 'exec', '--', 'true')
  expect(ran.status, ran.err).toBe(0)
  expect(writ(node, 'ledger', 'verify').status).toBe(0)
}, 60_000)

it('has every door of the library on that Node', () => {
  const { exports: doors } = JSON.parse(readFileSync('package.json', 'utf8'))
  const names = Object.keys(doors).filter((door) => door !== './package.json')
  const program = `for (const door of process.argv.slice(1))
    console.log(door, Object.keys(await import(door)).length > 0)`
  const words = names.map((door) => door.replace('.', 'writ'))
  const args = ['--input-type=module', '-e', program, ...words]
  const { out, err } = run(join(bin, 'node'), args, app)
  expect(out, err).toBe(words.map((word) => `${word} true\n`).join(''))
}, 60_000)

it('works on any Node once the compiled part of better-sqlite3 is there', () => {
  const installer = join(installed, 'bin', 'install-sqlite.cjs')
  const node = process.execPath
  if (!hasOwnSqlite) {
    const without = writ(node, 'log')
    expect(without.status).toBe(4)
    expect(without.err).toMatch(/ledger\.no_sqlite[\s\S]*node .*bin\/install-sqlite\.cjs/)
    // What the installer leaves behind when it has compiled.
    const from = join('node_modules', 'better-sqlite3')
    for (const part of ['package.json', 'lib', 'build/Release/better_sqlite3.node']) {
      const to = join(installed, 'dist', 'node_modules', 'better-sqlite3', part)
      mkdirSync(dirname(to), { recursive: true })
      cpSync(join(from, part), to, { recursive: true })
    }
  }
  expect(run(node, [installer], home)).toMatchObject({ status: 0, out: 'SQLite works\n' })
  const ran = writ(node, 'exec', '--', 'true')
  expect(ran.status, ran.err).toBe(0)
  expect(writ(node, 'ledger', 'verify').status).toBe(0)
}, 60_000)
