/** The conformance cases of flows as documents: checks, tables, plans. */
import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { CODES } from '../../src/base/index.ts'
import { checkFlow } from '../../src/flow/index.ts'
import { changed } from '../vectors/vector.ts'

interface Place {
  readonly code: string
  readonly path: string
}

interface CheckCase {
  readonly id: string
  readonly note: string
  readonly from?: string
  readonly document?: unknown
  readonly remove?: readonly string[]
  readonly set?: Readonly<Record<string, unknown>>
  readonly want: {
    readonly valid: boolean
    readonly violations: readonly Place[]
    readonly warnings: readonly Place[]
  }
}

const read = (name: string) => JSON.parse(readFileSync(`spec/vectors/flow/${name}.json`, 'utf8'))
const placesOf = (list: readonly Place[]) => list.map(({ code, path }) => ({ code, path }))

describe('checks', () => {
  const { bases, cases } = read('checks') as {
    readonly bases: Readonly<Record<string, unknown>>
    readonly cases: readonly CheckCase[]
  }

  it.each(cases.map((row) => [row.id, row] as const))('%s', (_, row) => {
    const { from, document, remove, set, want } = row
    const flow = from === undefined ? document : changed(bases[from], remove, set)
    const before = JSON.stringify(flow)
    const { valid, violations, warnings } = checkFlow(flow)
    expect({ valid, violations: placesOf(violations), warnings: placesOf(warnings) }).toEqual(want)
    expect(JSON.stringify(flow)).toBe(before)
    for (const { message } of [...violations, ...warnings])
      expect(message).toMatch(/^[^A-Z].*[^.]$/s)
  })

  it('name every case once, and every code of the checks', () => {
    expect(new Set(cases.map(({ id }) => id)).size).toBe(cases.length)
    expect(cases.length).toBeGreaterThanOrEqual(80)
    const named = new Set(
      cases.flatMap(({ want }) => [...want.violations, ...want.warnings].map(({ code }) => code)),
    )
    const page = Object.keys(CODES)
    const of = page.slice(page.indexOf('flow.unreachable'), page.indexOf('flow.table_text'))
    expect(of.filter((code) => !named.has(code))).toEqual([])
  })
})
