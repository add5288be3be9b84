/** The walk of a run in lines for people, and why an edge was not taken. */
import type { CompiledFlow } from '../compile/compiled-flow.ts'
import { Causes } from '../report/cause.ts'
import { oneLine } from '../report/words.ts'
import type { FlowFact, Values } from '../state/fact.ts'
import type { RunState } from '../state/state.ts'
import { elementAt } from '../state/vector.ts'

/** What a run left behind. */
interface WalkedFacts {
  readonly flow: CompiledFlow
  readonly facts: readonly FlowFact[]
  readonly state: RunState
}

/** Returns the values that an expression read, such as `state.score = 80`. */
function valuesText(values: Values): string {
  const parts = Object.entries(values).map(([name, value]) => `${name} = ${JSON.stringify(value)}`)
  return oneLine(parts.join(', '))
}

/** Returns a line for each step of a run that its author may want to see. */
export function walkLines({ flow, facts }: WalkedFacts): readonly string[] {
  const causes = new Causes(flow)
  return facts.flatMap((fact) => {
    const says = causes.take(fact)
    if (fact.type === 'flow_finding_v1')
      return [`finding ${fact.payload.code} (${fact.payload.action})  ${says ?? ''}`.trimEnd()]
    return fact.type === 'flow_event_v1' ? eventLine(fact.payload) : []
  })
}

function eventLine(
  payload: Extract<FlowFact, { type: 'flow_event_v1' }>['payload'],
): readonly string[] {
  switch (payload.kind) {
    case 'entered':
      return [`node    ${oneLine(payload.node_id)}  (${payload.cause})`]
    case 'fired':
      return [`edge    ${oneLine(payload.edge_id)}`]
    case 'guard':
      return [
        `guard   ${oneLine(payload.edge_id)} is ${payload.result}  ${valuesText(payload.values)}`.trimEnd(),
      ]
    case 'reviewed':
      return [`review  ${oneLine(payload.node_id)}: ${payload.verdict}, ${payload.score}`]
    case 'policies':
      return payload.conflicts.map(
        ({ winner, loser, mode }) =>
          `policy  ${oneLine(winner)} wins over ${oneLine(loser)} (${mode})`,
      )
    case 'field':
      return [`state   ${oneLine(payload.name)} = ${JSON.stringify(payload.value)}`]
    case 'phase_ended':
      return [`phase   ${oneLine(payload.phase_id)} has ended`]
    case 'ended':
      return [`end     ${payload.status}`]
    // The rest follows from these, or a finding says it.
    default:
      return []
  }
}

/** Returns why an edge was not taken: its guard with what it read, or where its source is. */
export function whyNotTaken(
  { flow, facts, state }: WalkedFacts,
  edgeId: string,
): readonly string[] {
  const edge = flow.edges.find(({ document }) => document.edge_id === edgeId)
  if (edge === undefined) return []
  const { source, guard_expr: expression } = edge.document
  const judged = facts.findLast(
    ({ type, payload }) =>
      type === 'flow_event_v1' && payload.kind === 'guard' && payload.edge_id === edgeId,
  )
  const causes = new Causes(flow)
  const told = facts.flatMap((fact) => {
    const says = causes.take(fact)
    const isHere = fact.type === 'flow_finding_v1' && fact.payload.edge_id === edgeId
    return isHere ? [`${fact.payload.code}: ${says ?? ''}`] : []
  })
  const last = told.at(-1)
  const more = last === undefined ? [] : [last]
  if (judged?.type !== 'flow_event_v1' || judged.payload.kind !== 'guard') {
    const { status } = elementAt(state.nodes, edge.source)
    const where = status === 'idle' ? 'the run never came to' : `the run left it ${status}:`
    return [`${edgeId} leaves ${oneLine(source)}; ${where} ${oneLine(source)}`, ...more]
  }
  const { result, values, reasons } = judged.payload
  const guard = expression === undefined ? 'its gate' : `its guard \`${oneLine(expression)}\``
  const read = valuesText(values)
  return [
    `${edgeId}: ${guard} was ${result}${read === '' ? '' : ` with ${read}`}`,
    ...reasons.map(oneLine),
    ...more,
  ]
}
