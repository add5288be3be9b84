/** Links of a tree: every change is found, also where the listing of the directory is kept. */
import { mkdirSync, mkdtempSync, renameSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, it, vi } from 'vitest'
import { rawOfText, textOfRaw } from '../../gate/index.ts'
import { TreeLinks } from './tree-links.ts'

let tree = ''

beforeEach(() => {
  tree = mkdtempSync(join(tmpdir(), 'writ-tree-links-'))
  for (const name of ['a/b', 'node_modules/c', '.git'])
    mkdirSync(join(tree, name), { recursive: true })
  for (const name of ['a/link', 'node_modules/link', '.git/link'])
    symlinkSync('x', join(tree, name))
  writeFileSync(join(tree, 'a/file'), '')
})

afterEach(() => {
  vi.useRealTimers()
  rmSync(tree, { recursive: true, force: true })
})

function found(links: TreeLinks): readonly string[] {
  const paths = links.below(rawOfText(tree), (path) => path)
  return paths.map((path) => (textOfRaw(path) ?? '').slice(tree.length + 1)).sort()
}

/** As if the directories had been still for a while, so that their listings are kept. */
function later(): void {
  vi.useFakeTimers({ now: Date.now() + 60_000, toFake: ['Date'] })
}

it('finds links, and leaves dependencies, git and files of runs out', () => {
  for (const name of ['.writ/runs/x', 'a/runs']) mkdirSync(join(tree, name), { recursive: true })
  for (const name of ['.writ/runs/x/link', '.writ/link', 'a/runs/link'])
    symlinkSync('x', join(tree, name))
  expect(found(new TreeLinks())).toEqual(['.writ/link', 'a/link', 'a/runs/link'])
})

it('leaves nothing else out', () => {
  expect(found(new TreeLinks())).toEqual(['a/link'])
})

it('finds what changes after a directory was listed', () => {
  const links = new TreeLinks()
  later()
  expect(found(links)).toEqual(['a/link'])
  symlinkSync('x', join(tree, 'a/b/new'))
  expect(found(links)).toEqual(['a/b/new', 'a/link'])
  renameSync(join(tree, 'a/file'), join(tree, 'a/other'))
  rmSync(join(tree, 'a/link'))
  symlinkSync('x', join(tree, 'a/file'))
  expect(found(links)).toEqual(['a/b/new', 'a/file'])
  rmSync(join(tree, 'a'), { recursive: true })
  mkdirSync(join(tree, 'a'))
  expect(found(links)).toEqual([])
})
