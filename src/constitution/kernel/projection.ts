/**
 * What the kernel can see of the three inputs: at most 28 values, each read by its full path and only
 * where a rule declares it. A value that is absent, null or of the wrong JSON type is missing (K-2);
 * other keys are not seen, and the documents themselves never reach a rule.
 */
import { invariant } from '../../base/index.ts'
import type { GuardPath } from '../../contracts/index.ts'

/** The inputs as they come: nothing about them is taken for granted. */
export interface Inputs {
  readonly problem_state?: unknown
  readonly uncertainty_envelope?: unknown
  readonly permission_set?: unknown
}

/** A scalar, a set, a window leaf, or `true` for what may only be asked to exist. */
export type InputValue = string | number | true | readonly unknown[]

/** One slot a path, in the order in which the paths were asked for; undefined is missing. */
export type Projection = readonly (InputValue | undefined)[]

/** Where a projection holds each of its paths. */
export type SlotOf = (path: GuardPath) => number

type Loose = { readonly [key: string]: Loose | undefined } | undefined
type Reader = (state: Loose, envelope: Loose, permission: Loose) => InputValue | undefined

/** Keys are written out: a literal access is fast, and the table shows all that can be read. */
const READERS: Readonly<Record<GuardPath, Reader>> = {
  'problem_state.subjectRef': (state) => object(state?.['subjectRef']),
  'problem_state.subjectRef.projectId': (state) => text(subject(state)?.['projectId']),
  'problem_state.subjectRef.groupId': (state) => text(subject(state)?.['groupId']),
  'problem_state.subjectRef.plotId': (state) => text(subject(state)?.['plotId']),
  'problem_state.subjectRef.blockId': (state) => text(subject(state)?.['blockId']),
  'problem_state.window.startTs': (state) => moment(window(state)?.['startTs']),
  'problem_state.window.endTs': (state) => moment(window(state)?.['endTs']),
  'problem_state.problem_type': (state) => text(state?.['problem_type']),
  'problem_state.confidence': (state) => text(state?.['confidence']),
  'problem_state.problem_scope': (state) => text(state?.['problem_scope']),
  'problem_state.state_layer_hint': (state) => text(state?.['state_layer_hint']),
  'problem_state.rate_class_hint': (state) => text(state?.['rate_class_hint']),
  'problem_state.uncertainty_sources[]': (state) => set(state?.['uncertainty_sources']),
  'problem_state.supporting_evidence_refs[]': (state) =>
    exists(state?.['supporting_evidence_refs']),
  'uncertainty_envelope.problem_state_ref': (_, envelope) => text(envelope?.['problem_state_ref']),
  'uncertainty_envelope.uncertainty_sources[]': (_, envelope) =>
    set(envelope?.['uncertainty_sources']),
  'uncertainty_envelope.supporting_evidence_refs[]': (_, envelope) =>
    exists(envelope?.['supporting_evidence_refs']),
  'permission_set.subjectRef': (_, __, permission) => object(permission?.['subjectRef']),
  'permission_set.subjectRef.projectId': (_, __, permission) =>
    text(subject(permission)?.['projectId']),
  'permission_set.subjectRef.groupId': (_, __, permission) =>
    text(subject(permission)?.['groupId']),
  'permission_set.subjectRef.plotId': (_, __, permission) => text(subject(permission)?.['plotId']),
  'permission_set.subjectRef.blockId': (_, __, permission) =>
    text(subject(permission)?.['blockId']),
  'permission_set.window.startTs': (_, __, permission) => moment(window(permission)?.['startTs']),
  'permission_set.window.endTs': (_, __, permission) => moment(window(permission)?.['endTs']),
  'permission_set.scale': (_, __, permission) => text(permission?.['scale']),
  'permission_set.action_taxonomy_ref': (_, __, permission) =>
    named(permission?.['action_taxonomy_ref']),
  'permission_set.candidate_actions[].action_code': (_, __, permission) =>
    codes(permission?.['candidate_actions']),
  'permission_set.supporting_evidence_refs[]': (_, __, permission) =>
    exists(permission?.['supporting_evidence_refs']),
}

/** What can be seen through some paths, and nothing else. */
interface View {
  readonly slotOf: SlotOf
  readonly project: (inputs: Inputs) => Projection
}

export function viewOf(paths: readonly GuardPath[]): View {
  const slots = new Map(paths.map((path, slot) => [path, slot]))
  const readers = paths.map((path) => READERS[path])
  return {
    slotOf: (path) => {
      const slot = slots.get(path)
      invariant(slot !== undefined, 'a guard reads only what its rule declares')
      return slot
    },
    project: (inputs) => {
      const state = plain(inputs.problem_state)
      const envelope = plain(inputs.uncertainty_envelope)
      const permission = plain(inputs.permission_set)
      const seen = new Array<InputValue | undefined>(readers.length)
      // `slot` is below `readers.length`, and every path has a reader.
      for (let slot = 0; slot < readers.length; slot++)
        seen[slot] = (readers[slot] as Reader)(state, envelope, permission)
      return seen
    },
  }
}

/** Returns the value at one path as a rule sees it. */
export function seenAt(inputs: Inputs, path: GuardPath): InputValue | undefined {
  return viewOf([path]).project(inputs)[0]
}

/** Returns an object as it is, and undefined for anything else, also for lists. */
function plain(value: unknown): Loose {
  // Any object fits `Loose`: readers check the type of each value they read.
  return typeof value === 'object' && value !== null && !Array.isArray(value)
    ? (value as Loose)
    : undefined
}

function subject(document: Loose): Loose {
  return plain(document?.['subjectRef'])
}

function window(document: Loose): Loose {
  return plain(document?.['window'])
}

function text(value: unknown): string | undefined {
  return typeof value === 'string' ? value : undefined
}

function moment(value: unknown): number | undefined {
  return typeof value === 'number' ? value : undefined
}

function object(value: unknown): true | undefined {
  return plain(value) === undefined ? undefined : true
}

function exists(value: unknown): true | undefined {
  return Array.isArray(value) ? true : undefined
}

function named(value: unknown): true | undefined {
  return typeof value === 'string' ? true : undefined
}

/** Elements that are no strings are in no set of words, so they need no removing. */
function set(value: unknown): readonly unknown[] | undefined {
  return Array.isArray(value) ? value : undefined
}

/** The candidate codes, each once, in order; a candidate is a code or an object that holds one. */
export function codes(candidates: unknown): readonly string[] | undefined {
  if (!Array.isArray(candidates)) return undefined
  if (candidates.length === 1) {
    const code = codeOf(candidates[0])
    return code === undefined ? [] : [code]
  }
  const found = new Set<string>()
  for (const candidate of candidates) {
    const code = codeOf(candidate)
    if (code !== undefined) found.add(code)
  }
  return [...found]
}

/** The same question for one code, without a list of all. */
export function isCandidate(candidates: unknown, wanted: string): boolean {
  if (!Array.isArray(candidates)) return false
  for (let index = 0; index < candidates.length; index++)
    if (codeOf(candidates[index]) === wanted) return true
  return false
}

/** Half a surrogate pair is in no document, and a verdict could not repeat it. */
function codeOf(candidate: unknown): string | undefined {
  const code = typeof candidate === 'string' ? candidate : plain(candidate)?.['action_code']
  return typeof code === 'string' && code !== '' && code.isWellFormed() ? code : undefined
}
