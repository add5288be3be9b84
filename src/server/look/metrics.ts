/**
 * Counts for Prometheus (H-7). Labels are names of routes, statuses and outcomes, of which there are few:
 * no id, path, principal or stream becomes a label.
 */
import { Counter, Gauge, Histogram, Registry } from 'prom-client'

interface Watched {
  /** How many read events now. */
  readonly readers: () => number
  /** How many commands walk runs now. */
  readonly walks: () => number
  /** How many facts all streams have together. */
  readonly facts: () => Promise<number>
  /** How many open questions have not reached people by every way. */
  readonly undelivered: () => Promise<number>
}

const SECONDS = [0.005, 0.02, 0.1, 0.5, 2, 10, 60]

export class Metrics {
  readonly #registry = new Registry()
  readonly #requests: Counter<'route' | 'status'>
  readonly #seconds: Histogram<'route'>
  readonly #actions: Counter<'outcome'>

  constructor({ readers, walks, facts, undelivered }: Watched) {
    const registers = [this.#registry]
    this.#requests = new Counter({
      name: 'writ_requests_total',
      help: 'Requests by route and status.',
      labelNames: ['route', 'status'],
      registers,
    })
    this.#seconds = new Histogram({
      name: 'writ_request_seconds',
      help: 'Time to the answer, by route.',
      labelNames: ['route'],
      buckets: SECONDS,
      registers,
    })
    this.#actions = new Counter({
      name: 'writ_actions_total',
      help: 'Actions that were proposed or answered here, by what became of them.',
      labelNames: ['outcome'],
      registers,
    })
    const gauge = (name: string, help: string, read: () => number | Promise<number>): void => {
      const made: Gauge = new Gauge({
        name,
        help,
        registers,
        collect: async () => made.set(await read()),
      })
    }
    gauge('writ_event_readers', 'Readers of events now.', readers)
    gauge('writ_walks', 'Commands that walk runs now.', walks)
    gauge('writ_facts', 'Facts of all streams.', facts)
    const open = 'Open questions that have not reached people by every way.'
    gauge('writ_undelivered_questions', open, undelivered)
    gauge('writ_resident_bytes', 'Memory of the process.', () => process.memoryUsage.rss())
    gauge('writ_start_time_seconds', 'When the process began.', () => STARTED)
  }

  answered(route: string, status: number, seconds: number): void {
    this.#requests.inc({ route, status: String(status) })
    this.#seconds.observe({ route }, seconds)
  }

  acted(outcome: string): void {
    this.#actions.inc({ outcome })
  }

  text(): Promise<string> {
    return this.#registry.metrics()
  }
}

const STARTED = Math.round(Date.now() / 1_000 - process.uptime())
