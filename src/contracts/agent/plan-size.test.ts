/** Plans at the size of their limits: linear work, no recursion, no throw (C-3). */
import { describe, expect, it } from 'vitest'
import { sizeOf } from '../../../tests/arbitrary/runs.ts'
import { checkDocument } from '../check.ts'
import { elements, field } from '../kernel/contract.ts'
import { normaliseAndValidate } from '../normalise.ts'

function uuid(index: number): string {
  return `a0000000-0000-4000-8000-${String(index).padStart(12, '0')}`
}

function sources() {
  let count = 0
  return {
    nowMs: 0,
    newId: () => `f0000000-0000-4000-8000-${String(++count).padStart(12, '0')}`,
  }
}

/** A path from the root, one task after the other. */
function pathPlan(length: number) {
  const planId = uuid(0)
  return {
    plan: {
      plan_id: planId,
      title: 'Long',
      root_task_id: uuid(1),
      created_at: '2026-01-01',
      owner_agent_id: 'xiaobo',
      constraints: {},
    },
    nodes: Array.from({ length }, (_, index) => ({
      task_id: uuid(index + 1),
      plan_id: planId,
      node_type: index === 0 ? 'GOAL' : 'ACTION',
      title: 't',
      owner_agent_id: 'xiaobo',
      priority: 0,
      tags: [],
    })),
    edges: Array.from({ length: length - 1 }, (_, index) => ({
      edge_id: uuid(1_000_000 + index),
      plan_id: planId,
      from_task_id: uuid(index + 1),
      to_task_id: uuid(index + 2),
      edge_type: 'DECOMPOSE',
      metadata: { and_or: 'AND' },
    })),
  }
}

describe('a plan of hundreds of thousands of values', () => {
  it('is normalised without a repair, and judged', () => {
    const plan = pathPlan(sizeOf(30_000, 124_000))
    const { valid, repairs, normalized } = normaliseAndValidate('PLAN_GEN', plan, {}, sources())
    expect(valid).toBe(true)
    expect(repairs).toEqual([])
    expect(normalized).toBe(plan)
  })

  it('closes a cycle over twenty thousand tasks at one edge', () => {
    const plan = pathPlan(20_000)
    plan.edges.push({
      ...(plan.edges[0] as (typeof plan.edges)[0]),
      edge_id: uuid(3_000_000),
      from_task_id: uuid(20_000),
      to_task_id: uuid(1),
    })
    const { violations } = checkDocument(plan, { as: 'PLAN_GEN' })
    expect(violations.map(({ code, path }) => [code, path])).toEqual([
      ['plan.cycle', '/edges/19999'],
    ])
  })
})

describe('large and broken plans', () => {
  it('a chain of 10,000 foreign tasks is repaired', () => {
    const length = 10_000
    const raw = {
      tasks: Array.from({ length }, (_, index) => ({ id: `n${index}` })),
      links: [
        { from: 'START', to: 'n0' },
        ...Array.from({ length: length - 1 }, (_, index) => ({
          from: `n${index}`,
          to: `n${index + 1}`,
        })),
        { from: `n${length - 1}`, to: 'END' },
      ],
    }
    const { valid, normalized } = normaliseAndValidate('PLAN_GEN', raw, {}, sources())
    expect(valid).toBe(true)
    expect(elements(field(normalized, 'edges'))).toHaveLength(2 * length - 1)
  })

  it('lists of things that are no objects are emptied', () => {
    const raw = { nodes: Array.from({ length: 50_000 }, () => 0), edges: [] }
    const { valid, repairs } = normaliseAndValidate('PLAN_GEN', raw, {}, sources())
    expect(valid).toBe(true)
    expect(repairs.length).toBeGreaterThan(50_000)
  })

  it('a plan that would outgrow its limits is refused as it is', () => {
    const raw = { nodes: Array.from({ length: 260_000 }, () => ({})), edges: [] }
    const { repairs, normalized, error } = normaliseAndValidate('PLAN_GEN', raw, {}, sources())
    expect(error?.actual).toContain('too many values')
    expect(repairs).toEqual([])
    expect(normalized).toBe(raw)
  })

  it('and so is one that speaks of too many tasks it does not have', () => {
    const raw = { nodes: [], edges: Array.from({ length: 140_000 }, () => ({})) }
    const { repairs, normalized, error } = normaliseAndValidate('PLAN_GEN', raw, {}, sources())
    expect(error?.actual).toContain('too many values')
    expect(repairs).toEqual([])
    expect(normalized).toBe(raw)
  })

  it('a plan that outgrows them by its repairs says so', () => {
    const raw = { nodes: Array.from({ length: 150_000 }, () => ({})), edges: [] }
    const { valid, error } = normaliseAndValidate('PLAN_GEN', raw, {}, sources())
    expect(valid).toBe(false)
    expect(error?.actual).toContain('more than 2000000 values')
  })
})
