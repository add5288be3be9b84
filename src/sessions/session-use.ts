/**
 * What a session asked of its model and of other hosts so far (S-7), over all of its processes. Counts
 * only: never contents, paths or headers.
 */
import type {
  NetworkConnection,
  SessionFact,
  SessionHostUse,
  SessionModelUse,
} from '../contracts/index.ts'
import { showHostPort } from '../gate/index.ts'
import type { GatewayBudget, GatewayUse } from '../gateway/index.ts'

/** As facts and the file of a session hold it. */
export interface SessionUse {
  readonly model: SessionModelUse
  readonly network: readonly SessionHostUse[]
}

export const NO_USE: SessionUse = {
  model: { requests: 0, failures: 0, milliseconds: 0, input_tokens: 0, output_tokens: 0 },
  network: [],
}

/** Names of hosts are the agent's to choose: further ones are counted together. */
const HOSTS_MAX = 100
const OTHERS = 'other hosts'

export class UseMeter {
  readonly #before: SessionUse
  readonly #model: () => GatewayUse
  readonly #taken: () => readonly NetworkConnection[]
  readonly #hosts: Map<string, SessionHostUse>
  readonly #hasPrices: boolean
  #passed: NetworkConnection[] = []

  /** `taken` returns the connections that ended since it was called last. */
  constructor(
    before: SessionUse,
    model: () => GatewayUse,
    taken: () => readonly NetworkConnection[],
    hasPrices = false,
  ) {
    this.#hasPrices = hasPrices
    this.#before = before
    this.#model = model
    this.#taken = taken
    this.#hosts = new Map(before.network.map((one) => [one.host, one]))
  }

  get total(): SessionUse {
    this.#count()
    const { requests, failures, milliseconds, input, cached, output, cost, unpriced } =
      this.#model()
    const { model } = this.#before
    return {
      model: {
        requests: model.requests + requests,
        failures: model.failures + failures,
        milliseconds: model.milliseconds + milliseconds,
        input_tokens: model.input_tokens + input,
        output_tokens: model.output_tokens + output,
        ...more('cached_tokens', model.cached_tokens, cached),
        ...(this.#hasPrices || model.cost_micros !== undefined
          ? { cost_micros: (model.cost_micros ?? 0) + cost }
          : {}),
        ...(this.#hasPrices ? more('unpriced', model.unpriced, unpriced) : {}),
      },
      network: [...this.#hosts.values()],
    }
  }

  /** What went out since the settle before, for the act that follows. */
  passed(): readonly NetworkConnection[] {
    this.#count()
    return this.#passed.splice(0)
  }

  #count(): void {
    for (const connection of this.#taken()) {
      if (connection.outcome === 'passed') this.#passed.push(connection)
      const name = showHostPort(connection.host, connection.port)
      const host = this.#hosts.has(name) || this.#hosts.size < HOSTS_MAX ? name : OTHERS
      this.#hosts.set(host, plus(this.#hosts.get(host) ?? { ...NONE, host }, connection))
    }
  }
}

/** A count is left out while it is nothing. */
function more(name: 'cached_tokens' | 'unpriced', before = 0, now = 0) {
  return before + now === 0 ? {} : { [name]: before + now }
}

const NONE = { passed: 0, refused: 0, failed: 0, bytes_sent: 0, bytes_received: 0 }

function plus(use: SessionHostUse, connection: NetworkConnection): SessionHostUse {
  const { outcome, count = 1, bytes_sent, bytes_received } = connection
  return {
    ...use,
    [outcome]: use[outcome] + count,
    bytes_sent: use.bytes_sent + bytes_sent,
    bytes_received: use.bytes_received + bytes_received,
  }
}

/** What is left of a budget for a process that begins after `used`. */
export function leftOf(
  { requests, tokens, cost }: GatewayBudget,
  { model }: SessionUse,
): GatewayBudget {
  const used = model.input_tokens + model.output_tokens
  return {
    requests: requests === null ? null : Math.max(0, requests - model.requests),
    tokens: tokens === null ? null : Math.max(0, tokens - used),
    // Sessions of before know of no cost.
    cost: cost == null ? null : Math.max(0, cost - (model.cost_micros ?? 0)),
  }
}

/** Returns what the record of a session says of its budget: nothing if there is none. */
export function budgetFact({ requests, tokens, cost }: GatewayBudget): Pick<SessionFact, 'budget'> {
  const budget = {
    ...(requests === null ? {} : { requests }),
    ...(tokens === null ? {} : { tokens }),
    ...(cost == null ? {} : { cost_micros: cost }),
  }
  return Object.keys(budget).length === 0 ? {} : { budget }
}
