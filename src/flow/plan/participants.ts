/**
 * Reads the participants of a plan, which a person wrote: a `participants_v1` document, or a plain map
 * from names to participants. The digest of the canonical document pins them.
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

export type ParsedParticipants =
  | { readonly ok: true; readonly participants: Participants; readonly digest: Digest }
  | { readonly ok: false; readonly violations: readonly Violation[] }

/** Names that mean the reviewer if the document has no `reviewer`, most usual first. */
const REVIEWERS = ['reviewer', 'xiaojing']

export function readParticipants(document: unknown): ParsedParticipants {
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

/** Moves a violation to its place in the plain map that the user wrote. */
function unwrapped(violation: Violation): Violation {
  const prefix = at('', 'participants')
  const { path } = violation
  return path.startsWith(prefix) ? { ...violation, path: path.slice(prefix.length) } : violation
}

/** Returns the participant that judges work without a CHECK; null if there is none. */
export function reviewerOf({ participants, reviewer }: Participants): string | null {
  if (reviewer !== undefined) return reviewer
  return REVIEWERS.find((name) => Object.hasOwn(participants, name)) ?? null
}
