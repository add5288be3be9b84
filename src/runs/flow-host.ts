/** What runs of flows are given of the machine: ledger, gate, people, clock. */

import type { Home } from '../home/index.ts'
import type { Principal } from '../ledger/index.ts'
import type { Clock } from '../machine/index.ts'
import type { AttemptSurface, Confirm } from '../service/index.ts'
import type { Ledger } from '../store/index.ts'

export interface FlowHost {
  readonly home: Pick<Home, 'directory' | 'state'>
  readonly ledger: Ledger
  readonly stream: string
  /** Walks the run; its facts name this principal. */
  readonly principal: Principal
  readonly attempts: AttemptSurface
  /** Undoes a promoted act; rejects like the gate does. */
  readonly rollback: (actionId: string) => Promise<{ readonly verified: boolean }>
  /** Asks a person about effects that need approval. */
  readonly confirm: Confirm
  /** Where secrets of participants are looked up. */
  readonly environment: Readonly<Record<string, string | undefined>>
  readonly clock: Clock
  /** Whether everything is halted (G-23), by the file or by the ledger. */
  readonly isHalted: () => Promise<boolean>
}
