/** The built program and the code that was kept of it: in force, and never needed. */
import { execFileSync, spawnSync } from 'node:child_process'
import {
  copyFileSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { VERSION } from '../src/base/index.ts'
import { ensureBuilt } from './built.ts'

const STARTER = join(process.cwd(), 'bin', 'writ.cjs')
const BUILT = join(process.cwd(), 'dist', 'cli')
const SCRIPTS = ['program', 'exec', 'run']
const folder = mkdtempSync(join(tmpdir(), 'writ-program-test-'))

beforeAll(() => {
  ensureBuilt()
  // Packages are looked for from where the program lies.
  symlinkSync(join(process.cwd(), 'node_modules'), join(folder, 'node_modules'))
  copyFileSync(join(BUILT, 'program.cjs'), join(folder, 'program.cjs'))
}, 120_000)

afterAll(() => rmSync(folder, { recursive: true, force: true }))

/** The version as the program in that directory tells it. */
function versionIn(directory: string, flags: readonly string[] = []): string {
  const script = `require(${JSON.stringify(STARTER)}).load(${JSON.stringify(directory)}).main(['--version'])`
  const { stdout } = spawnSync(process.execPath, [...flags, '--eval', script], { encoding: 'utf8' })
  return stdout
}

describe('the code that was kept', () => {
  it.each(SCRIPTS)('is taken by the Node that made it: %s', (name) => {
    // In a process of its own: the workers of the tests have flags, and code fits the flags it was made with.
    const call = `load(${JSON.stringify(BUILT)}, ${JSON.stringify(name)}).script.cachedDataRejected`
    const script = `console.log(require(${JSON.stringify(STARTER)}).${call})`
    const { stdout } = spawnSync(process.execPath, ['--eval', script], { encoding: 'utf8' })
    expect(stdout).toBe('false\n')
  })

  it.each(SCRIPTS)('belongs to a file that is read as one byte a character: %s', (name) => {
    expect(readFileSync(join(BUILT, `${name}.cjs`)).every((byte) => byte < 128)).toBe(true)
  })

  it('may be missing', () => {
    expect(versionIn(folder)).toBe(`${VERSION}\n`)
  })

  it('may be anything', () => {
    const kept = readFileSync(join(BUILT, 'program.cjs.code'))
    for (const bytes of [Buffer.from('nonsense'), kept.subarray(0, 1000), Buffer.alloc(0)]) {
      writeFileSync(join(folder, 'program.cjs.code'), bytes)
      expect(versionIn(folder)).toBe(`${VERSION}\n`)
    }
  })

  it('is passed over by a Node that was started in another way', () => {
    expect(versionIn(BUILT, ['--no-opt', '--stack-size=900'])).toBe(`${VERSION}\n`)
  })
})

/** Each of these takes Node about a millisecond or more to load. */
const RARE = [
  'http',
  'tls',
  'zlib',
  'worker_threads',
  'dns/promises',
  'readline',
  'perf_hooks',
  'v8',
]

it('loads no module of Node that few commands need', () => {
  const [home, project, list] = ['home', 'project', 'list.cjs'].map((name) => join(folder, name))
  execFileSync('mkdir', ['-p', String(home), String(project)])
  const say = "process.on('exit', () => process.stderr.write(process.moduleLoadList.join('\\n')))"
  writeFileSync(String(list), say)
  const env = { ...process.env, HOME: home, XDG_STATE_HOME: join(folder, 'state') }
  const writ = (...words: readonly string[]) =>
    spawnSync(process.execPath, words, { cwd: project, env, encoding: 'utf8' })
  expect(writ(STARTER, 'init', '--no-pass').status).toBe(0)
  const { status, stderr } = writ('--require', String(list), STARTER, 'exec', '--', 'true')
  const loaded = new Set(stderr.split('\n'))
  expect({ status, crypto: loaded.has('NativeModule crypto') }).toEqual({ status: 0, crypto: true })
  expect(RARE.filter((name) => loaded.has(`NativeModule ${name}`))).toEqual([])
})

describe('the scripts of single commands', () => {
  const call = (...words: readonly string[]) =>
    spawnSync(process.execPath, words, { cwd: folder, encoding: 'utf8' })
  const whole = `require(${JSON.stringify(STARTER)}).load(${JSON.stringify(BUILT)}).main(process.argv.slice(1))`

  it.each([
    [['exec', '--help']],
    [['exec']],
    [['exec', '--wirte', 'x', '--', 'true']],
    [['exec', '--json', '--', 'true']],
    [['exec', '--home', '/nowhere', '--', 'true']],
    [['run', '--help']],
    [['run']],
    [['run', '--wirte', 'x', '--', 'true']],
    [['session', '--help']],
    [['session']],
    [['session', 'lost']],
    [['session', 'settle', '--home', '/nowhere']],
  ])('says what the whole program says: %j', (words) => {
    const { stdout, stderr } = call(STARTER, ...words)
    const other = call('--eval', whole, '--', ...words)
    expect({ stdout, stderr }).toEqual({ stdout: other.stdout, stderr: other.stderr })
    expect(`${stdout}${stderr}`).not.toBe('')
  })

  it('writes the modules of `writ exec` into one scope', () => {
    // A module that some file imports with `import()` becomes a function, and so do all that it imports.
    const functions = ['exec', 'program'].map((name) => {
      const text = readFileSync(join(BUILT, `${name}.cjs`), 'latin1')
      return text.match(/[\w$]+=[\w$]+\(\(\)=>\{/g)?.length ?? 0
    })
    // What is left are the packages for YAML and for line differences.
    expect(functions[0]).toBeLessThan((functions[1] ?? 0) / 8)
  })
})

it('says how to build what is missing', () => {
  const starter = join(folder, 'bin', 'writ.cjs')
  execFileSync('mkdir', ['-p', join(folder, 'bin')])
  copyFileSync(STARTER, starter)
  const { status, stderr } = spawnSync(process.execPath, [starter], { encoding: 'utf8' })
  expect({ status, code: stderr.split(':')[0] }).toEqual({ status: 4, code: 'cli.not_built' })
})
