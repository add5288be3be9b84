/** A run of a participant that was interrupted is run again as the same attempt, from nothing. */
import { expect, it } from 'vitest'
import { edge, Host, node, work } from './host.ts'

function interrupted(tools: number): Host {
  const flow = { nodes: [work('a'), node('b')], edges: [edge('a', 'b')] }
  const host = new Host(flow, () => ({ tools })).start()
  const [command] = host.open
  const to = { node_id: 'a', command: command?.command ?? 0 }
  host.send({ type: 'attempt_started', ...to })
  host.send({ type: 'gate_decision', ...to, decision: 'PROMOTE' })
  host.send({ type: 'gate_decision', ...to, decision: 'BLOCK' })
  host.send({ type: 'resumed', manifests: {} })
  return host.run()
}

it('forgets which operations it had asked for, and that one was blocked', () => {
  const host = interrupted(1)
  expect([host.status, host.findings, host.node('a').entries]).toEqual(['DONE', [], 1])
  expect(host.state.totals.toolCalls).toBe(1)
  host.verify()
})

it('does not let operations of the interrupted run stand for those of the next', () => {
  const host = interrupted(0)
  expect(host.findings.slice(0, 2)).toEqual([
    'flow.tool_use_zero rerun',
    'flow.attempt_failed rerun',
  ])
  expect(host.state.totals.toolCalls).toBe(0)
  host.verify()
})

it('keeps where it began, with whom, and by whose rules', () => {
  const origin = {
    workspace: '/w',
    participants_digest: null,
    evaluator: { name: 'flow', version: '1' },
  }
  const host = new Host({ nodes: [node('a')], edges: [] })
  host.send({ type: 'started', run_id: 'r', origin })
  expect(host.facts[0]?.payload).toMatchObject({ origin })
  host.run().verify()
})
