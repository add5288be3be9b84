/**
 * Traces over OTLP/HTTP (H-7): one trace an action, with a span for each step of its way, made from its
 * facts. Sent as JSON where the variables of OpenTelemetry name an address. Nothing of what an action
 * says or holds is in them: ids, kinds, codes and times.
 */
import { createHash } from 'node:crypto'
import { VERSION } from '../../base/index.ts'
import type { ActHistory } from '../../history/index.ts'
import type { Log } from './log.ts'

interface Span {
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
const TIMEOUT_MS = 10_000
/** Actions that wait to be sent; more are dropped, and the drop is logged. */
const WAITING_MAX = 1_000
const SEND_MS = 1_000

/** The spans of an action that has come to its end; its steps follow each other without a gap. */
function spansOf(act: ActHistory, stream: string): readonly Span[] {
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
  const spans = steps.flatMap(([name, record], index): readonly Span[] => {
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
    ...(act.by.kind === 'ai' ? [attribute('gen_ai.agent.name', act.by.id)] : []),
  ]
  const root = { traceId, spanId: rootId, name: 'action', kind: INTERNAL }
  return [{ ...root, ...times(begun, before), attributes, status }, ...spans]
}

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

type Variables = Readonly<Record<string, string | undefined>>

/** Where traces go, as the variables of OpenTelemetry say; null if they name no address. */
function traceTarget(
  env: Variables,
): { readonly url: string; readonly headers: [string, string][] } | null {
  const base = env['OTEL_EXPORTER_OTLP_ENDPOINT']
  const whole = env['OTEL_EXPORTER_OTLP_TRACES_ENDPOINT']
  const url = whole ?? (base === undefined ? undefined : `${base.replace(/\/$/, '')}/v1/traces`)
  if (url === undefined || url === '') return null
  const pairs = (env['OTEL_EXPORTER_OTLP_HEADERS'] ?? '').split(',').filter((one) => one !== '')
  const headers = pairs.map((pair): [string, string] => {
    const [name = '', ...value] = pair.split('=')
    return [name.trim(), decodeURIComponent(value.join('=').trim())]
  })
  return { url, headers: [...headers, ['content-type', 'application/json']] }
}

export class Traces {
  readonly #target: ReturnType<typeof traceTarget>
  readonly #log: Log
  #waiting: Span[][] = []
  #timer: NodeJS.Timeout | null = null

  constructor(env: Variables, log: Log) {
    this.#target = traceTarget(env)
    this.#log = log
  }

  add(act: ActHistory, stream: string): void {
    if (this.#target === null) return
    if (this.#waiting.length >= WAITING_MAX) {
      this.#log.warn({ event: 'traces_dropped' })
      this.#waiting = []
    }
    this.#waiting.push([...spansOf(act, stream)])
    this.#timer ??= setTimeout(() => this.send(), SEND_MS).unref()
  }

  /** Sends what waits. A receiver that is away costs its traces, and nothing else. */
  async send(): Promise<void> {
    if (this.#timer !== null) clearTimeout(this.#timer)
    this.#timer = null
    const spans = this.#waiting.flat()
    this.#waiting = []
    if (this.#target === null || spans.length === 0) return
    const service = [attribute('service.name', 'writ'), attribute('service.version', VERSION)]
    const scopeSpans = [{ scope: { name: 'writ' }, spans }]
    const body = { resourceSpans: [{ resource: { attributes: service }, scopeSpans }] }
    try {
      const { url, headers } = this.#target
      const signal = AbortSignal.timeout(TIMEOUT_MS)
      const sent = await fetch(url, { method: 'POST', headers, body: JSON.stringify(body), signal })
      if (!sent.ok) this.#log.warn({ event: 'traces_refused', status: sent.status })
    } catch {
      this.#log.warn({ event: 'traces_unsent' })
    }
  }
}
