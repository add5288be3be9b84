/**
 * The evaluation of a proposal as it begins: what the document says, what the host found out about it,
 * and the obstacles so far. Later stages add to it.
 */
import { digestDocument } from '../../base/index.ts'
import {
  type Evaluation,
  type HostFacts,
  intentDigest,
  type NetworkGrounds,
  type Proposal,
  type RunMark,
  type Violation,
} from '../../contracts/index.ts'
import {
  admissionRules,
  admitProposal,
  EVALUATOR,
  knownAgent,
  type StandingFold,
} from '../../gate/index.ts'
import type { LawBook } from '../laws/law-book.ts'
import { isHalted } from '../readings/halt.ts'
import { gatherHostFacts, realPathOf } from '../readings/host-facts.ts'
import { basisOf, isReleasedRun, networkFor } from '../readings/readings.ts'
import type { LedgerView } from '../records/ledger-view.ts'
import { actionIdOf } from '../records/proposal-record.ts'
import { type GateContext, workspaceOf } from '../surface/context.ts'

const MAX_AGE_MS = 60 * 60 * 1000
const MAX_FUTURE_MS = 60 * 1000

/** How the document is proposed. */
interface DraftTerms {
  readonly door: Evaluation['door']
  readonly declaredByApproval: boolean
  readonly dryRun: boolean
  readonly compensates?: string
  readonly actorKind?: Evaluation['actor_kind']
  readonly held?: NonNullable<Evaluation['held']>
  readonly run?: RunMark
  /** The coding agent that runs in a session, by the name of its adapter. */
  readonly agent?: string
  readonly session?: NonNullable<Evaluation['session']>
  readonly job?: 'first' | 'again'
}

interface Grounds {
  readonly context: GateContext
  readonly view: LedgerView
  readonly book: LawBook
}

/** A document that was judged by its contract; `proposal` is null when it broke it. */
interface JudgedDocument {
  readonly document: unknown
  readonly proposal: Proposal | null
  readonly violations: readonly Violation[]
}

export function beginDraft(
  { context, view, book }: Grounds,
  options: DraftTerms,
  { document, proposal, violations }: JudgedDocument,
  standing: StandingFold,
): Evaluation {
  const nowMs = context.nowMs()
  const agent = options.agent ?? knownAgent(book.lists, context.ancestors)
  const intent = proposal === null ? null : intentDigest(proposal)
  const network = networkFor({ proposal, standing, book, nowMs, dryRun: options.dryRun })
  const facts = hostFactsOf(context, book, proposal, standing, nowMs, network)
  // Its ids are on the record because the process that had the job before it is gone.
  const host = options.job === 'again' ? { ...facts, seen_action_ids: [] } : facts
  const actorKind = options.actorKind ?? context.caller.principal.kind
  const actor = actorOf(context, options.run)
  const basis = basisOf(context, actor, view.seen, actionIdOf(document), intent, standing, nowMs)
  const rules = admissionRules({ actor_kind: actorKind, evaluator: EVALUATOR, basis })
  const risk =
    proposal === null
      ? ({ declared: 'LOW', floor: 'LOW', effective: 'LOW' } as const)
      : admitProposal(proposal, host, book.lists, rules).risk
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
    laws: book.digest,
    ...(book.unaccepted === null ? {} : { laws_file: book.unaccepted }),
    lists: book.listsDigest,
    door: options.door,
    ...(options.compensates === undefined ? {} : { compensates: options.compensates }),
    declared_by_approval: options.declaredByApproval,
    actor_kind: actorKind,
    ...(agent === null ? {} : { agent }),
    violations: violations.map(({ code, path }) => ({ code, path })),
    host,
    basis,
    ...(network === null ? {} : { network }),
    ...(options.held === undefined ? {} : { held: options.held }),
    ...(options.run === undefined ? {} : { run: options.run }),
    ...(options.session === undefined ? {} : { session: options.session }),
    standing: excerptOf(context, book, standing, intent ?? '', nowMs),
    preconditions: null,
    law_outcomes: [],
    obstacles: [],
    comparison: null,
    risk,
  }
}

/** Returns the evaluation with what holds now, as of the time of its admission. */
export function refreshDraft(
  draft: Evaluation,
  { context, view, book }: Grounds,
  standing: StandingFold,
): Evaluation {
  const { now_ms: nowMs } = draft.host
  const { action_id, intent = '', run } = draft
  const actor = actorOf(context, run)
  return {
    ...draft,
    basis: basisOf(context, actor, view.seen, action_id, intent, standing, nowMs),
    standing: excerptOf(context, book, standing, intent, nowMs),
  }
}

/** What a participant does counts as its own and not as that of the person who started the run. */
function actorOf({ caller }: GateContext, run: RunMark | undefined): string {
  return run?.actor ?? caller.principal.id
}

function excerptOf(
  { home }: GateContext,
  book: LawBook,
  standing: StandingFold,
  intent: string,
  nowMs: number,
): Evaluation['standing'] {
  const { laws } = standing
  const isChanged = book.isLost || !book.isOf(laws)
  const halted = standing.halted || isHalted(home.state)
  return { ...standing.against(intent, isChanged, nowMs), halted }
}

export function hostFactsOf(
  context: GateContext,
  book: LawBook,
  proposal: Proposal | null,
  standing: StandingFold,
  nowMs: number,
  network: NetworkGrounds | null = null,
): HostFacts {
  const { home, ledger, stateRoot, userDirectory } = context
  const isReleased = isReleasedRun(proposal, network, standing)
  return gatherHostFacts(proposal, {
    nowMs,
    maxAgeMs: MAX_AGE_MS,
    maxFutureMs: MAX_FUTURE_MS,
    ceilings: book.settings.ceilings,
    wasUsed: (id: string) => !isReleased && standing.hasSeen(id),
    workspace: workspaceOf(context),
    ownHome: userDirectory,
    writPlaces: [realPathOf(stateRoot), home.directory],
    machine: ledger.signer,
  })
}
