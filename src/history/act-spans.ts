/**
 * One action as a trace of OpenTelemetry: a span for each step of its way, made from its facts, in the
 * JSON form of OTLP. Nothing of what an action says or holds is in them: ids, kinds, codes and times.
 */
import { createHash } from 'node:crypto'
import type { ActHistory } from './act.ts'

export interface ActSpan {
  readonly traceId: string
  readonly spanId: string
  readonly parentSpanId?: string
  readonly name: string
  readonly kind: number
  readonly startTimeUnixNano: string
  readonly endTimeUnixNano: string
  readonly attributes: readonly Attribute[]
  readonly status: { readonly code: number }
}

interface Attribute {
  readonly key: string
  readonly value: { readonly stringValue: string }
}

const [INTERNAL, GOOD, FAILED] = [1, 1, 2]

/** The spans of an action that has come to its end; its steps follow each other without a gap. */
export function actSpans(act: ActHistory, stream: string): readonly ActSpan[] {
  const steps = [
    ['rehearse', act.result],
    ['decide', act.decision],
    ...act.answers.map((answer) => ['confirm', answer] as const),
    ['promote', act.promotion],
    ['roll back', act.rollback],
  ] as const
  const traceId = hex(`trace ${act.id}`, 32)
  const rootId = hex(`root ${act.id}`, 16)
  const status = { code: act.outcome === 'failed' || act.outcome === 'blocked' ? FAILED : GOOD }
  const begun = act.proposal?.at ?? act.at
  let before = begun
  const spans = steps.flatMap(([name, record], index): readonly ActSpan[] => {
    if (record === null) return []
    const [start, end] = [before, record.at]
    before = end
    const ids = { traceId, spanId: hex(`${index} ${name} ${act.id}`, 16), parentSpanId: rootId }
    const attributes = [attribute('writ.by.kind', record.by.kind)]
    return [
      { ...ids, name, kind: INTERNAL, ...times(start, end), attributes, status: { code: GOOD } },
    ]
  })
  const attributes = [
    attribute('writ.action_id', act.id),
    attribute('writ.stream', stream),
    attribute('writ.outcome', act.outcome),
    attribute('writ.by.kind', act.by.kind),
    ...(act.decision === null ? [] : [attribute('writ.code', act.decision.payload.code)]),
    ...agentAttributes(act),
  ]
  const root = { traceId, spanId: rootId, name: 'action', kind: INTERNAL }
  return [{ ...root, ...times(begun, before), attributes, status }, ...spans]
}

/**
 * What OpenTelemetry asks of the call of a tool, where an agent made the act: by its own token, in a
 * session, or as a command that it started.
 */
function agentAttributes({ id, by, proposal, evaluation }: ActHistory): readonly Attribute[] {
  const { agent, session } = evaluation?.payload ?? {}
  const name = agent ?? (by.kind === 'ai' ? by.id : undefined)
  if (name === undefined && session === undefined) return []
  const tool = session?.tool
  const { operation, descriptor } = proposal?.payload ?? {}
  const type = operation?.type ?? descriptor?.action_type
  const told: readonly (readonly [string, string | undefined])[] = [
    ['gen_ai.operation.name', 'execute_tool'],
    ['gen_ai.tool.name', tool?.name ?? type],
    ['gen_ai.tool.call.id', tool?.call_id ?? id],
    ['gen_ai.agent.name', name],
    ['gen_ai.conversation.id', session?.session_id],
    ['gen_ai.request.model', tool?.model],
  ]
  return told.flatMap(([key, text]) =>
    text !== undefined && NAME.test(text) ? [attribute(key, text)] : [],
  )
}

/** Names of tools and models come from agents: other texts are left out. */
const NAME = /^\w[\w.:/@-]{0,127}$/

function hex(text: string, digits: number): string {
  return createHash('sha256').update(text).digest('hex').slice(0, digits)
}

function times(start: string, end: string) {
  const nanos = (at: string): string => `${Date.parse(at)}000000`
  return { startTimeUnixNano: nanos(start), endTimeUnixNano: nanos(end) }
}

function attribute(key: string, stringValue: string): Attribute {
  return { key, value: { stringValue } }
}

/** The body of one request to a collector. */
export function spanDocument(spans: readonly ActSpan[], version: string) {
  const service = [attribute('service.name', 'writ'), attribute('service.version', version)]
  const scopeSpans = [{ scope: { name: 'writ' }, spans }]
  return { resourceSpans: [{ resource: { attributes: service }, scopeSpans }] }
}
