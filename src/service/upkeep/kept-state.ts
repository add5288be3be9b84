/** What is kept of the past, and for how long: what `writ doctor` shows of retention and undo. */
import type { StandingFold } from '../../gate/index.ts'
import type { KnownHome } from '../../home/index.ts'
import { occurredAtText } from '../../ledger/index.ts'
import type { GateSettings } from '../../policy/index.ts'
import type { DroppedStanding } from '../../store/index.ts'
import { stagePlaces } from '../stage/stage-place.ts'
import { keptPreimages } from './surplus.ts'

export interface KeptState {
  /** The law file is not the one that a human accepted. */
  readonly laws_differ: boolean
  /** The kept state: how many of all facts it covers, and which kept state was dropped last. */
  readonly standing: {
    readonly kept: number
    readonly facts: number
    readonly dropped: DroppedStanding | null
  }
  readonly audit_level: GateSettings['auditLevel']
  readonly outputs_days: number
  readonly proposals_days: number
  readonly manifests_days: number
  readonly undo: {
    readonly days: number
    readonly quota_bytes: number
    /** The room that displaced bytes take now. */
    readonly bytes: number
    /** Acts that can be taken back, and how long the one that ends first. */
    readonly actions: number
    readonly first_until: string | null
  }
}

export function keptState(
  home: KnownHome,
  standing: StandingFold,
  { auditLevel, retention }: GateSettings,
  nowMs: number,
): Omit<KeptState, 'standing' | 'laws_differ'> {
  const open = (id: string) => {
    const act = standing.promotion(id)
    if (act?.rolledBackBy !== null) return null
    return { ...act, isUnapproved: standing.unapproved(id) !== null }
  }
  const kept = stagePlaces(home).flatMap((place) => keptPreimages(place, open))
  const ends = kept.flatMap(({ undoUntilMs = 0 }) => (undoUntilMs > nowMs ? [undoUntilMs] : []))
  return {
    audit_level: auditLevel,
    outputs_days: retention.outputsDays,
    proposals_days: retention.proposalsDays,
    manifests_days: retention.manifestsDays,
    undo: {
      days: retention.undoDays,
      quota_bytes: retention.undoQuotaMb * 1024 ** 2,
      bytes: kept.reduce((sum, { bytes }) => sum + bytes, 0),
      actions: ends.length,
      first_until: ends.length === 0 ? null : occurredAtText(Math.min(...ends)),
    },
  }
}
