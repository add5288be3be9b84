/** The conformance cases of expressions: answers, deciding values, reasons, and faults with places. */
import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import {
  compileExpression,
  type Environment,
  evaluate,
  type HostCalls,
} from '../../src/expression/index.ts'
import { changed } from '../vectors/vector.ts'

interface Case {
  readonly id: string
  readonly note: string
  readonly source: string
  readonly remove?: readonly string[]
  readonly set?: Readonly<Record<string, unknown>>
  /** By function and argument: the witness of a yes. */
  readonly calls?: Readonly<Record<string, Readonly<Record<string, string>>>>
  readonly want?: {
    readonly value: unknown
    readonly deciding?: readonly unknown[]
    readonly reasons?: readonly unknown[]
  }
  readonly wantFaults?: readonly Readonly<Record<string, unknown>>[]
}

interface VectorFile {
  readonly spec: string
  readonly environment: { readonly variables: Environment['variables'] }
  readonly values: unknown
  readonly cases: readonly Case[]
}

const KEYS = ['id', 'note', 'source', 'set', 'remove', 'calls', 'want', 'wantFaults']

const files = ['evaluation.json', 'faults.json'].map(
  (name) =>
    JSON.parse(readFileSync(`spec/vectors/expression/${name}`, 'utf8')) as unknown as VectorFile,
)

/** The function of the cases: any absolute text is a legal argument. */
const TOUCHES = {
  prepare: (argument: string) =>
    argument.startsWith('/')
      ? ({ ok: true, argument } as const)
      : ({ ok: false, message: 'the path is not absolute' } as const),
}

function callsOf({ calls }: Case): HostCalls {
  const answers = calls?.['touches']
  if (answers === undefined) return {}
  return {
    touches: (argument) => {
      const witness = answers[String(argument)]
      return witness === undefined ? { value: false } : { value: true, witness }
    },
  }
}

describe('expression/1', () => {
  const cases = files.flatMap((file) => file.cases.map((one) => [one.id, one, file] as const))

  it('has at least 150 cases, each with its own id and known keys', () => {
    expect(cases.length).toBeGreaterThanOrEqual(150)
    expect(new Set(cases.map(([id]) => id)).size).toBe(cases.length)
    for (const { spec } of files) expect(spec).toBe('expression/1')
    for (const [id, one] of cases) {
      for (const key of Object.keys(one)) expect(KEYS, id).toContain(key)
    }
  })

  it.each(cases)('%s', (_, one, file) => {
    const environment = { ...file.environment, functions: { touches: TOUCHES } }
    const compiled = compileExpression(one.source, environment)
    if (one.wantFaults !== undefined) {
      expect(compiled.ok ? [] : compiled.faults).toMatchObject(one.wantFaults)
      expect(compiled.ok ? 0 : compiled.faults.length).toBe(one.wantFaults.length)
      return
    }
    expect(compiled.ok ? [] : compiled.faults).toEqual([])
    if (!compiled.ok || one.want === undefined) return
    const values = changed(file.values, one.remove, one.set) as Readonly<Record<string, unknown>>
    const { value, deciding, reasons } = evaluate(compiled.expression, values, callsOf(one))
    expect(value).toBe(one.want.value)
    if (one.want.deciding !== undefined) {
      expect(deciding.map(({ path, value: read }) => ({ path, value: read }))).toEqual(
        one.want.deciding,
      )
    }
    const told = reasons.map(({ code, path, line, column }) => ({ code, path, line, column }))
    if (one.want.reasons !== undefined) expect(told).toEqual(one.want.reasons)
    expect(reasons.length > 0).toBe(value === 'undetermined')
  })
})
