/**
 * The twelve rows of seed 004 §5 and the criteria of seed 004 §7, as far as they are decided without
 * a machine. Each test goes red when its mechanism is taken out. Over 500 lines on purpose: the table
 * is one page, in its order, so that a row without a test would be seen.
 */
import { describe, expect, it } from 'vitest'
import type { Flow, FlowEdge } from '../../src/contracts/index.ts'
import {
  ASKING_TO_CONTINUE,
  claimStandings,
  decideAccess,
  RATIONALISING,
} from '../../src/flow/index.ts'
import { type Attempt, check, compiled, edge, Host, node, work } from './host.ts'
import { SEED_POLICIES } from './seed-policies.ts'

describe('time floor (row 1, criterion 1)', () => {
  const nodes = [work('a', { minimum_duration: 10 }), node('b', { phase_id: 'Q' })]
  const edges = [edge('a', 'b')]

  it('blocks the phase while its time is below the minimum, by the clock of the host', () => {
    const host = new Host({ nodes, edges }, () => ({ seconds: 9.5 })).start().run()
    expect([host.status, host.entered]).toEqual(['BLOCKED', ['a']])
    expect(host.findings).toEqual(['flow.time_floor block'])
    host.verify()
    const enough = new Host({ nodes, edges }, () => ({ seconds: 10 })).start().run()
    expect([enough.status, enough.entered]).toEqual(['DONE', ['a', 'b']])
  })

  it('sums the attempts of all nodes of the phase', () => {
    const both = [
      work('a', { minimum_duration: 6 }),
      work('z', { minimum_duration: 4 }),
      ...nodes.slice(1),
    ]
    const run = (seconds: number) =>
      new Host({ nodes: both, edges: [edge('a', 'z'), edge('z', 'b')] }, () => ({ seconds }))
        .start()
        .run().status
    expect([run(4.9), run(5)]).toEqual(['BLOCKED', 'DONE'])
  })

  it('is not lifted by what the worker claims or a file says', () => {
    const guard = {
      guard_expr: 'state.cumulative_duration >= state.minimum_duration',
      guard_evidence_source: 'timing.json:cumulative_duration',
    }
    const host = new Host({ nodes, edges: [edge('a', 'b', guard)] }, () => ({ seconds: 1 })).start()
    host.run(({ type }) => type === 'read_evidence')
    const command = host.open.shift()?.command ?? -1
    const readings = [{ edge_id: 'a>b', digest: 'd', value: 99 }]
    host.send({ type: 'evidence_read', node_id: 'a', command, readings })
    expect([host.run().status, host.entered]).toEqual(['BLOCKED', ['a']])
  })

  it('runs the span again where the edge says so, until there is time enough', () => {
    const guard: Partial<FlowEdge> = {
      class: 'Gate',
      guard_expr: 'state.phase_completed && state.cumulative_duration >= state.minimum_duration',
      guard_scope: 'phase',
      guard_type: 'numeric',
      on_guard_fail: 'rerun',
    }
    const host = new Host({ nodes, edges: [edge('a', 'b', guard)] }, () => ({ seconds: 4 }))
    expect(host.start().run().entered).toEqual(['a', 'a', 'a', 'b'])
    expect(host.status).toBe('DONE')
    host.verify()
  })

  it('holds after a human lets the phase try again', () => {
    const host = new Host({ nodes, edges }, () => ({ seconds: 6 })).start().run()
    expect(host.send({ type: 'unblocked', node_id: 'a', principal: 'h' })).toBe(true)
    expect([host.run().status, host.entered]).toEqual(['DONE', ['a', 'a', 'b']])
    host.verify()
  })
})

describe('Rule 6 over Rule 7 (row 2, criterion 2)', () => {
  const policy_refs = ['TIME_HARD_FLOOR', 'PIPELINE_CONTINUITY']
  const host = (policies: NonNullable<Flow['policies']>) =>
    new Host(
      {
        nodes: [work('a', { minimum_duration: 2 }), node('b', { phase_id: 'Q' })],
        edges: [edge('a', 'b', { policy_refs, guard_scope: 'phase' })],
        policies,
      },
      // The first attempt is too short and has an issue of another kind besides.
      (_, attempt) => (attempt === 1 ? { outcome: 'failed', seconds: 0.5 } : { seconds: 1 }),
    )

  it('the time floor wins, the record says over whom and how, and the phase runs again', () => {
    const run = host(SEED_POLICIES).start().run()
    expect(run.entered).toEqual(['a', 'a', 'a', 'b'])
    const record = run.facts.flatMap((fact) =>
      fact.type === 'flow_event_v1' && fact.payload.kind === 'policies' ? [fact.payload] : [],
    )
    expect(record[0]).toMatchObject({
      edge_id: 'a>b',
      applied: [{ policy_id: 'TIME_HARD_FLOOR', action: 'rerun' }],
      silenced: ['PIPELINE_CONTINUITY'],
      conflicts: [
        { winner: 'TIME_HARD_FLOOR', loser: 'PIPELINE_CONTINUITY', mode: 'hard_override' },
      ],
    })
    expect(run.findings).toContain('flow.policy_conflict rerun')
    run.verify()
  })

  it('Rule 7 alone goes on, with a finding', () => {
    const run = host(SEED_POLICIES).start().run()
    expect(run.findings.at(-1)).toBe('flow.policy_triggered continue_with_workaround')
    expect(run.status).toBe('DONE')
  })
})

describe('policies', () => {
  const acting = (violation_action: 'block' | 'reject' | 'rerun' | 'alert') => {
    const policy_expr = 'state.attempt_count < 2'
    const policy = { policy_id: 'p', priority: 1, override_mode: 'merge' as const }
    const policies = [{ ...policy, policy_expr, violation_action }]
    return new Host({ nodes: [work('a'), node('b')], edges: [edge('a', 'b')], policies })
      .start()
      .run()
  }

  it.each([
    ['block', 'BLOCKED', ['a'], 0],
    ['reject', 'DONE', ['a', 'a', 'b'], 1],
    ['rerun', 'DONE', ['a', 'a', 'b'], 0],
    ['alert', 'DONE', ['a', 'b'], 0],
  ] as const)('%s', (action, status, entered, rejections) => {
    const host = acting(action)
    expect([host.status, host.entered]).toEqual([status, entered])
    expect(host.state.totals.rejections).toBe(rejections)
    expect(host.findings).toContain(`flow.policy_triggered ${action}`)
    host.verify()
  })
})

describe('text policies (rows 3 and 4)', () => {
  const said = (attempt: Attempt, parts: Partial<Flow> = {}): Host =>
    new Host({ nodes: [work('a', { max_attempts: 1 })], ...parts }, () => attempt).start().run()

  it.each(RATIONALISING)('refuses the phrase: %s', (phrase) => {
    const host = said({ message: `The work.\n\n${phrase.toUpperCase()}, and so on.` })
    expect(host.findings[0]).toBe('flow.text_policy reject')
    expect(host.state.totals.rejections).toBe(1)
    expect(host.status).toBe('WAITING')
  })

  it.each(ASKING_TO_CONTINUE)('refuses to be asked: %s', (phrase) => {
    expect(said({ message: `Done. ${phrase}?` }).findings[0]).toBe('flow.text_policy reject')
  })

  it('sees through case, punctuation and width', () => {
    for (const message of [
      'Shall  I — continue?',
      'ＳＨＡＬＬ Ｉ ＣＯＮＴＩＮＵＥ',
      '是 否，继续？',
      'shall\u3164i\u115fcontinue',
      'sh\uffa0all i continue',
    ])
      expect(said({ message }).findings[0]).toBe('flow.text_policy reject')
  })

  it('lets a plain report pass', () => {
    for (const content of [
      'The parser is done; 14 tests pass. Two cases of escapes are still missing.',
      'The marshall icon continued to load.',
      '实现已完成，十四个测试通过。用户可以在设置中选择继续播放。',
    ])
      expect(said({ content, message: 'Continuing with the next file.' }).status).toBe('DONE')
  })

  it('applies those of the flow to the text they name, and keeps the defaults', () => {
    const text_policies = [
      {
        policy_id: 'NO_RATIONALISING',
        applies_to: 'summary' as const,
        patterns: ['lgtm'],
        violation_action: 'alert' as const,
        priority: 1,
      },
    ]
    expect(said({ message: 'LGTM' }, { text_policies }).findings).toEqual([])
    expect(said({ message: 'good enough for now' }, { text_policies }).status).toBe('WAITING')
  })
})

describe('completion is a conjunction (row 5)', () => {
  const nodes = [
    work('a', { max_attempts: 1, required_files: ['out.md'] }),
    check('c', 'a'),
    node('b'),
  ]
  const edges = [edge('a', 'c'), edge('c', 'b')]
  const run = (more: Attempt, review: Attempt = {}) =>
    new Host({ nodes, edges }, (id) => (id === 'a' ? more : review)).start().run()

  it('holds with all parts, and with none of them missing', () => {
    expect(run({}).status).toBe('DONE')
    for (const [attempt, code] of [
      [{ files: false }, 'flow.incomplete rerun'],
      [{ blocked: true }, 'flow.incomplete rerun'],
      [{ tools: 0 }, 'flow.tool_use_zero rerun'],
    ] as const) {
      const host = run(attempt)
      expect(host.findings[0]).toBe(code)
      expect([host.node('c').status, host.entered]).toEqual(['idle', ['a']])
      host.verify()
    }
    const rejected = run({}, { score: 89 })
    expect([rejected.status, rejected.entered]).toEqual(['WAITING', ['a', 'c']])
    expect(rejected.findings[0]).toBe('flow.approval_required rerun')
  })

  it('tells all that is missing at once', () => {
    const findings = run({ files: false, blocked: true, tools: 0 }).findings
    expect(findings.slice(0, 3).sort()).toEqual([
      'flow.incomplete rerun',
      'flow.incomplete rerun',
      'flow.tool_use_zero rerun',
    ])
  })
})

describe('REJECT until APPROVE (row 6)', () => {
  const nodes = [work('a'), check('c', 'a'), node('b')]
  const edges = [edge('a', 'c'), edge('c', 'b')]

  it('runs the work again with the review, until it is approved', () => {
    const reviews: unknown[] = []
    const host = new Host({ nodes, edges }, (id, attempt, command) => {
      if (id === 'a' && command.type === 'run_participant')
        reviews.push(command.input.last_review?.total_score ?? null)
      return id === 'c' ? { score: attempt === 1 ? 40 : 90 } : {}
    })
    host.start().run(({ type }) => type === 'run_participant' && host.entered.length === 3)
    expect([host.node('a').work.isLocked, host.node('a').work.verdict]).toEqual([true, 'REJECT'])
    expect(host.run().entered).toEqual(['a', 'c', 'a', 'c', 'b'])
    expect(reviews).toEqual([null, 40])
    expect([host.status, host.node('a').work.isLocked]).toEqual(['DONE', false])
    host.verify()
  })

  it('goes by the score, no matter what the word is, and says when it changed the word', () => {
    const run = (score: number, action: 'APPROVE' | 'MODIFY') =>
      new Host({ nodes: [work('a', { max_attempts: 1 }), ...nodes.slice(1)], edges }, (id) =>
        id === 'c' ? { score, action } : {},
      )
        .start()
        .run()
    const low = run(89, 'APPROVE')
    expect(low.status).toBe('WAITING')
    expect(run(90, 'MODIFY').status).toBe('DONE')
    const review = low.facts.flatMap((fact) =>
      fact.type === 'flow_event_v1' && fact.payload.kind === 'reviewed' ? [fact.payload] : [],
    )
    expect(review[0]).toMatchObject({ verdict: 'REJECT', is_word_changed: true })
  })

  it('counts only an answer with the id and the digest that were handed out', () => {
    for (const forged of [{ reviewId: 'n1.1' }, { digest: `sha256:${'0'.repeat(64)}` }]) {
      const host = new Host({ nodes, edges }, (id, _, command) =>
        id === 'c' && command.type === 'run_participant' ? forged : {},
      )
      // The forged answer is invalid output; the honest one that follows counts.
      expect(host.start().run().status).toBe('DONE')
      const outputs = host.facts.flatMap((fact) =>
        fact.type === 'participant_output_v1' && fact.payload.node_id === 'c' ? [fact.payload] : [],
      )
      expect(outputs.map(({ answer }) => answer === null)).toEqual([true, false])
      host.verify()
    }
    const stubborn = new Host(
      { nodes: [...nodes.slice(0, 1), check('c', 'a', { max_attempts: 1 }), node('b')], edges },
      (id) => (id === 'c' ? { reviewId: 'guess' } : {}),
    )
    expect([stubborn.start().run().status, stubborn.entered.includes('b')]).toEqual([
      'WAITING',
      false,
    ])
  })

  it('gives every review an id of its own', () => {
    const ids = new Set<string>()
    const host = new Host({ nodes, edges }, (id, attempt, command) => {
      if (command.type === 'run_participant' && command.review !== null)
        ids.add(command.review.review_id)
      return id === 'c' ? { score: attempt === 1 ? 0 : 95 } : {}
    })
    host.start().run()
    expect(ids.size).toBe(2)
  })

  it('follows the way back of the CHECK where there is one', () => {
    const guard_expr = "state.validator_verdict == 'REJECT'"
    const back = edge('c', 'start', { class: 'Loop', guard_expr })
    const all = [edge('start', 'a'), ...edges, back]
    const host = new Host({ nodes: [node('start'), ...nodes], edges: all }, (id, attempt) =>
      id === 'c' ? { score: attempt === 1 ? 10 : 95 } : {},
    )
    expect(host.start().run().entered).toEqual(['start', 'a', 'c', 'start', 'a', 'c', 'b'])
    expect(host.status).toBe('DONE')
    host.verify()
  })

  it('asks a human when no attempt is left', () => {
    const host = new Host({ nodes, edges }, (id) => (id === 'c' ? { score: 1 } : {})).start().run()
    expect([host.status, host.entered.length]).toEqual(['WAITING', 6])
  })
})

describe('no tools, no work (row 7, criterion 3)', () => {
  const nodes = [work('a', { max_attempts: 2 }), node('b')]

  it('an attempt without a tool call has failed', () => {
    const host = new Host({ nodes, edges: [edge('a', 'b')] }, (_, attempt) => ({
      tools: attempt === 1 ? 0 : 1,
    }))
    expect(host.start().run().entered).toEqual(['a', 'a', 'b'])
    expect(host.findings[0]).toBe('flow.tool_use_zero rerun')
    host.verify()
  })

  it('what the gate blocked is no tool call', () => {
    const host = new Host({ nodes, edges: [edge('a', 'b')] }, () => ({ tools: 0, blocked: true }))
    expect(host.start().run().findings[0]).toBe('flow.tool_use_zero rerun')
    expect(host.entered).toEqual(['a', 'a'])
  })

  it('is asked of WORK with an executor only', () => {
    const checked = [work('a'), check('c', 'a')]
    const host = new Host({ nodes: checked }, (id) => (id === 'c' ? { tools: 0 } : {}))
    expect(host.start().run().status).toBe('DONE')
  })
})

describe('file ban (row 8, criterion 4)', () => {
  // The permission comes first: order does not lift a ban.
  const access_rules = [
    {
      actor: 'director',
      resource_path: 'output/public.md',
      access_mode: 'read' as const,
      access_allowed: true,
    },
    {
      actor: 'director',
      resource_path: 'output/**',
      access_mode: 'read' as const,
      access_allowed: false,
      reason: 'file-ban',
    },
  ]
  const { document } = compiled({ nodes: [work('a', { actor: 'director' })], access_rules })

  it('forbids what a rule forbids, to that actor and in that mode', () => {
    const decide = (actor: string, path: string, mode: 'read' | 'write') =>
      decideAccess(document, actor, path, mode).isAllowed
    expect(decide('director', 'output/phase_x/agent_output.md', 'read')).toBe(false)
    expect(decide('director', 'output', 'read')).toBe(false)
    expect(decide('director', 'output/public.md', 'read')).toBe(false)
    expect(decide('director', 'output/x', 'write')).toBe(true)
    expect(decide('writer', 'output/x', 'read')).toBe(true)
    expect(decide('director', 'inputs/x', 'read')).toBe(true)
  })

  it('is not walked around by another spelling', () => {
    for (const path of ['./output/x', 'inputs/../output/x', 'output//x', 'output/./x'])
      expect(decideAccess(document, 'director', path, 'read').isAllowed).toBe(false)
  })

  it('goes with the command to the host, and a refused access is a finding', () => {
    const host = new Host({ nodes: [work('a', { actor: 'director' })], access_rules }).start()
    expect(host.open[0]).toMatchObject({ type: 'run_participant', access: access_rules })
    host.send({ type: 'access_refused', node_id: 'a', path: 'output/x', mode: 'read' })
    expect(host.findings).toEqual(['flow.access_denied refuse'])
    host.verify()
  })
})

describe('external claims (row 9, criterion 5)', () => {
  const nodes = [work('a'), node('b')]
  const trust_requirement = 'independent_verification_required' as const
  const edges = [edge('a', 'b', { trust_requirement })]
  const digest = `sha256:${'d'.repeat(64)}`
  const evidence = (host: Host, principal: string, participant: string | null, supports = true) => {
    const one = { evidence_id: 'E', claim_id: 'C', actor: 'x', digest, supports }
    host.send({ type: 'evidence', evidence: one, principal, participant })
    return host.run()
  }
  const claimed = () =>
    new Host({ nodes, edges }, () => ({ claims: ['C'], principal: 'author' })).start().run()
  const standing = (host: Host) => {
    const [claim] = claimStandings(host.flow, host.state)
    if (claim === undefined) throw new Error('no claim')
    return claim.verification_status
  }

  it('close the way until another verifies them', () => {
    const host = claimed()
    expect([host.status, host.findings[0]]).toEqual(['BLOCKED', 'flow.claim_unverified block'])
    expect(standing(host)).toBe('pending')
    expect(evidence(host, 'somebody else', null).status).toBe('DONE')
    expect(standing(host)).toBe('verified')
    host.verify()
  })

  it('are not verified by their author, nor by the same participant under another name', () => {
    expect(evidence(claimed(), 'author', null).status).toBe('BLOCKED')
    const host = claimed()
    const own = host.flow.nodes[0]?.participant ?? ''
    expect(evidence(host, 'another name', own).status).toBe('BLOCKED')
    expect(standing(host)).toBe('pending')
    expect(evidence(host, 'another name', digest).status).toBe('DONE')
  })

  it('are refuted by one who contradicts', () => {
    const host = evidence(claimed(), 'critic', null, false)
    expect([host.status, standing(host)]).toEqual(['BLOCKED', 'rejected'])
    expect(evidence(host, 'friend', null).status).toBe('BLOCKED')
  })

  it('of the flow begin pending, no matter what their file says', () => {
    const claims = [
      {
        claim_id: 'C',
        node_id: 'a',
        actor: 'author',
        trust_level: 'verified_independent' as const,
        evidence_ids: ['EVID-1'],
        verification_status: 'verified' as const,
      },
    ]
    const host = new Host({ nodes, edges, claims }).start().run()
    expect([host.status, standing(host)]).toEqual(['BLOCKED', 'pending'])
    expect(evidence(host, 'other', null).status).toBe('DONE')
  })

  const standings = (host: Host) =>
    claimStandings(host.flow, host.state).map(
      (one) => `${one.claim_id} ${one.node_id} ${one.text} ${one.verification_status}`,
    )

  it('of two nodes with one id are two claims, and each is verified by itself', () => {
    const parts = {
      nodes: [work('a'), work('b'), check('c', 'b'), node('d')],
      edges: [edge('a', 'b'), edge('b', 'c'), edge('c', 'd', { trust_requirement })],
    }
    const claims = (id: string) => (id === 'c' ? {} : { claims: [`C=by ${id}`] })
    const host = new Host(parts, claims).start()
    host.run((command) => command.type === 'run_participant' && command.node_id === 'b')
    evidence(host, 'other', null)
    expect([host.status, standings(host)]).toEqual([
      'BLOCKED',
      ['C a by a verified', 'b/C b by b pending'],
    ])
    expect(evidence(host, 'other', null).status).toBe('BLOCKED')
    const one = { evidence_id: 'F', claim_id: 'b/C', actor: 'x', digest, supports: true }
    host.send({ type: 'evidence', evidence: one, principal: 'other', participant: null })
    expect(host.run().status).toBe('DONE')
    host.verify()
    const judged = new Host(parts, (id) => (id === 'c' ? { supports: ['C'] } : claims(id)))
    expect([judged.start().run().status, standings(judged)]).toEqual([
      'DONE',
      ['C a by a pending', 'b/C b by b verified'],
    ])
  })

  it('with other words are new claims without evidence; the same words keep it', () => {
    const run = (second: string) => {
      const parts = {
        nodes: [work('a'), check('c', 'a'), node('b')],
        edges: [edge('a', 'c'), edge('c', 'b', { trust_requirement })],
      }
      const host = new Host(parts, (id, attempt) =>
        id === 'c'
          ? { score: attempt === 1 ? 10 : 95, ...(attempt === 1 ? { supports: ['C'] } : {}) }
          : { content: `${attempt}`, claims: [attempt === 1 ? 'C=12 columns' : second] },
      )
      host.start().run().verify()
      return [host.status, ...standings(host)]
    }
    expect(run('C=12 columns')).toEqual(['DONE', 'C a 12 columns verified'])
    expect(run('C=40 tons')).toEqual(['BLOCKED', 'C a 40 tons pending'])
    expect(run('C')).toEqual(['BLOCKED', 'C a undefined pending'])
  })

  it('of one answer have ids of their own, so that none takes the place of another', () => {
    const host = new Host({ nodes, edges }, () => ({ claims: ['C=40 tons', 'C=12 columns'] }))
    host.start().run()
    expect(standings(host)).toEqual([])
    expect(host.findings).toContain('flow.output_invalid rerun')
  })

  it('do not close a way that does not ask', () => {
    const host = new Host({ nodes, edges: [edge('a', 'b')] }, () => ({ claims: ['C'] }))
    expect(host.start().run().status).toBe('DONE')
  })
})

describe('a rerun differs (row 10)', () => {
  const nodes = [work('a'), check('c', 'a'), node('b')]
  const edges = [edge('a', 'c'), edge('c', 'b')]
  const run = (contents: readonly string[], format: 'md' | 'json' = 'md') =>
    new Host({ nodes, edges }, (id, attempt) =>
      id === 'c'
        ? { score: attempt === 1 ? 10 : 95 }
        : { content: contents[attempt - 1] ?? 'last', format },
    )
      .start()
      .run()

  it('an output equal to the last one is a failed attempt', () => {
    const same = run(['one\ntwo', '  two \n\none', 'three'])
    expect(same.findings).toContain('flow.delta_missing rerun')
    expect(same.entered).toEqual(['a', 'c', 'a', 'a', 'c', 'b'])
    same.verify()
    expect(run(['one', 'one\none']).findings).not.toContain('flow.delta_missing rerun')
  })

  it('JSON is compared by its canonical form', () => {
    expect(run(['{"a":1,"b":2}', '{"b":2.0, "a":1}', '{}'], 'json').findings).toContain(
      'flow.delta_missing rerun',
    )
    expect(run(['{"a":1}', '{"a":2}'], 'json').findings).not.toContain('flow.delta_missing rerun')
  })

  it('gets the path of the last output, and the delta is recorded', () => {
    const paths: unknown[] = []
    const host = new Host({ nodes, edges }, (id, attempt, command) => {
      if (id === 'a' && command.type === 'run_participant')
        paths.push(command.input.previous_output_path)
      return id === 'c' ? { score: attempt === 1 ? 10 : 95 } : {}
    })
    host.start().run()
    expect(paths).toEqual([null, 'artifacts/a/1/out.md'])
    const deltas = host.facts.flatMap((fact) =>
      fact.type === 'flow_event_v1' && fact.payload.kind === 'artifact' ? [fact.payload.delta] : [],
    )
    expect(deltas).toEqual([null, { by: 'lines', isEqual: false, added: 1, removed: 1 }])
  })
})

describe('the log after every phase (row 11, criterion 6)', () => {
  const nodes = [node('a'), node('b', { phase_id: 'Q' }), node('c', { phase_id: 'R' })]
  const edges = [edge('a', 'b'), edge('b', 'c')]

  it('is written before anything of the next phase happens', () => {
    const host = new Host({ nodes, edges }).start()
    host.run(({ type }) => type === 'write_log')
    expect([host.entered, host.open.map(({ type }) => type)]).toEqual([['a'], ['write_log']])
    host.run()
    const order = host.facts.flatMap((fact) => {
      if (fact.type !== 'flow_event_v1') return []
      if (fact.payload.kind === 'entered') return [`enter ${fact.payload.node_id}`]
      const isLog = fact.payload.kind === 'event' && fact.payload.event.type === 'log_written'
      return isLog ? ['log'] : []
    })
    expect(order).toEqual(['enter a', 'log', 'enter b', 'log', 'enter c', 'log'])
    expect(host.status).toBe('DONE')
    host.verify()
  })

  it('that cannot be written stops the run', () => {
    const host = new Host({ nodes, edges }).start()
    host.run(({ type }) => type === 'write_log')
    const command = host.open.shift()?.command ?? -1
    host.send({ type: 'log_written', phase_id: 'P', command, digest: null })
    expect([host.run().status, host.entered]).toEqual(['BLOCKED', ['a']])
    expect(host.findings).toEqual(['flow.log_not_updated block'])
    host.verify()
  })

  it('is what the invariant of the seed reads', () => {
    const invariants = [
      {
        invariant_id: 'LOG_NOW',
        invariant_expr: 'event.phase_end -> state.log_updated_after_phase == true',
        check_timing: 'post_phase' as const,
        severity: 'high' as const,
        fail_action: 'block' as const,
      },
    ]
    const host = new Host({ nodes, edges, invariants }).start().run()
    const results = host.facts.flatMap((fact) =>
      fact.type === 'flow_event_v1' &&
      fact.payload.kind === 'invariant' &&
      fact.payload.invariant_id === 'LOG_NOW'
        ? [fact.payload.result]
        : [],
    )
    expect([host.status, results]).toEqual(['DONE', ['true', 'true', 'true']])
  })
})

describe('sub-phases (row 12)', () => {
  const nodes = [
    node('a', { subphase_id: '7A' }),
    node('b', { subphase_id: '7B' }),
    work('c', { subphase_id: '7C' }),
  ]
  const edges = [edge('a', 'b'), edge('b', 'c')]
  const paused = () => {
    const host = new Host({ nodes, edges }).start()
    return host.run(({ type }) => type === 'run_participant').answerAll('write_manifest')
  }

  it('leave a manifest each', () => {
    const host = new Host({ nodes, edges }).start().run()
    const written = host.facts.flatMap((fact) =>
      fact.type === 'flow_event_v1' &&
      fact.payload.kind === 'event' &&
      fact.payload.event.type === 'manifest_written'
        ? [fact.payload.event.subphase_id]
        : [],
    )
    expect([host.status, written]).toEqual(['DONE', ['7A', '7B', '7C']])
    host.verify()
  })

  it('are resumed where they match their manifests, from facts alone', () => {
    const host = paused()
    const open = host.open.map(({ command }) => command)
    host.send({ type: 'resumed', manifests: { '7A': 'manifest-7A', '7B': 'manifest-7B' } })
    expect(host.open.map(({ command }) => command)).toEqual(open)
    expect(host.run().entered).toEqual(['a', 'b', 'c'])
    expect(host.status).toBe('DONE')
  })

  it('are not resumed where they do not', () => {
    const host = paused()
    host.send({ type: 'resumed', manifests: { '7A': 'manifest-7A', '7B': 'other' } })
    expect([host.status, host.findings]).toEqual(['BLOCKED', ['flow.manifest_mismatch refuse']])
    expect(host.open).toEqual([])
    host.verify()
    host.send({ type: 'resumed', manifests: { '7A': 'manifest-7A', '7B': 'manifest-7B' } })
    expect(host.run().status).toBe('DONE')
  })
})

describe('the example of two phases with a floor, a gate and a ban', () => {
  const nodes = [
    work('draft', {
      phase_id: 'P1',
      actor: 'writer',
      minimum_duration: 2,
      required_files: ['out/draft.md'],
    }),
    check('review', 'draft', { phase_id: 'P1', max_attempts: 4 }),
    node('done', { kind: 'GOAL', phase_id: 'P2', actor: 'director', max_attempts: 1 }),
  ]
  const edges = [
    edge('draft', 'review'),
    edge('review', 'done', {
      class: 'Gate',
      guard_expr:
        "state.validator_verdict == 'APPROVE' && state.cumulative_duration >= state.minimum_duration",
      guard_scope: 'phase',
      guard_type: 'numeric',
      on_guard_fail: 'rerun',
      policy_refs: ['TIME_HARD_FLOOR', 'PIPELINE_CONTINUITY'],
      audit_invariant_refs: ['ORCH_LOG_IMMEDIATE_UPDATE'],
    }),
    edge('review', 'draft', { class: 'Loop', guard_expr: "state.validator_verdict == 'REJECT'" }),
  ]
  const run = (script: (id: string, attempt: number) => Attempt) => {
    const host = new Host({ nodes, edges, policies: SEED_POLICIES }, script).start().run()
    host.verify()
    return host
  }

  it('is rejected once, improves, is approved and ends', () => {
    const host = run((id, attempt) => (id === 'review' ? { score: attempt === 1 ? 60 : 92 } : {}))
    expect(host.entered).toEqual(['draft', 'review', 'draft', 'review', 'done'])
    expect([host.status, host.state.totals.rejections]).toEqual(['DONE', 1])
  })

  it('runs its phase again while it took too little time', () => {
    // Review and draft share the phase, and so its time.
    const host = run(() => ({ seconds: 0.6 }))
    expect(host.entered).toEqual(['draft', 'review', 'draft', 'review', 'done'])
    expect([host.status, host.findings.includes('flow.time_floor block')]).toEqual(['DONE', true])
  })
})

describe('budgets', () => {
  it('are looked at before an entry, which then uses nothing', () => {
    const flow = {
      nodes: [work('a'), work('b')],
      edges: [edge('a', 'b')],
      budgets: { attempts: 1 },
    }
    const [old, now] = [new Host(flow), new Host(flow)]
    old.startWith({ evaluator: { name: 'flow', version: '1' } }).run()
    now.start().run()
    expect([old.state.totals.attempts, now.state.totals.attempts]).toEqual([2, 1])
    now.send({ type: 'budget_set', limits: { attempts: 2 }, principal: 'human:ann' })
    now.send({ type: 'unblocked', node_id: 'b', principal: 'human:ann' })
    now.run()
    expect(now.state.ended).toBe('DONE')
    for (const host of [old, now]) host.verify()
  })

  it('keep a line that failed from being tried again', () => {
    const flow = { nodes: [work('a')], edges: [], budgets: { seconds: 4 } }
    const host = new Host(flow, () => ({ outcome: 'unreachable', seconds: 5 }))
    host.start().run()
    expect(host.state.totals.seconds).toBe(5)
    expect(host.node('a').status).toBe('blocked')
    host.verify()
  })
})
