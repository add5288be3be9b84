/** `writ rules prove`: a proof that rules never or always say a word, or inputs that break it. */
import { fault, showName } from '../../base/index.ts'
import { type Claim, prove } from '../../constitution/index.ts'
import {
  type AdmittedRuleset,
  admitGuardText,
  type Guard,
  VERDICTS,
  type VerdictWord,
} from '../../contracts/index.ts'
import { type Call, EXIT, type Exit, Stop } from '../command.ts'
import { withinBudget } from '../rules/budget.ts'
import { loadAdmitted } from '../rules/files.ts'

export async function run(call: Call): Promise<Exit> {
  const claim = claimOf(call)
  const rulesets = chosen(
    await loadAdmitted([...call.options.texts('rules'), ...call.arguments]),
    call.options.text('action'),
  )
  const proof = withinBudget((budget) => prove(rulesets, claim, budget))
  if (call.options.isOn('json')) {
    const answer = proof.proved
      ? { proved: true }
      : { proved: false, action_code: proof.actionCode, counterexample: proof.counterexample }
    await call.terminal.out(`${JSON.stringify(answer)}\n`)
  } else if (proof.proved) {
    await call.terminal.out(
      `${call.terminal.paint.good('proved')}  for every input that speaks of one subject\n`,
    )
  } else {
    await call.terminal.out(
      `${call.terminal.paint.bad('not so')}  ${proof.actionCode}: ${claim.verdict} is ${claim.kind === 'never' ? 'said' : 'not said'} on\n${JSON.stringify(proof.counterexample, null, 2)}\n`,
    )
  }
  return proof.proved ? EXIT.yes : EXIT.no
}

function claimOf(call: Call): Claim {
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
  const { guard, violations } = admitGuardText(text)
  if (guard !== null) return guard
  throw usage(
    `the guard of \`--when\` is refused: ${violations.map(({ message, code }) => `${message} (${code})`).join('; ')}`,
  )
}

function chosen(
  rulesets: readonly AdmittedRuleset[],
  actionCode: string | null,
): readonly AdmittedRuleset[] {
  if (actionCode === null) return rulesets
  const found = rulesets.filter((ruleset) => ruleset.actionCode === actionCode)
  if (found.length === 0) throw usage(`no ruleset is about ${showName(actionCode)}`)
  return found
}

function usage(message: string): Stop {
  return new Stop(
    fault('cli.usage', '', null, {
      message,
      hint: "writ rules prove --rules rules/ --never ALLOW --when 'EXISTS(…)'",
    }),
  )
}
