/**
 * Text policies (F-9): what a participant may not say. Phrases are matched without case, punctuation
 * and width; a phrase in letters matches whole words, one in Chinese matches anywhere.
 *
 * INVARIANT (defaults stay on): a flow adds text policies, and takes none of the two away.
 */
import type { ViolationAction } from '../../policy/index.ts'
import { ACTIONS_BY_STRICTNESS } from '../../policy/index.ts'
import type { CompiledFlow, TextPolicyDocument } from '../compile/compiled-flow.ts'
import { ASKING_TO_CONTINUE, RATIONALISING } from './phrases.ts'

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

const DEFAULT_BANS: readonly Ban[] = [
  ['NO_RATIONALISING', RATIONALISING] as const,
  ['NO_ASK_TO_CONTINUE', ASKING_TO_CONTINUE] as const,
].map(([policyId, patterns]) => ({
  policyId,
  kinds: KINDS,
  patterns,
  action: 'reject' as const,
  priority: 0,
}))

/** Every policy that is broken, one phrase each: the strictest action first, then by priority. */
export function findBreaches(flow: CompiledFlow, texts: Texts): readonly TextBreach[] {
  const folded = KINDS.map((kind) => ({ kind, text: fold(texts[kind] ?? '') }))
  const found: (TextBreach & { readonly priority: number })[] = []
  for (const ban of bansOf(flow)) {
    for (const { kind, text } of folded) {
      if (text.words === '' || !ban.kinds.includes(kind)) continue
      const phrase = ban.patterns.find((pattern) => says(text, pattern))
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

function bansOf({ document }: CompiledFlow): readonly Ban[] {
  const own = (document.text_policies ?? []).map((policy) => ({
    policyId: policy.policy_id,
    kinds: [policy.applies_to],
    patterns: policy.patterns,
    action: policy.violation_action,
    priority: policy.priority,
  }))
  return [...DEFAULT_BANS, ...own]
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

function fold(text: string): Folded {
  const plain = text
    .normalize('NFKC')
    .toLowerCase()
    .replace(/['\u2019`]/g, '')
    .replace(/[^\p{L}\p{N}]+/gu, ' ')
    .trim()
  return { words: plain === '' ? '' : ` ${plain} `, run: plain.replaceAll(' ', '') }
}

const HAN = /\p{Script=Han}/u

function says(text: Folded, pattern: string): boolean {
  const phrase = fold(pattern)
  if (phrase.words === '') return false
  return HAN.test(pattern) ? text.run.includes(phrase.run) : text.words.includes(phrase.words)
}
