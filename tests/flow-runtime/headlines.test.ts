/** What a stop says at its head: the cause, a name for what is waited for, and a command that works. */
import { expect, it } from 'vitest'
import { outstanding, stopsOf } from '../../src/flow/index.ts'
import { edge, Host, node, work } from './host.ts'

const GOAL = node('g', { kind: 'GOAL', phase_id: 'e' })

function headsOf({ flow, facts, state }: Host) {
  const waiting = outstanding(state).filter(({ type }) => type === 'ask_human')
  return stopsOf({ flow, facts, state, waiting })
}

it('a closed trust edge into a join is named with its claim', () => {
  const trust_requirement = 'independent_verification_required' as const
  const host = new Host(
    {
      nodes: [work('a'), work('b'), GOAL],
      edges: [
        edge('a', 'b'),
        edge('a', 'g', { class: 'Sync', trust_requirement }),
        edge('b', 'g', { class: 'Sync' }),
      ],
    },
    (id) => (id === 'a' ? { claims: ['C-1=it is so'] } : {}),
  )
  const [stop] = headsOf(host.start().run())
  expect([host.status, stop?.node_id, stop?.code]).toEqual(['BLOCKED', 'g', 'flow.stalled'])
  expect(stop?.says).toContain('it waits for a')
  expect(stop?.says).toContain('the claim C-1')
})

it('a run that has failed says what can be done with it', () => {
  const host = new Host(
    { nodes: [work('a', { max_attempts: 1 }), GOAL], edges: [edge('a', 'g')] },
    () => ({
      outcome: 'failed',
    }),
  )
  host.start().run()
  const asked = host.open.find(({ type }) => type === 'ask_human')
  if (asked === undefined) throw new Error('a person is asked')
  const { command } = asked
  const by = { answer: 'abandon' as const, principal: 'human:ann@local' }
  host.send({ type: 'human_answer', node_id: 'a', command, ...by })
  host.run()
  expect(host.status).toBe('FAILED')
  expect(headsOf(host).map(({ next }) => next)).toEqual([
    ['writ flow report r', 'writ flow run FILE', 'writ flow cancel r --undo'],
  ])
})
