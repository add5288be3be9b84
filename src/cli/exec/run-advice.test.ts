/**
 * What of a command's words and output names a hidden place.
 *
 * Which `--scope` is named for what lies outside the scope.
 *
 * The note about what cannot be done inside a run: when it is given, and what it says.
 */
import { mkdirSync, mkdtempSync, realpathSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, expect, it } from 'vitest'
import type { GateAnswer } from '../../service/index.ts'
import { FailureNote, HiddenNote, scopeAdvice } from './run-advice.ts'

const PLACES = ['/home/ann/.ssh', '/home/ann/shop/secrets']

function noted(argv: readonly string[], output: string, hasNetwork = false): readonly string[] {
  const note = new HiddenNote({ argv, cwd: '/home/ann/shop', home: '/home/ann' })
  const run = note.watching({ stdin: 'empty', terminal: null, onOutput: () => {} }, () => {})
  run.onHidden?.({ places: PLACES, byLaws: ['/home/ann/shop/secrets'], hasNetwork })
  for (const piece of output.match(/[\s\S]{1,7}/g) ?? []) {
    run.onOutput('stdout', Buffer.from(piece))
  }
  return note.lines().map((line) => line.split(' ')[0] ?? '')
}

it.each<[string, string[], string, string[]]>([
  ['a word', ['cat', '/home/ann/.ssh/config'], '', ['~/.ssh']],
  ['a word with a tilde, in a script', ['sh', '-c', 'cat ~/.ssh/a'], '', ['~/.ssh']],
  ['a relative word', ['ls', 'secrets'], '', ['~/shop/secrets']],
  ['another name that begins alike', ['cat', 'secrets.md', '~/.ssh-old', 'my/secrets2'], '', []],
  ['a failure', ['x'], 'x: /home/ann/.ssh/id: No such file or directory\n', ['~/.ssh']],
  ['a line that reports no failure', ['x'], 'uses /home/ann/.ssh/id\n', []],
])('%s', (_name, argv, output, names) => {
  expect(noted(argv, output)).toEqual(names)
})

it('says what would show the place', () => {
  const note = new HiddenNote({ argv: ['cat', '~/.ssh'], cwd: '/', home: '/home/ann' })
  const run = note.watching({ stdin: 'empty', terminal: null, onOutput: () => {} }, () => {})
  run.onHidden?.({ places: PLACES, byLaws: [], hasNetwork: true })
  expect(note.lines()).toEqual([
    '~/.ssh is hidden from runs, which find it empty; no run with a network can read it',
  ])
})

const home = realpathSync(mkdtempSync(join(tmpdir(), 'writ-advice-')))
const cwd = join(home, 'repo')

mkdirSync(join(home, 'there'), { recursive: true })

afterAll(() => rmSync(home, { recursive: true, force: true }))

const run = { cwd, scope: [cwd], home, isPerson: true }

const left = (...names: readonly string[]) =>
  names.map((name) => ({ code: 'effect.left_out', path: join(home, name), detail: 'added' }))

it.each([
  ['a new directory', ['wt', 'wt/a'], 'mkdir -p ../wt && writ exec --scope . --scope ../wt -- …'],
  ['a file in a directory', ['there/a'], 'writ exec --scope . --scope ../there -- …'],
  [
    'many directories of one repository',
    ['there/o/1/a', 'there/o/2/a', 'there/o/3/a', 'there/o/4/a'],
    'writ exec --scope . --scope ../there -- …',
  ],
  ['a blank', ['a b', 'a b/c'], "mkdir -p '../a b' && writ exec --scope . --scope '../a b' -- …"],
])('%s', (_name, paths, command) => {
  expect(scopeAdvice(left(...paths), run)).toBe(
    `to include what lies outside the scope: ${command}`,
  )
})

it('names what it can next to a file of the home itself', () => {
  expect(scopeAdvice(left('.toolrc', 'there/a'), run)).toContain('--scope ../there -- …')
})

it('names none for a file of the home itself, and none where nothing lies outside', () => {
  expect(scopeAdvice(left('.toolrc'), run)).toBe(null)
  expect(scopeAdvice([{ code: 'effect.undeclared', path: '/x/y' }], run)).toBe(null)
})

it('tells an agent what a person can do', () => {
  const words = scopeAdvice(left('wt', 'wt/a'), { ...run, isPerson: false })
  expect(words).toContain('a person adds a grant with `scope`')
})

/** Of a result only the exit is looked at. */
const ended = (exit_code: number) => ({ execution: { exit_code } }) as GateAnswer['result']

function noteAfter(...pieces: readonly string[]): FailureNote {
  const note = new FailureNote()
  for (const piece of pieces) note.take(Buffer.from(piece))
  return note
}

it('is given for a command that failed and said so, in pieces of any size', () => {
  const git = noteAfter("fatal: renaming 'dd' failed: Invalid cross-de", 'vice link\n')
  expect(git.text(ended(128))).toContain('hidden from the run')
  const node = noteAfter('x'.repeat(100), 'Error: EXDEV: cross-device link not permitted')
  expect(node.text(ended(1))).toContain('could not rename a directory')
})

it('names the option for a clone that cannot link', () => {
  const git = noteAfter('fatal: hardlink different from sou', "rce at 'cl/.git/objects/aa/ff74'\n")
  expect(git.text(ended(128))).toContain('git clone --no-hardlinks')
})

it('is not given for one that went well, or said nothing, or never ran', () => {
  expect(noteAfter('EXDEV').text(ended(0))).toBe(null)
  expect(noteAfter('some other error').text(ended(1))).toBe(null)
  expect(noteAfter('EXDEV').text(null)).toBe(null)
})
