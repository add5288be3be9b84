/** Which records are computed again by whom. Each part of writ that decides adds a row. */
import type { Replayers } from '../../ledger/index.ts'
import { replayEvaluation } from './evaluation.ts'
import { replayFlow } from './flow-replay.ts'
import { replayDecision } from './gate-replay.ts'

export const REPLAYERS: Replayers = new Map([
  ['control_evaluation_v0', replayEvaluation],
  ['decision_v1', replayDecision],
  ['flow_started_v1', replayFlow],
])
