/**
 * Work without an end, such as the dispatch of tasks: one worker of all does it as long as it lives, and
 * another one within a second after that.
 */
import { setTimeout as pause } from 'node:timers/promises'
import type { RollCall } from './roll-call.ts'
import { now, type WorkerNews, wordsOf } from './turn.ts'

type Work = (stop: AbortSignal) => Promise<void>

interface LastingPlace {
  readonly lasting: Readonly<Record<string, Work>>
  readonly tell: (news: WorkerNews) => void
}

/** How long work that ended by itself rests. */
const REST_MS = 5_000

export class LastingWork {
  readonly #place: LastingPlace
  readonly #roll: RollCall
  readonly #stop: AbortSignal
  readonly #underWay = new Map<string, Promise<void>>()

  constructor(place: LastingPlace, roll: RollCall, stop: AbortSignal) {
    this.#place = place
    this.#roll = roll
    this.#stop = stop
  }

  /** Begins what no worker does; called again and again. */
  look(): void {
    if (this.#stop.aborted) return
    for (const [task, work] of Object.entries(this.#place.lasting)) {
      if (this.#underWay.has(task)) continue
      const doing = this.#do(task, work).finally(() => this.#underWay.delete(task))
      this.#underWay.set(task, doing)
    }
  }

  /** Resolves when nothing of it is under way. */
  async ended(): Promise<void> {
    await Promise.all(this.#underWay.values())
  }

  async #do(task: string, work: Work): Promise<void> {
    const { tell } = this.#place
    try {
      await this.#roll.alone(task, async () => {
        tell({ kind: 'taken', at: now(), task })
        await work(this.#stop)
        if (!this.#stop.aborted) await this.#rest()
      })
    } catch (error) {
      tell({ kind: 'failed', at: now(), task, ...wordsOf(error) })
      await this.#rest()
    }
  }

  async #rest(): Promise<void> {
    await pause(REST_MS, null, { signal: this.#stop }).catch(() => null)
  }
}
