/**
 * The budget of a session (S-7): what it may ask of its model, and the question that is asked when one of
 * it is used up. The request that found it used up waits for the answer for a while; a later yes counts too.
 *
 * INVARIANT (one question): of each budget at most one question is open, and a no is not asked about again
 *   until a person gave more in another way.
 */
import { setTimeout as pause } from 'node:timers/promises'
import {
  type BoundedUse,
  costText,
  type GatewayBudget,
  type GatewayEndpoint,
  ModelGateway,
  type ModelPrice,
  NO_BUDGET,
  type SpentBudget,
} from '../gateway/index.ts'
import { occurredAtText } from '../ledger/index.ts'
import type { SessionSurface } from '../service/index.ts'
import type { LimitNotices } from './limit-notices.ts'
import type { SessionFiles, SessionTerms } from './session-files.ts'
import { budgetFact, leftOf } from './session-use.ts'

interface BudgetParts {
  readonly surface: SessionSurface
  readonly terms: SessionTerms
  readonly files: SessionFiles
  readonly prices: readonly ModelPrice[]
  readonly notices: LimitNotices
  readonly nowMs: () => number
  /** Aborts when the agent has ended. */
  readonly over: AbortSignal
}

/** A budget that a person was asked about. */
interface Asked {
  /** Its bound then. */
  readonly bound: number | null
  /** Resolves when the question has ended. */
  readonly end: Promise<void>
  /** What the agent hears. */
  words: string
  isLate: boolean
}

/** How long a request waits. Clients of models wait for minutes. */
const WAIT_MS = 60_000
const LOOK_MS = 1_000
const OPEN = 'a person is asked for more (`writ inbox`). Stop and tell them'
const REFUSED = 'a person did not give more. Stop and tell them'
const ALONE = 'a person can give more. Stop and tell them'

export class SessionBudget {
  readonly #parts: BudgetParts
  readonly #gateway: ModelGateway
  readonly #asked = new Map<BoundedUse, Asked>()
  readonly #url: string

  constructor(parts: BudgetParts, endpoints: readonly GatewayEndpoint[]) {
    const { terms, files, prices } = parts
    this.#parts = parts
    this.#url = endpoints[0]?.upstream.href ?? 'https://localhost/'
    this.#gateway = new ModelGateway({
      endpoints,
      budget: leftOf(terms.budget ?? NO_BUDGET, files.use()),
      prices,
      hosts: terms.hosts,
      onSpent: (spent) => this.#moreOf(spent),
    })
  }

  get gateway(): ModelGateway {
    return this.#gateway
  }

  /** Gives more of each budget that has a bound; returns what it is from now on. */
  extend(more: Readonly<Record<BoundedUse, number>>): GatewayBudget {
    const { budget } = this.#gateway
    const larger = (name: BoundedUse): number | null =>
      budget[name] === null ? null : budget[name] + more[name]
    this.#gateway.allow({
      requests: larger('requests'),
      tokens: larger('tokens'),
      cost: larger('cost'),
    })
    return this.#gateway.budget
  }

  /** Withdraws what is still asked; the agent has ended. */
  async close(): Promise<void> {
    await Promise.all([...this.#asked.values()].map(({ end }) => end))
  }

  async #moreOf(spent: SpentBudget): Promise<string> {
    const { budget } = spent
    const bound = this.#gateway.budget[budget]
    let asked = this.#asked.get(budget)
    if (asked === undefined || asked.bound !== bound) {
      asked = this.#ask(spent, bound)
      this.#asked.set(budget, asked)
    }
    const one = asked
    if (one.isLate) return one.words
    const waited = new AbortController()
    const late = pause(WAIT_MS, undefined, { signal: waited.signal }).then(
      () => {
        one.isLate = true
      },
      () => undefined,
    )
    await Promise.race([one.end, late])
    waited.abort()
    return one.words
  }

  #ask(spent: SpentBudget, bound: number | null): Asked {
    const asked: Asked = {
      bound,
      isLate: false,
      words: OPEN,
      end: Promise.resolve()
        .then(() => this.#answered(spent, bound))
        .catch(() => ALONE)
        .then((words) => {
          asked.words = words
        }),
    }
    return asked
  }

  /** Asks and waits; returns what the agent hears if there is still nothing left. */
  async #answered({ budget, words }: SpentBudget, bound: number | null): Promise<string> {
    const { surface, terms, notices } = this.#parts
    const more = terms.budget?.[budget] ?? bound ?? 0
    const { pending, action_id } = await surface.askBudget(terms, {
      url: this.#url,
      lines: [
        `Session ${terms.session_id} of ${terms.agent}: ${words}.`,
        `A yes gives it ${moreText(budget, more)} more.`,
      ],
    })
    notices.spent({ budget, words }, pending?.id ?? null)
    if (pending === undefined) return ALONE
    for (;;) {
      const isOver = await this.#pauses()
      const { state } = await surface.pushState(action_id)
      if (state === 'promoted') {
        await this.#give(budget, more)
        return OPEN
      }
      if (state !== 'waiting') return REFUSED
      // More was given by the command, or the agent has ended.
      if (!isOver && this.#gateway.budget[budget] === bound) continue
      await surface.supersede(action_id, terms.descriptor.action_id)
      return OPEN
    }
  }

  /** Returns whether the agent has ended. */
  async #pauses(): Promise<boolean> {
    const { over } = this.#parts
    await pause(LOOK_MS, undefined, { signal: over }).catch(() => undefined)
    return over.aborted
  }

  async #give(budget: BoundedUse, more: number): Promise<void> {
    const { surface, terms, nowMs } = this.#parts
    const none = { requests: 0, tokens: 0, cost: 0 }
    const given = { ...NO_BUDGET, [budget]: this.extend({ ...none, [budget]: more })[budget] }
    const at = occurredAtText(nowMs())
    await surface.record({
      session_id: terms.session_id,
      event: 'EXTENDED',
      at,
      ...budgetFact(given),
    })
  }
}

function moreText(budget: BoundedUse, amount: number): string {
  if (budget === 'cost') return `a cost of ${costText(amount)}`
  return amount === 1 ? `1 ${budget.slice(0, -1)}` : `${amount} ${budget}`
}
