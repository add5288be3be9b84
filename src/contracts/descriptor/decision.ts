/**
 * `decision_v1`: what the gate decided about one proposal, and every code that led there (G-8,
 * G-17). Closed. Whether the decision follows from the facts is what replay asks; here only that
 * the document does not contradict itself.
 */
import * as Type from 'typebox'
import { at, DOCUMENT_LIMITS, isIsoMoment, show, showName } from '../../base/index.ts'
import { type Contract, elements, field, isObject, type Subject } from '../kernel/contract.ts'
import { ActionId, closed, DigestText } from './shapes.ts'

export const DECISIONS = ['PROMOTE', 'CONFIRM', 'BLOCK'] as const

/** `cooldown`, `promote.ok`, `law.NO_CRITICAL`: an area, and mostly what is the matter in it. */
const ReasonCode = Type.String({
  pattern: '^[a-z][a-z0-9_]*(?:\\.[^\\s.]+)*$',
  'x-code': { pattern: 'code' },
  'x-says': 'a code such as `promote.ok`',
})

const DecisionSchema = Type.Object(
  {
    action_id: ActionId,
    proposal_digest: DigestText,
    result_digest: Type.Optional(DigestText),
    decision: Type.Enum([...DECISIONS], { 'x-code': 'decision' }),
    /** The first of `codes` in the order of evaluation. */
    code: ReasonCode,
    codes: Type.Array(ReasonCode, { minItems: 1, 'x-code': { minItems: 'code' } }),
    /** The tier of the law that decided. */
    tier: Type.Optional(Type.Integer({ minimum: 0, maximum: 2, 'x-code': 'tier' })),
    permanent: Type.Boolean(),
    /** The policy ids of the laws that were broken. */
    law_refs: Type.Array(Type.String({ minLength: 1 })),
    decided_at: Type.String(),
    /** How many different humans have to say yes to a CONFIRM; one without it. */
    approvals: Type.Optional(
      Type.Integer({
        minimum: 2,
        maximum: 9,
        'x-code': { minimum: 'approvals', maximum: 'approvals' },
      }),
    ),
  },
  closed,
)

export type Decision = Type.Static<typeof DecisionSchema>

const PROMOTED = 'promote.ok'
/** Codes that report and hinder nothing: what did not happen, was dropped or runs in a build, alerts. */
const HARMLESS =
  /^(?:effect\.(?:not_observed|discarded|left_out|not_taken|home_kept|writ_kept|build_execution)|laws\.unaccepted|law\..+)$/
/** An exit status does not hinder the promotion of declared effects; it is reported after the yes. */
const FAILED = 'result.failed'

function checkMoment({ document, report }: Subject): void {
  const moment = field(document, 'decided_at')
  if (typeof moment !== 'string' || isIsoMoment(moment)) return
  const message = `${show(moment, '')} is not an ISO 8601 date and time with an offset`
  report.add('decision.moment', '/decided_at', message)
}

function checkCode({ document, report }: Subject): void {
  const code = field(document, 'code')
  const codes = field(document, 'codes')
  if (typeof code !== 'string' || !Array.isArray(codes) || codes.includes(code)) return
  report.add('decision.code', '/code', `${show(code, '')} is not among the codes`)
}

/** PROMOTE has `promote.ok` and no code that hinders; the other two never have it. */
function checkReasons({ document, report }: Subject): void {
  const decision = field(document, 'decision')
  if (decision !== 'PROMOTE' && decision !== 'CONFIRM' && decision !== 'BLOCK') return
  const places = new Map<string, unknown>([['/code', field(document, 'code')]])
  for (const [index, code] of elements(field(document, 'codes')).entries()) {
    places.set(at('/codes', index), code)
  }
  const isReported = (code: string): boolean =>
    HARMLESS.test(code) || (code === FAILED && places.get('/codes/0') === PROMOTED)
  for (const [place, code] of places) {
    if (typeof code !== 'string') continue
    const isAllowed =
      decision === 'PROMOTE'
        ? code === PROMOTED || (place !== '/code' && isReported(code))
        : code !== PROMOTED && !(place === '/code' && contradicts(decision, code))
    if (isAllowed) continue
    const message = `the code ${show(code, place)} does not lead to ${showName(decision)}`
    report.add('decision.contradiction', place, message)
  }
}

/** A BLOCK is not decided by a question. */
function contradicts(decision: 'CONFIRM' | 'BLOCK', code: string): boolean {
  return decision === 'BLOCK' ? code.startsWith('confirm.') : code === 'block.permanent'
}

function checkPermanence({ document, report }: Subject): void {
  const decision = field(document, 'decision')
  if (field(document, 'permanent') !== true) return
  if (decision !== 'PROMOTE' && decision !== 'CONFIRM') return
  const message = `a ${showName(decision)} cannot be permanent`
  report.add('decision.permanent', '/permanent', message)
}

/** What is promoted or asked about is a rehearsed result (I4). */
function checkResultDigest({ document, report }: Subject): void {
  const decision = field(document, 'decision')
  if (decision !== 'PROMOTE' && decision !== 'CONFIRM') return
  if (!isObject(document) || Object.hasOwn(document, 'result_digest')) return
  const message = `a ${showName(decision)} names the result it is about`
  report.add('decision.result_digest', '/result_digest', message)
}

function checkLawRefs({ document, report }: Subject): void {
  const refs = field(document, 'law_refs')
  if (!Array.isArray(refs)) return
  const named = new Set<unknown>(refs)
  for (const [index, code] of elements(field(document, 'codes')).entries()) {
    if (typeof code !== 'string' || !code.startsWith('law.')) continue
    if (named.has(code.slice('law.'.length))) continue
    const message = `the law of ${show(code, '')} is not among law_refs`
    report.add('decision.law_refs', `/codes/${index}`, message)
  }
}

function checkApprovals({ document, report }: Subject): void {
  const decision = field(document, 'decision')
  if (field(document, 'approvals') === undefined) return
  if (decision !== 'PROMOTE' && decision !== 'BLOCK') return
  const message = `a ${showName(decision)} asks no human`
  report.add('decision.approvals', '/approvals', message)
}

export const decisionContract: Contract = {
  name: 'decision_v1',
  title: 'What the gate decided about one proposal, and why.',
  prefix: 'decision',
  schema: DecisionSchema,
  checks: [
    checkMoment,
    checkCode,
    checkReasons,
    checkPermanence,
    checkResultDigest,
    checkLawRefs,
    checkApprovals,
  ],
  limits: DOCUMENT_LIMITS,
  isRecord: true,
}
