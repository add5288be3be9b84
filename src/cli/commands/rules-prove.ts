/** `writ rules prove`: a proof that rules never or always say a word, or inputs that break it. */
import { type FaultError, faultError, showName } from '../../base/index.ts'
import { type Proof, prove, type VerdictClaim } from '../../constitution/index.ts'
import {
  type AdmittedRuleset,
  admitGuardText,
  type Guard,
  VERDICTS,
  type VerdictWord,
  type Violation,
} from '../../contracts/index.ts'
import { type CommandCall, EXIT, type Exit } from '../call/command.ts'
import { usageError } from '../call/usage.ts'
import { withinBudget } from '../rules/budget.ts'
import { loadRules, wordOn } from '../rules/files.ts'
import { witnessText } from '../rules/survey-text.ts'

export async function run(call: CommandCall): Promise<Exit> {
  const claim = claimOf(call)
  const names = [...call.options.texts('rules'), ...call.arguments]
  const { rulesets, files } = await loadRules(names, 'exact words')
  const chosen = ofAction(rulesets, call.options.text('action'))
  const proof = withinBudget((budget) => prove(chosen, claim, budget))
  if (proof.proved && proof.isVacuous) throw emptyClaim()
  if (call.options.isOn('json')) await call.terminal.out(`${JSON.stringify(answerOf(proof))}\n`)
  else if (proof.proved) await call.terminal.out(provedText(call, claim))
  else {
    const { actionCode, counterexample } = proof
    const broken = wordOn(files, counterexample, actionCode)
    const head = `${actionCode} says ${broken.verdict} (${broken.ruleRef ?? 'no rule matches'})`
    const about = chosen.filter((one) => one.actionCode === actionCode)
    await call.terminal.out(
      `${call.terminal.paint.bad('not so')}  ${head}, for example on\n${witnessText(counterexample, about).join('\n')}\n`,
    )
  }
  return proof.proved ? EXIT.yes : EXIT.no
}

function answerOf(proof: Proof): object {
  if (proof.proved) return { proved: true }
  return { proved: false, action_code: proof.actionCode, counterexample: proof.counterexample }
}

/** Proofs are about bound inputs; all others are UNDETERMINED by the kernel itself. */
function provedText({ terminal }: CommandCall, { verdict }: VerdictClaim): string {
  const binding =
    verdict === 'UNDETERMINED'
      ? 'inputs about different subjects are UNDETERMINED by themselves'
      : 'inputs about different subjects are always UNDETERMINED'
  return `${terminal.paint.good('proved')}  for every input whose documents are about one subject; ${binding}\n`
}

function emptyClaim(): FaultError {
  return faultError(
    'rules.claim_empty',
    '',
    'no input can fit the guard of `--when`, so the claim says nothing',
    'a field holds one word at a time: look for two words of one field, or a field and its absence',
  )
}

function claimOf(call: CommandCall): VerdictClaim {
  const never = call.options.text('never')
  const always = call.options.text('always')
  const word = never ?? always
  if (word === null || (never !== null && always !== null))
    throw usage('say `--never VERDICT` or `--always VERDICT`')
  const verdict = VERDICTS.find((one) => one === word.toUpperCase())
  if (verdict === undefined)
    throw usage(`${showName(word)} is no verdict: ALLOW, DENY or UNDETERMINED`)
  return {
    kind: never === null ? 'always' : 'never',
    verdict: verdict satisfies VerdictWord,
    when: guardOf(call.options.text('when')),
  }
}

function guardOf(text: string | null): Guard | null {
  if (text === null) return null
  const { guard, violations, warnings } = admitGuardText(text)
  const unknown = warnings.filter(({ code }) => code === 'ruleset.vocabulary')
  if (unknown.length > 0) throw unknownWord(unknown)
  if (guard !== null) return guard
  throw usage(
    `the guard of \`--when\` is refused: ${violations.map(({ message, code }) => `${message} (${code})`).join('; ')}`,
  )
}

function unknownWord(violations: readonly Violation[]): FaultError {
  const message = violations.map((one) => one.message).join('; ')
  return faultError('rules.claim_word', '', `\`--when\`: ${message}`)
}

function ofAction(
  rulesets: readonly AdmittedRuleset[],
  actionCode: string | null,
): readonly AdmittedRuleset[] {
  if (actionCode === null) return rulesets
  const found = rulesets.filter((ruleset) => ruleset.actionCode === actionCode)
  if (found.length === 0) throw usage(`no ruleset is about ${showName(actionCode)}`)
  return found
}

function usage(message: string): FaultError {
  return usageError(message, "writ rules prove --rules rules/ --never ALLOW --when 'EXISTS(…)'")
}
