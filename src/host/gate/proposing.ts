/**
 * The lifecycle of one proposal up to its decision (G-8): contract and admission, what stands against
 * the intent, preconditions, laws, rehearsal, comparison, laws again, decision. Each stage adds to
 * the evaluation, which is recorded with the decision; the first stage that blocks is the last.
 *
 * INVARIANT (durable before asked): when a proposal is decided with anything but BLOCK, its rehearsed
 *   bytes are staged and synced, and result, evaluation and decision are facts.
 */
import { type Digest, digestDocument } from '../../base/index.ts'
import {
  type Decision,
  type Evaluation,
  type EvaluationBasis,
  type HostFacts,
  intentDigest,
  judge,
  type NetworkGrounds,
  type Promotion,
  type Proposal,
  proposalContract,
  type SandboxResult,
  type Violation,
} from '../../contracts/index.ts'
import {
  admitProposal,
  type Change,
  type Comparison,
  compareEffects,
  compareSteps,
  decide,
  decideEarly,
  EVALUATOR,
  type HeldMark,
  heldRequests,
  type Judgement,
  lawsSetAside,
  lawValues,
  leavesOf,
  type StandingFold,
} from '../../gate/index.ts'
import { occurredAtText } from '../../ledger/index.ts'
import type { LawPhase } from '../../policy/index.ts'
import { keepEvidence } from '../acts/evidence.ts'
import { removeTree } from '../promotion/index.ts'
import { captureChanges } from '../tree/capture.ts'
import { basisOf } from './basis.ts'
import { type GateContext, isRoot, workspaceOf } from './context.ts'
import { isHalted, watchHalt } from './halt.ts'
import { gatherHostFacts, realPathOf } from './host-facts.ts'
import { KeptBodies } from './kept-bodies.ts'
import type { LawBook } from './law-book.ts'
import type { GateRecord, LedgerView } from './ledger-view.ts'
import { isReleasedRun, networkFor } from './network-grounds.ts'
import { recordUse, usesOverride } from './override-use.ts'
import { probePreconditions } from './preconditions.ts'
import { nothingPromoted } from './promoting.ts'
import { actionIdOf, keyOf, NO_ID, proposalRecord } from './proposal-record.ts'
import { obstacleOf, pathDirectories } from './readings.ts'
import { type Rehearsal, rehearse } from './rehearsal.ts'
import { recordBeforeRun } from './release-use.ts'
import { whileReleased } from './released-run.ts'
import { buildResult } from './result.ts'
import { changedScripts } from './scripts.ts'
import { markHeld, stageOf } from './stage-place.ts'
import type { ProposeOptions } from './surface.ts'

const MAX_AGE_MS = 60 * 60 * 1000
const MAX_FUTURE_MS = 60 * 1000

/** What became of a proposal before anybody was asked or anything was promoted. */
export interface Decided {
  readonly actionId: string
  readonly proposal: Proposal | null
  readonly proposalDigest: Digest
  readonly evaluation: Evaluation
  readonly result: SandboxResult | null
  readonly decision: Decision
  readonly changes: readonly Change[]
  readonly violations: readonly Violation[]
  /** When there was nothing to promote, that is a fact already. */
  readonly promotion: Promotion | null
}

/** What is about to be recorded. */
interface Judged extends Pick<Decided, 'proposal' | 'decision' | 'result' | 'changes'> {
  readonly draft: Evaluation
}

export type ProposingOptions = Omit<ProposeOptions, 'confirm'> & {
  /** Whose act it is, where that is not the caller's own. */
  readonly actorKind?: Evaluation['actor_kind']
  /** Effects stay staged until somebody asks for their promotion. */
  readonly held?: HeldMark
}

/** A document with what was found out about it before anything ran. */
export interface Admitted {
  readonly draft: Evaluation
  /** Null when the document broke its contract. */
  readonly proposal: Proposal | null
  readonly violations: readonly Violation[]
  /** The BLOCK that ends it here; null when it may be rehearsed. */
  readonly early: Decision | null
}

export class Proposing {
  readonly #context: GateContext
  readonly #view: LedgerView
  readonly #book: LawBook
  readonly #options: ProposingOptions
  readonly #bodies: KeptBodies

  constructor(context: GateContext, view: LedgerView, book: LawBook, options: ProposingOptions) {
    this.#context = context
    this.#view = view
    this.#book = book
    this.#options = options
    this.#bodies = new KeptBodies(context.ledger.objects, options.dryRun)
  }

  async run(document: unknown): Promise<Decided> {
    const admitted = await this.admit(document)
    const { draft, proposal, early } = admitted
    if (early !== null || proposal === null) return this.refuse(admitted)
    // The sandbox is made meanwhile; nothing runs in it before the proposal is on the record.
    return whileReleased(this.#context.home.state, draft, () => {
      const recorded = this.#options.dryRun ? Promise.resolve() : this.recordProposal(admitted)
      recorded.catch(() => undefined)
      return this.#rehearsed(draft, proposal, recorded)
    })
  }

  /** Everything that is asked before a rehearsal. */
  async admit(document: unknown): Promise<Admitted> {
    const { violations, valid } = judge(proposalContract, document)
    const proposal = valid ? (document as Proposal) : null
    const standing = await this.#view.standing()
    const draft = this.#begin(document, proposal, violations, standing)
    return { draft, proposal, violations, early: this.#early(draft, proposal) }
  }

  async recordProposal({ draft, proposal }: Admitted): Promise<void> {
    if (proposal !== null) await recordBeforeRun(this.#view, proposalRecord(draft, proposal), draft)
  }

  /** No rehearsal, for what was found early or for what is in the way. */
  async refuse(
    { draft, proposal, violations, early }: Admitted,
    obstacle?: Evaluation['obstacles'][number],
  ): Promise<Decided> {
    if (obstacle !== undefined) draft.obstacles.push(obstacle)
    return this.#blocked(draft, proposal, early ?? this.#decide(draft, proposal, null), violations)
  }

  /** What is known of the document before anything else is asked. */
  #begin(
    document: unknown,
    proposal: Proposal | null,
    violations: readonly Violation[],
    standing: StandingFold,
  ): Evaluation {
    const nowMs = this.#context.nowMs()
    const intent = proposal === null ? null : intentDigest(proposal)
    const { dryRun } = this.#options
    const network = networkFor({ proposal, standing, book: this.#book, nowMs, dryRun })
    const host = this.hostFacts(proposal, standing, nowMs, network)
    const risk =
      proposal === null
        ? ({ declared: 'LOW', floor: 'LOW', effective: 'LOW' } as const)
        : admitProposal(proposal, host, this.#book.lists).risk
    const halted = standing.halted || isHalted(this.#context.home.state)
    const against = standing.against(intent ?? '', this.#lawsChanged(standing), nowMs)
    return {
      action_id: actionIdOf(document),
      proposal_digest: digestDocument(document),
      ...(proposal === null || intent === null
        ? {}
        : {
            intent,
            operation_digest: digestDocument(proposal.operation ?? proposal.children ?? null),
            action_type: proposal.descriptor.action_type,
          }),
      cooldown_on_repeat: proposal?.descriptor.confirmation.cooldown_on_repeat ?? false,
      evaluator: EVALUATOR,
      laws: this.#book.digest,
      lists: this.#book.listsDigest,
      door: this.#options.door,
      ...(this.#options.compensates === undefined
        ? {}
        : { compensates: this.#options.compensates }),
      declared_by_approval: this.#options.declaredByApproval,
      actor_kind: this.#options.actorKind ?? this.#context.caller.principal.kind,
      violations: violations.map(({ code, path }) => ({ code, path })),
      host,
      basis: basisOf(this.#context, this.#view.seen, actionIdOf(document), intent, standing, nowMs),
      ...(network === null ? {} : { network }),
      ...(this.#options.held === undefined ? {} : { held: this.#options.held }),
      standing: { ...against, halted },
      preconditions: null,
      law_outcomes: [],
      obstacles: [],
      comparison: null,
      risk,
    }
  }

  #lawsChanged({ laws }: StandingFold): boolean {
    return this.#book.isChanged || (laws !== null && laws.laws !== this.#book.digest)
  }

  hostFacts(
    proposal: Proposal | null,
    standing: StandingFold,
    nowMs: number,
    network: NetworkGrounds | null = null,
  ): HostFacts {
    const { home, stateRoot, userDirectory } = this.#context
    const isReleased = isReleasedRun(proposal, network, standing)
    const sources = {
      nowMs,
      maxAgeMs: MAX_AGE_MS,
      maxFutureMs: MAX_FUTURE_MS,
      ceilings: this.#book.settings.ceilings,
      wasUsed: (id: string) => !isReleased && standing.hasSeen(id),
      workspace: workspaceOf(this.#context),
      ownHome: userDirectory,
      writPlaces: [realPathOf(stateRoot), home.directory],
    }
    return gatherHostFacts(proposal, sources)
  }

  /** Stage by stage: what a later one would find out is not asked when an earlier one blocks. */
  #early(draft: Evaluation, proposal: Proposal | null): Decision | null {
    const first = this.#decideEarly(draft, proposal)
    if (first !== null || proposal === null) return first
    draft.preconditions = { failed: probePreconditions(proposal).map(({ name }) => name) }
    const second = this.#decideEarly(draft, proposal)
    if (second !== null) return second
    draft.law_outcomes.push(...this.#laws('before', draft, proposal, null))
    return this.#decideEarly(draft, proposal)
  }

  #laws(
    phase: LawPhase,
    draft: Evaluation,
    proposal: Proposal,
    seen: { readonly result: SandboxResult; readonly comparison: Comparison } | null,
  ) {
    const basis = draft.basis as EvaluationBasis // Every draft begins with one.
    const rehearsed = seen === null ? null : { result: seen.result, changes: seen.comparison }
    const values = lawValues(proposal, draft, basis, rehearsed)
    return this.#book.judge(phase, values, lawsSetAside(draft))
  }

  async #rehearsed(
    draft: Evaluation,
    proposal: Proposal,
    recorded: Promise<void>,
  ): Promise<Decided> {
    const rehearsal = await this.#rehearse(draft, proposal, recorded)
    await recorded
    if (rehearsal === null) {
      return this.#blocked(draft, proposal, this.#decide(draft, proposal, null), [])
    }
    try {
      return await this.judgeRehearsal(draft, proposal, rehearsal)
    } finally {
      const closed = rehearsal.sandbox.close()
      // Who opened the driver waits for it there, and hears of a failure.
      if (this.#context.leavesClosing === true) closed.catch(() => undefined)
      else await closed
    }
  }

  /** Null when there is no result: the obstacle is in the draft. */
  async #rehearse(
    draft: Evaluation,
    proposal: Proposal,
    recorded: Promise<void>,
  ): Promise<Rehearsal | null> {
    const abort = new AbortController()
    const stop = (): void => abort.abort()
    const unwatch = watchHalt(this.#context.home.state, stop)
    this.#options.abort.addEventListener('abort', stop, { once: true })
    if (this.#options.abort.aborted) stop()
    const { unixSockets } = this.#book.settings
    const isHigh = draft.risk.effective === 'HIGH' || draft.risk.effective === 'CRITICAL'
    try {
      return await rehearse(this.#context, {
        proposal,
        host: draft.host,
        book: this.#book,
        sockets: unixSockets ?? (isHigh && !drivesInterface(proposal) ? 'none' : 'inside'),
        live: this.#options.live,
        abort: abort.signal,
        recorded,
        ...(draft.network === undefined ? {} : { network: draft.network }),
      })
    } catch (error) {
      draft.obstacles.push(obstacleOf(error))
      return null
    } finally {
      unwatch()
      this.#options.abort.removeEventListener('abort', stop)
      this.#options.live?.onEnded?.()
    }
  }

  async judgeRehearsal(
    draft: Evaluation,
    proposal: Proposal,
    rehearsal: Rehearsal,
  ): Promise<Decided> {
    // When nothing is read from its layers any more; the caller waits for its end.
    const letGo = () => void rehearsal.sandbox.close().catch(() => undefined)
    if (rehearsal.changes.length === 0) letGo()
    const { comparison, scripts, directories } = this.#compare(draft, proposal, rehearsal)
    if (comparison.promoted.length === 0) letGo()
    const discarded = new Set(comparison.discarded.map(({ path }) => path))
    const manifest = this.#bodies.manifest(rehearsal.changes, discarded)
    const result = buildResult({
      actionId: draft.action_id,
      // The digest of the draft is one.
      proposalDigest: draft.proposal_digest as Digest,
      rehearsal,
      comparison,
      manifest,
      held: heldRequests(proposal),
    })
    if (!this.#options.dryRun) {
      const { changes, sandbox } = rehearsal
      await keepEvidence(proposal, changes, sandbox.layers, this.#context.ledger.objects)
    }
    draft.result_digest = digestDocument(result)
    draft.comparison = {
      scripts_changed: [...scripts],
      path_directories: [...directories],
      steps: this.#keepSteps(proposal, rehearsal),
    }
    draft.law_outcomes.push(...this.#laws('after', draft, proposal, { result, comparison }))
    let decision = this.#decide(draft, proposal, result)
    if (decision.decision !== 'BLOCK' && !this.#options.dryRun) {
      decision = await this.#capture(draft, proposal, result, rehearsal, comparison, decision)
    }
    letGo()
    const judged = { draft, proposal, decision, result, changes: comparison.promoted }
    return this.#decided(judged, [], () => {
      const early = this.#laws('before', draft, proposal, null)
      const late = this.#laws('after', draft, proposal, { result, comparison })
      draft.law_outcomes = [...early, ...late]
      return this.#decide(draft, proposal, result)
    })
  }

  #compare(draft: Evaluation, proposal: Proposal, rehearsal: Rehearsal) {
    const scripts = changedScripts(rehearsal.changes, rehearsal.sandbox.layers)
    const directories = pathDirectories(this.#context.environment['PATH'])
    const input = {
      descriptor: proposal.descriptor,
      changes: rehearsal.changes,
      lists: this.#book.lists,
      host: draft.host,
      declaredByApproval: draft.declared_by_approval,
      scriptsChanged: scripts,
      pathDirectories: directories,
      network: { connections: rehearsal.network ?? [], grounds: draft.network ?? null },
    }
    const comparison =
      proposal.children === undefined ? compareEffects(input) : compareSteps(rehearsal.steps, input)
    return { comparison, scripts, directories }
  }

  /** The bytes that an approval is about; a failure to keep them is a reason to refuse. */
  async #capture(
    draft: Evaluation,
    proposal: Proposal,
    result: SandboxResult,
    { sandbox, place, sandboxId, emptied }: Rehearsal,
    { promoted }: Comparison,
    decision: Decision,
  ): Promise<Decision> {
    if (promoted.length === 0) return decision
    const stage = stageOf(place, sandboxId)
    try {
      await captureChanges(promoted, sandbox.layers, stage, { isRoot: isRoot(), emptied })
      if (draft.held !== undefined) markHeld(stage)
      return decision
    } catch (error) {
      removeTree(stage)
      draft.obstacles.push(obstacleOf(error))
      return this.#decide(draft, proposal, result)
    }
  }

  /** A composite's children, each with what it did beyond those before it. */
  #keepSteps(proposal: Proposal, { steps }: Rehearsal) {
    if (proposal.children === undefined) return []
    return steps.map(({ descriptor, changes }) => ({
      action_id: descriptor.action_id,
      manifest: this.#bodies.manifest(changes, new Set()),
    }))
  }

  #judgement(
    draft: Evaluation,
    proposal: Proposal | null,
    result: SandboxResult | null,
  ): Judgement {
    const decidedAt = occurredAtText(this.#context.nowMs())
    return { proposal, evaluation: draft, result, lists: this.#book.lists, decidedAt }
  }

  #decide(draft: Evaluation, proposal: Proposal | null, result: SandboxResult | null): Decision {
    return decide(this.#judgement(draft, proposal, result))
  }

  #decideEarly(draft: Evaluation, proposal: Proposal | null): Decision | null {
    return decideEarly(this.#judgement(draft, proposal, null))
  }

  #blocked(
    draft: Evaluation,
    proposal: Proposal | null,
    decision: Decision,
    violations: readonly Violation[],
  ): Promise<Decided> {
    const admitted =
      proposal === null ? [] : admitProposal(proposal, draft.host, this.#book.lists).refusals
    const told = admitted.map(({ code, path, message, hint }) => ({
      code,
      path,
      message,
      ...(hint === undefined ? {} : { hint }),
    }))
    const judged = { draft, proposal, decision, result: null, changes: [] }
    return this.#decided(judged, [...violations, ...told])
  }

  /** What stands now, as of the admission. */
  async #lookAgain(draft: Evaluation): Promise<void> {
    const standing = await this.#view.standing()
    const { now_ms: nowMs } = draft.host
    const { action_id, intent = '' } = draft
    const halted = standing.halted || isHalted(this.#context.home.state)
    draft.basis = basisOf(this.#context, this.#view.seen, action_id, intent, standing, nowMs)
    draft.standing = { ...standing.against(intent, this.#lawsChanged(standing), nowMs), halted }
  }

  /** `rejudge` decides once more when an override that this rests on was used up meanwhile. */
  async #decided(
    judged: Judged,
    violations: readonly Violation[],
    rejudge: () => Decision = () => judged.decision,
  ): Promise<Decided> {
    const { draft, proposal, decision, result, changes } = judged
    const actionId = draft.action_id
    let promotion: Promotion | null = null
    if (!this.#options.dryRun && actionId !== NO_ID) {
      const records: GateRecord[] = []
      // A refused proposal that follows its contract is on the record too.
      if (proposal !== null && result === null) records.push(proposalRecord(draft, proposal))
      if (result !== null) {
        records.push({ type: 'sandbox_result_v1', payload: result, key: `result/${keyOf(draft)}` })
      }
      records.push({ type: 'evaluation_v1', payload: draft, key: `evaluation/${keyOf(draft)}` })
      records.push({ type: 'decision_v1', payload: decision, key: `decision/${keyOf(draft)}` })
      const isOver = draft.held === undefined && decision.decision === 'PROMOTE'
      if (result !== null && isOver && changes.length === 0) {
        promotion = nothingPromoted(decision, result, this.#context.nowMs())
        records.push({ type: 'promotion_v1', payload: promotion, key: `promotion/${actionId}` })
      }
      this.#bodies.laws(this.#book)
      await this.#bodies.settled()
      if (decision.decision === 'BLOCK' || !usesOverride(draft)) await this.#view.record(records)
      else if (!(await recordUse(this.#view, records, draft))) {
        await this.#lookAgain(draft)
        return this.#decided({ ...judged, decision: rejudge() }, violations, rejudge)
      }
    }
    // The digest of the draft is one.
    const proposalDigest = draft.proposal_digest as Digest
    return {
      actionId,
      proposal,
      proposalDigest,
      evaluation: draft,
      result,
      decision,
      changes,
      violations,
      promotion,
    }
  }
}

/** A browser speaks with its own processes over unix sockets; a law that forbids them forbids it. */
function drivesInterface(proposal: Proposal): boolean {
  return leavesOf(proposal).some(({ proposal: leaf }) => leaf.operation?.type === 'UI_AUTOMATION')
}
