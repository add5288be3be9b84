/**
 * Reads the answer of a node out of a participant's text: finds the JSON object, normalises it and
 * validates it by its contract. Messages, claims, evidence and the pins of a review come along.
 *
 * INVARIANT (pinned at the top): a review counts only if its top level repeats the id and the digest
 * that the host handed out. Two such objects, or a later object that looks like a review, make the
 * answer invalid (F-7).
 */
import { GRAPH_LIMITS, readJson } from '../../base/index.ts'
import { isObject, normaliseAndValidate, type Repair, type Sources } from '../../contracts/index.ts'
import type { ReviewPin } from '../state/command.ts'
import type { ActionAnswer, ClaimDraft, ParticipantAnswer, ReviewAnswer } from '../state/event.ts'
import { claimsOf, evidenceOf } from './claims.ts'

export interface ParsedAnswer {
  /** Null when it is invalid; `errors` says why. */
  readonly answer: ParticipantAnswer | null
  readonly repairs: readonly string[]
  readonly errors: readonly unknown[]
}

type Said = Readonly<Record<string, unknown>>

const LENGTH_MAX = 1024
const SEGMENT_BYTES_MAX = 200
/** How often the text may be looked at in vain, in lengths of the text. */
const PASSES_MAX = 4
/** Every text may be looked at this much. */
const FREE_CHARACTERS = 1 << 20
const QUOTE = 0x22
const OPEN = 0x7b
const CLOSE = 0x7d
const BACKSLASH = 0x5c

/** Reads an executor's answer: the last JSON object of its text. */
export function readAction(
  text: string,
  { folder, nodeId, attempt }: ArtifactPlace,
  sources: Sources,
): ParsedAnswer {
  const { objects, texts, prose, isGivenUp } = objectsIn(text)
  const last = objects.at(-1)
  if (last === undefined) return noAnswer(isGivenUp ? TOO_MANY_BRACES : noObject(text))
  const twice = twiceIn(texts.at(-1) ?? '')
  if (twice !== null) return noAnswer(twice)
  const { valid, normalized, repairs, error } = normaliseAndValidate(
    'TASK_ACTION',
    last,
    { task_id: nodeId },
    sources,
  )
  if (!valid || normalized === null)
    return { answer: null, repairs: told(repairs), errors: [error] }
  // The contract has accepted it.
  const document = normalized as ActionAnswer['document']
  const faults: string[] = []
  const claims = claimsOf(last['claims'], faults)
  const evidence = evidenceOf(last['evidence'], faults)
  if (
    document.result_type === 'ARTIFACT' &&
    artifactPath({ folder, nodeId, attempt }, document.artifact) === null
  )
    faults.push('the name of the artifact is no path below its folder')
  if (faults.length > 0) return { answer: null, repairs: told(repairs), errors: faults }
  const answer = actionAnswer(document, last, prose, claims, evidence)
  return { answer, repairs: told(repairs), errors: [] }
}

function actionAnswer(
  document: ActionAnswer['document'],
  said: Said,
  prose: string,
  claims: readonly ClaimDraft[],
  evidence: NonNullable<ActionAnswer['evidence']>,
): ActionAnswer {
  const message = [prose, textOf(said['message'])].filter((text) => text !== '').join('\n')
  const summary = textOf(said['summary'])
  return {
    kind: 'action',
    document,
    ...(message === '' ? {} : { message }),
    ...(summary === '' ? {} : { summary }),
    ...(claims.length === 0 ? {} : { claims }),
    ...(evidence.length === 0 ? {} : { evidence }),
  }
}

/** A review of a node, or of a whole plan. */
export function readReview(
  text: string,
  pin: ReviewPin,
  sources: Sources,
  scope: 'TASK_CHECK' | 'PLAN_REVIEW' = 'TASK_CHECK',
): ParsedAnswer {
  const { objects, texts, isGivenUp } = objectsIn(text)
  if (objects.length === 0) return noAnswer(isGivenUp ? TOO_MANY_BRACES : noObject(text))
  const pinned = objects.filter((object) => isPinned(object, pin))
  const [said] = pinned
  if (said === undefined) return noAnswer(NOT_PINNED)
  if (pinned.length > 1) return noAnswer('more than one object carries the pins of this review')
  const twice = twiceIn(texts[objects.indexOf(said)] ?? '')
  if (twice !== null) return noAnswer(twice)
  // Work that the reviewer started could have put the honest review inside of another object.
  if (isIdAgain(text, pin)) return noAnswer(ID_AGAIN)
  const behind = objects.slice(objects.indexOf(said) + 1)
  if (behind.some(isReviewShaped))
    return noAnswer('something shaped like a review follows the review')
  const { valid, normalized, repairs, error } = normaliseAndValidate(
    scope,
    said,
    { task_id: pin.target },
    sources,
  )
  if (!valid || normalized === null)
    return { answer: null, repairs: told(repairs), errors: [error] }
  const faults: string[] = []
  const claims = claimsOf(own(said, 'claims'), faults)
  const evidence = evidenceOf(own(said, 'evidence'), faults)
  if (faults.length > 0) return { answer: null, repairs: told(repairs), errors: faults }
  const answer: ReviewAnswer = {
    kind: 'review',
    // The contract has accepted it.
    document: normalized as ReviewAnswer['document'],
    review_id: pin.review_id,
    artifact_digest: pin.artifact_digest,
    ...(isWordChanged(said, normalized) ? { is_word_changed: true } : {}),
    ...(claims.length === 0 ? {} : { claims }),
    ...(evidence.length === 0 ? {} : { evidence }),
  }
  return { answer, repairs: told(repairs), errors: [] }
}

/** What a person sees of an output that is no answer. */
const SHOWN_CHARACTERS = 120

/** Says that an output holds no answer, with how it begins. */
export function noObject(text: string): string {
  const begin = text.trim().slice(0, SHOWN_CHARACTERS)
  const shown = begin === '' ? ', which is empty' : `, which begins with ${JSON.stringify(begin)}`
  return `there is no JSON object in the output${shown}`
}

/** Says which name an object has twice: such an object has no one meaning. Null if there is none. */
export function twiceIn(text: string): string | null {
  const reading = readJson(text, GRAPH_LIMITS)
  if (reading.ok || reading.refusal.code !== 'document.duplicate_key') return null
  return `the JSON of the output says a name twice in one object: ${reading.refusal.message}`
}

const TOO_MANY_BRACES = 'the output is full of braces that close nothing'

const NOT_PINNED =
  'no object carries the `review_id` and the `artifact_digest` that were handed out, at its top'

/** An id that the host made is found nowhere by chance. */
const ID_LENGTH = 32

function isIdAgain(text: string, { review_id: id }: ReviewPin): boolean {
  return id.length >= ID_LENGTH && text.split(id).length > 2
}

const ID_AGAIN =
  'the `review_id` is in the output more than once; print one review, and its id nowhere else'

/** Accepts the digest as `artifact_digest` or as `artifact.digest`, the form the host hands out. */
function isPinned(said: Said, { review_id, artifact_digest }: ReviewPin): boolean {
  if (own(said, 'review_id') !== review_id) return false
  if (artifact_digest === null) return true
  const artifact = own(said, 'artifact')
  const inside = isObject(artifact) ? own(artifact, 'digest') : undefined
  return own(said, 'artifact_digest') === artifact_digest || inside === artifact_digest
}

function isReviewShaped(said: Said): boolean {
  return ['review_id', 'total_score', 'action_required', 'review_result'].some((key) =>
    Object.hasOwn(said, key),
  )
}

/** What the reviewer said in words, and what the score made of it. */
function isWordChanged(said: Said, normalized: Said): boolean {
  const word = own(said, 'action_required')
  return typeof word === 'string' && word.trim().toUpperCase() !== normalized['action_required']
}

function told(repairs: readonly Repair[]): readonly string[] {
  return repairs.map(({ rule, path }) => `${rule} ${path}`)
}

function noAnswer(why: string): ParsedAnswer {
  return { answer: null, repairs: [], errors: [why] }
}

function textOf(value: unknown): string {
  return typeof value === 'string' ? value.trim() : ''
}

function own(object: Said, key: string): unknown {
  return Object.hasOwn(object, key) ? object[key] : undefined
}

/** Whose artifact it is: the folder of the run's artifacts, the node, its attempt. */
interface ArtifactPlace {
  readonly folder: string
  readonly nodeId: string
  readonly attempt: number
}

/** Where an artifact lies in the workspace (F-12), or null when its name would lead elsewhere. */
export function artifactPath(
  { folder, nodeId, attempt }: ArtifactPlace,
  { name, format }: { readonly name: string; readonly format: string },
): string | null {
  const path = `${folder}/${nodeId}/${attempt}/${name}.${format}`
  return path.length <= LENGTH_MAX && path.split('/').every(isPlainSegment) ? path : null
}

function isPlainSegment(segment: string): boolean {
  if (segment === '' || segment === '.' || segment === '..' || segment === '.writ') return false
  // biome-ignore lint/suspicious/noControlCharactersInRegex: names with control characters are refused
  return segment.length <= SEGMENT_BYTES_MAX && !/[\u0000-\u001f\u007f\\]/.test(segment)
}

export interface TextObjects {
  readonly objects: readonly Readonly<Record<string, unknown>>[]
  /** The text of each object. */
  readonly texts: readonly string[]
  /** Everything that is in no object, as it stood. */
  readonly prose: string
  readonly isGivenUp: boolean
}

/**
 * The JSON objects in a text that a participant wrote: those at the top, in their order, and the prose
 * around them. An object inside another one is not at the top.
 *
 * INVARIANT (bounded): the work is linear in the text. A text that is full of braces which close
 * nothing is given up on, and says so.
 */
export function objectsIn(text: string): TextObjects {
  const objects: Readonly<Record<string, unknown>>[] = []
  const texts: string[] = []
  let prose = ''
  let behind = 0
  let budget = text.length * PASSES_MAX + FREE_CHARACTERS
  for (let at = text.indexOf('{'); at !== -1 && budget > 0; at = text.indexOf('{', at)) {
    const end = closingBrace(text, at)
    budget -= (end === -1 ? text.length : end) - at
    const own = end === -1 ? '' : text.slice(at, end + 1)
    const found = end === -1 ? null : objectOf(own)
    if (found === null) {
      at++
      continue
    }
    objects.push(found)
    texts.push(own)
    prose += `${text.slice(behind, at)}\n`
    behind = end + 1
    at = behind
  }
  return { objects, texts, prose: (prose + text.slice(behind)).trim(), isGivenUp: budget <= 0 }
}

/** Where the object that opens here closes; strings are skipped. -1 when it does not. */
function closingBrace(text: string, start: number): number {
  let depth = 0
  for (let at = start; at < text.length; at++) {
    const unit = text.charCodeAt(at)
    if (unit === QUOTE) {
      at = closingQuote(text, at)
      if (at === -1) return -1
    } else if (unit === OPEN) depth++
    else if (unit === CLOSE && --depth === 0) return at
  }
  return -1
}

function closingQuote(text: string, start: number): number {
  for (let at = start + 1; at < text.length; at++) {
    const unit = text.charCodeAt(at)
    if (unit === BACKSLASH) at++
    else if (unit === QUOTE) return at
  }
  return -1
}

function objectOf(text: string): Readonly<Record<string, unknown>> | null {
  try {
    // What begins with a brace and parses is an object.
    return JSON.parse(text) as Readonly<Record<string, unknown>>
  } catch {
    return null
  }
}
