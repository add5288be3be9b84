/**
 * Waiting for answers of people to what a session wants done with their credentials (S-15). What is asked
 * about already is not asked about again; the agent waits for a while, then goes on.
 */
import { setTimeout as pause } from 'node:timers/promises'
import type { GateAnswer, SessionSurface } from '../service/index.ts'

/** How long the agent's program waits. Agents end commands that take minutes. */
const WAIT_MS = 60_000
const LOOK_MS = 1_000
const WAITING_MAX = 5

interface HeldEnd {
  readonly isSent: boolean
  /** One line for the agent. */
  readonly says: string
}

export class HeldAnswers {
  readonly #surface: Pick<SessionSurface, 'pushState'>
  /** What is held, in one word. */
  readonly #noun: string
  readonly #tell: (line: string) => void
  /** Acts whose answer is not known yet, by what they would do. */
  readonly #waiting = new Map<string, string>()

  constructor(
    surface: Pick<SessionSurface, 'pushState'>,
    noun: string,
    tell: (line: string) => void,
  ) {
    this.#surface = surface
    this.#noun = noun
    this.#tell = tell
  }

  /** Opens the question, unless it is open; returns its act. Fails if the gate refuses. */
  async ask(key: string, what: string, open: () => Promise<GateAnswer>): Promise<string> {
    const known = this.#waiting.get(key)
    if (known !== undefined) return known
    if (this.#waiting.size >= WAITING_MAX) {
      const words = `${WAITING_MAX} questions wait for an answer already; go on with other work`
      throw new Error(words)
    }
    const { pending, decision, action_id } = await open()
    if (pending === undefined) throw new Error(`the ${this.#noun} was refused (${decision.code})`)
    this.#tell(`${what} waits for an answer: \`writ inbox ${pending.id}\``)
    this.#waiting.set(key, action_id)
    return action_id
  }

  async end(key: string, actionId: string): Promise<HeldEnd> {
    for (let leftMs = WAIT_MS; leftMs > 0; leftMs -= LOOK_MS) {
      await pause(LOOK_MS)
      const { state, detail = '' } = await this.#surface.pushState(actionId)
      if (state === 'waiting') continue
      this.#waiting.delete(key)
      return { isSent: state === 'promoted', says: `${this.#ends[state]}${detail}` }
    }
    const says = 'a person has not answered yet. It is sent after their yes; go on meanwhile'
    return { isSent: false, says }
  }

  get #ends() {
    const noun = this.#noun
    return {
      promoted: `a person approved the ${noun}, and it was sent`,
      denied: `a person denied the ${noun}; it was not sent`,
      ended: `the question ended without an answer; the ${noun} was not sent`,
      failed: `a person approved the ${noun}, but it failed: `,
      unknown: `a person approved the ${noun}; whether it was carried out is unknown, look first: `,
    } as const
  }
}
