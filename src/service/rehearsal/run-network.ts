/**
 * The network of one rehearsal: a proxy that the sandbox opens its door to, the rules of each step in
 * its turn, and what went through. Nothing of it is there for a run without one.
 */
import { lstatSync } from 'node:fs'
import type { NetworkConnection, NetworkGrounds, Proposal } from '../../contracts/index.ts'
import {
  cacheEnvironment,
  groundTerms,
  PROXY_ENVIRONMENT,
  runsWithNetwork,
  stepTerms,
} from '../../gate/index.ts'
import { type ProxyOptions, RunProxy } from '../../network/index.ts'
import type { NetworkDoor } from '../../sandbox/index.ts'

export class RunNetwork {
  readonly #grounds: NetworkGrounds
  readonly #proxy: RunProxy
  readonly #homes: readonly string[]

  constructor(
    grounds: NetworkGrounds,
    homes: readonly string[],
    options: Pick<ProxyOptions, 'resolve' | 'onRefused'>,
  ) {
    this.#grounds = grounds
    this.#homes = homes
    this.#proxy = new RunProxy(groundTerms(grounds), options)
  }

  get door(): NetworkDoor {
    return this.#proxy
  }

  /** From now on the rules of this step hold; gives what its programs find the proxy by. */
  begin(step: Proposal, isLast: boolean): Readonly<Record<string, string>> {
    this.#proxy.obey(stepTerms(this.#grounds, step, isLast))
    if (!runsWithNetwork(step)) return {}
    const caches = cacheEnvironment(this.#homes, isThere)
    return { ...PROXY_ENVIRONMENT, ...caches }
  }

  /** When a step is over: everything that it sent, or wanted to. */
  end(): Promise<readonly NetworkConnection[]> {
    return this.#proxy.settle()
  }

  close(): Promise<void> {
    return this.#proxy.close()
  }
}

function isThere(path: string): boolean {
  return lstatSync(path, { throwIfNoEntry: false })?.isDirectory() === true
}
