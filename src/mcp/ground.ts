/**
 * What a server needs of its host: one home that is open, who calls, and how a person answers. `writ mcp`
 * and `writ serve` both hand one over.
 *
 * INVARIANT (I1): the caller is the principal of a token and never a human. A model must not act in the
 * name of a person, whose acts need fewer answers.
 * INVARIANT (own acts only): a caller reads the acts that it proposed and no others.
 */
import { dirname } from 'node:path'
import { FaultError, faultError, showName } from '../base/index.ts'
import { type ActHistory, readAct, rollbacksOf } from '../history/index.ts'
import type { Home } from '../home/index.ts'
import {
  bearerOf,
  type Caller,
  defaultStream,
  principalText,
  type Register,
  scopeFault,
} from '../ledger/index.ts'
import type { GateSurface } from '../service/index.ts'
import type { Ledger } from '../store/index.ts'

/** A home that its host has open. */
interface OpenHome {
  readonly home: Home
  readonly ledger: Ledger
  register(): Promise<Register>
  withGate<T>(caller: Caller, stream: string, work: (gate: GateSurface) => Promise<T>): Promise<T>
}

/** What all callers share. */
export interface McpHost {
  readonly home: OpenHome
  /** Why an act was decided as it was; null when nothing was decided about it. */
  readonly explain: (
    place: { readonly ledger: Ledger; readonly register: Register },
    stream: string,
    action: string,
  ) => Promise<object | null>
  /** The verdicts of rulesets on inputs. */
  readonly evaluate: (
    rulesets: readonly unknown[],
    inputs: Record<string, unknown>,
    at: number,
  ) => readonly unknown[]
  /** Lets so many rehearsals run at once. */
  readonly rehearsals: { pass<T>(work: () => Promise<T>): Promise<T> }
  /** Aborted when the host stops. */
  readonly stop: AbortSignal
  /** Where people answer questions in a browser; null where there is no console. */
  readonly console: string | null
}

/** One caller's part of it. */
export class CallerGround {
  readonly host: McpHost
  readonly caller: Caller
  readonly stream: string

  /** Fails if the caller is a human. */
  constructor(host: McpHost, caller: Caller) {
    refuseHuman(caller)
    this.host = host
    this.caller = caller
    this.stream = defaultStream(caller)
  }

  /** The directory that the home is for. */
  get workspace(): string {
    return dirname(this.host.home.home.directory)
  }

  withGate<T>(work: (gate: GateSurface) => Promise<T>): Promise<T> {
    return this.host.home.withGate(this.caller, this.stream, work)
  }

  /** An act of the caller. Fails alike for one that is not there and one of another principal. */
  async ownAct(id: string): Promise<ActHistory> {
    const act = await this.findOwn(id)
    if (act !== null) return act
    throw faultError('history.unknown', id, `no action of yours has the id ${showName(id)}`)
  }

  async findOwn(id: string): Promise<ActHistory | null> {
    const { ledger } = this.host.home
    const act = await readAct(ledger, this.stream, id, await rollbacksOf(ledger, this.stream))
    return act !== null && this.isOwn(act) ? act : null
  }

  isOwn({ by }: Pick<ActHistory, 'by'>): boolean {
    return principalText(by) === principalText(this.caller.principal)
  }
}

const MAKE_ONE =
  'a person makes one: `writ principal add ai:NAME@local`, then `writ token create ai:NAME@local`; put it into the settings of the client as WRIT_TOKEN'

function refuseHuman({ principal }: Caller): void {
  if (principal.kind !== 'human') return
  const message = `${showName(principalText(principal))} is a human, and an MCP client acts under a token of its own`
  throw faultError('mcp.human', '', message, MAKE_ONE)
}

/** The principal of a token. Fails without one. */
export async function bearer(home: OpenHome, token: string): Promise<Caller> {
  if (token === '') {
    throw faultError('mcp.no_token', '', '`WRIT_TOKEN` is not set', MAKE_ONE)
  }
  const answer = bearerOf(await home.register(), token, Date.now())
  if (!answer.ok) throw new FaultError(answer.fault)
  const refused = scopeFault(answer.caller, 'propose')
  if (refused !== null) throw new FaultError(refused)
  return answer.caller
}
