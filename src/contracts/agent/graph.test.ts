/** Reachability and cycles against the definitions, and on graphs too deep for recursion. */
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { spread } from '../../../tests/arbitrary/agent.ts'
import { runs, sizeOf } from '../../../tests/arbitrary/runs.ts'
import { type Arc, closingArcs, reachable, reversed } from './graph.ts'

const arcs: fc.Arbitrary<Arc[]> = fc.array(
  fc.record({ from: fc.constantFrom(...'abcdef'), to: fc.constantFrom(...'abcdef') }),
  { maxLength: 12 },
)

/** Acyclic: every arc leads to where none leads back from. */
function isAcyclic(graph: readonly Arc[]): boolean {
  return graph.every(({ from, to }) => !spread([to], graph).includes(from))
}

describe('reachable', () => {
  it('is the closure of the starts', () => {
    fc.assert(
      fc.property(arcs, fc.subarray([...'abcdef']), (graph, starts) => {
        expect([...reachable(graph, starts)].sort()).toEqual([...spread(starts, graph)].sort())
      }),
    )
  })

  it('turns arcs around', () => {
    expect([...reversed([{ from: 'a', to: 'b' }])]).toEqual([{ from: 'b', to: 'a' }])
  })
})

describe('closingArcs', () => {
  it('is empty exactly for acyclic graphs', () => {
    fc.assert(
      fc.property(arcs, (graph) => {
        expect(closingArcs(graph).length === 0).toBe(isAcyclic(graph))
      }),
      { numRuns: runs(500) },
    )
  })

  it('names arcs without which there is no cycle, each of them on one', () => {
    fc.assert(
      fc.property(arcs, (graph) => {
        const closing = closingArcs(graph)
        const rest = graph.filter((_, index) => !closing.includes(index))
        expect(isAcyclic(rest)).toBe(true)
        for (const index of closing) {
          const { from, to } = graph[index] as Arc
          expect(spread([to], graph)).toContain(from)
        }
        expect([...closing]).toEqual([...closing].sort((left, right) => left - right))
      }),
      { numRuns: runs(500) },
    )
  })

  it('follows a long path without recursion', () => {
    const length = sizeOf(50_000, 200_000)
    const path = Array.from({ length }, (_, index) => ({
      from: `n${index}`,
      to: `n${index + 1}`,
    }))
    expect(closingArcs(path)).toEqual([])
    expect(closingArcs([...path, { from: `n${length}`, to: 'n0' }])).toEqual([length])
    expect(reachable(path, ['n0']).size).toBe(length + 1)
  })
})
