/** A map that leaves by its Exception edge to a goal of its own (version 10): the run is done there. */
import { expect, it } from 'vitest'
import { edge, Host, node, work } from './host.ts'

const GOALS = [node('g', { kind: 'GOAL' }), node('h', { kind: 'GOAL' })]
const edges = [edge('s', 'g'), edge('s', 'h', { class: 'Exception' })]

function hostOf(failing: readonly string[], minimum?: number): Host {
  const map = { items: ['a', 'b'], ...(minimum === undefined ? {} : { minimum }) }
  const nodes = [work('s', { max_attempts: 1, map }), ...GOALS]
  return new Host({ nodes, edges }, (id) => ({
    outcome: failing.includes(id) ? 'failed' : 'ended',
  }))
}

it.each([
  [['s/1'], undefined],
  [['s/1', 's/2'], 1],
] as const)('when %j fail, with a minimum of %s', (failing, minimum) => {
  const host = hostOf(failing, minimum).start().run()
  host.verify()
  expect([host.status, host.node('h').status]).toEqual(['DONE', 'done'])
  expect(host.findings).not.toContain('flow.stalled block')
})

it('and was blocked at its items by the rules of before', () => {
  const host = hostOf(['s/1'])
  host.startWith({ evaluator: { name: 'flow', version: '9' } })
  host.run().verify()
  expect([host.status, host.findings.at(-1)]).toEqual(['BLOCKED', 'flow.stalled block'])
})
