/**
 * The times of a schedule: five fields of cron in a time zone. Where clocks go forward, a time that does
 * not exist is the first moment after the gap; where they go back, a fixed time comes once and a
 * repeated one (`*`, `/`) comes in both hours. Slots are whole minutes.
 */
import { Cron } from 'croner'
import { type FaultError, faultError, showName } from '../base/index.ts'

interface CronTimes {
  readonly cron: string
  readonly zone: string
}

/** The newest time that has come, and how many earlier ones it counts for. */
interface DueSlot {
  readonly slotMs: number
  readonly missed: number
}

const FIELDS = 5
/** `?` is the moment of reading in croner, and nicknames such as `@daily` are no five fields. */
const FIELD = /^[0-9A-Za-z*,/#-]+$/
const MINUTE_MS = 60_000
/** More are not counted. */
const MISSED_MAX = 1_000

/** Fails with `schedule.zone` or `schedule.cron` if there is no such zone or no such time. */
export function checkTiming(timing: CronTimes, nowMs: number): void {
  try {
    new Intl.DateTimeFormat('en', { timeZone: timing.zone })
  } catch {
    const message = `there is no time zone ${showName(timing.zone)}`
    const hint = 'name one of the IANA list, such as `Europe/Berlin` or `UTC`'
    throw faultError('schedule.zone', timing.zone, message, hint)
  }
  const fields = timing.cron.trim().split(/\s+/)
  if (fields.length !== FIELDS || !fields.every((one) => FIELD.test(one)))
    throw badCron(timing.cron, 'it has five fields: minute, hour, day, month, weekday')
  let next: number | null
  try {
    next = readCron(timing)(nowMs)
  } catch (error) {
    throw badCron(timing.cron, error instanceof Error ? error.message : String(error))
  }
  if (next === null) throw badCron(timing.cron, 'no such time ever comes')
}

function badCron(cron: string, why: string): FaultError {
  const message = `the times ${showName(cron)} cannot be read: ${why}`
  return faultError('schedule.cron', cron, message, 'for example "30 6 * * 1-5": 06:30 on workdays')
}

type NextAfter = (afterMs: number) => number | null

function readCron({ cron, zone }: CronTimes): NextAfter {
  const reader = new Cron(cron, { timezone: zone, paused: true, mode: '5-part' })
  return (afterMs) => reader.nextRun(new Date(afterMs))?.getTime() ?? null
}

/** The next times after a moment, at most `count`. */
export function nextTimes(timing: CronTimes, afterMs: number, count: number): readonly number[] {
  const nextAfter = readCron(timing)
  const times: number[] = []
  for (let at = nextAfter(afterMs); at !== null && times.length < count; at = nextAfter(at))
    times.push(at)
  return times
}

/** Returns the newest time after `sinceMs` that has come by `nowMs`; null if none has. */
export function dueSlot(timing: CronTimes, sinceMs: number, nowMs: number): DueSlot | null {
  const nextAfter = readCron(timing)
  const first = nextAfter(sinceMs)
  if (first === null || first > nowMs) return null
  // Halves the span: a schedule of each minute may not have been looked at for a year.
  let [low, high] = [first, nowMs]
  while (high - low >= MINUTE_MS) {
    const middle = Math.floor((low + high) / 2)
    const next = nextAfter(middle)
    if (next !== null && next <= nowMs) low = next
    else high = middle
  }
  let missed = 0
  for (let at = first; at < low && missed < MISSED_MAX; missed++) at = nextAfter(at) ?? low
  return { slotMs: low, missed }
}
