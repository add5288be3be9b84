/** What enters a node again that is done: a way back, never a retry in another branch (F-1). */
import { describe, expect, it } from 'vitest'
import { check, edge, Host, node, type Script, work } from './host.ts'

/** Two branches that lead to the same node; `b` succeeds later than `a`. */
const nodes = [
  node('s'),
  work('a'),
  work('b', { max_attempts: 3 }),
  work('j', { max_attempts: 1 }),
  work('k', { max_attempts: 1 }),
]
const edges = [edge('s', 'a'), edge('s', 'b'), edge('a', 'j'), edge('b', 'j'), edge('j', 'k')]
const FAILS: Script = (id, attempt) =>
  id === 'b' && attempt < 3 ? { outcome: 'failed' } : { stage: `${id} ${attempt}` }

describe('a node that is done', () => {
  it('is not entered again after failed attempts in another branch', () => {
    const host = new Host({ nodes, edges }, FAILS).start().run()
    expect(host.entered.filter((id) => id === 'j' || id === 'k')).toEqual(['j', 'k'])
    expect([host.node('b').status, host.status]).toEqual(['done', 'DONE'])
    host.verify()
  })

  it('was entered again by the rules of before', () => {
    const evaluator = { name: 'flow', version: '3' }
    const host = new Host({ nodes, edges }, FAILS).startWith({ evaluator }).run()
    expect(host.entered.filter((id) => id === 'j')).toEqual(['j', 'j'])
    host.verify()
  })

  it('is not entered again after a REJECT in another branch, by the work or by its CHECK', () => {
    const scores: number[] = []
    const judge: Script = (id) => (id === 'c' ? { score: scores.pop() ?? 95 } : {})
    const judged = [...nodes, check('c', 'b')]
    const review = edge('b', 'c')
    for (const ways of [edges, [...edges.filter(({ source }) => source !== 'b'), edge('c', 'j')]]) {
      scores.push(40, 40)
      const host = new Host({ nodes: judged, edges: [...ways, review] }, judge).start().run()
      expect(host.entered.filter((id) => id === 'b' || id === 'c')).toHaveLength(6)
      expect(host.entered.filter((id) => id === 'j')).toEqual(['j'])
      expect(host.status).toBe('DONE')
      host.verify()
    }
  })

  it('is not entered again when a CHECK of another branch tries again', () => {
    const ways = [...edges.filter(({ source }) => source !== 'b'), edge('b', 'c'), edge('c', 'j')]
    const fails: Script = (id, attempt) =>
      id === 'c' && attempt === 1 ? { outcome: 'failed' } : {}
    const host = new Host({ nodes: [...nodes, check('c', 'b')], edges: ways }, fails).start().run()
    expect(host.entered.filter((id) => id === 'j')).toEqual(['j'])
    host.verify()
  })

  it('is not entered again after a person lets another branch try once more', () => {
    const tries: Script = (id, attempt) => (id === 'b' && attempt < 4 ? { outcome: 'failed' } : {})
    const host = new Host({ nodes, edges }, tries).start().run()
    const asked = host.open.find(({ type }) => type === 'ask_human')
    host.open.length = 0
    const command = asked?.command ?? -1
    host.send({
      type: 'human_answer',
      node_id: 'b',
      command,
      answer: 'retry',
      principal: 'h',
    })
    host.run()
    expect([host.entered.filter((id) => id === 'j'), host.status]).toEqual([['j'], 'DONE'])
    host.verify()
  })

  it('is entered again by a Loop, with all that follows, after retries too', () => {
    const back = edge('k', 's', {
      class: 'Loop',
      guard_expr: 'state.attempt_count < 12',
      guard_scope: 'global',
    })
    const host = new Host({ nodes, edges: [...edges, back] }, FAILS).start().run()
    expect(host.entered.filter((id) => id === 'j' || id === 'k')).toEqual(['j', 'k', 'j', 'k'])
    host.verify()
  })

  it('is entered again when its base is rejected late, and what follows it too', () => {
    // `c` judges `a` after `b` ran on what `a` staged; `d` follows `b`.
    const late = [work('a'), work('b'), node('d'), check('c', 'a')]
    const ways = [edge('a', 'b'), edge('b', 'd'), edge('b', 'c')]
    const scores = [40]
    const host = new Host({ nodes: late, edges: ways }, (id, attempt) =>
      id === 'c' ? { score: scores.pop() ?? 95 } : { stage: `${id} ${attempt}` },
    )
    host.start().run()
    expect(host.entered.filter((id) => id !== 'c')).toEqual(['a', 'b', 'd', 'a', 'b', 'd'])
    expect(host.status).toBe('DONE')
    host.verify()
  })
})

it('CHECK nodes that follow one another judge each version', () => {
  const both = [work('a'), check('c', 'a'), check('d', 'a')]
  const scores: Record<string, number[]> = { c: [95, 95], d: [40, 95] }
  const host = new Host({ nodes: both, edges: [edge('a', 'c'), edge('c', 'd')] }, (id) =>
    id === 'a' ? {} : { score: scores[id]?.shift() ?? 0 },
  )
  host.start().run()
  expect([host.entered, host.status]).toEqual([['a', 'c', 'd', 'a', 'c', 'd'], 'DONE'])
  host.verify()
})
