/** Watches of a tree (S-1), and what happens where not every directory can have one. */
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { TreeWatch } from './tree-watch.ts'

let root: string
let watch: TreeWatch | null = null
beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), 'writ-tree-watch-'))
  for (const name of ['a', 'a/b', 'c']) mkdirSync(join(root, name))
})
afterEach(() => {
  watch?.close()
  rmSync(root, { recursive: true })
})

/** Watches the tree; resolves with the first call of `onChanged`. */
function firstChange(options: { directoriesMax?: number; lookMs?: number }, words: string[]) {
  return new Promise<readonly string[] | null>((resolve) => {
    watch = new TreeWatch([root], {
      ...options,
      onChanged: resolve,
      onPartial: (text) => words.push(text),
    })
  })
}

it('names what changed in a tree that is watched as a whole', async () => {
  const words: string[] = []
  const changed = firstChange({ lookMs: 1 }, words)
  writeFileSync(join(root, 'a/b/f'), 'x')
  expect(await changed).toEqual([join(root, 'a/b/f')])
  expect(words).toEqual([])
})

it('looks again and again at a tree that has more directories than can be watched', async () => {
  const words: string[] = []
  expect(await firstChange({ directoriesMax: 2, lookMs: 20 }, words)).toBeNull()
  expect(words).toEqual([
    'the tree has more directories than the 2 that writ watches; what others change in the rest is seen within 0.02 seconds',
  ])
})
