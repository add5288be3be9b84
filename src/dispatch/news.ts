/** What a dispatcher tells its terminal. What counts is on the record. */
import type { DispatchFact } from '../contracts/index.ts'

/** What ways tell of besides what is recorded. */
export interface WayNews {
  readonly event: 'ready' | 'trouble' | 'recorded' | 'refused'
  readonly way: string
  readonly device?: string
  readonly command_id?: string
  readonly code?: string
  readonly message?: string
}

/** What one look did. */
export interface LoopNews {
  readonly event: DispatchFact['event'] | 'sent' | 'failed' | 'halted'
  readonly stream?: string
  readonly act_task_id?: string
  readonly way?: string
  readonly reason?: string
}
