/**
 * A human's yes, or a decision to promote that needed none, is on the record while the promotion never
 * began: the process that was to carry it out is gone, or failed and left it (`orLeave`). The next
 * command of a person finds it and carries it out, if that is still what was decided; otherwise a
 * decision of its own says that nothing came of it.
 *
 * INVARIANT (every yes has an end): after `finish` each such act is promoted, blocked with the reason,
 *   or waits for a human's choice in a recovery.
 */
import type { Fault } from '../../base/index.ts'
import { heldRequests, knownAgent } from '../../gate/index.ts'
import { removeTreeSync } from '../../machine/index.ts'
import { isHalted } from '../readings/halt.ts'
import type { LedgerView } from '../records/ledger-view.ts'
import { isForUs } from '../stage/elsewhere.ts'
import { findPreimages, stagesLeftGoing } from '../stage/stage-place.ts'
import type { GateContext } from '../surface/context.ts'
import type { FinishedYes } from '../surface/surface.ts'
import { type GateParts, type Recorded, recordedAct } from './act.ts'
import { end, endInterrupted } from './decide-again.ts'
import { resume } from './lifecycle.ts'

/** Later than this nothing is carried out without being asked about again. */
const STILL_MEANT_MS = 15 * 60 * 1000

/** What passes by itself or waits for a human: the yes stays open. */
const PASSING: ReadonlySet<string> = new Set([
  'confirm.used',
  'workspace.busy',
  'promote.unrecovered',
  'recovery.conflict',
])

export class UnfinishedActs {
  readonly #gate: GateParts
  readonly #context: GateContext
  readonly #view: LedgerView
  readonly #finished: FinishedYes[] = []

  constructor(gate: GateParts) {
    this.#gate = gate
    this.#context = gate.context
    this.#view = gate.view
  }

  /** What this gate found and ended. */
  get finished(): readonly FinishedYes[] {
    return this.#finished
  }

  /** Cheap when there is none. */
  async finish(): Promise<void> {
    const beforeMs = this.#context.nowMs() - STILL_MEANT_MS
    const going = stagesLeftGoing(this.#context.home, beforeMs)
    const approved = (await this.#view.standing()).approved()
    if (approved.length + going.length === 0 || isHalted(this.#context.home.state)) return
    if (!(await this.#sweep())) return
    for (const { actionId, stage } of going) await this.#finishGoing(actionId, stage)
    // A person's yes is carried out by a person's command only.
    if (!this.#isPerson()) return
    const haltedMs = approved.length === 0 ? 0 : await this.#view.haltedMs()
    for (const { actionId, answeredMs } of approved) {
      // Its files are in place; what is missing is recorded by recovery.
      if (findPreimages(this.#context.home, actionId) !== null) continue
      const act = await this.#recorded(actionId)
      if (act === null || !(await this.#isForUs(act))) continue
      // A yes from before a halt does not count after it, wherever that was typed.
      await this.#finishOne(act, answeredMs < haltedMs ? 0 : answeredMs)
    }
  }

  /** Acts with a human's yes that were not carried out: by a crash, or because all is halted since. */
  async approved(): Promise<readonly string[]> {
    const acts = (await this.#view.standing()).approved()
    return acts
      .map(({ actionId }) => actionId)
      .filter((actionId) => findPreimages(this.#context.home, actionId) === null)
  }

  /** Ends those of this machine without a promotion: a yes from before a halt does not count after it. */
  async endApproved(): Promise<void> {
    const ids = await this.approved()
    // A process that is at work sees the halt by itself.
    if (ids.length === 0 || !(await this.#sweep())) return
    for (const actionId of ids) {
      const act = await this.#recorded(actionId)
      if (act === null || !(await this.#isForUs(act))) continue
      const { act: again } = await endInterrupted(this.#gate, act)
      const { code } = again.decision
      this.#finished.push({ action_id: actionId, approved: true, promoted: false, code })
    }
  }

  /** Whether a request of the act may have been sent, and no one knows. */
  async #isUnknown(actionId: string): Promise<boolean> {
    const { requests } = await this.#view.standing()
    return requests.of(actionId).some(({ ended }) => ended?.state === 'UNKNOWN')
  }

  async #isForUs(act: Recorded): Promise<boolean> {
    const { requests } = await this.#view.standing()
    return isForUs(this.#context, act, requests.of(act.actionId))
  }

  #isPerson(): boolean {
    const { caller, ancestors } = this.#context
    return (
      caller.principal.kind === 'human' && knownAgent(this.#gate.book.lists, ancestors) === null
    )
  }

  /** What never began does not pass for files in place. False while another process is at work. */
  async #sweep(): Promise<boolean> {
    try {
      await this.#gate.workspace.sweep()
      return true
    } catch (error) {
      // A FaultError has `fault`; it is undefined on any other error.
      const { fault: failed } = error as { readonly fault?: Fault }
      if (failed?.code === 'workspace.busy') return false
      throw error
    }
  }

  /** Finishes an interrupted act. One with requests is only ended: recovery sends no request. */
  async #finishGoing(actionId: string, stage: string): Promise<void> {
    if (findPreimages(this.#context.home, actionId) !== null) return
    const act = await this.#recorded(actionId)
    // The act of another stream, or of a process that died before it decided.
    if (act === null) return
    // Also where recovery or a human put it back: that was its end.
    const isEnded = (await this.#view.factOf('promotion_v1', actionId)) !== null
    if (isEnded || act.decision.decision !== 'PROMOTE') return removeTreeSync(stage)
    const { proposal, decision } = act
    const sends = proposal === null || heldRequests(proposal).length > 0
    await this.#finishOne(act, sends ? 0 : Date.parse(decision.decided_at))
  }

  async #finishOne(act: Recorded, answeredMs: number): Promise<void> {
    const { actionId, proposal, evaluation, decision } = act
    const approved = decision.decision === 'CONFIRM'
    const isMeant = this.#context.nowMs() - answeredMs < STILL_MEANT_MS
    try {
      const isSame = proposal !== null && evaluation.laws === this.#gate.book.digest
      const outcome = await resume(this.#gate, act, isMeant && isSame)
      const promoted = outcome.kind === 'promoted' && outcome.promotion.status === 'APPLIED'
      const code = (await this.#isUnknown(actionId))
        ? 'request.unknown'
        : promoted
          ? null
          : outcome.act.decision.code
      const paths = outcome.kind === 'promoted' ? { paths: outcome.promotion.paths } : {}
      this.#finished.push({ action_id: actionId, approved, promoted, code, ...paths })
    } catch (error) {
      // The same as in `#sweep`.
      const { fault: failed } = error as { readonly fault?: Fault }
      if (failed === undefined) throw error
      if (PASSING.has(failed.code)) return
      await end(this.#gate, act, { fault: failed })
      this.#finished.push({ action_id: actionId, approved, promoted: false, code: failed.code })
    }
  }

  /** Null for acts of flows, whose runs carry them out, and where nothing is known any more. */
  async #recorded(actionId: string): Promise<Recorded | null> {
    const known = await this.#gate.questions.known(actionId)
    if (known === null || known.evaluation.held !== undefined) return null
    return recordedAct(actionId, known)
  }
}
