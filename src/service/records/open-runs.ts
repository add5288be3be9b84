/**
 * Finds the runs of flows that have not ended: a process that resumes one needs the bodies with the
 * outputs of its participants. A run has ended when a fact of it says so; a blocked or waiting run can
 * still continue. Outputs from planning a flow, before any run, belong to no run.
 */
import type { Fact } from '../../ledger/index.ts'
import type { GateContext } from '../surface/context.ts'

const PAGE = 500

/** Each run is looked up once. */
export class OpenRuns {
  readonly #context: Pick<GateContext, 'ledger' | 'stream'>
  readonly #known = new Map<string, Promise<boolean>>()

  constructor(context: Pick<GateContext, 'ledger' | 'stream'>) {
    this.#context = context
  }

  has(runId: string): Promise<boolean> {
    const known = this.#known.get(runId) ?? this.#isOpen(runId)
    this.#known.set(runId, known)
    return known
  }

  /** The end is the last fact of a run, so one that has ended is known by its first page. */
  async #isOpen(run: string): Promise<boolean> {
    const { ledger, stream } = this.#context
    const of = { stream, run, order: 'newest_first' } as const
    const begun = await ledger.store.find({ ...of, type: 'flow_started_v1', limit: 1 })
    if (begun.facts.length === 0) return false
    const query = { ...of, type: 'flow_event_v1', limit: PAGE }
    for (let cursor: number | null = Number.MAX_SAFE_INTEGER; cursor !== null; ) {
      const page = await ledger.store.find({ ...query, cursor })
      if (page.facts.some(({ text }) => isEnd(text))) return false
      cursor = page.next
    }
    return true
  }
}

function isEnd(text: string): boolean {
  const { record } = JSON.parse(text) as Fact // The store returns the canonical text of a fact.
  const payload = record.payload as { readonly kind?: unknown } | undefined
  return payload?.kind === 'ended'
}
