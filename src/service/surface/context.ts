/** What one gate is opened with: whose home, whose ledger, who calls, from where. */
import { dirname } from 'node:path'
import type { KnownHome } from '../../home/index.ts'
import type { Caller } from '../../ledger/index.ts'
import type { Resolve } from '../../network/index.ts'
import type { OnPoint } from '../../promotion/index.ts'
import type { SandboxDriver } from '../../sandbox/index.ts'
import type { Ledger, SharedStandings } from '../../store/index.ts'

/** A record that another room made; the ledger judges it like any other. */
export interface AccompanyingRecord {
  readonly type: string
  readonly payload: unknown
  /** Its idempotency key: used before, nothing is done. */
  readonly key: string
}

export interface GateContext {
  readonly home: KnownHome
  readonly ledger: Ledger
  readonly caller: Caller
  /** The stream that the caller's facts go to. */
  readonly stream: string
  /** The user's state root, with the states of all homes; invisible to every rehearsal. */
  readonly stateRoot: string
  readonly userDirectory: string
  readonly environment: Readonly<Record<string, string | undefined>>
  /** Names of the programs that started this one. */
  readonly ancestors: readonly string[]
  readonly hasPasskey: boolean
  /** A human of the home has a passphrase or a passkey; absent: one has. */
  readonly hasCredential?: boolean
  readonly driver: SandboxDriver
  /** Folded states of this ledger that outlive the gate; it folds for itself without them. */
  readonly standings?: SharedStandings
  /** Whether the caller that passed the driver closes it and its sandboxes, instead of the gate. */
  readonly leavesClosing?: boolean
  readonly nowMs: () => number
  /** Recorded in the transaction of the first fact that this gate records. */
  readonly alongside?: AccompanyingRecord
  /** Where names lead; the machine's own resolver without it. */
  readonly resolve?: Resolve
  /** Told where a promotion is, before and after each of its steps. */
  readonly onPoint?: OnPoint
}

/** What people work on here: the directory that holds `.writ`. */
export function workspaceOf({ home }: Pick<GateContext, 'home'>): string {
  return dirname(home.directory)
}

/** Root compares and restores owners. */
export function isRoot(): boolean {
  return process.getuid?.() === 0
}
