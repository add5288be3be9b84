/**
 * What became of held requests, folded from their facts. A request that was begun and never ended is
 * the one that nobody may send again: its outcome is unknown until a fact says so.
 */
import type { RequestFact } from '../contracts/index.ts'

/** The facts of one request, as far as they came. */
export interface RequestMemory {
  readonly begun: RequestFact
  /** ANSWERED, FAILED or UNKNOWN; null while it is under way, or after a crash. */
  readonly ended: RequestFact | null
  /** SAVED or NOT_SAVED; null before that, and where nothing is to be kept. */
  readonly kept: RequestFact | null
}

export class RequestHistory {
  readonly #actions = new Map<string, Map<string, RequestMemory>>()

  take(fact: RequestFact): void {
    const id = fact.action_id.toLowerCase()
    const steps = this.#actions.get(id) ?? new Map<string, RequestMemory>()
    this.#actions.set(id, steps)
    const step = fact.step_id.toLowerCase()
    const known = steps.get(step) ?? { begun: fact, ended: null, kept: null }
    steps.set(step, advanced(known, fact))
  }

  /** In the order in which they were begun. */
  of(actionId: string): readonly RequestMemory[] {
    return [...(this.#actions.get(actionId.toLowerCase())?.values() ?? [])]
  }

  /** Begun and never ended. */
  unsettled(): readonly RequestMemory[] {
    return this.#all().filter(({ ended }) => ended === null)
  }

  /** Answered, to be kept, and neither kept nor given up. */
  unsaved(): readonly RequestMemory[] {
    return this.#all().filter(
      ({ ended, kept }) => ended?.state === 'ANSWERED' && ended.save !== undefined && kept === null,
    )
  }

  #all(): readonly RequestMemory[] {
    return [...this.#actions.values()].flatMap((steps) => [...steps.values()])
  }
}

function advanced(known: RequestMemory, fact: RequestFact): RequestMemory {
  switch (fact.state) {
    case 'SENDING':
      return known
    case 'ANSWERED':
    case 'FAILED':
    case 'UNKNOWN':
      return { ...known, ended: known.ended ?? fact }
    case 'SAVED':
    case 'NOT_SAVED':
      return { ...known, kept: known.kept ?? fact }
    default:
      return fact.state satisfies never
  }
}

/** Whether something of it left the machine, or may have. */
export function wasSent({ ended }: RequestMemory): boolean {
  if (ended === null || ended.state !== 'FAILED') return true
  return ended.answer !== undefined
}
