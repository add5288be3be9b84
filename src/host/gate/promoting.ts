/**
 * The gate's side of promotion, rollback and recovery: locks the workspace, finishes what was
 * interrupted, and puts on the ledger what was done to the tree. What happens to files is in
 * `promotion/`.
 */
import { randomUUID } from 'node:crypto'
import { type Digest, digestBytes, fault } from '../../base/index.ts'
import type {
  Decision,
  Promotion as PromotionFact,
  Rollback as RollbackFact,
  SandboxResult,
} from '../../contracts/index.ts'
import { type Change, displayOfRaw, type PromotedAction, rawOfText } from '../../gate/index.ts'
import { occurredAtText } from '../../ledger/index.ts'
import {
  openJournals,
  type Promotion,
  PromotionFailure,
  previewRollback,
  promote,
  type Rollback,
  recover,
  removeTree,
  resolveRecovery,
  rollback,
  UNDO_PERIOD_MS,
  type WorkspaceLock,
  withWorkspaceLock,
} from '../promotion/index.ts'
import { readStage } from '../tree/stage.ts'
import { type GateContext, workspaceOf } from './context.ts'
import { isHalted } from './halt.ts'
import type { LedgerView } from './ledger-view.ts'
import { findPreimages, findStage, preimagesOf } from './stage-place.ts'
import type { OpenRecovery, RecoveryOrder } from './surface.ts'

const LOCK = { waitMs: 30_000 }

export interface PromotionOrder {
  readonly actionId: string
  readonly proposalDigest: string
  readonly resultDigest: string
  readonly result: SandboxResult
  /** How often recovery took its promotion back before; the fact gets a key of its own then. */
  readonly takenBack?: number
  /** What the gate lets through. */
  readonly changes: readonly Change[]
  /** Roots of the scope as the rehearsal found them. */
  readonly roots: readonly {
    readonly real: string
    readonly device: string
    readonly inode: string
  }[]
  /** Asked under the lock, right before anything changes; throws what stands against it. */
  readonly onLocked: () => Promise<void>
}

/** What a promotion's fact says besides what was done; kept with the intent for recovery. */
interface PromotionNote {
  readonly proposal_digest: string
  readonly result_digest: string
  readonly manifest: string
  /** Of the fact, after recovery took the promotion back before and recorded that; absent else. */
  readonly key?: string
}

export class Promoter {
  readonly #context: GateContext
  readonly #view: LedgerView
  readonly #undoMs: number

  constructor(context: GateContext, view: LedgerView, undoMs: number) {
    this.#context = context
    this.#view = view
    this.#undoMs = undoMs
  }

  async promote(order: PromotionOrder): Promise<PromotionFact> {
    const { actionId, changes, result, takenBack = 0 } = order
    const note: PromotionNote = {
      proposal_digest: order.proposalDigest,
      result_digest: order.resultDigest,
      manifest: result.diff.manifest,
      ...(takenBack === 0 ? {} : { key: `promotion/${actionId}/${takenBack}` }),
    }
    if (changes.length === 0) {
      return this.#recordPromotion({ ...notDone(actionId, note), status: 'APPLIED' })
    }
    const found = findStage(this.#context.home, result.sandbox_id)
    if (found === null) {
      const message = 'the rehearsed bytes are not kept any more'
      throw new PromotionFailure(fault('stage.missing', result.sandbox_id, null, { message }))
    }
    const { emptied } = await readStage(found.stage)
    let fact: PromotionFact | null = null
    await this.#locked(async (lock) => {
      await order.onLocked()
      await promote({
        actionId,
        lock,
        changes,
        stage: found.stage,
        keep: preimagesOf(found.place, actionId),
        state: this.#context.home.state,
        roots: order.roots.map(({ real, device, inode }) => ({
          root: real,
          device: BigInt(device),
          inode: BigInt(inode),
        })),
        listings: emptied,
        isHalted: () => isHalted(this.#context.home.state),
        note,
        record: async (done) => {
          fact = await this.#recordPromotion(done)
        },
      })
    })
    removeTree(found.stage)
    return fact ?? factOf(notDone(actionId, note), note)
  }

  /** Ends what was interrupted. Cheap when nothing was; called before anything reads the workspace. */
  async recover(): Promise<void> {
    if (openJournals(this.#context.home.state).length > 0) await this.#locked(async () => {})
  }

  /** Ends what can be ended; answers with what waits for a human. */
  async openRecoveries(): Promise<readonly OpenRecovery[]> {
    if (openJournals(this.#context.home.state).length === 0) return []
    return withWorkspaceLock(workspaceOf(this.#context), LOCK, async (lock) =>
      (await recover(this.#recovery(lock))).flatMap((each) =>
        each.outcome === 'CONFLICT' ? [{ id: each.id, paths: each.paths.map(displayOfRaw) }] : [],
      ),
    )
  }

  async resolve({ id, direction, choices }: RecoveryOrder): Promise<void> {
    await withWorkspaceLock(workspaceOf(this.#context), LOCK, (lock) =>
      resolveRecovery({
        ...this.#recovery(lock),
        id,
        direction: direction === 'finish' ? 'APPLIED' : 'REVERTED',
        choices: new Map([...choices].map(([path, choice]) => [rawOfText(path), choice])),
      }),
    )
  }

  #recovery(lock: WorkspaceLock) {
    return {
      lock,
      state: this.#context.home.state,
      recordPromotion: async (done: Promotion) => {
        await this.#recordPromotion(done)
      },
      recordRollback: (done: Rollback) => this.#recordRollback(done),
    }
  }

  async rollback(
    actions: readonly PromotedAction[],
    dryRun: boolean,
  ): Promise<{ readonly paths: readonly string[]; readonly verified: boolean }> {
    const { home } = this.#context
    const found = actions.map(({ actionId }) => {
      const kept = findPreimages(home, actionId)
      if (kept !== null) return { actionId, ...kept }
      const message = `the pre-images of ${actionId} are not kept any more`
      throw new PromotionFailure(
        fault('rollback.expired', actionId, { ids: [actionId] }, { message }),
      )
    })
    const [first] = found
    if (first === undefined) return { paths: [], verified: false }
    const rollbackId = randomUUID()
    const keep = preimagesOf(first.place, rollbackId)
    const list = found.map(({ actionId, keep: own }) => ({ actionId, keep: own }))
    return this.#locked(async (lock) => {
      const { changes } = await previewRollback({ actions: list, keep })
      const paths = changes.map(({ path }) => displayOfRaw(path))
      if (dryRun) return { paths, verified: false }
      const { verified } = await rollback({
        rollbackId,
        lock,
        actions: list,
        keep,
        state: home.state,
        note: null,
        record: (done) => this.#recordRollback(done),
      })
      return { paths, verified }
    })
  }

  async #locked<T>(work: (lock: WorkspaceLock) => Promise<T>): Promise<T> {
    const { home } = this.#context
    return withWorkspaceLock(workspaceOf(this.#context), LOCK, async (lock) => {
      if (openJournals(home.state).length > 0) await recover(this.#recovery(lock))
      return work(lock)
    })
  }

  async #recordPromotion(done: Promotion): Promise<PromotionFact> {
    // The note was written by this class, with the intent.
    const note = done.note as PromotionNote
    const fact = factOf(done, note, this.#undoMs)
    const key = note.key ?? `promotion/${done.actionId}`
    await this.#view.record([{ type: 'promotion_v1', payload: fact, key }])
    return fact
  }

  async #recordRollback(done: Rollback): Promise<void> {
    // What was put back again changed nothing.
    if (done.status !== 'APPLIED') return
    const fact: RollbackFact = {
      rollback_id: done.rollbackId,
      action_ids: [...done.actionIds],
      restored: done.restored,
      verified: done.verified,
      rolled_back_at: occurredAtText(done.rolledBackAtMs),
      recovered: done.recovered,
    }
    await this.#view.record([
      { type: 'rollback_v1', payload: fact, key: `rollback/${done.rollbackId}` },
    ])
  }
}

const EMPTY: Digest = digestBytes('')

/** No effects: nothing to lock, nothing to undo, and still a fact. */
export function nothingPromoted(
  { action_id, proposal_digest, result_digest = '' }: Decision,
  { diff }: SandboxResult,
  nowMs: number,
): PromotionFact {
  const note = { proposal_digest, result_digest, manifest: diff.manifest }
  return factOf({ ...notDone(action_id, note), status: 'APPLIED', promotedAtMs: nowMs }, note)
}

function notDone(actionId: string, note: PromotionNote): Promotion {
  return {
    actionId,
    status: 'REVERTED',
    paths: 0,
    bytes: 0,
    snapshot: EMPTY,
    windowMs: 0,
    promotedAtMs: Date.now(),
    recovered: false,
    note,
  }
}

function factOf(
  done: Promotion,
  { key: _, ...note }: PromotionNote,
  undoMs = UNDO_PERIOD_MS,
): PromotionFact {
  return {
    action_id: done.actionId,
    ...note,
    status: done.status,
    paths: done.paths,
    bytes: done.bytes,
    snapshot_digest: done.snapshot,
    window_ms: Math.round(done.windowMs * 1_000) / 1_000,
    undo_until: occurredAtText(done.promotedAtMs + undoMs),
    promoted_at: occurredAtText(done.promotedAtMs),
    recovered: done.recovered,
  }
}
