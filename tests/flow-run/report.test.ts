/** The report of a run, made of its facts. */
import { expect, it } from 'vitest'
import { artifactsOf } from '../../src/flow/report/artifacts.ts'
import { reportPage } from '../../src/flow/report/page.ts'
import { logOf, reportOf } from '../../src/flow/report/report.ts'
import { stateView } from '../../src/flow/report/state-view.ts'
import { check, edge, Host, node, work } from '../flow-runtime/host.ts'

function host() {
  return new Host(
    {
      title: 'T <b>',
      nodes: [work('a'), check('c', 'a'), node('z', { phase_id: 'Q' })],
      edges: [
        edge('a', 'c'),
        edge('c', 'z', { guard_expr: "state.validator_verdict == 'APPROVE'" }),
      ],
    },
    (id, attempt) => (id === 'c' ? { score: attempt === 1 ? 50 : 95 } : {}),
  )
    .start()
    .run()
}

it('points at the candidate and at what was approved', () => {
  const { flow, facts } = host()
  const [artifact] = artifactsOf(flow, facts)
  expect(artifact?.versions.map(({ path }) => path)).toEqual([
    'artifacts/a/1/out.md',
    'artifacts/a/2/out.md',
  ])
  expect(artifact?.approved).toBe(artifact?.candidate)
})

/** `a` is judged by `c`, which names it, and then by the gate that it calls, with these scores. */
function calling(scores: readonly number[], reruns: number): Host {
  const left = [...scores]
  const gate = { kind: 'CHECK' as const, reviewer: { command: ['gate'] }, call: true }
  const made = new Host(
    {
      nodes: [work('a'), check('c', 'a'), node('gate', { ...gate, phase_id: 'G' })],
      edges: [edge('a', 'c'), edge('a', 'gate', { class: 'Gate' })],
    },
    (id, attempt) => {
      if (id === 'gate') return { score: left.shift() ?? 95 }
      return id === 'c' ? { score: 95 } : { stage: `a-${attempt}` }
    },
  ).start()
  made.run()
  for (let rerun = 0; rerun < reruns; rerun++) {
    made.send({ type: 'unblocked', node_id: 'a', principal: 'human:ann@local' })
    made.run()
  }
  return made
}

/** The number of versions, and which of them is the approved one, from 1. */
function pointers({ flow }: Host, facts: Host['facts']) {
  return artifactsOf(flow, facts).map(({ versions, approved }) => [
    versions.length,
    approved === null ? null : versions.indexOf(approved) + 1,
  ])
}

it('does not call a version approved that a called CHECK rejected', () => {
  const [once, again, twice] = [calling([40], 0), calling([40], 1), calling([40, 40], 1)]
  expect(pointers(once, once.facts)).toEqual([[1, null]])
  const { findings } = reportOf(once.flow, once.facts, once.state)
  expect(findings.map(({ says }) => says)).toContain('gate, which it calls, did not let it pass')
  expect(pointers(again, again.facts)).toEqual([[2, 2]])
  expect(pointers(twice, twice.facts)).toEqual([[2, null]])
})

it('does not call a version approved that a called CHECK has not judged yet', () => {
  const made = calling([], 0)
  const judged = made.facts.findIndex(
    ({ type, payload }) =>
      type === 'flow_event_v1' && payload.kind === 'reviewed' && payload.check_id === 'gate',
  )
  expect(pointers(made, made.facts.slice(0, judged))).toEqual([[1, null]])
  expect(pointers(made, made.facts)).toEqual([[1, 1]])
})

it('lists every guard with what it read, whether the edge was taken, and the log before the next node', () => {
  const { flow, facts, state } = host()
  const report = reportOf(flow, facts, state)
  const last = report.transitions.at(-1)
  expect(last).toMatchObject({ edge_id: 'c>z', result: 'true', fired: true })
  expect(last?.values).toEqual({ 'state.validator_verdict': 'APPROVE' })
  expect(report.reviews.length).toBe(2)
  for (const { ended_seq, logged_seq, next_entered_seq } of logOf(facts)) {
    expect(logged_seq).toBeGreaterThan(ended_seq)
    expect(next_entered_seq ?? Number.POSITIVE_INFINITY).toBeGreaterThan(logged_seq ?? 0)
  }
})

it('shows the state at the last place where a participant ran', () => {
  const { flow, facts, state } = host()
  expect(stateView(flow, facts, state)).toMatchObject({
    phase_id: 'P',
    attempt_count: 2,
    validator_verdict: 'APPROVE',
    score: 95,
    rejection_count: 1,
    previous_output_path: 'artifacts/a/2/out.md',
  })
})

it('is a page without scripts, in which everything is text', () => {
  const { flow, facts, state } = host()
  const page = reportPage(reportOf(flow, facts, state))
  expect(page).toContain('T &lt;b&gt;')
  expect(page).not.toMatch(/<script|<b>T|javascript:/)
})

it('says in words what waits, what changed and what has no review', () => {
  const human = { reviewer: { human: 'ann' } }
  const made = new Host({
    nodes: [work('a'), check('c', 'a', human), work('b')],
    edges: [edge('a', 'c')],
  })
  made.start().run((one) => one.type === 'run_participant' && one.node_id === 'c')
  const { flow, facts, state } = made
  const page = reportPage({ ...reportOf(flow, facts, state), status: 'WAITING' })
  expect(page).toContain('<span class="wait">waits for a person</span>')
  expect(page).toContain(`<code>writ flow resume ${state.runId}</code>`)
  expect(page).toContain('in place, not reviewed')
  expect(page.slice(page.indexOf('id="nodes"'))).toContain('>waiting<')
  const claims = page.slice(
    page.indexOf('<section id="claims"'),
    page.indexOf('<section id="access"'),
  )
  expect(claims.match(/>none</g)?.length).toBe(1)
  const twice = host()
  const again = reportPage(reportOf(twice.flow, twice.facts, twice.state))
  expect(again).toMatch(/\d+ lines? added, \d+ lines? removed|nothing changed/)
  expect(again).not.toContain('&quot;isEqual&quot;')
})

it('keeps words and times in one line, and gives work without a judge no verdict', () => {
  const { flow, facts, state } = host()
  const page = reportPage(reportOf(flow, facts, state))
  expect(page).toContain('<td class="word"><span class="good">APPROVE</span></td>')
  expect(page).toMatch(/<td class="word">2026-01-01T00:00:\d\d\.000Z<\/td>/)
  expect(page).toContain('<td><code>sha256:')
  const nodes = page.slice(page.indexOf('id="nodes"'), page.indexOf('id="findings"'))
  expect(nodes).not.toContain('PENDING')
})
