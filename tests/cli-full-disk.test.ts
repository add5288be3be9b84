/** A full disk under the state of a home: every command says which, nothing is lost, and it goes on. */
import { execFileSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { ensureBuilt } from './built.ts'

interface Answer {
  readonly status: number
  readonly out: string
  readonly err: string
  /** What the file of the workspace held afterwards. */
  readonly text: string
}

const folder = mkdtempSync(join(tmpdir(), 'writ-full-'))
let answers: Readonly<Record<string, Answer>> = {}
const answer = (name: string): Answer => {
  const found = answers[name]
  if (found === undefined) throw new Error(`nothing was asked under ${name}`)
  return found
}

beforeAll(() => {
  ensureBuilt()
  mkdirSync(join(folder, 'state'))
  const mounting = 'mount -t tmpfs -o size=6m tmpfs "$1" && shift && exec "$@"'
  const program = [resolve('tests/cli-full-disk.program.mjs'), folder, resolve('bin/writ.cjs')]
  const words = ['-c', mounting, 'sh', join(folder, 'state'), process.execPath, ...program]
  const text = execFileSync('unshare', ['-rm', 'sh', ...words], { encoding: 'utf8' })
  answers = JSON.parse(text)
}, 240_000)

afterAll(() => rmSync(folder, { recursive: true, force: true }))

it('works before', () => {
  expect([answer('init').status, answer('first').status]).toEqual([0, 0])
  expect(answer('first').text).toBe('none\none\n')
})

it.each(['fullExec', 'fullUndo', 'fullRotate'])(
  '%s names the directory and changes nothing',
  (name) => {
    const { status, err, text } = answer(name)
    expect(status).toBe(name === 'fullExec' ? 125 : 4)
    expect(err).toContain('ledger.disk_full')
    expect(err).toContain(`the disk that holds ${join(folder, 'state', 'writ')}`)
    expect(err).toContain('df -h ')
    expect(text).toBe('none\none\n')
  },
)

it('reads the history without any room', () => {
  const { facts } = JSON.parse(answer('fullLog').out)
  expect(facts.length).toBeGreaterThan(0)
  expect([answer('fullTasks').status, answer('fullVerify').status]).toEqual([0, 0])
  expect(JSON.parse(answer('fullVerify').out)).toMatchObject({ ok: true, problems: [] })
})

it('goes on when there is room again, with everything that was recorded', () => {
  const sizes = ['fullVerify', 'freedVerify'].map((name) => JSON.parse(answer(name).out).checked)
  expect(sizes[1]).toBe(sizes[0])
  expect([answer('freedExec').status, answer('freedExec').text]).toEqual([0, 'none\none\nthree\n'])
  expect([answer('freedUndo').status, answer('freedUndo').text]).toEqual([0, 'none\none\n'])
  expect([answer('lastUndo').status, answer('lastUndo').text]).toEqual([0, 'none\n'])
  expect(JSON.parse(answer('lastVerify').out)).toMatchObject({ ok: true, problems: [] })
})
