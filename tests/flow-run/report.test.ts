/** The report of a run, made of its facts. */
import { expect, it } from 'vitest'
import { reportPage } from '../../src/flow/report/page.ts'
import { artifactsOf, logOf, reportOf } from '../../src/flow/report/report.ts'
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
