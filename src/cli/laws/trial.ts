/** A trial of laws on the history, and its answer for people: what would change, how often each law speaks, what is gone. */

import type { Decision, EvaluationBasis } from '../../contracts/index.ts'
import { type LawsOnTrial, listsUnder, tryLaws } from '../../gate/index.ts'
import { shortId } from '../../history/index.ts'
import type { OpenedFact, ReplayLookup } from '../../ledger/index.ts'
import type { LawSet } from '../../policy/index.ts'
import type { LedgerReader } from '../../store/index.ts'
import type { Paint } from '../call/terminal.ts'
import { DecisionWalk, replayLookup } from '../history/decision-walk.ts'
import {
  evaluationOf,
  gatherDecision,
  NotKept,
  type PastEvaluation,
} from '../history/past-decision.ts'
import { plain, table } from '../history/text.ts'

const HEADS = ['action', 'was', 'would be', 'because of'] as const
/** The id of an override whose id the record does not have. */
const UNUSED_ID = '00000000-0000-0000-0000-000000000000'

export function trialText(answer: TrialAnswer, paint: Paint): string {
  const { proposals, changed, unjudgeable, laws } = answer
  const judged = proposals - unjudgeable.length
  const words = `past proposals judged, ${changed.length} would be decided otherwise`
  const parts = [`${paint.strong(`${judged} of ${proposals}`)} ${words}\n`]
  if (changed.length > 0) parts.push(`\n${table({ paint }, HEADS, changed.map(row))}`)
  if (laws.length > 0) {
    const heads = ['broken by', 'law', 'what it says'].join('  ')
    parts.push(`\n${paint.dim(heads)}\n`, ...laws.flatMap((law) => lawLines(law, paint)))
  }
  if (unjudgeable.length > 0) {
    const rows = unjudgeable.map(({ action_id, reason }) => [shortId(plain(action_id)), reason])
    parts.push(
      `\n${paint.strong('Cannot be judged')}\n${table({ paint }, ['action', 'why'], rows)}`,
    )
  }
  return parts.join('')
}

/** How many proposals break the law, and its text below, broken to fit 80 columns. */
function lawLines({ policy_id, broken, text = '' }: TrialAnswer['laws'][number], paint: Paint) {
  const lines = text === '' ? [] : wrapped(plain(text), TEXT_COLUMNS)
  return [
    `${String(broken).padStart('broken by'.length)}  ${plain(policy_id)}\n`,
    ...lines.map((line) => `           ${paint.dim(line)}\n`),
  ]
}

const TEXT_COLUMNS = 69

/** Breaks a text between words; a longer word has a line of its own. */
function wrapped(text: string, columns: number): readonly string[] {
  const lines: string[] = []
  for (const word of text.split(' ')) {
    const last = lines.at(-1)
    if (last === undefined || last.length + 1 + word.length > columns) lines.push(word)
    else lines[lines.length - 1] = `${last} ${word}`
  }
  return lines
}

function row({ action_id, from, to, policy_id, approvals }: TrialAnswer['changed'][number]) {
  const [was, would] = [asked(from, approvals?.from), asked(to, approvals?.to)]
  return [shortId(plain(action_id)), was, would, plain(policy_id ?? 'lists or settings')]
}

function asked(decision: string, approvals = 1): string {
  return approvals === 1 ? decision : `${decision} by ${approvals}`
}

interface TrialAnswer {
  /** How many were judged, those that cannot be included. */
  readonly proposals: number
  readonly changed: readonly ChangedDecision[]
  readonly unjudgeable: readonly { readonly action_id: string; readonly reason: string }[]
  /** For each law of the file, how many proposals break it, and its text for people. */
  readonly laws: readonly {
    readonly policy_id: string
    readonly broken: number
    readonly text?: string
  }[]
}

interface ChangedDecision {
  readonly action_id: string
  readonly from: Decision['decision']
  readonly to: Decision['decision']
  /** How many humans had to say yes and would have to, where that differs. */
  readonly approvals?: { readonly from: number; readonly to: number }
  readonly policy_id: string | null
}

/**
 * Laws tried on the history: every proposal that was decided is judged again, one by one, and only
 * what changes is kept. What cannot be judged any more is counted and named, never passed over.
 */
export class TrialRun {
  readonly #trial: LawsOnTrial
  readonly #changed: ChangedDecision[] = []
  readonly #unjudgeable: { action_id: string; reason: string }[] = []
  readonly #broken = new Map<string, number>()
  /** What an older record does not tell, a law of the file may ask for. */
  readonly #needsBasis: boolean
  #proposals = 0

  constructor(laws: LawSet) {
    this.#trial = { laws, lists: listsUnder(laws) }
    this.#needsBasis = laws.laws.some(({ expression }) =>
      /context\s*\.\s*(?:host|recent_rollbacks)/.test(expression.source),
    )
  }

  async take(
    ledger: LedgerReader,
    stream: string,
    since: string | undefined,
    tick: (seq: number) => void,
  ): Promise<void> {
    const walk = new DecisionWalk(replayLookup(ledger))
    for await (const fact of walk.decisions(stream)) {
      tick(fact.seq)
      const isWanted = since === undefined || fact.occurred_at >= since
      if (isWanted && isFirst(fact)) await this.#judge(fact, walk)
    }
  }

  finish(): TrialAnswer {
    return {
      proposals: this.#proposals,
      changed: this.#changed,
      unjudgeable: this.#unjudgeable,
      laws: this.#trial.laws.laws.map(({ policyId: policy_id, text }) => {
        const counted = { policy_id, broken: this.#broken.get(policy_id) ?? 0 }
        return text === null ? counted : { ...counted, text }
      }),
    }
  }

  async #judge(fact: OpenedFact, lookup: ReplayLookup): Promise<void> {
    this.#proposals++
    const decision = fact.payload as Decision // The caller picks decisions only.
    const { action_id } = decision
    try {
      const past = await evaluationOf(fact, decision, lookup)
      const record = await gatherDecision(fact, decision, past.evaluation, lookup)
      const trial = tryLaws(record, this.#trial, this.#basisOf(past))
      if (trial.kind === 'unjudgeable') throw new NotKept(trial.reason)
      for (const id of trial.broken) this.#broken.set(id, (this.#broken.get(id) ?? 0) + 1)
      const { from, to, approvals, policyId: policy_id } = trial
      const others = approvals.from === approvals.to ? {} : { approvals }
      if (from !== to || 'approvals' in others) {
        this.#changed.push({ action_id, from, to, policy_id, ...others })
      }
    } catch (error) {
      if (!(error instanceof NotKept)) throw error
      this.#unjudgeable.push({ action_id, reason: error.message })
    }
  }

  #basisOf({ evaluation, principal }: PastEvaluation): EvaluationBasis {
    if (evaluation.basis !== undefined) return evaluation.basis
    if (this.#needsBasis) throw new NotKept('the record does not tell what a law asks for')
    return {
      actor: principal.id,
      machine: 'unknown',
      home: evaluation.host.homes.find(({ own }) => own)?.path ?? '/',
      recent_rollbacks: 0,
      overrides: evaluation.law_outcomes
        .filter(({ overridden }) => overridden)
        .map(({ policy_id }) => ({ override_id: UNUSED_ID, policy_id })),
      facts_seen: { host: 0, stream: 0 },
    }
  }
}

/** What turned up after the first decision about a proposal is no matter of laws. */
function isFirst({ record }: OpenedFact): boolean {
  return !/\/(?:(?:inputs|part)\/\d+|promotion)$/.test(record.idempotency_key ?? '')
}
