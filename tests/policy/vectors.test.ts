/** The conformance cases of policies: laws judged, policies of flows, and law files with places. */
import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { compileExpression } from '../../src/expression/index.ts'
import {
  flowEnvironment,
  judgeLaws,
  judgePolicies,
  type LawValues,
  loadLaws,
  type Policy,
} from '../../src/policy/index.ts'
import { changed } from '../vectors/vector.ts'

interface Edited {
  readonly id: string
  readonly note: string
  readonly remove?: readonly string[]
  readonly set?: Readonly<Record<string, unknown>>
}

interface LawCase extends Edited {
  readonly laws: readonly unknown[]
  readonly phase: 'before' | 'after'
  readonly from: string
  readonly overrides?: readonly string[]
  readonly want: readonly Readonly<Record<string, unknown>>[]
}

interface PolicyCase extends Edited {
  readonly policies: readonly Readonly<Record<string, never>>[]
  readonly want: Readonly<Record<string, unknown>>
}

interface FileCase {
  readonly id: string
  readonly text: string
  readonly wantFaults: readonly Readonly<Record<string, unknown>>[]
}

function read<Shape>(name: string): Shape {
  return JSON.parse(readFileSync(`spec/vectors/policy/${name}.json`, 'utf8')) as Shape
}

const laws = read<{ bases: Record<string, unknown>; cases: LawCase[] }>('laws')
const policies = read<{ state: unknown; cases: PolicyCase[] }>('policies')
const files = read<{ cases: FileCase[] }>('files')

describe('policy/1', () => {
  it('has at least 60 cases, each with its own id', () => {
    const ids = [...laws.cases, ...policies.cases, ...files.cases].map(({ id }) => id)
    expect(ids.length).toBeGreaterThanOrEqual(60)
    expect(new Set(ids).size).toBe(ids.length)
  })

  it.each(laws.cases.map((one) => [one.id, one] as const))('%s', async (_, one) => {
    const reading = await loadLaws(JSON.stringify({ laws: one.laws }))
    expect(reading.ok ? [] : reading.faults).toEqual([])
    if (!reading.ok) return
    const values = changed(laws.bases[one.from], one.remove, one.set) as LawValues
    const before = JSON.stringify(values)
    const outcomes = judgeLaws(reading.laws, one.phase, values, new Set(one.overrides))
    expect(outcomes.map(({ policyId }) => policyId)).toEqual(
      one.want.map(({ policyId }) => policyId),
    )
    expect(outcomes).toMatchObject(one.want)
    expect(JSON.stringify(values)).toBe(before)
  })

  it.each(policies.cases.map((one) => [one.id, one] as const))('%s', (_, one) => {
    const environment = flowEnvironment({})
    const made = one.policies.map((document): Policy => {
      const compiled = compileExpression(document['policy_expr'] ?? '', environment)
      if (!compiled.ok) throw new Error(JSON.stringify(compiled.faults))
      return {
        policyId: document['policy_id'] ?? '',
        priority: document['priority'] ?? 0,
        conflictsWith: document['conflicts_with'] ?? [],
        overrideMode: document['override_mode'] ?? 'merge',
        action: document['violation_action'] ?? 'block',
        expression: compiled.expression,
      }
    })
    const state = changed(policies.state, one.remove, one.set)
    expect(judgePolicies(made, { state })).toMatchObject(one.want)
    const { applied } = judgePolicies(made, { state })
    expect(applied.length).toBe((one.want['applied'] as unknown[]).length)
  })

  it.each(files.cases.map((one) => [one.id, one] as const))('%s', async (_, one) => {
    const reading = await loadLaws(one.text)
    const faults = reading.ok ? [] : reading.faults
    expect(faults).toMatchObject(one.wantFaults)
    expect(faults.length).toBe(one.wantFaults.length)
  })
})
