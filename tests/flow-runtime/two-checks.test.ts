/** Two CHECK nodes in a row: what comes after the second one is where the run went (F-7, F-12). */
import { expect, it } from 'vitest'
import { check, edge, Host, node, work } from './host.ts'

const goal = (id = 'g', phase_id = 'PG') => node(id, { kind: 'GOAL', phase_id })

it('lead to a node that leaves by its way out to a goal of its own', () => {
  const nodes = [work('w'), check('c', 'w'), check('d', 'w'), work('a'), work('f')]
  const edges = [
    ...[edge('w', 'c'), edge('c', 'd'), edge('d', 'a'), edge('a', 'g')],
    ...[edge('a', 'f', { class: 'Exception' }), edge('f', 'g2')],
  ]
  const host = new Host({ nodes: [...nodes, goal(), goal('g2', 'PG2')], edges }, (id) =>
    id === 'a' ? { outcome: 'failed' } : {},
  )
  host.start().run()
  expect([host.status, host.node('g2').status, host.findings]).toEqual([
    ...['DONE', 'done'],
    expect.not.arrayContaining(['flow.stalled block']),
  ])
  host.verify()
})

it('end with the work that a join of any one has no use for', () => {
  const any = { class: 'Sync', join: 'OR' } as const
  const nodes = [work('w'), check('c', 'w'), check('d', 'w'), work('v'), work('j'), work('f')]
  const edges = [
    ...[edge('w', 'c'), edge('c', 'd'), edge('w', 'j', any), edge('v', 'j', any)],
    ...[edge('d', 'f', { class: 'Exception', on: 'reject' }), edge('f', 'g'), edge('j', 'g')],
  ]
  const host = new Host({ nodes: [...nodes, goal()], edges }, (id, attempt) => ({
    stage: `${id} ${attempt}`,
  })).start()
  // The second CHECK is slow.
  for (let count = 0; count < 60; count++) {
    const place = host.open.findIndex((one) => !('node_id' in one && one.node_id === 'd'))
    const [command] = place === -1 ? [] : host.open.splice(place, 1)
    if (command !== undefined) host.answer(command)
  }
  host.run()
  expect(host.status).toBe('DONE')
  expect(['w', 'c', 'd'].map((id) => host.node(id).status)).toEqual([
    ...['abandoned', 'abandoned', 'abandoned'],
  ])
  host.verify()
})
