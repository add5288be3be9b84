/**
 * Versions of the rules: a run is walked, and walked again, by the version that it began with. The runs of
 * version 1 were recorded by it; some of them stop where the present rules go on.
 */
import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import type { Flow } from '../../src/contracts/index.ts'
import {
  compileFlow,
  FLOW_EVALUATOR,
  type FlowFact,
  foldFacts,
  replayRun,
  rulesNamed,
  runStatus,
} from '../../src/flow/index.ts'

interface RecordedRun {
  readonly name: string
  readonly status: string
  readonly flow: Flow
  readonly facts: readonly FlowFact[]
}

function recordedBy(version: number): readonly RecordedRun[] {
  const text = readFileSync(`tests/flow-runtime/rules-${version}.json`, 'utf8')
  // Written by the tests of that version; the assertions below read all of it.
  return (JSON.parse(text) as { readonly runs: readonly RecordedRun[] }).runs
}

function compiledBy(document: Flow, rules?: number) {
  const compilation = compileFlow(document, rules)
  if (!compilation.ok) throw new Error(JSON.stringify(compilation.faults))
  return compilation.flow
}

/** The first fact of a run names the rules; the others are as they were. */
function byPresentRules(fact: FlowFact): FlowFact {
  if (fact.type !== 'flow_started_v1' || fact.payload.origin === undefined) return fact
  const origin = { ...fact.payload.origin, evaluator: FLOW_EVALUATOR }
  return { ...fact, payload: { ...fact.payload, origin } }
}

/** Of each version, the runs that the present rules walk otherwise; a version without a list: all of its runs. */
const WALKED_OTHERWISE: Readonly<Record<number, readonly string[]>> = {
  2: [
    'two checks, a rejection and a loop',
    'a rollback of what was promoted',
    'a node that waits for a time and a signal',
    'an after that a second way does not cut short',
    'a rollback of the last call alone',
  ],
  3: [
    'two checks, a rejection and a loop with a guard',
    'policies that a review and a way out name',
    'a decision within a phase and out of it',
    'a loop without a guard, and a way out of the phase',
    'a policy that rejects what was promoted',
  ],
  5: [
    'work whose promotion is refused, judged again with other files',
    'a called check that approves after the end of the phase',
    'a called check that rejects after the end of the phase',
    'a check of a map that leads back',
    'a way back without a guard next to the ways on of the work',
    'a shared check behind a decision, and it rejects',
    'a check that calls a shared check',
    'a join of which one branch is given up',
  ],
  7: [
    'a call whose repair is judged in another phase',
    'a way out of work that a called check rejected',
    'a way back of one of two checks',
    'a way back of judged work',
    'a list between work and its check',
    'a way back from behind a called check into the phase of the caller',
    'work that two ways lead to, one of which goes back',
  ],
  8: ['a way back out of the second check of work with a call'],
  9: [
    'rejected work after a migration to another reviewer',
    'skipped work whose check leads back by its verdict',
    'a decision with two open ways next to another way',
    'an alternative that another edge entered',
  ],
}

describe.each([1, 2, 3, 4, 5, 7, 8, 9])('runs of version %i', (version) => {
  const runs = recordedBy(version)

  it.each(runs)('$name: is walked again as it was', ({ flow, facts, status }) => {
    const compiled = compiledBy(flow, version)
    expect(replayRun(compiled, facts)).toBeNull()
    expect(runStatus(foldFacts(compiled, facts))).toBe(status)
  })

  it('are walked otherwise by the present rules, so that the version counts', () => {
    const others = runs.filter(
      ({ flow, facts }) => replayRun(compiledBy(flow), facts.map(byPresentRules)) !== null,
    )
    const names = WALKED_OTHERWISE[version] ?? runs.map(({ name }) => name)
    expect(others.map(({ name }) => name)).toEqual(names)
  })
})

describe('runs of version 2', () => {
  it('have no maps: a node that names a list runs once', () => {
    const [{ flow }] = recordedBy(2) as [RecordedRun]
    const nodes = flow.nodes.map((node) => ({ ...node, map: { items: [1, 2] } }))
    expect(compiledBy({ ...flow, nodes }, 2).nodes).toHaveLength(flow.nodes.length)
  })
})

it('names the rules that are known, and no others', () => {
  expect(rulesNamed({ name: 'flow', version: '1' })).toBe(1)
  expect(rulesNamed({ name: 'flow', version: '2' })).toBe(2)
  expect(rulesNamed({ name: 'flow', version: '3' })).toBe(3)
  expect(rulesNamed({ name: 'flow', version: '4' })).toBe(4)
  expect(rulesNamed({ name: 'flow', version: '5' })).toBe(5)
  expect(rulesNamed({ name: 'flow', version: '6' })).toBe(6)
  expect(rulesNamed({ name: 'flow', version: '7' })).toBe(7)
  expect(rulesNamed({ name: 'flow', version: '8' })).toBe(8)
  expect(rulesNamed({ name: 'flow', version: '9' })).toBe(9)
  expect(rulesNamed({ name: 'flow', version: '10' })).toBe(10)
  expect(rulesNamed({ name: 'flow', version: '11' })).toBeNull()
  expect(rulesNamed({ name: 'gate', version: '1' })).toBeNull()
})
