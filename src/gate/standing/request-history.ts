/**
 * The outcomes of held requests, folded from their facts. A request that began and never ended must
 * not be sent again: its outcome is unknown until a fact records it.
 */
import type { RequestFact } from '../../contracts/index.ts'
import { type FoldMemory, type KeptMemory, MemoryTable, NOTHING_KEPT } from './memory-table.ts'

/** The facts of one request, as far as they came. */
export interface RequestMemory {
  readonly begun: RequestFact
  /** ANSWERED, FAILED or UNKNOWN; null while it is under way, or after a crash. */
  readonly ended: RequestFact | null
  /** SAVED or NOT_SAVED; null before that, and for a response that is not saved. */
  readonly kept: RequestFact | null
}

export class RequestHistory implements FoldMemory {
  readonly #actions: MemoryTable<readonly RequestMemory[]>
  /** Begun and not at their end, by action and step, in the order in which they were begun. */
  readonly #unfinished: Map<string, readonly [action: string, step: string]>
  /** By the id of an answer that was kept as a file: its action. */
  readonly #saves: MemoryTable<string>

  constructor(kept: KeptMemory = NOTHING_KEPT) {
    // What is kept was written by a fold of the same version.
    const unfinished = (kept.brief('requests') ?? []) as readonly (readonly [string, string])[]
    this.#unfinished = new Map(unfinished.map((place) => [place.join('/'), place]))
    this.#actions = new MemoryTable(kept.table('requests'))
    this.#saves = new MemoryTable(kept.table('saves'))
  }

  get tables() {
    return { requests: this.#actions, saves: this.#saves }
  }

  brief(): readonly (readonly [string, string])[] {
    return [...this.#unfinished.values()]
  }

  take(fact: RequestFact): void {
    const id = fact.action_id.toLowerCase()
    const step = fact.step_id.toLowerCase()
    const steps = this.#actions.get(id) ?? []
    const index = steps.findIndex((one) => stepOf(one) === step)
    const known = steps[index] ?? { begun: fact, ended: null, kept: null }
    const memory = advanced(known, fact)
    this.#actions.set(id, index < 0 ? [...steps, memory] : steps.with(index, memory))
    if (memory.kept?.save !== undefined) this.#saves.set(memory.kept.save.save_id, id)
    const place = [id, step] as const
    if (isUnsettled(memory) || isUnsaved(memory)) this.#unfinished.set(place.join('/'), place)
    else this.#unfinished.delete(place.join('/'))
  }

  /** In the order in which they were begun. */
  of(actionId: string): readonly RequestMemory[] {
    return this.#actions.get(actionId.toLowerCase()) ?? []
  }

  /** The action whose answer was kept under this id; null when there is none. */
  actionOfSave(saveId: string): string | null {
    return this.#saves.get(saveId) ?? null
  }

  /** Begun and never ended. */
  unsettled(): readonly RequestMemory[] {
    return this.#open().filter(isUnsettled)
  }

  /** Answered, to be kept, and neither kept nor given up. */
  unsaved(): readonly RequestMemory[] {
    return this.#open().filter(isUnsaved)
  }

  #open(): readonly RequestMemory[] {
    return [...this.#unfinished.values()].flatMap(([id, step]) =>
      this.of(id).filter((one) => stepOf(one) === step),
    )
  }
}

function stepOf({ begun }: RequestMemory): string {
  return begun.step_id.toLowerCase()
}

function isUnsettled({ ended }: RequestMemory): boolean {
  return ended === null
}

function isUnsaved({ ended, kept }: RequestMemory): boolean {
  return ended?.state === 'ANSWERED' && ended.save !== undefined && kept === null
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
