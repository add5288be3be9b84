/**
 * The workspace that acts are promoted into: its lock, what is done to its files under that lock
 * (a promotion, a rollback, the recovery of either), and the facts that say so. How files are
 * exchanged is in `promotion/`.
 */
import { randomUUID } from 'node:crypto'
import { faultError } from '../../base/index.ts'
import type {
  Confirmation,
  Promotion as PromotionFact,
  Proposal,
  RequestFact,
  Rollback as RollbackFact,
  SandboxResult,
} from '../../contracts/index.ts'
import {
  type Change,
  displayOfRaw,
  type PromotedAction,
  rawOfText,
  type StandingFold,
} from '../../gate/index.ts'
import { occurredAtText } from '../../ledger/index.ts'
import {
  type AppliedPromotion,
  type AppliedRollback,
  applyStage,
  expired,
  ifWorkspaceFree,
  type KeptAct,
  type LaterAct,
  laterActs,
  mayBeInterrupted,
  openJournals,
  previewRollback,
  type RollbackPreview,
  recover,
  refuseUnrecovered,
  resolveRecovery,
  rollback,
  type WorkspaceLock,
  withWorkspaceLock,
} from '../../promotion/index.ts'
import { readStage } from '../../tree/index.ts'
import { isHalted } from '../readings/halt.ts'
import type { LedgerView } from '../records/ledger-view.ts'
import { factOf, NO_NOTE, notDone, type PromotionNote } from '../records/promotion-fact.ts'
import {
  findPreimages,
  findStage,
  preimageNames,
  preimagesOf,
  stagePlaces,
} from '../stage/stage-place.ts'
import { type GateContext, workspaceOf } from '../surface/context.ts'
import type {
  FinishedYes,
  OpenRecovery,
  RecoveryOrder,
  ResolvedRecovery,
} from '../surface/surface.ts'
import { isAnswerNote, OutgoingRequests } from './outgoing-requests.ts'
import { Unbegun } from './unbegun.ts'

/** How long to wait for another process that works in the same workspace. */
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
  /** Sends requests that are held; absent where there are none. */
  readonly requests?: { readonly count: number; readonly proposal: Proposal }
}

/** Nothing to put in place and nothing to send. */
export function isEmpty({ changes, requests }: PromotionOrder): boolean {
  return changes.length === 0 && requests === undefined
}

type FoundStage = NonNullable<ReturnType<typeof findStage>>

/** What a rollback's fact says besides what was restored; kept with the intent for recovery. */
type RollbackNote = Pick<RollbackFact, 'action_ids' | 'compensated_by' | 'run'>

interface RollbackOrder {
  /** Newest first. */
  readonly actions: readonly PromotedAction[]
  readonly dryRun: boolean
  readonly asIs: boolean
  readonly compensatedBy?: readonly string[]
  readonly run?: string
}

interface Restored {
  readonly paths: readonly string[]
  readonly added: readonly string[]
  readonly verified: boolean
}

export class Workspace {
  readonly #context: GateContext
  readonly #view: LedgerView
  readonly #requests: OutgoingRequests
  readonly #unbegun: Unbegun
  readonly #recovered: FinishedYes[] = []
  readonly #undoMs: number

  constructor(context: GateContext, view: LedgerView, undoMs: number) {
    this.#context = context
    this.#view = view
    this.#requests = new OutgoingRequests(context, view)
    this.#unbegun = new Unbegun(context, view)
    this.#undoMs = undoMs
  }

  /** Fails with `stage.missing` if the rehearsed files are gone; null when the act changes none. */
  stageOf({ changes, result }: PromotionOrder): FoundStage | null {
    if (changes.length === 0) return null
    const found = findStage(this.#context.home, result.sandbox_id)
    if (found !== null) return found
    const message = 'the rehearsed files are not kept any more; nothing was changed'
    throw faultError('stage.missing', result.sandbox_id, message, 'run the command again')
  }

  /** Puts the staged files in place and sends what is held; the fact of it is the answer. */
  async apply(
    order: PromotionOrder,
    stage: FoundStage | null,
    lock: WorkspaceLock,
  ): Promise<PromotionFact> {
    const { requests } = order
    const send = async (): Promise<void> => {
      if (requests !== undefined)
        await this.#requests.send({ ...order, proposal: requests.proposal })
    }
    const fact =
      stage === null
        ? await this.#sendOnly(order, send)
        : await this.#applyStage(order, stage, lock, send)
    if (requests !== undefined) await this.#requests.keepUnsaved(lock)
    return fact
  }

  async #applyStage(
    order: PromotionOrder,
    { place, stage }: FoundStage,
    lock: WorkspaceLock,
    send: () => Promise<void>,
  ): Promise<PromotionFact> {
    const { actionId, changes } = order
    const { onPoint, home } = this.#context
    const note = this.#noteOf(order)
    const { emptied } = readStage(stage, () => false)
    let fact: PromotionFact | null = null
    await applyStage({
      actionId,
      lock,
      changes,
      stage,
      keep: preimagesOf(place, actionId),
      state: home.state,
      roots: order.roots.map(({ real, device, inode }) => ({
        root: real,
        device: BigInt(device),
        inode: BigInt(inode),
      })),
      listings: emptied,
      ...(onPoint === undefined ? {} : { onPoint }),
      isHalted: () => isHalted(home.state),
      beforeDone: send,
      note,
      record: async (done) => {
        fact = await this.#recordPromotion(done)
      },
    })
    return fact ?? factOf(notDone(actionId, note), note)
  }

  /** Under the lock all the same, so that no other process takes the requests for interrupted. */
  async #sendOnly(order: PromotionOrder, send: () => Promise<void>): Promise<PromotionFact> {
    await send()
    return this.recordEmpty(order)
  }

  /** Records a promotion that changes no file. */
  recordEmpty(order: PromotionOrder): Promise<PromotionFact> {
    const done = notDone(order.actionId, this.#noteOf(order))
    return this.#recordPromotion({ ...done, status: 'APPLIED' })
  }

  #noteOf(order: PromotionOrder): PromotionNote {
    const { actionId, result, takenBack = 0, requests } = order
    return {
      proposal_digest: order.proposalDigest,
      result_digest: order.resultDigest,
      manifest: result.diff.manifest,
      stream: this.#context.stream,
      ...(requests === undefined ? {} : { requests: requests.count }),
      ...(takenBack === 0 ? {} : { key: `promotion/${actionId}/${takenBack}` }),
    }
  }

  /**
   * Ends what was interrupted, before anything reads the workspace. Waits for another process that puts files
   * in place, and for none that only sends.
   */
  async recover(): Promise<void> {
    if (mayBeInterrupted(this.#context.home.state)) return this.locked(async () => {})
    const open = await this.#requests.interrupted(await this.#view.standing())
    if (open !== null)
      await ifWorkspaceFree(workspaceOf(this.#context), (lock) => this.#endInterrupted(lock))
  }

  /**
   * Ends what was interrupted, and fails if a promotion or rollback still waits for a human's choice.
   * Looks under the lock, so that another process's work does not pass for interrupted.
   */
  async requireRecovered(): Promise<void> {
    const { state } = this.#context.home
    if (!mayBeInterrupted(state)) return
    await this.locked(async ({ root }) => refuseUnrecovered(state, rawOfText(root)))
  }

  /** Removes pre-images of what never began. Cheap when there are none. */
  async sweep(): Promise<void> {
    if (this.#unbegun.isFound()) await this.locked(() => this.#unbegun.sweep())
  }

  /** Ends what can be ended; answers with what waits for a human. */
  async openRecoveries(): Promise<readonly OpenRecovery[]> {
    await this.sweep()
    if (openJournals(this.#context.home.state).length === 0) return []
    return withWorkspaceLock(workspaceOf(this.#context), LOCK, async (lock) =>
      (await recover(this.#recovery(lock))).flatMap((each) =>
        each.outcome === 'CONFLICT' ? [{ id: each.id, paths: each.paths.map(displayOfRaw) }] : [],
      ),
    )
  }

  async resolve({ id, direction, choices }: RecoveryOrder): Promise<ResolvedRecovery> {
    const resolved = await withWorkspaceLock(workspaceOf(this.#context), LOCK, (lock) =>
      resolveRecovery({
        ...this.#recovery(lock),
        recordPromotion: async (done: AppliedPromotion) => {
          await this.#recordPromotion(done)
        },
        id,
        direction: direction === 'finish' ? 'APPLIED' : 'REVERTED',
        choices: new Map([...choices].map(([path, choice]) => [rawOfText(path), choice])),
      }),
    )
    return { ...resolved, direction }
  }

  #recovery(lock: WorkspaceLock) {
    return {
      lock,
      state: this.#context.home.state,
      recordPromotion: async (done: AppliedPromotion) => {
        await this.#recordPromotion(done)
        await this.#noteEnded(done)
      },
      recordRollback: async (done: AppliedRollback) => {
        await this.#recordRollback(done)
        this.#noteRestored(done)
      },
      mayFinish: async (id: string, note: unknown) => {
        // The journal has the note that `promote` gave it, or none.
        const { requests } = (note ?? {}) as Partial<PromotionNote>
        return requests === undefined || this.#requests.mayFinish(id, requests)
      },
    }
  }

  /** An act that was to be promoted, and whose files recovery put in place or put back. */
  async #noteEnded({ actionId, note, status, paths }: AppliedPromotion): Promise<void> {
    if (isAnswerNote(note)) return
    // The note was written by this class, with the intent.
    const { stream } = note as PromotionNote
    const found = await this.#view.factOf('confirmation_v1', actionId, stream)
    const approved = (found?.payload as Confirmation | undefined)?.answer === 'APPROVED'
    const promoted = status === 'APPLIED'
    const end = promoted ? { paths, code: null } : { code: 'promote.interrupted' }
    this.#recovered.push({ action_id: actionId, approved, promoted, ...end })
  }

  /** A rollback that recovery completed; one that it put back changed nothing. */
  #noteRestored({ status, note, actionIds, restored }: AppliedRollback): void {
    if (status !== 'APPLIED') return
    // The journal has the note that `rollback` gave it, or none.
    const { action_ids } = (note as RollbackNote | null) ?? { action_ids: [...actionIds] }
    const rest = { approved: false, promoted: false, code: null, undone: true } as const
    for (const action_id of action_ids) {
      this.#recovered.push({ action_id, ...rest, paths: restored })
    }
  }

  /** What a recovery of this gate ended, without a human's choice. */
  get recovered(): readonly FinishedYes[] {
    return this.#recovered
  }

  /** Of an act that only sent: there is no journal, so its facts tell what was begun. */
  async #finishSent({ action_id, proposal_digest, result_digest }: RequestFact): Promise<void> {
    const result = await this.#view.factOf('sandbox_result_v1', action_id)
    if ((await this.#view.standing()).promotion(action_id) !== null || result === null) return
    // The ledger has checked the payload against the contract of this type.
    const { manifest, counts } = (result.payload as SandboxResult).diff
    // Files that a machine put in place which is gone: the act ends without them.
    if (counts.added + counts.modified + counts.deleted > 0) return
    const note = { proposal_digest, result_digest, manifest }
    await this.#recordPromotion({ ...notDone(action_id, note), status: 'APPLIED', recovered: true })
  }

  /** Acts that stand and changed something of these after them, oldest first; of any stream. */
  async laterThan(actions: readonly PromotedAction[]): Promise<readonly LaterAct[]> {
    const { home } = this.#context
    const { requests } = await this.#view.standing()
    const own = await this.#exchangesOf(actions)
    const chosen = own.flatMap((id) => {
      const found = findPreimages(home, id)
      return found === null ? [] : [{ id, keep: found.keep }]
    })
    const kept = stagePlaces(home).flatMap((place) =>
      preimageNames(place).map((id) => ({ id, keep: preimagesOf(place, id) })),
    )
    const later = (await this.#recordedLater(chosen, kept)).map((act) => ({
      ...act,
      id: requests.actionOfSave(act.id) ?? act.id,
    }))
    return later.filter(({ id }, index) => later.findIndex((one) => one.id === id) === index)
  }

  /** Returns the later acts; ignores unrecorded ones, and those that depend on unrecorded ones alone. */
  async #recordedLater(
    chosen: readonly KeptAct[],
    kept: readonly KeptAct[],
  ): Promise<readonly LaterAct[]> {
    const later = laterActs(chosen, kept)
    const strays = new Set((await this.#unbegun.unrecorded(later)).map(({ id }) => id))
    if (strays.size === 0) return later
    return this.#recordedLater(
      chosen,
      kept.filter(({ id }) => !strays.has(id)),
    )
  }

  /** Newest first; answers that were kept in files go before the act that they belong to. */
  async rollback({
    actions,
    dryRun,
    asIs,
    compensatedBy = [],
    run,
  }: RollbackOrder): Promise<Restored> {
    const rollbackId = randomUUID()
    const note: RollbackNote = {
      action_ids: actions.map(({ actionId }) => actionId),
      ...(compensatedBy.length === 0 ? {} : { compensated_by: [...compensatedBy] }),
      ...(run === undefined ? {} : { run }),
    }
    return this.locked(async (lock) => {
      await this.#refuseTakenBack(actions)
      const found = this.#preimagesOfAll(await this.#exchangesOf(actions))
      const [first] = found
      if (first === undefined) return this.#nothingToRestore(rollbackId, note, dryRun)
      const keep = preimagesOf(first.place, rollbackId)
      const list = found.map(({ actionId, keep: own }) => ({ actionId, keep: own }))
      if (dryRun) {
        return { ...shown(await previewRollback({ actions: list, keep, asIs })), verified: false }
      }
      const done = await rollback({
        rollbackId,
        lock,
        actions: list,
        keep,
        state: this.#context.home.state,
        asIs,
        note,
        record: (each) => this.#recordRollback(each),
      })
      return { ...shown(done), verified: done.verified }
    })
  }

  /** Another command may have been faster while this one waited for the lock. */
  async #refuseTakenBack(actions: readonly PromotedAction[]): Promise<void> {
    const standing = await this.#view.standing()
    for (const { actionId } of actions) {
      const now = standing.promotion(actionId)
      if (now === null || now.rolledBackBy === null) continue
      const message = `another command took ${actionId} back at ${now.rolledBackAt}, while this one waited; nothing was done`
      const hint = '`writ log` shows what was taken back; `writ undo` takes back the act before it'
      throw faultError('rollback.nothing', actionId, message, hint)
    }
  }

  #preimagesOfAll(ids: readonly string[]) {
    return ids.map((actionId) => {
      const kept = findPreimages(this.#context.home, actionId)
      if (kept !== null) return { actionId, ...kept }
      throw expired([actionId])
    })
  }

  async #exchangesOf(actions: readonly PromotedAction[]): Promise<readonly string[]> {
    const { requests } = await this.#view.standing()
    return actions.flatMap(({ actionId, promotion }) => {
      const saved = requests
        .of(actionId)
        .flatMap(({ kept }) => (kept?.state === 'SAVED' ? [kept.save?.save_id ?? ''] : []))
      return [...saved.reverse(), ...(promotion.paths > 0 ? [actionId] : [])]
    })
  }

  /** Everything was compensated and no file was changed. */
  async #nothingToRestore(rollbackId: string, note: RollbackNote, dryRun: boolean) {
    const rolledBackAtMs = this.#context.nowMs()
    if (!dryRun && note.action_ids.length > 0) {
      const done = {
        status: 'APPLIED',
        changes: [],
        restored: 0,
        verified: true,
        recovered: false,
      } as const
      await this.#recordRollback({ ...done, rollbackId, actionIds: [], rolledBackAtMs, note })
    }
    return { paths: [], added: [], verified: !dryRun }
  }

  /** Runs `work` under the workspace's lock, after finishing what was interrupted. */
  locked<T>(work: (lock: WorkspaceLock, standing: StandingFold) => Promise<T>): Promise<T> {
    return withWorkspaceLock(workspaceOf(this.#context), LOCK, async (lock) =>
      work(lock, await this.#endInterrupted(lock)),
    )
  }

  /** Returns what the facts say afterwards. */
  async #endInterrupted(lock: WorkspaceLock): Promise<StandingFold> {
    if (openJournals(this.#context.home.state).length > 0) await recover(this.#recovery(lock))
    const standing = await this.#view.standing()
    const open = await this.#requests.interrupted(standing)
    if (open === null) return standing
    await this.#requests.recoverRest(open, (begun) => this.#finishSent(begun))
    await this.#requests.keepUnsaved(lock)
    return this.#view.standing()
  }

  async #recordPromotion(done: AppliedPromotion): Promise<PromotionFact> {
    if (isAnswerNote(done.note)) {
      await this.#requests.recordKept(done.note, done.status === 'APPLIED')
      return factOf(done, NO_NOTE)
    }
    // The note was written by this class, with the intent.
    const note = done.note as PromotionNote
    const fact = factOf(done, note, this.#undoMs)
    const key = note.key ?? `promotion/${done.actionId}`
    await this.#view.record([{ type: 'promotion_v1', payload: fact, key }], note.stream)
    return fact
  }

  async #recordRollback(done: AppliedRollback): Promise<void> {
    // What was put back again changed nothing.
    if (done.status !== 'APPLIED') return
    const fact: RollbackFact = {
      rollback_id: done.rollbackId,
      // The journal has the note that `rollback` gave it, or none.
      ...((done.note as RollbackNote | null) ?? { action_ids: [...done.actionIds] }),
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

function shown({ changes, added }: RollbackPreview): Pick<Restored, 'paths' | 'added'> {
  return {
    paths: changes.map(({ path }) => displayOfRaw(path)),
    added: added.map(displayOfRaw),
  }
}
