/** Asks the contracts room what a vector asks, in the form that vectors compare. */
import { CODES, DOCUMENT_LIMITS, readJson } from '../../src/base/index.ts'
import {
  CONTRACTS,
  checkDocument,
  checkText,
  FINDING_CODES,
  findContract,
  findScope,
  type NormaliseAnswer,
  normaliseAndValidate,
  normaliseRefused,
} from '../../src/contracts/index.ts'
import type { Vector } from './vector.ts'

/** Codes that no document earns alone: a host, a service, a second document or a warning gives them. */
const NOT_OF_DOCUMENTS = new Set([
  'task.issuer_mismatch',
  'task.id_reused',
  'task.key_reused',
  'receipt.executor_mismatch',
  'receipt.other_device',
  'receipt.unknown_task',
  'receipt.idempotency_key',
  'receipt.duplicate',
  'descriptor.action_id_reused',
  'descriptor.ceiling',
  'evaluation.failed',
  'laws.changed',
  'laws.reserved_id',
  'laws.phase',
  'laws.unguarded',
  'laws.none',
  // A warning about the people of a home, of which the file knows nothing.
  'laws.few_humans',
  'document.envelope',
  // What a run finds, and no document.
  ...FINDING_CODES,
  // What a command about runs answers.
  'flow.taken',
  'flow.unknown_run',
  'flow.run_ambiguous',
  'flow.node_ambiguous',
  'flow.not_waiting',
  'flow.answer_invalid',
  'flow.other_person',
  'flow.unknown_signal',
  'flow.input_missing',
  'flow.flow_missing',
  'flow.output_missing',
  'flow.secret_missing',
  'flow.program_missing',
  'flow.tool_unknown',
  'flow.rules_unknown',
  'flow.migration',
  'flow.server_failed',
  'flow.plan_repaired',
  'flow.log_foreign',
  'flow.program_writable',
  'flow.program_in_root',
  'flow.reviewer_open',
  'flow.program_unpinned',
  'flow.program_large',
  'flow.interrupted',
  'flow.plan_refused',
  // What the gate says of a scope, and of a law file that differs from the accepted one.
  'descriptor.scope_outside',
  'laws.unaccepted',
  // A file that `laws test` cannot judge with.
  'laws.unusable',
  'ruleset.duplicate_ruleset',
  'ruleset.vocabulary',
  'ruleset.unused_input',
  // Needs a text of 100,000 values; a unit test of `check` has one.
  'document.too_large',
])

const PREFIXES = new Set(['document', ...CONTRACTS.map(({ prefix }) => prefix as string)])

export const CODES_OF_CONTRACTS: readonly string[] = Object.keys(CODES).filter(
  (code) => PREFIXES.has(code.split('.')[0] ?? '') && !NOT_OF_DOCUMENTS.has(code),
)

export interface ComparableAnswer {
  readonly hints: string
  /** The answer reduced to the keys that a vector compares. */
  comparable(want: Readonly<Record<string, unknown>>): Record<string, unknown>
}

export function answerCheck(vector: Vector): ComparableAnswer {
  const options = {
    ...(vector.as === undefined ? {} : { as: vector.as }),
    ...(vector.context === undefined ? {} : { context: vector.context }),
  }
  const answer =
    vector.text === undefined
      ? checkDocument(vector.document, options)
      : checkText(vector.text, options)
  return {
    hints: answer.violations.map(({ hint }) => hint ?? '').join('\n'),
    comparable: (want) => ({
      valid: answer.valid,
      ...('contract' in want ? { contract: answer.contract } : {}),
      ...('violations' in want || !answer.valid
        ? { violations: answer.violations.map(({ code, path }) => ({ code, path })) }
        : {}),
    }),
  }
}

/** The answer of a normalisation, with the time and the ids that vectors count on. */
export function answerNormalise(vector: Vector): ComparableAnswer {
  const answer = normalise(vector)
  return {
    hints: '',
    comparable: (want) => ({
      valid: answer.valid,
      ...('normalized' in want ? { normalized: answer.normalized } : {}),
      ...('rules' in want ? { rules: answer.repairs.map(({ rule }) => rule) } : {}),
      ...('error' in want ? { error: pick(answer.error, want['error']) } : {}),
    }),
  }
}

function normalise(vector: Vector): NormaliseAnswer {
  const scope = vector.as ?? ''
  let count = 0
  const sources = {
    nowMs: Date.UTC(2026, 0, 1),
    newId: () => `00000000-0000-4000-8000-${String(++count).padStart(12, '0')}`,
  }
  const reading =
    vector.text === undefined
      ? ({ ok: true, value: vector.document } as const)
      : readJson(vector.text, limitsOf(scope))
  if (!reading.ok) return normaliseRefused(scope, reading.refusal)
  return normaliseAndValidate(scope, reading.value, vector.context ?? {}, sources)
}

function limitsOf(scope: string) {
  return findContract(findScope(scope)?.contract ?? scope)?.limits ?? DOCUMENT_LIMITS
}

/** The keys of the error that the vector names; null stays null. */
function pick(error: object | null, want: unknown): unknown {
  if (error === null || typeof want !== 'object' || want === null) return error
  return Object.fromEntries(Object.entries(error).filter(([key]) => Object.hasOwn(want, key)))
}
