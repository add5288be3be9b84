/**
 * Text policies (F-9): what a participant may not say. Phrases are matched without case, punctuation
 * and width; a phrase in letters matches whole words, one in Chinese matches anywhere.
 *
 * INVARIANT (defaults stay on): a flow adds text policies, and takes none of the two away.
 *
 * The phrases of the two text policies that are on in every flow (F-9). Data: each phrase is tried by
 * a test. English ones match whole words; Chinese has no word boundaries, so those match anywhere.
 *
 * A list can err in both directions. Phrases here are ones that a plain report of work has no use for.
 */
import { ACTIONS_BY_STRICTNESS, type ViolationAction } from '../../policy/index.ts'
import type { CompiledFlow, TextPolicyDocument } from '../compile/compiled-flow.ts'
import { RULES_NOW } from '../compile/rules.ts'

/** Talking a shortfall away instead of doing the work or saying what is missing. */
export const RATIONALISING: readonly string[] = [
  'good enough for now',
  'close enough to the minimum',
  'should be sufficient',
  'in the interest of time',
  'due to time constraints',
  'given the time constraints',
  'to save time i skipped',
  'for the sake of efficiency',
  'for practical purposes this counts',
  'not strictly necessary',
  'can safely be skipped',
  'we can skip this step',
  'i will skip the validation',
  'skipping the review',
  'the spirit of the requirement',
  'effectively complete',
  'essentially complete',
  'complete enough',
  'the remaining work is trivial',
  'it is reasonable to assume it passes',
  'no need to verify',
  '已经足够好',
  '差不多可以了',
  '基本上完成了',
  '基本满足要求',
  '时间有限所以',
  '由于时间限制',
  '为了节省时间',
  '为了提高效率跳过',
  '可以跳过这一步',
  '没有必要验证',
  '不需要再验证',
  '剩下的都是小问题',
  '实际上等同于完成',
  '从精神上符合',
]

/** Handing the next step back to the user, which a run does not wait for. */
export const ASKING_TO_CONTINUE: readonly string[] = [
  'shall i continue',
  'should i continue',
  'shall i proceed',
  'should i proceed',
  'shall we continue',
  'would you like me to continue',
  'would you like me to proceed',
  'do you want me to continue',
  'do you want me to proceed',
  'let me know if i should continue',
  'let me know if you want me to continue',
  'let me know if you would like me to proceed',
  'may i continue',
  'may i proceed',
  'please confirm that i should continue',
  'awaiting your confirmation to continue',
  'ready to continue when you are',
  '是否继续',
  '要继续吗',
  '需要我继续',
  '要不要继续',
  '可以继续吗',
  '我可以继续',
  '请确认是否',
  '是否需要我',
  '您希望我继续',
  '你希望我继续',
  '等待您的确认',
  '请告诉我是否',
]

type TextKind = TextPolicyDocument['applies_to']

type Texts = Readonly<Partial<Record<TextKind, string>>>

export interface TextBreach {
  readonly policyId: string
  readonly action: ViolationAction
  readonly kind: TextKind
  readonly phrase: string
}

interface Ban {
  readonly policyId: string
  readonly kinds: readonly TextKind[]
  readonly patterns: readonly string[]
  readonly action: ViolationAction
  readonly priority: number
}

const KINDS: readonly TextKind[] = ['output', 'message', 'summary']

/** What a participant says to people. An artifact is work: a manual or a game may have any phrase. */
const SPOKEN: readonly TextKind[] = ['message', 'summary']

/** By version 1 of the rules the built-in policies held for artifacts too. */
function defaultBans({ document }: CompiledFlow, rules: number): readonly Ban[] {
  const restated = document.text_policies ?? []
  return [
    ['NO_RATIONALISING', RATIONALISING] as const,
    ['NO_ASK_TO_CONTINUE', ASKING_TO_CONTINUE] as const,
  ].map(([policyId, patterns]) => {
    const isForOutput = restated.some(
      ({ policy_id, applies_to }) => policy_id === policyId && applies_to === 'output',
    )
    const kinds = rules < 2 || isForOutput ? KINDS : SPOKEN
    return { policyId, kinds, patterns, action: 'reject' as const, priority: 0 }
  })
}

/** Every policy that is broken, one phrase each: the strictest action first, then by priority. */
export function findBreaches(
  flow: CompiledFlow,
  texts: Texts,
  rules = RULES_NOW,
): readonly TextBreach[] {
  const fold = rules < 2 ? foldPlainly : foldAll
  const readings = rules < 5 ? asWritten : asShown
  const folded = KINDS.flatMap((kind) =>
    readings(texts[kind] ?? '').map((text) => ({ kind, text: fold(text) })),
  )
  const found: (TextBreach & { readonly priority: number })[] = []
  for (const ban of [...defaultBans(flow, rules), ...ownBans(flow)]) {
    for (const { kind, text } of folded) {
      if (text.words === '' || !ban.kinds.includes(kind)) continue
      const phrase = ban.patterns.find((pattern) => says(text, pattern, fold))
      if (phrase === undefined) continue
      const { policyId, action, priority } = ban
      found.push({ policyId, action, kind, phrase, priority })
      break
    }
  }
  return found
    .sort((one, other) => rank(one.action) - rank(other.action) || other.priority - one.priority)
    .map(({ priority: _, ...breach }) => breach)
}

function ownBans({ document }: CompiledFlow): readonly Ban[] {
  return (document.text_policies ?? []).map((policy) => ({
    policyId: policy.policy_id,
    kinds: [policy.applies_to],
    patterns: policy.patterns,
    action: policy.violation_action,
    priority: policy.priority,
  }))
}

function rank(action: ViolationAction): number {
  return ACTIONS_BY_STRICTNESS.indexOf(action)
}

interface Folded {
  /** Words with one space between, before and after. */
  readonly words: string
  /** The same without any space. */
  readonly run: string
}

/** Letters that show a blank: Hangul fillers. Some readers see a space, others nothing. */
const BLANK_LETTERS = /[\u115f\u1160\u3164\uffa0]/g

function asWritten(text: string): readonly string[] {
  return [text]
}

function asShown(text: string): readonly string[] {
  const spaced = text.replace(BLANK_LETTERS, ' ')
  return spaced === text ? [text] : [text, spaced]
}

/**
 * Characters that show nothing (zero-width spaces and joiners, soft hyphens, variation selectors) and
 * marks over letters part no word, so they are dropped before the text is split into words.
 */
function foldAll(text: string): Folded {
  return foldPlainly(text.normalize('NFKD').replace(/[\p{DI}\p{Cf}\p{M}]+/gu, ''))
}

function foldPlainly(text: string): Folded {
  const plain = text
    .normalize('NFKC')
    .toLowerCase()
    .replace(/['\u2019`]/g, '')
    .replace(/[^\p{L}\p{N}]+/gu, ' ')
    .trim()
  return { words: plain === '' ? '' : ` ${plain} `, run: plain.replaceAll(' ', '') }
}

const HAN = /\p{Script=Han}/u

function says(text: Folded, pattern: string, fold: (text: string) => Folded): boolean {
  const phrase = fold(pattern)
  if (phrase.words === '') return false
  return HAN.test(pattern) ? text.run.includes(phrase.run) : text.words.includes(phrase.words)
}
