/**
 * What a human can do about a decision, by what carries it: each way with the command that takes it.
 * Where nothing can be done that is said as well; nothing here widens what anybody may do.
 */
import type { Explanation } from './explanation.ts'

export interface Remedy {
  readonly can:
    | 'answer'
    | 'override'
    | 'lift'
    | 'wait'
    | 'resume'
    | 'accept_laws'
    | 'mend_law'
    | 'correct'
    | 'repeat'
    | 'roll_back'
    | 'none'
  readonly says: string
  readonly command?: string
}

/** What became of the act since. */
export interface Since {
  /** The question that still waits; null when none does. */
  readonly pending: string | null
  /** Until when it can be taken back; null when it was not promoted, or was taken back. */
  readonly undoUntil: string | null
  readonly nowMs: number
}

export function remedies(explanation: Explanation, since: Since): readonly Remedy[] {
  const { decision, action_id } = explanation
  if (since.undoUntil !== null && Date.parse(since.undoUntil) > since.nowMs) {
    const says = `it was promoted, and can be taken back until ${since.undoUntil}`
    return [{ can: 'roll_back', says, command: `writ rollback ${action_id}` }]
  }
  if (since.pending !== null) return questions(since.pending)
  if (decision === 'PROMOTE') return [none('nothing stood against it')]
  if (decision === 'CONFIRM') {
    return [{ can: 'repeat', says: 'the question is over; it takes a new proposal' }]
  }
  const found = blockRemedies(explanation)
  return found.length > 0 ? found : [none('it is refused, and no command lets it through')]
}

function questions(id: string): readonly Remedy[] {
  return [
    { can: 'answer', says: 'a human sees the effects and says yes', command: `writ approve ${id}` },
    { can: 'answer', says: 'or no', command: `writ deny ${id}` },
  ]
}

/** All that is needed, not one of them: each reason that blocks has to go. */
function blockRemedies(explanation: Explanation): readonly Remedy[] {
  const { reasons, permanent, action_id } = explanation
  const remedies: Remedy[] = []
  for (const reason of reasons) {
    if (reason.weight !== 'block') continue
    if (reason.code === 'cooldown') remedies.push(...cooldownRemedies(explanation))
    else remedies.push(...remedyOf(reason, action_id))
  }
  if (remedies.some(({ can }) => can === 'none'))
    return remedies.filter(({ can }) => can === 'none')
  if (permanent) remedies.push(lift(action_id, 'the same intent is blocked until a human lifts it'))
  const seen = new Set<string>()
  return remedies.filter(({ says }) => !seen.has(says) && seen.add(says) !== undefined)
}

function remedyOf(
  { code, tier, policy_id }: Explanation['reasons'][number],
  id: string,
): readonly Remedy[] {
  if (tier === 0) return [none(`the law ${policy_id ?? code} is of tier 0 and cannot be set aside`)]
  if (tier === 1 && policy_id !== undefined) return lawRemedies(code, policy_id, id)
  const fixed = FIXED[code]
  if (fixed !== undefined) return [fixed]
  if (code === 'block.permanent')
    return [lift(id, 'the intent was blocked before; a human can lift that')]
  if (code === 'precondition.failed') {
    return [lift(id, 'see to what has to hold beforehand; a human lifts the block')]
  }
  if (/^(?:descriptor|document|operation|proposal)\./.test(code)) {
    return [{ can: 'correct', says: 'the proposal has to be corrected, and gets a new id' }]
  }
  if (code.startsWith('effect.')) {
    return [{ can: 'correct', says: 'what it does has to be declared, or not to be done' }]
  }
  return [{ can: 'repeat', says: 'the cause has to go; then it takes a new proposal' }]
}

function lawRemedies(code: string, law: string, id: string): readonly Remedy[] {
  const command = `writ override --law ${law} --action ${id} --reason "…"`
  const says = `a human can set the law ${law} aside for this intent; then it is proposed again`
  const override: Remedy = { can: 'override', says, command }
  if (code !== 'evaluation.failed') return [override]
  const mend = `the law ${law} could not be evaluated: it can be mended`
  return [{ can: 'mend_law', says: mend, command: 'writ laws check' }, override]
}

function cooldownRemedies({ cooldown_until: until, action_id }: Explanation): readonly Remedy[] {
  const end = until === undefined ? '' : ` until ${until}`
  const says = `the same intent cools down${end}; it can be proposed again afterwards`
  return [{ can: 'wait', says }, lift(action_id, 'or a human lifts the cooldown now')]
}

const FIXED: Readonly<Record<string, Remedy>> = {
  halted: {
    can: 'resume',
    says: 'everything is halted until a human resumes',
    command: 'writ resume',
  },
  'laws.changed': {
    can: 'accept_laws',
    says: 'a human reads the laws as they are now and accepts them',
    command: 'writ laws accept',
  },
}

function lift(id: string, says: string): Remedy {
  return { can: 'lift', says, command: `writ override --lift ${id} --reason "…"` }
}

function none(says: string): Remedy {
  return { can: 'none', says }
}
