/** What a person ends in a run: one node, or all of it. */
import { describe, expect, it } from 'vitest'
import { check, edge, Host, node, work } from './host.ts'

const BY = { principal: 'human:ann@local', comment: 'not needed' }

describe('a node that is skipped', () => {
  it('counts as done, with a finding that says who and why', () => {
    const nodes = [work('a', { max_attempts: 1 }), node('b')]
    const host = new Host({ nodes, edges: [edge('a', 'b')] }, () => ({ outcome: 'failed' }))
    host.start().run()
    expect(host.status).toBe('WAITING')
    expect(host.send({ type: 'skipped', node_id: 'a', ...BY })).toBe(true)
    host.run()
    expect([host.status, host.entered]).toEqual(['DONE', ['a', 'b']])
    const found = host.facts.find(
      ({ type, payload }) => type === 'flow_finding_v1' && payload.code === 'flow.skipped',
    )
    expect(found?.payload).toMatchObject({
      node_id: 'a',
      action: 'alert',
      values: { by: BY.principal, comment: BY.comment },
    })
    host.verify()
  })

  it('passes its CHECK with it, which gives no approval, and drops what was staged', () => {
    const guard_expr = "state.validator_verdict == 'APPROVE'"
    const nodes = [work('a'), check('judge', 'a'), node('b'), node('c')]
    const edges = [edge('a', 'judge'), edge('judge', 'b'), edge('judge', 'c', { guard_expr })]
    const host = new Host({ nodes, edges }, () => ({ stage: 'staged' }))
    host.start().run((command) => command.type === 'run_participant' && command.node_id === 'judge')
    expect(host.node('a').status).toBe('submitted')
    host.send({ type: 'skipped', node_id: 'a', ...BY })
    host.run()
    expect(host.node('a').work.stage).toBeNull()
    expect(host.fired).toContain('judge>b')
    expect(host.fired).not.toContain('judge>c')
    expect(host.findings.filter((one) => one.startsWith('flow.skipped'))).toHaveLength(2)
    expect(host.facts.some((fact) => JSON.stringify(fact).includes('"type":"promote"'))).toBe(false)
    host.verify()
  })

  it('is none where the run is not, and never a CHECK', () => {
    const nodes = [work('a'), check('judge', 'a'), node('b')]
    const host = new Host({ nodes, edges: [edge('a', 'judge'), edge('judge', 'b')] })
    host.start().run((command) => command.type === 'run_participant' && command.node_id === 'judge')
    expect(host.send({ type: 'skipped', node_id: 'judge', ...BY })).toBe(false)
    expect(host.send({ type: 'skipped', node_id: 'b', ...BY })).toBe(false)
  })
})

describe('a run that is cancelled', () => {
  it('stops what is under way and ends; nothing that comes later counts', () => {
    const host = new Host({ nodes: [work('a'), work('b')], edges: [] }).start()
    const [first] = host.open
    host.send({ type: 'cancelled', principal: BY.principal, comment: null })
    host.open.length = 0
    expect(host.status).toBe('CANCELLED')
    const stops = host.facts.filter((fact) => JSON.stringify(fact).includes('"type":"stop"'))
    expect(stops).toHaveLength(2)
    if (first !== undefined) host.answer(first)
    expect(host.facts.at(-1)?.payload).toMatchObject({ kind: 'ended', status: 'CANCELLED' })
    host.open.length = 0
    host.verify()
  })
})
