/**
 * Traces over OTLP/HTTP (H-7): one trace an action, with a span for each step of its way, made from its
 * facts. Sent as JSON where the variables of OpenTelemetry name an address. Nothing of what an action
 * says or holds is in them: ids, kinds, codes and times.
 */
import { VERSION } from '../../base/index.ts'
import { type ActHistory, type ActSpan, actSpans, spanDocument } from '../../history/index.ts'
import type { Log } from './log.ts'

const TIMEOUT_MS = 10_000
/** Actions that wait to be sent; more are dropped, and the drop is logged. */
const WAITING_MAX = 1_000
const SEND_MS = 1_000

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
  #waiting: ActSpan[][] = []
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
    this.#waiting.push([...actSpans(act, stream)])
    this.#timer ??= setTimeout(() => this.send(), SEND_MS).unref()
  }

  /** Sends what waits. A receiver that is away costs its traces, and nothing else. */
  async send(): Promise<void> {
    if (this.#timer !== null) clearTimeout(this.#timer)
    this.#timer = null
    const spans = this.#waiting.flat()
    this.#waiting = []
    if (this.#target === null || spans.length === 0) return
    const body = spanDocument(spans, VERSION)
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
