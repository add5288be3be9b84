/** One action explained from the ledger: its last decision, what it rests on, and what became of it. */
import type { Decision, Override, Promotion, Rollback } from '../../contracts/index.ts'
import { allFacts } from '../../history/index.ts'
import type { OpenedFact, Register } from '../../ledger/index.ts'
import type { LedgerReader } from '../../store/index.ts'
import { visible, visibleName } from '../../words/index.ts'
import type { Paint } from '../call/terminal.ts'
import { approvalsText } from '../gate/approvals-text.ts'
import { replayLookup } from '../history/decision-walk.ts'
import {
  evaluationOf,
  gatherDecision,
  lawsOf,
  NotKept,
  type PastEvaluation,
} from '../history/past-decision.ts'
import { approvalsOf } from '../history/promotion-replay.ts'
import {
  type DecidingValue,
  type ExplainedLaw,
  type Explanation,
  explain,
  type Found,
} from './explanation.ts'
import { type Remedy, remedies, type Since } from './remedy.ts'

interface ExplainedAction {
  readonly explanation: Explanation
  readonly human: readonly Remedy[]
}

type Credentials = Pick<Register, 'credentials' | 'passkeys'>

/** Null when nothing was decided about it in this stream. */
export async function explainAction(
  { ledger, register }: { readonly ledger: LedgerReader; readonly register: Credentials },
  stream: string,
  action: string,
): Promise<ExplainedAction | null> {
  const decided = await allFacts(ledger, { stream, type: 'decision_v1', action })
  const last = decided.at(-1)
  if (last === undefined) return null
  const answers = await allFacts(ledger, { stream, type: 'confirmation_v1', action })
  const evaluations = await allFacts(ledger, { stream, type: 'evaluation_v1', action })
  // The query finds decisions only.
  const approvals = approvalsOf(last.payload as Decision, answers, evaluations, register)
  const explanation = explain({ ...(await gather(ledger, last, answers)), approvals })
  return { explanation, human: remedies(explanation, await since(ledger, last, explanation)) }
}

async function gather(
  ledger: LedgerReader,
  fact: OpenedFact,
  answers: readonly OpenedFact[],
): Promise<Omit<Found, 'approvals'>> {
  const lookup = replayLookup(ledger)
  const decision = fact.payload as Decision // `explainAction` hands a decision over.
  const { stream } = fact
  const base = { decision, stream, answer: answers.at(-1) ?? null }
  let past: PastEvaluation | null = null
  try {
    past = await evaluationOf(fact, decision, lookup)
    const { evaluation } = past
    const [overrides, laws] = await Promise.all([
      overridesOf(ledger, stream, evaluation.basis?.overrides ?? []),
      lawsOf(evaluation, lookup),
    ])
    const record = await gatherDecision(fact, decision, evaluation, lookup)
    const told = evaluation.basis === undefined ? OLD_RECORD : null
    const outcomes = evaluation.law_outcomes
    return { ...base, outcomes, record, laws, missing: told, overrides }
  } catch (error) {
    if (!(error instanceof NotKept)) throw error
    const outcomes = past?.evaluation.law_outcomes ?? []
    const missing = error.message
    return { ...base, outcomes, record: null, laws: null, missing, overrides: [] }
  }
}

const OLD_RECORD = 'the record is of an earlier version and does not tell the values'

async function overridesOf(
  ledger: LedgerReader,
  stream: string,
  wanted: readonly { readonly override_id: string }[],
): Promise<Found['overrides']> {
  if (wanted.length === 0) return []
  const ids = wanted.map(({ override_id }) => override_id)
  const facts = await allFacts(ledger, { stream, type: 'override_v1' })
  return (
    facts
      // The query finds overrides only.
      .map((fact) => ({ fact, override: fact.payload as Override }))
      .filter(({ override }) => ids.includes(override.override_id))
  )
}

/** Whether it still waits, and whether it can still be taken back. */
async function since(
  ledger: LedgerReader,
  { stream, payload }: OpenedFact,
  { approvals, answered }: Explanation,
): Promise<Since> {
  // `explainAction` hands a decision over.
  const { action_id: action, decision, result_digest = '' } = payload as Decision
  const of = async (type: string): Promise<readonly OpenedFact[]> =>
    allFacts(ledger, { stream, type, action })
  // The query finds promotions only.
  const promotion = (await of('promotion_v1')).at(-1)?.payload as Promotion | undefined
  // A yes ends the question, unless others have to say it as well.
  const isMore = approvals !== undefined && approvals.given.length < approvals.needed
  const isAnswered = answered !== null && (answered.answer !== 'APPROVED' || !isMore)
  const isOpen = decision === 'CONFIRM' && promotion === undefined && !isAnswered
  const applied = promotion?.status === 'APPLIED' && promotion.paths > 0 ? promotion : null
  const undone = applied !== null && (await isUndone(ledger, stream, action, applied))
  return {
    pending: isOpen ? result_digest.slice('sha256:'.length).slice(0, ID_DIGITS) : null,
    undoUntil: applied === null || undone ? null : applied.undo_until,
    nowMs: Date.now(),
  }
}

const ID_DIGITS = 12

/** A rollback names all its actions, so it is not found by one of them. */
async function isUndone(
  ledger: LedgerReader,
  stream: string,
  action: string,
  { promoted_at }: Promotion,
): Promise<boolean> {
  const facts = await allFacts(ledger, { stream, type: 'rollback_v1', since: promoted_at })
  // The query finds rollbacks only.
  return facts.some(({ payload }) => (payload as Rollback).action_ids.includes(action))
}

/** An explanation in the words of a person. */
export function explanationText(
  explanation: Explanation,
  human: readonly Remedy[],
  paint: Paint,
): string {
  const lines = [
    headline(explanation, paint),
    ...reasonLines(explanation, paint),
    ...explanation.laws.flatMap((law) => ['', ...lawLines(law, paint)]),
    ...conflictLines(explanation, paint),
    ...(explanation.missing === null ? [] : ['', paint.dim(`not known: ${explanation.missing}`)]),
    '',
    paint.strong('What a human can do'),
    ...human.flatMap(({ says, command }) => [
      `  ${says}`,
      ...(command === undefined ? [] : [`    ${paint.dim('$')} ${command}`]),
    ]),
  ]
  return `${lines.join('\n')}\n`
}

const WORDS = { PROMOTE: 'let through', CONFIRM: 'asked about', BLOCK: 'refused' } as const

function headline(explanation: Explanation, paint: Paint): string {
  const { decision, action_id, decided_at, permanent, answered, approvals } = explanation
  const colour =
    decision === 'BLOCK' ? paint.bad : decision === 'CONFIRM' ? paint.accent : paint.good
  const for_ever = permanent ? ', and so is the same intent from now on' : ''
  const answer =
    answered === null
      ? ''
      : `\n${answered.answer.toLowerCase()} at ${answered.at} by ${visibleName(answered.by)} (${answered.assurance})`
  const several = approvals === undefined ? '' : `\n${approvalsText(approvals)}`
  return `${colour(WORDS[decision])}  ${visibleName(action_id)}  at ${decided_at}${for_ever}${answer}${several}`
}

const SIGNS = { block: '✗', confirm: '?', note: '·' } as const

function reasonLines({ reasons }: Explanation, paint: Paint): readonly string[] {
  if (reasons.length === 0) return ['  nothing stood against it']
  return reasons.map(({ code, says, weight }) => {
    const colour = weight === 'block' ? paint.bad : weight === 'confirm' ? paint.accent : paint.dim
    return `  ${colour(SIGNS[weight])} ${visible(code)}  ${paint.dim(says)}`
  })
}

function lawLines(law: ExplainedLaw, paint: Paint): readonly string[] {
  const { policy_id, tier, state, policy_expr, deciding, errors } = law
  const where = law.built_in ? 'built in' : `tier ${tier}`
  const by = law.approvals === undefined ? '' : ` by ${law.approvals} humans`
  const word =
    state === 'broken' ? 'is broken' : state === 'error' ? 'could not be evaluated' : 'was silenced'
  return [
    `${paint.strong(visible(policy_id))} ${paint.dim(`(${where}, ${law.action}${by})`)} ${word}`,
    ...(law.text === undefined ? [] : [`  ${visible(law.text)}`]),
    ...(policy_expr === null
      ? []
      : visible(policy_expr.replaceAll(/\s+/g, ' '))
          .split('\n')
          .map((line) => `  ${line}`)),
    ...(deciding ?? []).map((value) => `  ${paint.dim('because')} ${valueText(value)}`),
    ...errors.map((message) => `  ${paint.dim('because')} ${visible(message)}`),
    ...fateLines(law, paint),
  ]
}

function valueText({ path, value, witness }: DecidingValue): string {
  const found = witness === undefined ? '' : `, as with ${visibleName(witness)}`
  return `${visible(path)} is ${visible(JSON.stringify(value) ?? 'missing')}${found}`
}

/** Who set it aside, silenced or softened it. */
function fateLines(law: ExplainedLaw, paint: Paint): readonly string[] {
  const lines: string[] = []
  const { overridden_by: override } = law
  if (override !== null) {
    const until = override.expires_at === null ? '' : ` until ${override.expires_at}`
    const uses = override.uses === 1 ? 'for one act' : `for ${override.uses} acts`
    lines.push(
      `  ${paint.accent('set aside')} by ${visibleName(override.by)} ${uses}${until}: ${visible(override.reason)}`,
    )
  }
  if (law.softened_by !== null) {
    lines.push(`  ${paint.accent('left as an alert')} by ${visible(law.softened_by)}`)
  }
  if (law.silenced_by !== null) {
    lines.push(`  ${paint.accent('silenced')} by ${visible(law.silenced_by)}`)
  }
  return lines
}

const MODES: Readonly<Record<string, string>> = {
  hard_override: 'silences',
  soft_override: 'leaves as an alert',
  merge: 'is merged with',
}

function conflictLines({ conflicts }: Explanation, paint: Paint): readonly string[] {
  if (conflicts.length === 0) return []
  return [
    '',
    paint.strong('Conflicts'),
    ...conflicts.map(
      ({ winner, losers, mode }) =>
        `  ${visible(winner)} ${MODES[mode] ?? mode} ${losers.map((loser) => visible(loser)).join(', ')} ${paint.dim(`(${mode})`)}`,
    ),
  ]
}
