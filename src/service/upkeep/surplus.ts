/**
 * Removes what is no longer needed: pre-images past their time or beyond the quota, and stages whose
 * question is long over. Runs after promotions, at most once an hour. Never removes what the record
 * says is still kept.
 *
 * INVARIANT (an open run keeps its stages): what is staged for a run of a flow stays as long as that
 *   run can go on, however long that is.
 */
import { lstatSync, statSync, utimesSync, writeFileSync } from 'node:fs'
import { basename, join } from 'node:path'
import type { PromotedAction, StandingFold } from '../../gate/index.ts'
import type { KnownHome } from '../../home/index.ts'
import { occurredAtText } from '../../ledger/index.ts'
import { removeTreeSync } from '../../machine/index.ts'
import type { GateSettings, RetentionSettings } from '../../policy/index.ts'
import {
  directoriesInUse,
  dropPreimages,
  droppable,
  type Kept,
  measureKeep,
  type Retention,
} from '../../promotion/index.ts'
import type { DroppedStanding } from '../../store/index.ts'
import { OpenRuns } from '../records/kept-bodies.ts'
import {
  holderOf,
  isHeldStage,
  preimageNames,
  preimagesOf,
  stagePlaces,
  stagesIn,
} from '../stage/stage-place.ts'
import type { GateContext } from '../surface/context.ts'

export const HOUR_MS = 60 * 60 * 1000
const STAMP = '.swept'

/** What is no longer needed at a place, and why. */
interface Surplus {
  readonly kind: 'stage' | 'preimages'
  readonly path: string
  readonly because: 'ended' | 'period' | 'quota'
}

interface Needs {
  readonly actOf: ActOf
  readonly retention: Retention
  /** A stage that is younger may belong to a rehearsal or a question that goes on. */
  readonly stagesBeforeMs: number
  /** Ids of sandboxes whose question ended: their stages go at once. */
  readonly ended?: ReadonlySet<string>
  /** Ids of sandboxes whose stage is needed, however old it is. */
  readonly needed?: ReadonlySet<string>
}

type Place = Pick<GateContext, 'home' | 'ledger'>

/** Removes what is no longer needed, at most once an hour. */
export async function keepHouse(
  context: Place,
  actOf: ActOf,
  confirmationMs: number,
  retention: Retention,
  nowMs: number,
): Promise<void> {
  const needs = { actOf, retention, stagesBeforeMs: nowMs - confirmationMs - HOUR_MS }
  for (const place of stagePlaces(context.home)) {
    if (!isDue(place, nowMs)) continue
    for (const surplus of await surplusAt(context, place, needs, nowMs)) removeSurplus(surplus)
  }
}

/** Returns the stages and the pre-images of a place that can be removed. */
export async function surplusAt(
  { home, ledger }: Place,
  place: string,
  needs: Needs,
  nowMs: number,
): Promise<readonly Surplus[]> {
  // What was interrupted and waits for a human needs its bytes, however long that takes.
  const inUse = directoriesInUse(home.state)
  const kept = keptPreimages(place, needs.actOf).filter(
    ({ actionId }) => !inUse.has(preimagesOf(place, actionId)),
  )
  const stages = await oldStages(ledger, place, needs, inUse)
  const preimages = droppable(kept, needs.retention, nowMs)
  return [
    ...stages.map((path) => ({ kind: 'stage', path, because: 'ended' }) as const),
    ...preimages.map(({ actionId, because }) => {
      return { kind: 'preimages', path: preimagesOf(place, actionId), because } as const
    }),
  ]
}

export function removeSurplus({ kind, path }: Surplus): void {
  if (kind === 'stage') removeTreeSync(path)
  else dropPreimages(path)
}

/** How long an act can be taken back, and the room for it, as the laws say. */
export function undoRetention({ undoDays, undoQuotaMb }: RetentionSettings): Retention {
  return { periodMs: undoDays * 24 * HOUR_MS, quotaBytes: undoQuotaMb * 1024 ** 2 }
}

/** Returns the act of pre-images by the name of their directory; null if it is unknown. */
export type ActOf = (name: string) => KeptAct | null

interface KeptAct extends PromotedAction {
  /** An actor's, which no human approved. */
  readonly isUnapproved: boolean
}

/** What is kept of the acts that were promoted, and the room that it takes. */
export function keptPreimages(place: string, actOf: ActOf): readonly Kept[] {
  return preimageNames(place).flatMap((actionId) => {
    const act = actOf(actionId)
    if (act === null) return []
    const bytes = measureKeep(preimagesOf(place, actionId))
    const promotedAtMs = Date.parse(act.promotedAt)
    const { isUnapproved } = act
    return [{ actionId, promotedAtMs, undoUntilMs: Date.parse(act.undoUntil), bytes, isUnapproved }]
  })
}

function isDue(place: string, nowMs: number): boolean {
  if (lstatSync(place, { throwIfNoEntry: false }) === undefined) return false
  const stamp = join(place, STAMP)
  const swept = statSync(stamp, { throwIfNoEntry: false })
  if (swept !== undefined && nowMs - swept.mtimeMs < HOUR_MS) return false
  writeFileSync(stamp, '', { mode: 0o600 })
  utimesSync(stamp, nowMs / 1000, nowMs / 1000)
  return true
}

/** What is held for a run that has ended, or for none that is known, is not asked for after so long. */
const HELD_MS = 30 * 24 * HOUR_MS

/** A stage is named by its sandbox; its question ended long ago, or never came to be. */
async function oldStages(
  ledger: GateContext['ledger'],
  place: string,
  { stagesBeforeMs, ended, needed }: Needs,
  inUse: ReadonlySet<string>,
): Promise<readonly string[]> {
  const found: string[] = []
  for (const stage of stagesIn(place)) {
    const sandboxId = basename(stage)
    if (inUse.has(stage) || needed?.has(sandboxId) === true) continue
    const beforeMs = isHeldStage(stage) ? stagesBeforeMs - HELD_MS : stagesBeforeMs
    const { mtimeMs = beforeMs } = statSync(stage, { throwIfNoEntry: false }) ?? {}
    if (ended?.has(sandboxId) !== true && mtimeMs >= beforeMs) continue
    const holder = holderOf(stage)
    // The run may be of another stream than the caller's.
    const isAwaited =
      holder !== null && (await new OpenRuns({ ledger, stream: holder.stream }).has(holder.run))
    if (!isAwaited) found.push(stage)
  }
  return found
}

/** Answers that became files have pre-images of their own, which are kept as long as their act's. */
export function actOf(standing: StandingFold): ActOf {
  return (name) => {
    const act = standing.promotion(standing.requests.actionOfSave(name) ?? name)
    return act === null
      ? null
      : { ...act, isUnapproved: standing.unapproved(act.actionId) !== null }
  }
}

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

/** What is kept of the past, and for how long: what `writ doctor` shows of retention and undo. */
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
