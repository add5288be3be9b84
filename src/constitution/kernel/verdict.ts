/**
 * The kernel's only output, `control_verdict_v0` (K-5): a word on one action code, what it rests on,
 * and nothing that explains, scores, orders or advises.
 *
 * `verdict_id` is a digest of everything that a verdict can depend on: the 28 visible values, the ids
 * that bind the inputs, the rules, and the action code. The time is not part of it.
 */
import { digestBytes } from '../../base/index.ts'
import {
  type CombineStrategy,
  type ControlVerdict,
  field,
  GUARD_PATHS,
  isObject,
  type RulesetStatus,
  VERDICT_SCHEMA_VERSION,
  type VerdictWord,
} from '../../contracts/index.ts'
import { type Inputs, type InputValue, type Projection, viewOf } from './projection.ts'
import { type Sifted, sieveOf } from './sieve.ts'

/** What the rules said: the word, the rule that gave it, and whether there were rules at all. */
export interface RuleDecision {
  readonly verdict: VerdictWord
  readonly ruleRef: string | null
  readonly status: RulesetStatus
}

const { project: projectAll } = viewOf(GUARD_PATHS)

/**
 * Writes the part of the digested text that all verdicts on the same inputs share: the end of a
 * JSON list with the ids and the 28 values in their order, null for a missing one. Writing it by
 * hand takes half the time of JSON.stringify.
 */
export function verdictSeal(inputs: Inputs): string {
  const { problem_state: state, permission_set: permission } = inputs
  let text = `${sealed(textOf(field(state, 'problem_state_id')))},${sealed(textOf(field(permission, 'permission_set_id')))}`
  const seen = projectAll(inputs)
  for (let slot = 0; slot < seen.length; slot++) text += `,${sealed(seen[slot])}`
  return `${text}]`
}

function sealed(value: InputValue | undefined): string {
  switch (typeof value) {
    case 'string':
      return quoted(value)
    case 'number':
      return Number.isFinite(value) ? String(value) : 'null'
    case 'boolean':
      return 'true'
    case 'undefined':
      return 'null'
    // A projection holds no other objects than lists.
    default:
      return sealedSet(value)
  }
}

/** Writes the words of a set; elements that are no strings are left out. */
function sealedSet(words: readonly unknown[]): string {
  let text = ''
  for (let index = 0; index < words.length; index++) {
    const word = words[index]
    if (isText(word)) text += text === '' ? quoted(word) : `,${quoted(word)}`
  }
  return `[${text}]`
}

/** Writes a string as JSON. Printable ASCII without quotes and backslashes needs no escapes. */
function quoted(text: string): string {
  for (let index = 0; index < text.length; index++) {
    const unit = text.charCodeAt(index)
    const isPlain = unit >= 0x20 && unit <= 0x7e && unit !== 0x22 && unit !== 0x5c
    if (!isPlain) return JSON.stringify(text)
  }
  return `"${text}"`
}

export function verdictDocument(
  { permission_set: permission }: Inputs,
  action_code: string,
  { verdict, ruleRef: rule_ref, status: ruleset_status }: RuleDecision,
  ruleset_ref: string,
  seal: string,
  evaluated_at_ts: number,
): ControlVerdict {
  const type = 'control_verdict_v0'
  const schema_version = VERDICT_SCHEMA_VERSION
  const verdict_id = digestBytes(
    `["${type}",${quoted(action_code)},"${ruleset_ref}","${ruleset_status}",${seal}`,
  )
  const subjectRef = subjectOf(field(permission, 'subjectRef'))
  const window = windowOf(field(permission, 'window'))
  // Two literals, because spreading an optional key into one costs as much as the digest.
  return rule_ref === null
    ? {
        type,
        schema_version,
        verdict_id,
        evaluated_at_ts,
        subjectRef,
        window,
        action_code,
        verdict,
        ruleset_ref,
        ruleset_status,
      }
    : {
        type,
        schema_version,
        verdict_id,
        evaluated_at_ts,
        subjectRef,
        window,
        action_code,
        verdict,
        rule_ref,
        ruleset_ref,
        ruleset_status,
      }
}

/** Copies the parts of the subject that the permission set names. */
function subjectOf(subject: unknown): ControlVerdict['subjectRef'] {
  const copy: Writable<ControlVerdict['subjectRef']> = {}
  if (!isObject(subject)) return copy
  const { projectId, groupId, plotId, blockId } = subject
  if (isName(projectId)) copy.projectId = projectId
  if (isName(groupId)) copy.groupId = groupId
  if (isName(plotId)) copy.plotId = plotId
  if (isName(blockId)) copy.blockId = blockId
  return copy
}

function windowOf(window: unknown): ControlVerdict['window'] {
  const copy: Writable<ControlVerdict['window']> = {}
  if (!isObject(window)) return copy
  const { startTs, endTs } = window
  if (isMoment(startTs)) copy.startTs = startTs
  if (isMoment(endTs)) copy.endTs = endTs
  return copy
}

type Writable<T> = { -readonly [K in keyof T]: T[K] }

function isName(value: unknown): value is string {
  return isText(value) && value !== '' && value.isWellFormed()
}

function isMoment(value: unknown): value is number {
  return Number.isSafeInteger(value)
}

function textOf(value: unknown): string | undefined {
  return isText(value) ? value : undefined
}

function isText(value: unknown): value is string {
  return typeof value === 'string'
}

/** What a rule gives when it is the one that decides. */
interface Given {
  readonly verdict: VerdictWord
  /** `<ruleset_id>/<rule_id>@<rule_version>` */
  readonly ref: string
}

type CompiledRule = Given & Sifted

/** Returns the verdict of the rule that decides; null if no rule matches (UNDETERMINED). */
export type Combine = (seen: Projection) => Given | null

/**
 * The two ways in which rules become one verdict (K-3); there is no third. INVARIANT (first of its
 * kind): the rule that is named is the first in file order that gave the verdict.
 */
export function combiner(strategy: CombineStrategy, rules: readonly CompiledRule[]): Combine {
  const ranked = rankRules(strategy, rules).map(({ rule }) => rule)
  const firstMatch = sieveOf(ranked)
  const given = ranked.map(({ verdict, ref }) => ({ verdict, ref }))
  return (seen) => given[firstMatch(seen)] ?? null
}

/** Sorts rules into the order in which the first match decides; `index` is the place in the file. */
export function rankRules<R extends { readonly verdict: VerdictWord }>(
  strategy: CombineStrategy,
  rules: readonly R[],
): readonly { readonly rule: R; readonly index: number }[] {
  const placed = rules.map((rule, index) => ({ rule, index }))
  switch (strategy) {
    case 'FIRST_MATCH':
      return placed
    case 'DENY_OVERRIDES':
      return DENY_FIRST.flatMap((word) => placed.filter(({ rule }) => rule.verdict === word))
    default:
      return strategy satisfies never
  }
}

const DENY_FIRST = ['DENY', 'ALLOW', 'UNDETERMINED'] as const
