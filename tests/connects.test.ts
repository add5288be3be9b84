/**
 * writ connects nowhere unasked: every command, or its help, under strace, in a home whose facts lie in a
 * file.
 */
import { spawnSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, readFileSync, realpathSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { afterAll, beforeAll, expect, it, vi } from 'vitest'
import { COMMANDS } from '../src/cli/commands/table.ts'
import { ensureBuilt } from './built.ts'

vi.setConfig({ testTimeout: 600_000, hookTimeout: 300_000 })

const PROGRAM = resolve('bin', 'writ.cjs')
const RULES = resolve('examples', 'constitution')
const folder = realpathSync(mkdtempSync(join(tmpdir(), 'writ-connects-')))
const project = join(folder, 'project')
const trace = join(folder, 'trace')

/** What each command does with arguments that need no other side; the rest show their help. */
const CALLS: Readonly<Record<string, readonly string[]>> = {
  init: ['--no-pass'],
  doctor: [],
  exec: ['--write', '.', '--', 'sh', '-c', 'echo more >> kept.txt'],
  undo: [],
  inbox: [],
  log: [],
  replay: [],
  recover: [],
  halt: [],
  resume: [],
  'laws check': [],
  'laws accept': [],
  'rules check': [RULES],
  'rules test': [RULES],
  'ledger verify': [],
  'ledger checkpoint': [],
  'ledger export': ['bundle'],
  'ledger key': [],
  'witness list': [],
  export: ['--format', 'ocsf'],
  'ledger rotate': [],
  'principal list': [],
  'token list': [],
  'task list': [],
  'flow status': [],
  schema: ['ao_act_task_v0'],
}

beforeAll(() => {
  ensureBuilt()
  mkdirSync(project)
  writeFileSync(join(project, 'kept.txt'), 'kept\n')
})

afterAll(() => rmSync(folder, { recursive: true, force: true }))

/** Shows the help of several commands, in one process. */
const HELP = `
const [program, ...names] = process.argv.slice(1)
const { load } = require(program)
const { main } = load(require('node:path').resolve(program, '../../dist/cli'))
const show = async () => {
  for (const name of names) process.exitCode ||= await main([...name.split(' '), '--help'])
}
show()
`

interface Traced {
  readonly status: number | null
  /** The calls that name an address of the internet. */
  readonly calls: readonly string[]
}

/** Runs a program in the project. */
function traced(words: readonly string[]): Traced {
  const filter = 'trace=connect,sendto,sendmsg,sendmmsg'
  const { error, status } = spawnSync(
    'strace',
    ['-f', '-qq', '-o', trace, '-e', filter, ...words],
    {
      cwd: project,
      env: { PATH: process.env['PATH'], HOME: folder, NO_COLOR: '1' },
      stdio: 'ignore',
      timeout: 120_000,
    },
  )
  if (error !== undefined) throw error
  const lines = readFileSync(trace, 'utf8').split('\n')
  return { status, calls: lines.filter((line) => /AF_INET6?\b/.test(line)) }
}

it('sees a connection that is made', () => {
  const script = `require('node:net').connect(9, '127.0.0.1').on('error', () => {})`
  expect(traced([process.execPath, '-e', script]).calls).not.toEqual([])
})

it('every command of the table', () => {
  const names = new Set(COMMANDS.map(({ name }) => name))
  expect(Object.keys(CALLS).filter((name) => !names.has(name))).toEqual([])
  const odd = Object.entries(CALLS)
    .map(([name, args]) => ({
      name,
      ...traced([process.execPath, PROGRAM, ...name.split(' '), ...args]),
    }))
    .filter(({ status, calls }) => status !== 0 || calls.length > 0)
  expect(odd).toEqual([])
  const helped = [...names].filter((name) => CALLS[name] === undefined)
  expect(traced([process.execPath, '-e', HELP, PROGRAM, ...helped])).toEqual({
    status: 0,
    calls: [],
  })
})
