/**
 * Schedules as facts. What a human said about a schedule is folded in its order; of its times the newest
 * record counts, which names the last run. A time is claimed by an append that fails if the stream has
 * grown since it was read, under a key of its own: it begins one run at most.
 *
 * INVARIANT (people, I1): a change that no human recorded changes nothing.
 */
import { type FaultError, faultError, invariant, nearest, showName } from '../base/index.ts'
import type { ScheduleChange, ScheduleSlot, ScheduleTerms } from '../contracts/index.ts'
import { type Fact, occurredAtText, type Page, type Principal } from '../ledger/index.ts'
import { payloadOf } from '../runs/index.ts'
import type { Ledger, LedgerReader } from '../store/index.ts'

export interface Schedule {
  readonly name: string
  readonly terms: ScheduleTerms
  /** When its terms were set; earlier times are none of its own. */
  readonly setAt: string
  readonly by: Principal
  readonly isPaused: boolean
  readonly last: ScheduleSlot | null
}

interface SchedulesPlace {
  readonly ledger: LedgerReader
  readonly stream: string
}

/** The schedules of a stream by their names, without those that were removed. */
export async function readSchedules(place: SchedulesPlace): Promise<readonly Schedule[]> {
  const found = new Map<string, Schedule>()
  for await (const { payload, fact } of records(place, 'schedule_v1', 'oldest_first')) {
    if (fact.principal.kind !== 'human') continue
    // The store judged the record by its contract before it was written.
    const { name, change, at, terms } = payload as ScheduleChange
    const known = found.get(name)
    if (change === 'set' && terms !== undefined) {
      const isPaused = known?.isPaused ?? false
      found.set(name, { name, terms, setAt: at, by: fact.principal, isPaused, last: null })
    } else if (change === 'removed') found.delete(name)
    else if (known !== undefined) found.set(name, { ...known, isPaused: change === 'paused' })
  }
  const last = await lastSlots(place, found)
  return [...found.values()]
    .map((one) => ({ ...one, last: last.get(one.name) ?? null }))
    .sort((one, other) => (one.name < other.name ? -1 : 1))
}

/** The newest record about a time of each schedule. */
async function lastSlots(
  place: SchedulesPlace,
  schedules: ReadonlyMap<string, Schedule>,
): Promise<ReadonlyMap<string, ScheduleSlot>> {
  const last = new Map<string, ScheduleSlot>()
  const open = new Map([...schedules].map(([name, { setAt }]) => [name, setAt]))
  if (open.size === 0) return last
  for await (const { payload } of records(place, 'schedule_slot_v1', 'newest_first')) {
    // As above.
    const slot = payload as ScheduleSlot
    if (open.delete(slot.name)) last.set(slot.name, slot)
    for (const [name, setAt] of open) if (slot.at < setAt) open.delete(name)
    if (open.size === 0) break
  }
  return last
}

/** What became of the times of one schedule, newest first. */
export async function slotsOf(
  place: SchedulesPlace,
  name: string,
  most: number,
): Promise<readonly ScheduleSlot[]> {
  const found: ScheduleSlot[] = []
  for await (const { payload } of records(place, 'schedule_slot_v1', 'newest_first')) {
    // As above.
    const slot = payload as ScheduleSlot
    if (slot.name === name && found.push(slot) >= most) break
  }
  return found
}

const PAGE = 200

async function* records(
  { ledger, stream }: SchedulesPlace,
  type: string,
  order: 'oldest_first' | 'newest_first',
): AsyncIterable<{ readonly payload: unknown; readonly fact: Fact }> {
  let cursor: number | null = order === 'oldest_first' ? -1 : Number.MAX_SAFE_INTEGER
  while (cursor !== null) {
    const page: Page = await ledger.store.find({ stream, type, cursor, limit: PAGE, order })
    for (const { text } of page.facts) {
      // The store returns texts of facts.
      const fact = JSON.parse(text) as Fact
      yield { payload: await payloadOf(ledger, fact.record), fact }
    }
    cursor = page.next
  }
}

export function unknownSchedule(name: string, known: readonly Schedule[]): FaultError {
  const near = nearest(
    name,
    known.map((one) => one.name),
  )
  const hint = near === null ? '`writ schedule list` lists them' : `did you mean ${near}?`
  return faultError('schedule.unknown', name, `there is no schedule ${showName(name)}`, hint)
}

interface ScheduleWriter {
  readonly ledger: Ledger
  readonly stream: string
  readonly principal: Principal
}

export async function recordChange(place: ScheduleWriter, change: ScheduleChange): Promise<void> {
  const { ledger, stream, principal } = place
  invariant(principal.kind === 'human', 'a human changes schedules')
  const record = { type: 'schedule_v1', payload: change }
  const recorded = await ledger.record({ stream, source: 'schedule', principal, record })
  invariant(recorded.ok, 'a change of a schedule follows its contract')
}

/**
 * Records what becomes of a time. Returns false if that is known already. Fails with
 * `ledger.head_moved` if the stream has another size than `expectedSize`.
 */
export async function recordSlot(
  { ledger, stream, principal }: ScheduleWriter,
  slot: ScheduleSlot,
  expectedSize?: number,
): Promise<boolean> {
  const record = { type: 'schedule_slot_v1', payload: slot }
  // A run that could not begin is a second record about the time that was claimed for it.
  const suffix = slot.kind === 'failed' ? '/failed' : ''
  const idempotencyKey = `schedule/${slot.name}/${slot.slot}${suffix}`
  const entry = { stream, source: 'schedule', principal, record, idempotencyKey }
  const recorded = await ledger.record(entry, expectedSize)
  invariant(recorded.ok, 'a record of a time follows its contract')
  return !recorded.appended.repeated
}

export function slotText(slotMs: number): string {
  return occurredAtText(slotMs)
}
