/**
 * Phases that are judged in one another (version 9 of the rules): in every order of answers, what is
 * approved leads on, and is promoted once.
 */
import { describe, expect, it } from 'vitest'
import type { FlowEdge, FlowNode } from '../../src/contracts/index.ts'
import { foldFacts } from '../../src/flow/index.ts'
import { findStalled } from '../../src/flow/runtime/stall.ts'
import { Turn } from '../../src/flow/runtime/turn.ts'
import { RunDraft } from '../../src/flow/state/draft.ts'
import { check, edge, Host, node, type Script, work } from './host.ts'

const PC = { phase_id: 'PC' }
const GOALS = ['g', 'h'].map((id) => node(id, { kind: 'GOAL', phase_id: 'e' }))

const script: Script = (id, attempt, command) => {
  const isReview = command.type === 'run_participant' && command.review !== null
  return isReview ? {} : { stage: `${id}-${attempt}` }
}

/** Answers what is open in an order that `seed` chooses. */
function walk(nodes: readonly FlowNode[], edges: readonly FlowEdge[], seed: number): Host {
  const host = new Host({ nodes: [...nodes], edges: [...edges] }, script).start()
  for (let next = seed + 1; host.open.length > 0; ) {
    next = (next * 48_271) % 0x7fffffff
    const [command] = host.open.splice(next % host.open.length, 1)
    if (command !== undefined) host.answer(command)
  }
  host.verify()
  return host
}

function promotedIn({ facts }: Host): readonly string[] {
  return facts.flatMap(({ type, payload }) =>
    type === 'flow_event_v1' && payload.kind === 'event' && payload.event.type === 'promoted'
      ? [payload.event.node_id]
      : [],
  )
}

const twoChecks = [work('v'), check('cv', 'v', PC), work('w'), check('ca', 'w', PC)]
const FLOWS = [
  {
    name: 'the second check of other work lies in its phase again',
    nodes: [...twoChecks, check('cb', 'w'), ...GOALS],
    edges: [edge('v', 'cv'), edge('cv', 'h'), edge('w', 'ca'), edge('ca', 'cb'), edge('cb', 'g')],
  },
  {
    name: 'each judges work of the other',
    nodes: [work('v'), check('cv', 'v', PC), work('w', PC), check('cw', 'w'), ...GOALS],
    edges: [edge('v', 'cv'), edge('cv', 'h'), edge('w', 'cw'), edge('cw', 'g')],
  },
]

describe.each(FLOWS)('$name', ({ nodes, edges }) => {
  it('comes to its end in every order of answers', () => {
    for (let seed = 0; seed < 60; seed++) {
      const host = walk(nodes, edges, seed)
      const found = [host.status, host.findings, [...promotedIn(host)].sort()]
      expect(found, `order ${seed}`).toEqual(['DONE', [], ['v', 'w']])
    }
  })
})

it('where other work is stalled, what is approved and in place is not run again for it', () => {
  const [{ nodes, edges }] = FLOWS as [(typeof FLOWS)[number]]
  const host = new Host({ nodes, edges }, script)
  host.startWith({ evaluator: { name: 'flow', version: '8' } }).run()
  const first = host.facts.findIndex(
    ({ type, payload }) => type === 'flow_finding_v1' && payload.code === 'flow.stalled',
  )
  const before = foldFacts(host.begun, host.facts.slice(0, first))
  for (const [rules, found] of [
    [8, ['cv', 'w']],
    [9, ['w']],
  ] as const) {
    const event = { type: 'tick', at: '2026-01-01T00:00:00.000Z', nonce: 'n' } as const
    const turn = new Turn(new RunDraft({ ...before, rules }, 'one step'), event, -1)
    expect(findStalled(turn)).toBe(true)
    const stalled = turn.facts.flatMap(({ type, payload }) =>
      type === 'flow_finding_v1' ? [payload.node_id] : [],
    )
    expect(stalled).toEqual(found)
  }
})
