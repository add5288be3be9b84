/** The tree of changes: its order, its directories, and that nothing is left out. */
import { expect, it } from 'vitest'
import { treeRows } from './change-tree.ts'
import type { QuestionChange } from './question.ts'

function changed(path: string, change = 'modified', kind = 'file'): QuestionChange {
  return { path, change, kind, deferred: path.endsWith('.env') }
}

function shown(changes: readonly QuestionChange[], closed: readonly string[] = []) {
  return treeRows(changes, new Set(closed)).map(
    ({ level, name, change }) => `${'  '.repeat(level)}${change === null ? '+ ' : ''}${name}`,
  )
}

const SOME = [
  changed('/p/src/app/a.ts'),
  changed('/p/src/app/b.ts'),
  changed('/p/src/lib/deep/c.ts'),
  changed('/p/readme.md'),
  changed('/p/notes', 'deleted', 'directory'),
  changed('/p/notes.txt', 'deleted'),
  changed('/p/notes/one.txt', 'deleted'),
  changed('/p/src/.env', 'added'),
]

it('has deletions first, then what runs later, each in its directories', () => {
  expect(shown(SOME)).toEqual([
    'notes/',
    '  one.txt',
    'notes.txt',
    'src/.env',
    'readme.md',
    '+ src/',
    '  + app/',
    '    a.ts',
    '    b.ts',
    '  lib/deep/c.ts',
  ])
})

it('leaves out what is below a closed directory, which still names all of it', () => {
  const closed = ['modified /p/src/']
  expect(shown(SOME, closed).at(-1)).toBe('+ src/')
  const folder = treeRows(SOME, new Set(closed)).at(-1)
  expect(folder?.change === null && folder.below.map(({ path }) => path)).toEqual([
    '/p/src/app/a.ts',
    '/p/src/app/b.ts',
    '/p/src/lib/deep/c.ts',
  ])
})

it('shows every change once, in a tree of 5,000', () => {
  const many = Array.from({ length: 5_000 }, (_, index) =>
    changed(`/p/d${index % 7}/e${index % 11}/f${index}.txt`),
  )
  const rows = treeRows(many, new Set())
  const paths = rows.flatMap(({ change }) => (change === null ? [] : [change.path]))
  expect(new Set(paths).size).toBe(5_000)
  expect(paths).toHaveLength(5_000)
})
