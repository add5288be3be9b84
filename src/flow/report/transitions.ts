/**
 * Lists every try of an edge: the guard with the values it read, the policies that judged it, and
 * whether the edge fired. An edge without a guard is listed when it fires.
 */
import type { CompiledFlow } from '../compile/compiled-flow.ts'
import type { EventPayload, FlowFact } from '../state/fact.ts'

interface PolicyRecord {
  /** Null if no policy was triggered. */
  readonly winner: string | null
  readonly losers: readonly string[]
  /** The mode that decided the first conflict; null if there was no conflict. */
  readonly mode: string | null
  readonly applied: readonly unknown[]
  readonly conflicts: Judged['conflicts']
}

type Judged = Extract<EventPayload, { kind: 'policies' }>

export interface Transition {
  readonly edge_id: string
  readonly seq: number
  readonly at: string
  readonly source: string
  readonly target: string
  readonly class: string
  /** The expression; null for an edge without one. */
  readonly guard: string | null
  readonly scope: string | null
  readonly values: Readonly<Record<string, unknown>>
  readonly result: 'true' | 'false' | 'undetermined'
  readonly reasons: readonly string[]
  readonly policies: PolicyRecord | null
  readonly invariants: readonly string[]
  readonly fired: boolean
}

type Writable<T> = { -readonly [K in keyof T]: T[K] }

export function transitionsOf(
  flow: CompiledFlow,
  facts: readonly FlowFact[],
): readonly Transition[] {
  const list: Writable<Transition>[] = []
  /** By edge: its last try, until the edge fires. */
  const open = new Map<string, Writable<Transition>>()
  for (const { type, payload } of facts) {
    if (type !== 'flow_event_v1') continue
    if (payload.kind === 'guard') {
      const made = begun(flow, payload.edge_id, payload)
      Object.assign(made, pick(payload))
      open.set(payload.edge_id, made)
      list.push(made)
    } else if (payload.kind === 'policies') {
      // A second judgement of the same edge is a new try.
      if (open.get(payload.edge_id)?.policies != null) open.delete(payload.edge_id)
      at(flow, payload.edge_id, payload, open, list).policies = policyRecord(payload)
    } else if (payload.kind === 'invariant' && payload.edge_id !== undefined) {
      const known = at(flow, payload.edge_id, payload, open, list)
      known.invariants = [...known.invariants, `${payload.invariant_id}: ${payload.result}`]
    } else if (payload.kind === 'fired') {
      at(flow, payload.edge_id, payload, open, list).fired = true
      open.delete(payload.edge_id)
    }
  }
  return list
}

interface Place {
  readonly seq: number
  readonly at: string
}

function at(
  flow: CompiledFlow,
  edgeId: string,
  place: Place,
  open: Map<string, Writable<Transition>>,
  list: Writable<Transition>[],
): Writable<Transition> {
  const known = open.get(edgeId)
  if (known !== undefined) return known
  const made = begun(flow, edgeId, place)
  open.set(edgeId, made)
  list.push(made)
  return made
}

function begun(flow: CompiledFlow, edgeId: string, { seq, at }: Place): Writable<Transition> {
  const document = flow.edgeById.get(edgeId)?.document
  return {
    edge_id: edgeId,
    seq,
    at,
    source: document?.source ?? '',
    target: document?.target ?? '',
    class: document?.class ?? '',
    guard: document?.guard_expr ?? null,
    scope: null,
    values: {},
    result: 'true',
    reasons: [],
    policies: null,
    invariants: [],
    fired: false,
  }
}

function pick({ result, scope, values, reasons }: Extract<EventPayload, { kind: 'guard' }>) {
  return { result, scope, values, reasons }
}

function policyRecord({ applied, conflicts }: Judged): PolicyRecord {
  const [first] = conflicts
  const triggered = applied.find(({ triggered }) => triggered !== 'false')
  return {
    winner: first?.winner ?? triggered?.policy_id ?? null,
    losers: conflicts.map(({ loser }) => loser),
    mode: first?.mode ?? null,
    applied,
    conflicts,
  }
}
