/** Tables in a file: what was set is found, what was taken away is not, and damage is never an answer. */
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import fc from 'fast-check'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { MemoryTable } from '../../gate/index.ts'
import { type FileSeal, keyFromSeed, newSeed, sealOf } from '../keys/ed25519.ts'
import { TableDamage, TableFile } from './table-file.ts'
import { writeTables } from './table-writer.ts'

const seal = sealOf(keyFromSeed(newSeed()))
let folder = ''
let path = ''

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'writ-tables-'))
  path = join(folder, 'one')
})

afterEach(() => {
  rmSync(folder, { recursive: true, force: true })
})

type Changes = readonly (readonly [string, string | null])[]

/** Null takes a key away. */
function changed(changes: Changes, before: TableFile | null): MemoryTable<string> {
  const table = new MemoryTable<string>(before?.table('t') ?? undefined)
  for (const [key, value] of changes) {
    if (value === null) table.delete(key)
    else table.set(key, value)
  }
  return table
}

function write(changes: Changes, before: TableFile | null, by: FileSeal = seal): void {
  writeTables(path, { head: { a: 1 }, tables: { t: changed(changes, before) }, before }, by)
}

function open(by: FileSeal = seal): TableFile {
  return new TableFile(path, () => by)
}

/** Values of several kilobytes, so that tables have many blocks. */
const row = fc.tuple(
  fc.oneof(
    fc.integer({ min: 0, max: 400 }).map((number) => String(number).padStart(3, '0')),
    fc.string({ unit: 'binary', maxLength: 3 }),
  ),
  fc.option(fc.integer({ min: 0, max: 3_000 }).map((length) => 'x'.repeat(length))),
)

describe('tables in a file', () => {
  it('hold what a map would hold, after any number of writings', () => {
    const writings = fc.array(fc.array(row, { maxLength: 40 }), { minLength: 1, maxLength: 5 })
    fc.assert(
      fc.property(writings, (turns) => {
        const expected = new Map<string, string>()
        let before: TableFile | null = null
        for (const changes of turns) {
          for (const [key, value] of changes) {
            if (value === null) expected.delete(key)
            else expected.set(key, value)
          }
          write(changes, before)
          before?.close()
          before = open()
          const table = before.table('t')
          expect(new Map(table?.entries())).toEqual(expected)
          for (const [key] of changes) expect(table?.get(key)).toBe(expected.get(key))
          for (const key of ['', '000', '200', '999', '\u{10ffff}']) {
            expect(table?.get(key)).toBe(expected.get(key))
          }
          const under = [...expected.keys()].filter((key) => key.startsWith('1')).sort()
          expect([...(table?.under('1') ?? [])].sort()).toEqual(under)
        }
        before?.close()
      }),
      { numRuns: 60 },
    )
  })

  it('read a block only when something of it is asked for', () => {
    const rows = Array.from({ length: 500 }, (_, n) => [`k${1_000 + n}`, 'x'.repeat(500)] as const)
    write(rows, null)
    const bytes = readFileSync(path)
    bytes[100] = 0
    writeFileSync(path, bytes)
    const file = open()
    const table = file.table('t')
    expect(table?.entry.blocks.length).toBeGreaterThan(10)
    expect(table?.get('k1499')).toBe('x'.repeat(500))
    expect(table?.get('k9999')).toBeUndefined()
    expect(() => table?.get('k1000')).toThrow(TableDamage)
    expect(() => [...(table?.entries() ?? [])]).toThrow(TableDamage)
    file.close()
  })

  it('carry over blocks in which nothing changed, damage and all', () => {
    const rows = Array.from({ length: 500 }, (_, n) => [`k${1_000 + n}`, 'x'.repeat(500)] as const)
    write(rows, null)
    const before = open()
    const first = before.table('t')?.entry.blocks[0]
    write([['k1499', 'y']], before)
    const after = open()
    expect(after.table('t')?.entry.blocks[0]).toEqual(first)
    expect(after.table('t')?.get('k1499')).toBe('y')
    // A reader that still has the replaced file open can read it.
    expect(before.table('t')?.get('k1499')).toBe('x'.repeat(500))
    before.close()
    after.close()
  })

  it('are not believed with any byte changed, or cut short, where it is read', () => {
    write(
      [
        ['a', 'one'],
        ['b', 'two'],
      ],
      null,
    )
    const whole = readFileSync(path)
    const asked = (): unknown => {
      const file = open()
      try {
        return [...(file.table('t')?.entries() ?? [])]
      } finally {
        file.close()
      }
    }
    const answer = asked()
    for (let at = 0; at < whole.length; at++) {
      const bytes = Buffer.from(whole)
      bytes[at] = (bytes[at] ?? 0) ^ 1
      writeFileSync(path, bytes)
      let found: unknown
      try {
        found = asked()
      } catch (error) {
        expect(error).toBeInstanceOf(TableDamage)
        continue
      }
      // Padding, and bits of base64 that mean nothing.
      expect(found).toEqual(answer)
      expect(at).toBeGreaterThan(whole.length - 160)
    }
    for (const size of [0, 1, 100, 160, whole.length - 1]) {
      writeFileSync(path, whole.subarray(0, size))
      expect(asked).toThrow(TableDamage)
    }
  })

  it('are not believed when another key signed them', () => {
    write([['a', 'one']], null, sealOf(keyFromSeed(newSeed())))
    expect(() => open()).toThrow(TableDamage)
  })
})
