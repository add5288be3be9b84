/** Removes trees that a program in a sandbox has made as hard to remove as it can. */
import { execFileSync } from 'node:child_process'
import { existsSync, mkdtempSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { removeTree, removeTreeSync } from './remove-tree.ts'

const make = (script: string): string => {
  const path = mkdtempSync(join(tmpdir(), 'writ-remove-test-'))
  execFileSync('/bin/bash', ['-c', script], { cwd: path })
  return path
}

const WAYS = [
  ['later', removeTree],
  ['at once', removeTreeSync],
] as const

describe.each(WAYS)('a tree is removed %s', (_, remove) => {
  it('that is deeper than any path', async () => {
    const path = make(
      'n=$(printf "%0200d" 0); for i in $(seq 40); do mkdir $n; cd $n; done; echo x > f',
    )
    await remove(path)
    expect(existsSync(path)).toBe(false)
  })

  it('that its owner may not enter', async () => {
    const path = make('mkdir -p a/b/c; echo x > a/b/c/f; chmod 000 a/b/c a/b a')
    await remove(path)
    expect(existsSync(path)).toBe(false)
  })

  it('deep and closed at once, without following a link', async () => {
    const beside = make('echo kept > kept')
    const path = make(
      'n=$(printf "%0200d" 0); for i in $(seq 40); do mkdir $n; cd $n; done; mkdir d; echo x > d/f; chmod 000 d',
    )
    symlinkSync(beside, join(path, 'link'))
    writeFileSync(join(path, '-rf'), '')
    await remove(path)
    expect([existsSync(path), existsSync(join(beside, 'kept'))]).toEqual([false, true])
    await remove(beside)
  })

  it('that is not there', async () => {
    await remove(join(tmpdir(), 'writ-remove-test-never'))
  })
})

describe.each(WAYS)('a tree of every day is removed %s', (_, remove) => {
  it.each([
    [
      'that is small',
      'mkdir -p a/b empty; echo x > a/b/f; ln -s /etc/passwd a/link; mkfifo a/pipe; : > $(printf "\\xff")',
    ],
    ['of more than a few entries', 'mkdir a b; for i in $(seq 300); do : > a/$i; mkdir b/$i; done'],
    ['that its owner may not enter', 'mkdir -p a/b/c; echo x > a/b/c/f; chmod 000 a/b/c a/b a'],
  ])('%s', async (_title, script) => {
    const path = make(script)
    await remove(path)
    expect(existsSync(path)).toBe(false)
  })

  it('without following a link', async () => {
    const beside = make('echo kept > kept')
    const path = make('mkdir a')
    symlinkSync(beside, join(path, 'a', 'link'))
    await remove(path)
    expect([existsSync(path), existsSync(join(beside, 'kept'))]).toEqual([false, true])
    await remove(beside)
  })
})
