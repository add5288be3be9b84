/**
 * A run that a human released to send requests, from its beginning to its decision, and what is
 * recorded if it was interrupted. Its process holds a lock, which the kernel drops when that process
 * ends for any reason: an undecided run whose lock is free was interrupted.
 *
 * INVARIANT (told once, never sent again): an interrupted run becomes one decision, BLOCK with
 *   `request.unknown`; its release stays used, and what follows is a human's to say.
 */
import { join } from 'node:path'
import { faultCode, faultError } from '../../base/index.ts'
import type { Evaluation } from '../../contracts/index.ts'
import {
  decide,
  EVALUATOR,
  type InterruptedRun,
  RECENT_MS,
  type ReleasedRun,
  RUN_UNKNOWN,
  type StandingFold,
} from '../../gate/index.ts'
import { occurredAtText, type Principal } from '../../ledger/index.ts'
import { makeFolder, removeTreeSync } from '../../machine/index.ts'
import { withWorkspaceLock } from '../../promotion/index.ts'
import type { LawBook } from '../laws/law-book.ts'
import { isHalted } from '../readings/halt.ts'
import { gatherHostFacts, realPathOf } from '../readings/host-facts.ts'
import { basisOf } from '../readings/readings.ts'
import { KeptBodies } from '../records/kept-bodies.ts'
import type { LedgerView } from '../records/ledger-view.ts'
import { type GateContext, workspaceOf } from '../surface/context.ts'

/** writ itself records the interruption: the process that finds it has sent nothing. */
const WRIT: Principal = { kind: 'script', id: 'writ', namespace: 'host' }

/** Does `work` under the lock of the release that an act uses; fails if another run holds it. */
export async function underReleaseLock<T>(
  state: string,
  { action_id, network }: Evaluation,
  work: () => Promise<T>,
): Promise<T> {
  const release = network?.release ?? null
  if (release === null) return work()
  return underLock(state, release.override_id, work, () => {
    const message = 'another run of this proposal has used its release'
    throw faultError('override.release', action_id, message)
  })
}

async function underLock<T>(
  state: string,
  overrideId: string,
  work: () => Promise<T>,
  onBusy: () => T,
): Promise<T> {
  const folder = join(state, 'released', overrideId)
  makeFolder(join(state, 'released'), 0o700)
  makeFolder(folder, 0o700)
  let isHeld = false
  try {
    return await withWorkspaceLock(folder, { waitMs: 0 }, () => {
      isHeld = true
      return work()
    })
  } catch (error) {
    const isBusy = faultCode(error) === 'workspace.busy'
    if (isHeld || !isBusy) throw error
    return onBusy()
  } finally {
    // A process that opened the folder before finds the run decided; both records have one key.
    if (isHeld) removeTreeSync(folder)
  }
}

export class ReleasedRuns {
  readonly #context: GateContext
  readonly #view: LedgerView
  readonly #book: LawBook

  constructor(context: GateContext, view: LedgerView, book: LawBook) {
    this.#context = context
    this.#view = view
    this.#book = book
  }

  /** Tells of every run that was interrupted; cheap when there is none. */
  async settle(): Promise<void> {
    for (const { override_id } of (await this.#view.standing()).releasedRuns()) {
      await underLock(
        this.#context.home.state,
        override_id,
        () => this.#tell(override_id),
        // It goes on.
        () => Promise.resolve(),
      )
    }
  }

  /** What was found lately, newest last. */
  async recent(): Promise<readonly InterruptedRun[]> {
    await this.settle()
    const nowMs = this.#context.nowMs()
    const found = (await this.#view.standing()).interruptedRuns()
    return found.filter(({ foundMs }) => nowMs - foundMs < RECENT_MS)
  }

  /** Records an interrupted run. Reads the state under the lock: the run may have just been decided. */
  async #tell(overrideId: string): Promise<void> {
    const standing = await this.#view.standing()
    const run = standing.releasedRuns().find(({ override_id }) => override_id === overrideId)
    if (run === undefined) return
    const evaluation = this.#evaluationOf(run, standing)
    const decidedAt = occurredAtText(this.#context.nowMs())
    const { lists } = this.#book
    const decision = decide({ proposal: null, evaluation, result: null, lists, decidedAt })
    const bodies = new KeptBodies(this.#context.ledger.objects, false)
    bodies.laws(this.#book)
    await bodies.settled()
    const key = `${run.actionId}/${overrideId}/interrupted`
    const records = [
      { type: 'evaluation_v1', payload: evaluation, key: `evaluation/${key}` },
      { type: 'decision_v1', payload: decision, key: `decision/${key}` },
    ]
    await this.#view.recordAs(records, WRIT, this.#context.stream)
  }

  /**
   * Returns an evaluation that does not judge the proposal, which was admitted: its one violation says
   * that the outcome is unknown, and its obstacle says what may have been sent.
   */
  #evaluationOf(run: ReleasedRun, standing: StandingFold): Evaluation {
    const { home, ledger, stateRoot, userDirectory } = this.#context
    const { actionId, proposalDigest, override_id, hosts, methods } = run
    const nowMs = this.#context.nowMs()
    const { isLost, digest, listsDigest, settings } = this.#book
    const lawsChanged = isLost || !this.#book.isOf(standing.laws)
    const halted = standing.halted || isHalted(home.state)
    const detail = `interrupted; ${methods.join(', ')} to ${hosts.join(', ')} may have been sent`
    return {
      action_id: actionId,
      proposal_digest: proposalDigest,
      cooldown_on_repeat: false,
      evaluator: EVALUATOR,
      laws: digest,
      lists: listsDigest,
      door: 'propose',
      declared_by_approval: false,
      actor_kind: this.#context.caller.principal.kind,
      violations: [{ code: RUN_UNKNOWN, path: '' }],
      host: gatherHostFacts(null, {
        nowMs,
        maxAgeMs: 0,
        maxFutureMs: 0,
        ceilings: settings.ceilings,
        wasUsed: () => false,
        workspace: workspaceOf(this.#context),
        ownHome: userDirectory,
        writPlaces: [realPathOf(stateRoot), home.directory],
        machine: ledger.signer,
      }),
      basis: basisOf(
        this.#context,
        this.#context.caller.principal.id,
        this.#view.seen,
        actionId,
        null,
        standing,
        nowMs,
      ),
      network: {
        hosts: [...hosts],
        read_only_hosts: [],
        release: { override_id, hosts: [...hosts], methods: [...methods] },
      },
      standing: { ...standing.against('', lawsChanged, nowMs), halted },
      preconditions: null,
      law_outcomes: [],
      obstacles: [{ code: RUN_UNKNOWN, detail }],
      comparison: null,
      risk: { declared: 'LOW', floor: 'LOW', effective: 'LOW' },
    }
  }
}
