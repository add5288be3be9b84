/** What people and the world tell a run in a test, as events of the host. */
import { digestBytes } from '../../base/index.ts'
import type { FlowTestEvent } from '../../contracts/index.ts'
import type { FlowEvent } from '../state/event.ts'
import type { RunState } from '../state/state.ts'
import { vectorElements } from '../state/vector.ts'
import { evidenceOf } from './scripted-answer.ts'

/** An event without what is added when it happens. */
export type EventBody = FlowEvent extends infer E
  ? E extends FlowEvent
    ? Omit<E, 'at' | 'nonce'>
    : never
  : never

/** The person of a test that names none. */
export const PERSON = 'human:tester@local'

/** Returns the event that an entry is; null for one that needs more of the run. `sent` numbers signals. */
export function worldEvent(event: FlowTestEvent, sent: number): EventBody | null {
  if ('signal' in event) {
    const { signal: name, by: principal = PERSON } = event
    const data = event.data === undefined ? {} : { data: event.data }
    return { type: 'signal', name, signal_id: `signal-${sent}`, ...data, principal }
  }
  if ('skip' in event) {
    const { skip: node_id, comment = 'the test says so' } = event
    return { type: 'skipped', node_id, principal: PERSON, comment }
  }
  if ('cancel' in event) return { type: 'cancelled', principal: PERSON, comment: null }
  if (!('evidence' in event)) return null
  const { by: principal = PERSON } = event
  const evidence = { ...evidenceOf(event.evidence), actor: principal }
  return { type: 'evidence', evidence, principal, participant: null }
}

/** The entry in a few words, as the test file has it. */
export function eventWords(event: FlowTestEvent): string {
  const [key = '', value] = Object.entries(event)[0] ?? []
  const node = 'node' in event ? ` at ${event.node}` : ''
  return `${key}${typeof value === 'string' ? ` ${value}` : ''}${node}`
}

/** A UUID that is the same in every run of the test. */
export function testId(sent: number, count: number): string {
  const digits = (value: number, length: number): string =>
    value.toString(16).padStart(length, '0').slice(-length)
  return `${digits(sent, 8)}-0000-4000-8000-${digits(count, 12)}`
}

/** The digests of the manifests of all sub-phases that have one; those that are named differ. */
export function manifestsNow(
  { flow, subphases }: RunState,
  changed: readonly string[],
): Readonly<Record<string, string>> {
  const spans = vectorElements(subphases)
  return Object.fromEntries(
    flow.subphases.flatMap(({ index, name }) => {
      const manifest = spans[index]?.manifest ?? null
      if (manifest === null) return []
      return [[name, changed.includes(name) ? digestBytes(`changed ${name}`) : manifest]]
    }),
  )
}
