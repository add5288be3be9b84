/**
 * The open tasks of one stream that are for a device, folded from the facts and kept up to date. Tasks
 * that came to their end are forgotten; the ledger has them.
 *
 * INVARIANT (facts alone): an entry changes only by a fact that was read from the store.
 */
import type { ActTask, DeviceName } from '../contracts/index.ts'
import { eachFact, openFact } from '../history/index.ts'
import {
  type DispatchState,
  deviceOfTask,
  deviceText,
  HOST_STREAM,
  NO_DISPATCH,
  type OpenedFact,
  takeDispatchFact,
} from '../ledger/index.ts'
import type { LedgerReader } from '../store/index.ts'

export interface OpenTask {
  readonly stream: string
  readonly task: ActTask
  readonly device: DeviceName
  readonly state: DispatchState
}

/** The boards of every stream of a home. */
export class DispatchBoards {
  readonly #ledger: LedgerReader
  readonly #boards = new Map<string, DispatchBoard>()

  constructor(ledger: LedgerReader) {
    this.#ledger = ledger
  }

  async catchUp(): Promise<void> {
    for (const stream of await this.#ledger.store.streams()) {
      if (stream === HOST_STREAM) continue
      const board = this.#boards.get(stream) ?? new DispatchBoard(this.#ledger, stream)
      this.#boards.set(stream, board)
      await board.catchUp()
    }
  }

  all(): Iterable<DispatchBoard> {
    return this.#boards.values()
  }

  /** The stream of an open task; null if no task of this id is open. */
  streamOf(taskId: string): string | null {
    for (const board of this.#boards.values()) if (board.has(taskId)) return board.stream
    return null
  }
}

const PAGE = 500
/** In this order: a step or a receipt follows its task. */
const TYPES = ['ao_act_task_v0', 'dispatch_v1', 'ao_act_receipt_v0'] as const

class DispatchBoard {
  readonly stream: string
  readonly #ledger: LedgerReader
  readonly #open = new Map<string, OpenTask>()
  readonly #ofDevice = new Map<string, Set<string>>()
  readonly #withdrawn: OpenTask[] = []
  /** The number of the next fact; null before the first reading. */
  #next: number | null = null
  #reading: Promise<void> = Promise.resolve()

  constructor(ledger: LedgerReader, stream: string) {
    this.#ledger = ledger
    this.stream = stream
  }

  /** Takes in the facts that came since. One reading at a time. */
  catchUp(): Promise<void> {
    const reading = this.#reading.then(() => this.#read())
    this.#reading = reading.catch(() => undefined)
    return reading
  }

  all(): Iterable<OpenTask> {
    return this.#open.values()
  }

  of(device: DeviceName): readonly OpenTask[] {
    const ids = [...(this.#ofDevice.get(deviceText(device)) ?? [])]
    return ids.flatMap((id) => this.#open.get(id) ?? [])
  }

  /** The tasks that were withdrawn after their offer, since this was asked last. */
  withdrawn(): readonly OpenTask[] {
    return this.#withdrawn.splice(0)
  }

  has(taskId: string): boolean {
    return this.#open.has(taskId)
  }

  async #read(): Promise<void> {
    this.#next ??= await this.#readAll()
    for (;;) {
      const found = await this.#ledger.store.read(this.stream, this.#next, PAGE)
      for (const { seq, text } of found) {
        if (TYPES.some((type) => text.includes(`"${type}"`)))
          this.#take(await openFact(this.#ledger, text))
        this.#next = seq + 1
      }
      if (found.length < PAGE) return
    }
  }

  /** The whole past, by the index of types. */
  async #readAll(): Promise<number> {
    const size = (await this.#ledger.store.head(this.stream))?.size ?? 0
    for (const type of TYPES) {
      for await (const fact of eachFact(this.#ledger, { stream: this.stream, type })) {
        if (fact.seq < size) this.#take(fact)
      }
    }
    return size
  }

  #take(fact: OpenedFact): void {
    if (fact.record.type === 'ao_act_task_v0') return this.#add(fact)
    const id = taskIdOf(fact)
    const known = id === null ? undefined : this.#open.get(id)
    if (id === null || known === undefined) return
    const state = takeDispatchFact(known.state, fact)
    if (state.receipts === 0 && state.end === null) {
      this.#open.set(id, { ...known, state })
      return
    }
    this.#drop(id, known.device)
    // What was withdrawn before the first reading is long over.
    if (this.#next !== null && state.end?.kind === 'withdrawn' && state.offer !== null)
      this.#withdrawn.push({ ...known, state })
  }

  #add({ payload, principal }: OpenedFact): void {
    const device = deviceOfTask(payload)
    // A task that no human recorded is none (I7).
    if (device === null || principal.kind !== 'human') return
    // The store judged the record by its contract before it was written.
    const task = payload as ActTask
    const { act_task_id: id } = task
    if (this.#open.has(id)) return
    this.#open.set(id, { stream: this.stream, task, device, state: NO_DISPATCH })
    const ids = this.#ofDevice.get(deviceText(device)) ?? new Set()
    this.#ofDevice.set(deviceText(device), ids.add(id))
  }

  #drop(id: string, device: DeviceName): void {
    this.#open.delete(id)
    const ids = this.#ofDevice.get(deviceText(device))
    ids?.delete(id)
    if (ids?.size === 0) this.#ofDevice.delete(deviceText(device))
  }
}

function taskIdOf({ record, payload }: OpenedFact): string | null {
  const { act_task_id: id = record.refs?.['task'] } = (payload ?? {}) as { act_task_id?: string } // Judged by its contract.
  return id ?? null
}
