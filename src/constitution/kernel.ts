/**
 * The kernel: rulesets and inputs in, verdicts out. Pure, total and deterministic to the byte; the
 * time is an argument and takes no part in any decision.
 *
 * INVARIANT (permission binding, K-4): one verdict for each candidate action code and none for any
 * other. A ruleset that is missing or inadmissible gives UNDETERMINED, never DENY, never an older one.
 * INVARIANT (no path to action, K-6): this room imports nothing that acts, and a verdict is only a
 * word.
 */
import { digestDocument, isDigest } from '../base/index.ts'
import {
  type AdmittedRuleset,
  actionCodesOf,
  admitRulesets,
  type Context,
  type ControlVerdict,
  field,
  NO_RULESET,
  type RulesetStatus,
} from '../contracts/index.ts'
import { inputsAreBound } from './binding.ts'
import { type Combine, combiner } from './combine.ts'
import { compileRule, pathsOfRule } from './matcher.ts'
import { codes, type Inputs, type Projection, projector } from './projection.ts'
import { type Decision, verdictDocument, verdictSeal } from './verdict.ts'

/** A ruleset as it was loaded: the parsed document, and the digest of its file's bytes if it has one. */
export interface RulesetSource {
  readonly document: unknown
  readonly ref?: string
}

/** Rulesets made ready, one for each action code. */
export interface Constitution {
  /** One verdict for each candidate, in their order. */
  evaluate(inputs: Inputs, atMs: number): readonly ControlVerdict[]
  /** The word alone, without a document around it; for an action code that is a candidate. */
  decide(inputs: Inputs, actionCode: string): Decision
}

interface Chapter {
  readonly status: RulesetStatus
  readonly ref: string
  readonly project: (inputs: Inputs) => Projection
  readonly combine: Combine
}

const NOTHING_SAID: Combine = () => null
const MISSING: Chapter = {
  status: 'MISSING',
  ref: NO_RULESET,
  project: projector([]),
  combine: NOTHING_SAID,
}

export function establish(sources: readonly RulesetSource[], context: Context = {}): Constitution {
  const registry = actionCodesOf(context)
  const chapters = new Map<string, Chapter>()
  const admission = admitRulesets(
    sources.map(({ document }) => document),
    { context },
  )
  admission.rulesets.forEach(({ ruleset }, index) => {
    const source = sources[index] as RulesetSource
    const code = field(source.document, 'action_code')
    if (typeof code !== 'string' || !registry.has(code) || chapters.has(code)) return
    chapters.set(
      code,
      ruleset === null ? invalidChapter(source) : compileChapter(ruleset, refOf(source)),
    )
  })
  const chapterOf = (code: string): Chapter => chapters.get(code) ?? MISSING
  return {
    evaluate: (inputs, atMs) => evaluate(chapterOf, inputs, atMs),
    decide: (inputs, actionCode) =>
      decide(
        chapterOf(actionCode),
        inputs,
        isCandidate(inputs, actionCode) && inputsAreBound(inputs),
      ),
  }
}

function refOf({ document, ref }: RulesetSource): string {
  return ref !== undefined && isDigest(ref) ? ref : digestDocument(document)
}

function invalidChapter(source: RulesetSource): Chapter {
  return { ...MISSING, status: 'INVALID', ref: refOf(source) }
}

function compileChapter(ruleset: AdmittedRuleset, ref: string): Chapter {
  const paths = new Set(ruleset.rules.flatMap(pathsOfRule))
  const rules = ruleset.rules.map((rule) => ({
    matches: compileRule(rule),
    verdict: rule.verdict,
    ref: `${ruleset.rulesetId}/${rule.ruleId}@${rule.ruleVersion}`,
  }))
  return {
    status: 'APPLIED',
    ref,
    project: projector([...paths]),
    combine: combiner(ruleset.combineStrategy, rules),
  }
}

function decide(chapter: Chapter, inputs: Inputs, bound: boolean): Decision {
  const rule = bound ? chapter.combine(chapter.project(inputs)) : null
  return rule === null
    ? { verdict: 'UNDETERMINED', ruleRef: null, status: chapter.status }
    : { verdict: rule.verdict, ruleRef: rule.ref, status: chapter.status }
}

function isCandidate(inputs: Inputs, actionCode: string): boolean {
  return codes(field(inputs.permission_set, 'candidate_actions'))?.includes(actionCode) === true
}

function evaluate(
  chapterOf: (code: string) => Chapter,
  inputs: Inputs,
  atMs: number,
): readonly ControlVerdict[] {
  const candidates = codes(field(inputs.permission_set, 'candidate_actions')) ?? []
  if (candidates.length === 0) return []
  const bound = inputsAreBound(inputs)
  const seal = verdictSeal(inputs)
  return candidates.map((code) => {
    const chapter = chapterOf(code)
    return verdictDocument(inputs, code, decide(chapter, inputs, bound), chapter.ref, seal, atMs)
  })
}
