/** What a handler gets of a request, and what it gives back. */
import type { ROUTES } from '../../api/index.ts'
import type { ApprovalAssertion } from '../../contracts/index.ts'
import type { Caller } from '../../ledger/index.ts'
import type { AccompanyingRecord } from '../../service/index.ts'
import type { LedgerKey } from '../../store/index.ts'
import type { HostedHome } from '../call/hosted-home.ts'
import type { ProgramRuns } from '../call/program-runs.ts'
import type { Turnstile } from '../call/turnstile.ts'
import type { BrowserSessions } from '../console/browser-sessions.ts'
import type { PasskeyDesk } from '../console/passkey-desk.ts'
import type { ProofDesk } from '../console/proof-desk.ts'

type Table = typeof ROUTES
type RequestPart<R, K extends string> = R extends { readonly [Name in K]: infer S } ? S : never
type StaticOf<S> = S extends { readonly '~kind'?: unknown }
  ? import('typebox').Static<S & import('typebox').TSchema>
  : never

/** Proofs, passkeys and browser sessions of the home's people. */
export interface People {
  readonly proofs: ProofDesk
  readonly passkeys: PasskeyDesk
  readonly sessions: BrowserSessions
}

/** A request that follows its route, from a caller who may make it. */
export interface RouteCall<Name extends keyof Table = keyof Table> {
  readonly home: HostedHome
  readonly caller: Caller
  /** What the request showed; null of the local human. */
  readonly token: string | null
  /** The caller's own key, of a route for proven humans; null where another's passphrase proved it. */
  readonly key: LedgerKey | null
  /** What the caller's passkey signed to answer a question. */
  readonly assertion: ApprovalAssertion | null
  /** The passphrase of the request, or the ticket of its passkey's proof, for its command. */
  readonly secret: string | null
  readonly people: People
  readonly params: StaticOf<RequestPart<Table[Name], 'params'>>
  readonly query: StaticOf<RequestPart<Table[Name], 'query'>>
  readonly body: StaticOf<RequestPart<Table[Name], 'body'>>
  /** For how many seconds the answer may be waited for. */
  readonly waitSeconds: number
  /** Of a request with an idempotency key: the record for what it is about. */
  readonly reserve: Reservation | null
  /** Rehearsals at once, over all requests. */
  readonly rehearsals: Turnstile
  /**
   * The ids of actions that this service is about to decide, also those whose request was answered, in
   * lower case, with whose proposal each is.
   */
  readonly deciding: Map<string, string>
  readonly programs: ProgramRuns
  /** Counts and traces an action that was proposed or answered. */
  readonly acted: (stream: string, actionId: string) => void
  readonly metrics: () => Promise<string>
  /** Aborted when the client has gone away before its answer. */
  readonly gone: AbortSignal
  /** Aborted when the service stops. */
  readonly stop: AbortSignal
}

export type Reservation = (subject: string) => AccompanyingRecord

export interface Reply {
  readonly status?: number
  readonly value?: unknown
  /** The value as JSON, where a handler has it as text. */
  readonly json?: string
  readonly headers?: Readonly<Record<string, string>>
}

export type Handler<Name extends keyof Table> = (call: RouteCall<Name>) => Promise<Reply>
