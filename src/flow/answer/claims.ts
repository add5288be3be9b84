/** Reads the claims and the evidence of an answer (F-6) field by field, and lists their faults. */
import { isDigest } from '../../base/index.ts'
import { CLAIM_TRUST_LEVELS, isObject } from '../../contracts/index.ts'
import type { ActionAnswer, ClaimDraft } from '../state/event.ts'

/** Of claims, and of evidence, in one answer: each is a fact of its own. */
const ITEMS_MAX = 200

type EvidenceDraft = NonNullable<ActionAnswer['evidence']>[number]

export function claimsOf(value: unknown, faults: string[]): readonly ClaimDraft[] {
  return listOf(value, 'claims', faults).flatMap((item, index) => {
    const { claim_id, trust_level = 'external_unverified', text } = item
    const level = CLAIM_TRUST_LEVELS.find((known) => known === trust_level)
    if (!isName(claim_id) || level === undefined) {
      faults.push(`claims[${index}] has no \`claim_id\`, or a \`trust_level\` that is none`)
      return []
    }
    return [{ claim_id, trust_level: level, ...(typeof text === 'string' ? { text } : {}) }]
  })
}

export function evidenceOf(value: unknown, faults: string[]): readonly EvidenceDraft[] {
  return listOf(value, 'evidence', faults).flatMap((item, index) => {
    const { evidence_id, claim_id, digest, supports } = item
    if (
      !isName(evidence_id) ||
      !isName(claim_id) ||
      typeof supports !== 'boolean' ||
      typeof digest !== 'string' ||
      !isDigest(digest)
    ) {
      const wanted = '`evidence_id`, `claim_id`, `digest` (sha256:…) and `supports`'
      faults.push(`evidence[${index}] lacks one of ${wanted}`)
      return []
    }
    return [{ evidence_id, claim_id, digest, supports }]
  })
}

function listOf(
  value: unknown,
  name: string,
  faults: string[],
): readonly Readonly<Record<string, unknown>>[] {
  if (value === undefined || value === null) return []
  if (!Array.isArray(value)) {
    faults.push(`\`${name}\` is no list`)
    return []
  }
  if (value.length > ITEMS_MAX) {
    faults.push(
      `\`${name}\` has ${value.length} entries, and at most ${ITEMS_MAX} are taken: say the most important ones`,
    )
    return []
  }
  return value.map((item: unknown) => (isObject(item) ? item : {}))
}

function isName(value: unknown): value is string {
  return typeof value === 'string' && value !== '' && value.length <= 200
}
