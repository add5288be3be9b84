/** The program that stays reads what `getfattr` reads, and is replaced by it when it is gone. */
import { execFileSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { rawOfText } from '../gate/index.ts'
import { removeByProgram } from './attribute-reader.ts'
import { readAttributes, readRawAttributes } from './attributes.ts'

const folder = mkdtempSync(join(tmpdir(), 'writ-reader-'))
const at = (name: string): string => join(folder, name)
const PATHS = ['plain', 'one', 'more', 'od d=\\', 'folder', 'link', 'gone'].map((name) =>
  rawOfText(at(name)),
)

function set(name: string, attribute: string, value: string): void {
  execFileSync('setfattr', ['-h', '-n', attribute, '-v', value, at(name)])
}

/** The programs of this process that read attributes. */
function readers(): readonly number[] {
  const children = readFileSync(`/proc/self/task/${process.pid}/children`, 'latin1').trim()
  return children
    .split(' ')
    .filter((pid) => pid !== '')
    .filter((pid) => readFileSync(`/proc/${pid}/cmdline`, 'latin1').includes('# file: '))
    .map(Number)
}

beforeAll(() => {
  for (const name of ['plain', 'one', 'more', 'od d=\\']) writeFileSync(at(name), name)
  mkdirSync(at('folder'))
  symlinkSync('one', at('link'))
  set('one', 'user.a', 'text')
  set('more', 'user.a=b\\c', '0x00ff0a')
  set('more', 'user.empty', '')
  set('od d=\\', 'user.long', 'x'.repeat(3_000))
  set('folder', 'user.overlay.opaque', 'y')
})

afterAll(() => rmSync(folder, { recursive: true, force: true }))

describe('a process that reads often', () => {
  it('gets the same of every entry', async () => {
    const first = await readAttributes(PATHS, 'real')
    for (let count = 0; count < 3; count++) await readRawAttributes(PATHS)
    // Another file of this worker may have read often already.
    expect(readers().length).toBeLessThanOrEqual(1)
    expect(await readAttributes(PATHS, 'real')).toEqual(first)
    expect(readers()).toHaveLength(1)
    expect(first.byPath.size).toBe(4)
    expect(first.unreadable).toEqual([rawOfText(at('gone'))])
  })

  it('gets answers to requests that come at once', async () => {
    const each = await Promise.all(PATHS.slice(0, 4).map((path) => readRawAttributes([path])))
    expect(each.map((found) => found.size)).toEqual([0, 1, 1, 1])
  })

  it('takes an attribute away, and says if it could not', async () => {
    const [both, one] = [['plain', 'folder'], ['plain']].map((names) => names.map(at))
    for (const name of ['plain', 'folder']) set(name, 'user.gone', 'x')
    expect(await removeByProgram('user.gone', both ?? [])).toBe(true)
    const left = await readRawAttributes((both ?? []).map(rawOfText))
    expect([...left.values()].flat().map(([name]) => name)).toEqual(['user.overlay.opaque'])
    expect(await removeByProgram('user.gone', one ?? [])).toBe(false)
    expect(await removeByProgram('user.a b', one ?? [])).toBe(false)
  })

  it('gets answers that are too long for the program', async () => {
    const many = Array.from({ length: 300 }, () => rawOfText(at('od d=\\')))
    const { byPath } = await readAttributes(many, 'real')
    expect(byPath.get(many[0] ?? rawOfText(''))?.kept).toHaveLength(1)
  })

  it('goes on when the program was killed', async () => {
    const [reader = 0] = readers()
    process.kill(reader, 'SIGKILL')
    for (let count = 0; count < 3; count++) {
      expect((await readRawAttributes(PATHS)).size).toBe(4)
    }
    expect(readers()).not.toContain(reader)
  })
})
