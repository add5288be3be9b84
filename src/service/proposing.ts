/**
 * The lifecycle of one proposal up to its decision (G-8): contract and admission, what stands against
 * the intent, preconditions, laws, rehearsal, comparison, laws again, decision. Each stage adds to
 * the evaluation, which is recorded with the decision; the first stage that blocks is the last.
 *
 * INVARIANT (durable before asked): when a proposal is decided with anything but BLOCK, its rehearsed
 *   bytes are staged and synced, and result, evaluation and decision are facts.
 */
import { type Digest, digestDocument } from '../base/index.ts'
import {
  type Decision,
  type Evaluation,
  type EvaluationBasis,
  type HostFacts,
  judge,
  type Proposal,
  proposalContract,
  type SandboxResult,
  type Violation,
} from '../contracts/index.ts'
import {
  admissionRules,
  admitProposal,
  type Change,
  type Comparison,
  compareEffects,
  compareSteps,
  decide,
  decideEarly,
  grantCase,
  heldRequests,
  isAmended,
  type Judgement,
  keepsHome,
  lawsSetAside,
  lawValues,
  leavesHomeOut,
  leavesOf,
  type StandingFold,
  undoUse,
} from '../gate/index.ts'
import { wholePath } from '../home/index.ts'
import { occurredAtText } from '../ledger/index.ts'
import { removeTreeSync } from '../machine/index.ts'
import type { LawPhase } from '../policy/index.ts'
import { captureChanges } from '../tree/index.ts'
import { keepEvidence } from './acts/evidence.ts'
import { lawWords } from './answer.ts'
import { type GateContext, isRoot } from './context.ts'
import type { Admitted, Decided, Judged, ProposingOptions } from './decided.ts'
import { type DecisionRecord, decisionRecord, recordDecision } from './decision-record.ts'
import { beginDraft, type DraftGround, hostFactsOf, refreshDraft } from './draft.ts'
import { checkedGitPaths } from './git-check.ts'
import { watchHalt } from './halt.ts'
import { withAccountHome } from './hidden-places.ts'
import { KeptBodies } from './kept-bodies.ts'
import type { LawBook } from './law-book.ts'
import type { LedgerView } from './ledger-view.ts'
import { isOnDeviceOf } from './one-device.ts'
import { findPointed } from './pointed.ts'
import { probePreconditions } from './preconditions.ts'
import { NO_ID, proposalRecord } from './proposal-record.ts'
import { reserveHeld, reserveRoom } from './question-room.ts'
import { obstacleOf, pathDirectories, startingPlaces } from './readings.ts'
import { type Rehearsal, rehearse } from './rehearsal.ts'
import { recordBeforeRun } from './release-use.ts'
import { whileReleased } from './released-run.ts'
import { buildResult } from './result.ts'
import { changedScripts } from './scripts.ts'
import { markGoing, stageOf } from './stage-place.ts'
import { trackedPaths } from './tracked.ts'

export class Proposing {
  readonly #context: GateContext
  readonly #view: LedgerView
  readonly #book: LawBook
  readonly #options: ProposingOptions
  readonly #ground: DraftGround
  readonly #bodies: KeptBodies

  constructor(context: GateContext, view: LedgerView, book: LawBook, options: ProposingOptions) {
    this.#context = context
    this.#view = view
    this.#book = book
    this.#options = options
    this.#ground = { context, view, book, options }
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
    const draft = await this.#view.ask((standing) =>
      beginDraft(this.#ground, document, proposal, violations, standing),
    )
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

  hostFacts(proposal: Proposal | null, standing: StandingFold, nowMs: number): HostFacts {
    return hostFactsOf(this.#context, this.#book, proposal, standing, nowMs)
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
      // Who opened the driver waits for it when that is closed, and hears of a failure.
      rehearsal.sandbox.close().catch(() => undefined)
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
        isDry: this.#options.dryRun,
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
    try {
      return await this.#judged(draft, proposal, rehearsal)
    } finally {
      await rehearsal.ahead?.end()
    }
  }

  /** Compares, and once more if the person wants to keep what lies in their home as well. */
  async #compareAsChosen(draft: Evaluation, proposal: Proposal, rehearsal: Rehearsal) {
    const compared = await this.#compare(draft, proposal, rehearsal)
    const choose = this.#options.live?.chooseHome
    const { findings, discarded } = compared.comparison
    const left = findings.filter(({ code }) => code === 'effect.left_out')
    if (left.length === 0 || choose === undefined || this.#options.dryRun) return compared
    if (!isOnDeviceOf(rehearsal.place, discarded) || (await choose(left)) !== 'all') return compared
    draft.home_kept = true
    return this.#compare(draft, proposal, rehearsal)
  }

  async #judged(
    draft: Evaluation,
    proposal: Proposal,
    rehearsal: Rehearsal,
    mayChoose = true,
  ): Promise<Decided> {
    const outcomesBefore = [...draft.law_outcomes]
    // When nothing is read from its layers any more; the caller waits for its end.
    const letGo = () => void rehearsal.sandbox.close().catch(() => undefined)
    if (rehearsal.changes.length === 0) letGo()
    const compared = mayChoose
      ? await this.#compareAsChosen(draft, proposal, rehearsal)
      : await this.#compare(draft, proposal, rehearsal)
    const { comparison, scripts, directories, pointed, tracked, gitChecked } = compared
    const discarded = new Set(comparison.discarded.map(({ path }) => path))
    const manifest = await this.#bodies.manifest(rehearsal.changes, discarded)
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
    if (comparison.promoted.length === 0) letGo()
    draft.result_digest = digestDocument(result)
    draft.comparison = {
      scripts_changed: [...scripts],
      path_directories: [...directories],
      ...(pointed.size === 0 ? {} : { pointed: [...pointed].map(([path, by]) => ({ path, by })) }),
      ...(tracked.length === 0 ? {} : { tracked: [...tracked] }),
      ...(gitChecked.length === 0 ? {} : { git_checked: [...gitChecked] }),
      ...(await this.#undoUse(draft, comparison.promoted)),
      steps: await this.#keepSteps(proposal, rehearsal),
    }
    draft.law_outcomes.push(...this.#laws('after', draft, proposal, { result, comparison }))
    const decision = this.#decide(draft, proposal, result)
    if (decision.decision === 'BLOCK' && draft.home_kept === true) {
      this.#options.live?.onHomeRefused?.(decision.code, lawWords(decision, this.#book))
      delete draft.home_kept
      draft.law_outcomes = outcomesBefore
      return this.#judged(draft, proposal, rehearsal, false)
    }
    const known = { digest: manifest, changes: rehearsal.changes, discarded }
    const judged = { draft, proposal, decision, result, changes: comparison.promoted, known }
    const rejudge = (): Decision => {
      const early = this.#laws('before', draft, proposal, null)
      const late = this.#laws('after', draft, proposal, { result, comparison })
      draft.law_outcomes = [...early, ...late]
      return this.#decide(draft, proposal, result)
    }
    if (decision.decision === 'BLOCK' || this.#options.dryRun || judged.changes.length === 0) {
      letGo()
      return this.#decided(judged, [], rejudge)
    }
    const staging = this.#stage(judged, rehearsal)
    staging.finally(letGo).catch(() => undefined)
    try {
      return await this.#decided(judged, [], rejudge, staging)
    } catch (error) {
      if (!(error instanceof StagingFailure)) throw error
      // The bytes that an approval is about: a failure to keep them is a reason to refuse.
      draft.obstacles.push(obstacleOf(error.cause))
      const refused = { ...judged, decision: this.#decide(draft, proposal, result) }
      return await this.#decided(refused, [], rejudge)
    } finally {
      await staging.catch(() => undefined)
    }
  }

  /** An actor's act that no human approves must not use up what takes its other acts back. */
  async #undoUse(draft: Evaluation, changes: readonly Change[]) {
    const { basis, held } = draft
    // What a flow's participants do is no person's own work either, though a person started the flow.
    const isCounted = grantCase(draft) !== null || (held !== undefined && isAmended(draft))
    if (!isCounted || basis === undefined) return {}
    const kept_bytes = await this.#view.ask((standing) =>
      undoUse(standing, basis.actor, draft.host.now_ms),
    )
    const needed_bytes = changes.reduce((sum, { before }) => sum + (before?.size ?? 0), 0)
    const quota_bytes = this.#book.settings.retention.actorQuotaMb * 1024 ** 2
    return { undo: { needed_bytes, kept_bytes, quota_bytes } }
  }

  async #compare(draft: Evaluation, proposal: Proposal, rehearsal: Rehearsal) {
    const scripts = changedScripts(rehearsal.changes, rehearsal.sandbox.layers)
    const places = startingPlaces(proposal, draft.host.workspace)
    const homes = withAccountHome(
      draft.host.homes.filter(({ own }) => own).map((home) => home.path),
    )
    const { home, environment } = this.#context
    const path = wholePath(home.state, environment['PATH'], homes)
    const directories = pathDirectories(path, places)
    const isGranted = grantCase(draft) !== null
    const pointed = findPointed({
      changes: rehearsal.changes,
      layers: rehearsal.sandbox.layers,
      path,
      places,
      homes,
      scope: isGranted ? [draft.host.workspace, ...draft.host.roots.map(({ real }) => real)] : null,
    })
    const tracked = await trackedPaths(rehearsal.changes, draft, this.#book.lists, this.#view)
    const gitChecked = isGranted ? checkedGitPaths(rehearsal.changes, rehearsal.sandbox.layers) : []
    const input = {
      descriptor: proposal.descriptor,
      changes: rehearsal.changes,
      lists: this.#book.lists,
      host: draft.host,
      isAmended: isAmended(draft),
      declaredByApproval: draft.declared_by_approval,
      leavesHomeOut: leavesHomeOut(draft),
      keepsHome: keepsHome(draft),
      scriptsChanged: scripts,
      pathDirectories: directories,
      pointed,
      grants: grantCase(draft, new Set(tracked), new Set(gitChecked)),
      network: { connections: rehearsal.network ?? [], grounds: draft.network ?? null },
    }
    const comparison =
      proposal.children === undefined ? compareEffects(input) : compareSteps(rehearsal.steps, input)
    return { comparison, scripts, directories, pointed, tracked, gitChecked }
  }

  async #stage(
    { draft, decision, changes }: Judged,
    { sandbox, place, sandboxId, emptied, ahead }: Rehearsal,
  ): Promise<void> {
    const isGoing = decision.decision === 'PROMOTE' && draft.held === undefined
    if (isGoing) this.#options.onStaging?.()
    const stage = stageOf(place, sandboxId)
    const copies = ahead === undefined ? {} : { ahead }
    const isAsked = decision.decision === 'CONFIRM' && draft.held === undefined
    try {
      if (isGoing) markGoing(stage, draft.action_id)
      if (isAsked) reserveRoom(this.#context, stage, changes, this.#book.settings)
      if (draft.held !== undefined) reserveHeld(this.#context, stage, changes, this.#book.settings)
      await captureChanges(changes, sandbox.layers, stage, { isRoot: isRoot(), emptied, ...copies })
    } catch (error) {
      removeTreeSync(stage)
      throw new StagingFailure(error)
    }
  }

  /** A composite's children, each with what it did beyond those before it. */
  async #keepSteps(proposal: Proposal, { steps }: Rehearsal) {
    if (proposal.children === undefined) return []
    const kept = []
    for (const { descriptor, changes } of steps) {
      const manifest = await this.#bodies.manifest(changes, new Set())
      kept.push({ action_id: descriptor.action_id, manifest })
    }
    return kept
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
      proposal === null
        ? []
        : admitProposal(proposal, draft.host, this.#book.lists, admissionRules(draft)).refusals
    const told = admitted.map(({ code, path, message, hint }) => ({
      code,
      path,
      message,
      ...(hint === undefined ? {} : { hint }),
    }))
    const judged = { draft, proposal, decision, result: null, changes: [] }
    return this.#decided(judged, [...violations, ...told])
  }

  /** `rejudge` decides once more when an override that this rests on was used up meanwhile. */
  async #decided(
    judged: Judged,
    violations: readonly Violation[],
    rejudge: () => Decision = () => judged.decision,
    staged: Promise<void> = Promise.resolve(),
  ): Promise<Decided> {
    const { draft, proposal, decision, result, changes } = judged
    const actionId = draft.action_id
    const isRecorded = !this.#options.dryRun && actionId !== NO_ID
    const { records, promotion } = isRecorded ? decisionRecord(judged, this.#context) : NO_RECORD
    if (isRecorded) {
      this.#bodies.laws(this.#book)
      await this.#bodies.settled()
      if (!(await recordDecision(this.#view, judged, records, staged))) {
        await this.#view.ask((standing) => refreshDraft(draft, this.#ground, standing))
        return this.#decided({ ...judged, decision: rejudge() }, violations, rejudge, staged)
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
      ...(judged.known === undefined ? {} : { known: judged.known }),
    }
  }
}

/** The rehearsed bytes could not be kept; why is its cause. */
class StagingFailure extends Error {
  constructor(cause: unknown) {
    super('the rehearsed bytes could not be staged', { cause })
  }
}

const NO_RECORD: DecisionRecord = { records: [], promotion: null }

/** A browser speaks with its own processes over unix sockets; a law that forbids them forbids it. */
function drivesInterface(proposal: Proposal): boolean {
  return leavesOf(proposal).some(({ proposal: leaf }) => leaf.operation?.type === 'UI_AUTOMATION')
}
