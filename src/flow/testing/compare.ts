/** Compares what a case expects with what came of it. Every difference is named, with its cause. */
import type { ExpectedFinding, FlowExpectation } from '../../contracts/index.ts'
import { nodesOf } from '../report/report.ts'
import { stateView } from '../report/state-view.ts'
import { stopsOf } from '../report/stops.ts'
import { claimStandings } from '../runtime/claims.ts'
import type { FlowFact } from '../state/fact.ts'
import type { ScriptedRun } from './scripted-run.ts'
import { whyNotTaken } from './walk-text.ts'
import { fileText } from './workspace.ts'

/** `at` is the place in the expectation. */
export interface TestDifference {
  readonly at: string
  readonly says: string
  readonly because: readonly string[]
}

type EventPayload = Extract<FlowFact, { type: 'flow_event_v1' }>['payload']

/** Nodes and edges in the order in which the run came to them. */
export function walkOf(facts: readonly FlowFact[]) {
  const events = facts.flatMap(({ type, payload }) => (type === 'flow_event_v1' ? [payload] : []))
  const steps = events.flatMap(stepOf)
  const of = (kind: 'node' | 'edge') => steps.filter((one) => one.kind === kind).map(({ id }) => id)
  return { nodes: of('node'), edges: of('edge'), all: steps.map(({ id }) => id) }
}

interface WalkStep {
  readonly kind: 'node' | 'edge'
  readonly id: string
}

function stepOf(payload: EventPayload): readonly WalkStep[] {
  if (payload.kind === 'entered') return [{ kind: 'node', id: payload.node_id }]
  return payload.kind === 'fired' ? [{ kind: 'edge', id: payload.edge_id }] : []
}

export function differencesOf(run: ScriptedRun, expected: FlowExpectation): TestDifference[] {
  const found = [
    ...ofStatus(run, expected),
    ...ofWalk(run, expected),
    ...ofNumbers(run, expected),
    ...ofFindings(run, expected),
    ...ofPolicies(run, expected),
    ...ofRest(run, expected),
  ]
  const unheard = run.unheard.map((says) => ({ at: 'events', says, because: [] }))
  const endless = run.isEndless
    ? [{ at: 'walk', says: 'the run does not come to an end', because: [] }]
    : []
  return [...endless, ...found, ...unheard]
}

function stopsAt(run: ScriptedRun) {
  const { flow, facts, state, waiting } = run
  return stopsOf({ flow, facts, state, waiting })
}

function ofStatus(run: ScriptedRun, { status, waits_at }: FlowExpectation): TestDifference[] {
  const stops = stopsAt(run)
  const because = stops.map(({ node_id, title, says }) => `${node_id ?? title}: ${says}`)
  const found: TestDifference[] = []
  if (status !== undefined && status !== run.status)
    found.push({ at: 'status', says: `expected ${status}, was ${run.status}`, because })
  for (const node of waits_at ?? [])
    if (!stops.some(({ node_id }) => node_id === node))
      found.push({ at: 'waits_at', says: `the run does not wait at ${node}`, because })
  return found
}

function ofWalk(run: ScriptedRun, expected: FlowExpectation): TestDifference[] {
  const { nodes, edges, all } = walkOf(run.facts)
  return [
    ...(expected.edges === undefined ? [] : diverges(run, 'edges', expected.edges, edges)),
    ...(expected.nodes === undefined ? [] : diverges(run, 'nodes', expected.nodes, nodes)),
    ...(expected.passes === undefined ? [] : missed(run, expected.passes, all)),
    ...(expected.avoids ?? [])
      .filter((id) => all.includes(id))
      .map((id) => ({ at: 'avoids', says: `the run came to ${id}`, because: [] })),
  ]
}

/** Names the first place at which two walks differ. */
function diverges(
  run: ScriptedRun,
  at: 'nodes' | 'edges',
  expected: readonly string[],
  actual: readonly string[],
): TestDifference[] {
  const length = Math.max(expected.length, actual.length)
  for (let index = 0; index < length; index++) {
    const [wanted, took] = [expected[index], actual[index]]
    if (wanted === took) continue
    const before = index === 0 ? 'at the start' : `after ${actual[index - 1]}`
    const what = took === undefined ? 'nothing followed' : `came ${took}`
    const says = `${before}: expected ${wanted ?? 'nothing more'}, ${what}`
    return [{ at: `${at}[${index}]`, says, because: whyNot(run, wanted) }]
  }
  return []
}

/** Why the run did not come to an edge, or by an edge to a node. */
function whyNot(run: ScriptedRun, wanted: string | undefined): readonly string[] {
  if (wanted === undefined) return []
  const ways = run.flow.edges.filter(({ document }) => document.target === wanted)
  const edges = run.flow.edges.some(({ document }) => document.edge_id === wanted)
    ? [wanted]
    : ways.map(({ document }) => document.edge_id)
  const taken = new Set(walkOf(run.facts).edges)
  return edges.filter((edge) => !taken.has(edge)).flatMap((edge) => whyNotTaken(run, edge))
}

/** The first of `expected` that does not come, in this order, among `actual`. */
function missed(
  run: ScriptedRun,
  expected: readonly string[],
  actual: readonly string[],
): TestDifference[] {
  let from = 0
  for (const [index, id] of expected.entries()) {
    const place = actual.indexOf(id, from)
    if (place === -1) {
      const before = index === 0 ? '' : ` after ${expected[index - 1]}`
      const says = `the run did not come to ${id}${before}`
      return [{ at: `passes[${index}]`, says, because: whyNot(run, id) }]
    }
    from = place + 1
  }
  return []
}

function ofNumbers(run: ScriptedRun, expected: FlowExpectation): TestDifference[] {
  const attempts = new Map(
    nodesOf(run.flow, run.state).map(({ node_id, attempts: count }) => [node_id, count]),
  )
  const state = stateView(run.flow, run.facts, run.state)
  return [
    ...unequal('attempts', expected.attempts ?? {}, (name) => attempts.get(name)),
    ...unequal('state', expected.state ?? {}, (name) => state[name]),
  ]
}

function unequal(
  at: string,
  expected: Readonly<Record<string, unknown>>,
  actualOf: (name: string) => unknown,
): TestDifference[] {
  return Object.entries(expected).flatMap(([name, wanted]) => {
    const actual = actualOf(name) ?? null
    if (actual === wanted) return []
    const says = `expected ${JSON.stringify(wanted)}, was ${JSON.stringify(actual)}`
    return [{ at: `${at}.${name}`, says, because: [] }]
  })
}

function ofFindings(
  { facts }: ScriptedRun,
  { findings = [], lacks = [] }: FlowExpectation,
): TestDifference[] {
  const found = facts.flatMap(({ type, payload }) => (type === 'flow_finding_v1' ? [payload] : []))
  const codes = [...new Set(found.map(({ code }) => code))]
  const missing = findings.flatMap((one, index) => {
    const wanted: ExpectedFinding = typeof one === 'string' ? { code: one } : one
    const fitting = found.filter(
      (finding) =>
        finding.code === wanted.code &&
        fits(wanted.node, finding.node_id) &&
        fits(wanted.edge, finding.edge_id) &&
        fits(wanted.policy, finding.policy_id) &&
        fits(wanted.invariant, finding.invariant_id) &&
        fits(wanted.claim, finding.claim_id) &&
        fits(wanted.action, finding.action),
    ).length
    const { times } = wanted
    if (times === undefined ? fitting > 0 : fitting === times) return []
    const often = times === undefined ? '' : ` ${times} times, was found ${fitting} times`
    const says = `expected ${JSON.stringify(one)}${often}; findings were ${codes.join(', ') || 'none'}`
    return [{ at: `findings[${index}]`, says, because: [] }]
  })
  const unwanted = lacks
    .filter((code) => codes.includes(code))
    .map((code) => ({ at: 'lacks', says: `${code} was found`, because: [] }))
  return [...missing, ...unwanted]
}

function fits(wanted: string | undefined, actual: string | undefined): boolean {
  return wanted === undefined || wanted === actual
}

function ofPolicies({ facts }: ScriptedRun, { policies }: FlowExpectation): TestDifference[] {
  if (policies === undefined) return []
  const judged = facts.flatMap(({ type, payload }) =>
    type === 'flow_event_v1' && payload.kind === 'policies' ? [payload] : [],
  )
  const conflicts = judged.flatMap((one) => one.conflicts)
  const known = {
    won: conflicts.map(({ winner }) => winner),
    lost: conflicts.map(({ loser }) => loser),
    triggered: judged.flatMap(({ applied, silenced }) => [
      ...applied.map(({ policy_id }) => policy_id),
      ...silenced,
    ]),
  }
  return (['won', 'lost', 'triggered'] as const).flatMap((what) =>
    (policies[what] ?? [])
      .filter((policy) => !known[what].includes(policy))
      .map((policy) => {
        const says = `${policy} is not among those that ${what === 'triggered' ? 'were triggered' : what}`
        return { at: `policies.${what}`, says, because: conflicts.map(conflictText) }
      }),
  )
}

function conflictText({ winner, loser, mode }: { winner: string; loser: string; mode: string }) {
  return `${winner} won over ${loser} (${mode})`
}

function ofRest(run: ScriptedRun, expected: FlowExpectation): TestDifference[] {
  const { facts, refused, workspace } = run
  const claims = new Map(
    claimStandings(run.flow, run.state).map((one) => [one.claim_id, one.verification_status]),
  )
  const ended = facts.flatMap(({ type, payload }) =>
    type === 'flow_event_v1' &&
    payload.kind === 'event' &&
    payload.event.type === 'log_written' &&
    payload.event.digest !== null
      ? [payload.event.phase_id]
      : [],
  )
  const open = (expected.refused ?? []).filter(
    ({ node, path, mode }) =>
      !refused.some((one) => one.node === node && one.path === path && one.mode === mode),
  )
  const files = Object.entries(expected.files ?? {}).map(([path, value]) => [path, fileText(value)])
  return [
    ...unequal('claims', expected.claims ?? {}, (name) => claims.get(name)),
    ...(expected.logged ?? [])
      .filter((phase) => !ended.includes(phase))
      .map((phase) => ({
        at: 'logged',
        says: `the log was not written after the phase ${phase}`,
        because: [],
      })),
    ...open.map(({ node, path, mode }) => ({
      at: 'refused',
      says: `${node} was not kept from ${path} (${mode}), or did not try`,
      because: [],
    })),
    ...unequal('files', Object.fromEntries(files), (path) => workspace.read(path, [])),
  ]
}
