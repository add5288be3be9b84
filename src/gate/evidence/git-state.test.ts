/** Indexes of git, as git itself writes them, and what is done to them. */
import { execFileSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, utimesSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import fc from 'fast-check'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { holdsSameEntries, indexEntries, indexNames } from './git-state.ts'

let folder: string

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'writ-git-index-'))
  git('init', '-q')
  for (const name of ['a', 'b', 'a-much-longer-name-than-the-others.txt']) {
    writeFileSync(join(folder, name), name)
  }
  git('add', '-A')
})

afterEach(() => rmSync(folder, { recursive: true, force: true }))

function git(...args: readonly string[]): void {
  const env = { PATH: process.env['PATH'], HOME: folder, GIT_CONFIG_NOSYSTEM: '1' }
  execFileSync('git', args, { cwd: folder, env })
}

function add(name: string, text: string): void {
  writeFileSync(join(folder, name), text)
  git('add', name)
}

function index(): Uint8Array {
  return readFileSync(join(folder, '.git/index'))
}

describe.each(['2', '3', '4'])('an index of version %s', (version) => {
  /** Version 3 is what git writes when an entry has more flags than fit into version 2. */
  function begin(): Uint8Array {
    if (version === '3') {
      writeFileSync(join(folder, 'later'), '')
      git('add', '--intent-to-add', 'later')
    } else git('update-index', '--index-version', version)
    expect(index()[7]).toBe(Number(version))
    return index()
  }

  it('tells which names it holds', () => {
    begin()
    for (const name of ['a.b', 'a0', 'B', 'z\u00e4']) add(name, name)
    const bytes = index()
    const names = [...(indexEntries(bytes)?.keys() ?? [])]
    const known = indexNames(bytes)
    expect(names.length).toBeGreaterThan(6)
    expect(names.filter((name) => known?.has(name) !== true)).toEqual([])
    for (const name of ['', 'A', 'a-', 'aa', 'b\0', 'zz']) expect(known?.has(name)).toBe(false)
    expect(indexNames(bytes.subarray(0, bytes.length - 1))).toBeNull()
    expect(indexNames(bytes, 32)).toBeNull()
  })

  it('with other times is the same', () => {
    const before = begin()
    utimesSync(join(folder, 'a'), 1, 1)
    git('update-index', '-q', '--refresh')
    expect(Buffer.from(index()).equals(before)).toBe(false)
    expect(holdsSameEntries(before, index())).toBe(true)
  })

  it.each<[string, () => void]>([
    ['an entry more', () => add('c', 'c')],
    ['an entry less', () => git('rm', '-q', '--cached', 'a')],
    ['other bytes', () => add('a', 'other')],
    ['another mode', () => git('update-index', '--chmod=+x', 'a')],
    ['another name', () => git('mv', 'a', 'z')],
    ['a file that is taken as unchanged', () => git('update-index', '--assume-unchanged', 'a')],
    ['a file that is left out', () => git('update-index', '--skip-worktree', 'a')],
  ])('with %s is another', (_, change) => {
    const before = begin()
    change()
    expect(holdsSameEntries(before, index())).toBe(false)
  })
})

it('what is no index, or not a whole one, is not the same', () => {
  const whole = index()
  expect(holdsSameEntries(whole, whole)).toBe(true)
  fc.assert(
    fc.property(fc.nat(whole.length - 1), (length) => {
      expect(holdsSameEntries(whole, whole.subarray(0, length))).toBe(false)
    }),
  )
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 200 }), (bytes) => {
      expect(holdsSameEntries(whole, bytes)).toBe(false)
    }),
  )
})

it('an extension that says something counts', () => {
  const whole = index()
  const extended = Buffer.concat([
    whole.subarray(0, -20),
    Buffer.from('REUC\0\0\0\u0001x', 'latin1'),
    whole.subarray(-20),
  ])
  const derived = Buffer.from(extended)
  derived.write('TREE', whole.length - 20, 'latin1')
  expect(holdsSameEntries(whole, extended)).toBe(false)
  expect(holdsSameEntries(whole, derived)).toBe(true)
})
