/** Claims of the items of a map and of the nodes of a sub-flow close the ways out of the node they stand for. */
import { expect, it } from 'vitest'
import type { Flow, FlowNode } from '../../src/contracts/index.ts'
import { claimStandings, inlineFlows } from '../../src/flow/index.ts'
import { check, edge, Host, node, type Script, work } from './host.ts'

const trust = { trust_requirement: 'independent_verification_required' as const }
const GOAL = node('g', { kind: 'GOAL' })
const SUB: Flow = { type: 'flow_v1', flow_id: 's', title: '', nodes: [work('s')], edges: [] }

/** The node `m` leads on if claims are verified. */
function leaving(more: Partial<FlowNode>): Flow {
  const { flow, ...rest } = more
  const m = flow === undefined ? work('m', rest) : node('m', more)
  const edges = [edge('m', 'n', trust), edge('n', 'g')]
  const nodes = [m, work('n'), GOAL]
  const outer: Flow = { type: 'flow_v1', flow_id: 'f', title: '', nodes, edges }
  return flow === undefined ? outer : inlineFlows(outer, new Map([['m', SUB]])).flow
}

const claiming =
  (...ids: readonly string[]): Script =>
  (id) =>
    ids.includes(id) ? { claims: [`C-${id}`], principal: 'author' } : {}

function verify(host: Host, ...claims: readonly string[]): Host {
  const digest = `sha256:${'d'.repeat(64)}`
  for (const claim_id of claims) {
    const evidence = { evidence_id: claim_id, claim_id, actor: 'x', digest, supports: true }
    host.send({ type: 'evidence', evidence, principal: 'human:bob@local', participant: null })
    host.run()
  }
  return host
}

const lacking = (host: Host): readonly (string | undefined)[] =>
  host.facts.flatMap(({ type, payload }) =>
    type === 'flow_finding_v1' && payload.code === 'flow.claim_unverified'
      ? [payload.claim_id]
      : [],
  )

it.each<[string, Partial<FlowNode>, readonly string[]]>([
  ['items of a map', { map: { items: ['x', 'y'] } }, ['m/1', 'm/2']],
  ['nodes of a sub-flow', { flow: 'sub.yaml' }, ['m/s']],
  ['nodes of a mapped sub-flow', { flow: 'sub.yaml', map: { items: ['x', 'y'] } }, ['m/2/s']],
])('of %s close the way until another verifies them', (_, more, claimants) => {
  const claims = claimants.map((id) => `C-${id}`)
  const host = new Host(leaving(more), claiming(...claimants)).start().run()
  expect([host.status, lacking(host)]).toEqual(['BLOCKED', claims])
  expect(host.entered).not.toContain('n')
  expect(host.node('m').isHeld).toBe(true)
  expect(verify(host, ...claims.slice(1)).status).toBe('BLOCKED')
  expect(verify(host, ...claims).status).toBe('DONE')
  expect(claimStandings(host.flow, host.state).map((one) => one.verification_status)).toEqual(
    claims.map(() => 'verified'),
  )
  host.verify()
})

it('of items and of their CHECK nodes close the way out of the CHECK of a map', () => {
  const nodes = [work('m', { map: { items: ['x', 'y'] } }), check('c', 'm'), GOAL]
  const edges = [edge('m', 'c'), edge('c', 'g', trust)]
  const host = new Host({ nodes, edges }, claiming('m/2', 'c/1')).start().run()
  expect([host.status, [...lacking(host)].sort()]).toEqual(['BLOCKED', ['C-c/1', 'C-m/2']])
  expect(verify(host, 'C-m/2').status).toBe('BLOCKED')
  expect(verify(host, 'C-c/1').status).toBe('DONE')
  host.verify()
})

it('of an item that was given up close nothing', () => {
  const script: Script = (id, ...rest) =>
    id === 'm/1' ? { claims: ['C'], files: false } : claiming('m/2')(id, ...rest)
  const parts = leaving({ map: { items: ['x', 'y'], minimum: 1 }, required_files: ['{item}.txt'] })
  const host = new Host(parts, script).start().run()
  expect([host.node('m/1').status, verify(host, 'C-m/2').status]).toEqual(['abandoned', 'DONE'])
  host.verify()
})

it('of other nodes, and by earlier rules, close nothing', () => {
  const before = new Host(leaving({ map: { items: ['x'] } }), claiming('m/1'))
  before.startWith({ evaluator: { name: 'flow', version: '5' } }).run()
  expect(before.status).toBe('DONE')
  const other = new Host(leaving({ map: { items: ['x'] } }), claiming('m/1', 'n')).start().run()
  expect(verify(other, 'C-m/1').status).toBe('DONE')
})
