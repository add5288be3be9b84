/**
 * Who the agents of a plan are, as a person wrote it down: a `participants_v1` document, or a plain map
 * from names to participants. Pinned by the digest of the canonical document.
 */
import { at, type Digest, digestDocument } from '../../base/index.ts'
import {
  field,
  isObject,
  type Participants,
  participantsContract,
  type Violation,
  validate,
} from '../../contracts/index.ts'

export type ParticipantsReading =
  | { readonly ok: true; readonly participants: Participants; readonly digest: Digest }
  | { readonly ok: false; readonly violations: readonly Violation[] }

/** Names that stand for roles when nobody is given one, most usual first. */
const REVIEWERS = ['reviewer', 'xiaojing']

export function readParticipants(document: unknown): ParticipantsReading {
  const isPlain = isMap(document)
  const whole = isPlain ? { type: 'participants_v1', participants: document } : typed(document)
  const { valid, violations } = validate(participantsContract, whole)
  if (!valid) return { ok: false, violations: isPlain ? violations.map(unwrapped) : violations }
  // The contract has judged it.
  const participants = whole as Participants
  return { ok: true, participants, digest: digestDocument(participants) }
}

/** A map of agents, without the frame of the contract. */
function isMap(document: unknown): boolean {
  if (!isObject(document) || field(document, 'type') !== undefined) return false
  const inner = field(document, 'participants')
  return (
    !isObject(inner) ||
    ['command', 'http', 'mcp', 'chat', 'human'].some((key) => Object.hasOwn(inner, key))
  )
}

function typed(document: unknown): unknown {
  if (!isObject(document) || field(document, 'type') !== undefined) return document
  return { type: 'participants_v1', ...document }
}

/** The place in the file as it was written. */
function unwrapped(violation: Violation): Violation {
  const prefix = at('', 'participants')
  const { path } = violation
  return path.startsWith(prefix) ? { ...violation, path: path.slice(prefix.length) } : violation
}

/** Who judges work that no CHECK judges; null when nobody is fit. */
export function reviewerOf({ participants, reviewer }: Participants): string | null {
  if (reviewer !== undefined) return reviewer
  return REVIEWERS.find((name) => Object.hasOwn(participants, name)) ?? null
}
