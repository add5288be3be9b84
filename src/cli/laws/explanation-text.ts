/** An explanation in the words of a person. */

import type { Paint } from '../call/terminal.ts'
import { visible, visibleName } from '../effects/visible.ts'
import { approvalsText } from '../gate/approvals-text.ts'
import type { DecidingValue, ExplainedLaw, Explanation } from './explanation.ts'
import type { Remedy } from './remedy.ts'

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
