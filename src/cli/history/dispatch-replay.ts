/**
 * Replay of the way of tasks to devices: every step is judged again from the facts before it, and the
 * signature of a device against the keys that were in force.
 */
import type { DispatchFact } from '../../contracts/index.ts'
import { DeviceKeys } from '../../dispatch/index.ts'
import { allFacts } from '../../history/index.ts'
import { dispatchBreach, type OpenedFact, type Replay } from '../../ledger/index.ts'
import type { LedgerReader } from '../../store/index.ts'

export class DispatchReplay {
  readonly #ledger: LedgerReader
  readonly #keys: DeviceKeys
  /** The breach of each task that was looked at. */
  readonly #known = new Map<string, ReturnType<typeof dispatchBreach>>()

  constructor(ledger: LedgerReader) {
    this.#ledger = ledger
    this.#keys = new DeviceKeys(ledger)
  }

  /** One task is judged once; its first wrong step is different, the others are not. */
  async step({ stream, seq, payload }: OpenedFact): Promise<Replay> {
    // The store judged the record by its contract before it was written.
    const step = payload as DispatchFact
    const breach = await this.breachOf(stream, step.act_task_id)
    if (breach === null || breach.seq !== seq) return { kind: 'equal' }
    return { kind: 'different', recorded: step, computed: { refused: breach.message } }
  }

  async breachOf(stream: string, taskId: string): Promise<ReturnType<typeof dispatchBreach>> {
    const place = `${stream}/${taskId}`
    const known = this.#known.get(place)
    if (known !== undefined) return known
    const facts = await allFacts(this.#ledger, { stream, task: taskId })
    await this.#keys.read()
    const breach = dispatchBreach(facts, (device, at) => this.#keys.at(device, at))
    this.#known.set(place, breach)
    return breach
  }
}
