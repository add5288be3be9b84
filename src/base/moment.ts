/** Judges and parses moments as ISO 8601 text. Reads no clock. */

const MOMENT =
  /^(\d{4})-(\d{2})-(\d{2})T(\d{2}):(\d{2})(?::(\d{2})(?:[.,](\d{1,9}))?)?(Z|[+-]\d{2}(?::?\d{2})?)$/

/** A calendar date and a time of day with an offset, such as `2026-11-15T08:00:00Z`. */
export function isIsoMoment(text: string): boolean {
  return parseIsoMomentMs(text) !== null
}

/** The form in which writ itself writes moments. */
const OWN = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/

export function parseIsoMomentMs(text: string): number | null {
  if (OWN.test(text)) {
    // The engine reads this form exactly; days that do not exist come out as others.
    const ms = Date.parse(text)
    if (new Date(ms).getUTCDate() === Number(text.slice(8, 10))) return ms
  }
  const match = MOMENT.exec(text)
  if (match === null) return null
  const [year, month, day, hour, minute, second] = match
    .slice(1, 7)
    .map((part) => Number(part ?? 0))
  const offset = offsetMinutes(match[8] ?? 'Z')
  if (offset === null || !isCalendarDay(year ?? 0, month ?? 0, day ?? 0)) return null
  if ((hour ?? 0) > 23 || (minute ?? 0) > 59 || (second ?? 0) > 60) return null
  // Digits, not arithmetic: 0.57 * 1000 is less than 570 in binary.
  const milliseconds = Number((match[7] ?? '').padEnd(3, '0').slice(0, 3))
  const timeMs = ((hour ?? 0) * 3600 + (minute ?? 0) * 60 + (second ?? 0)) * 1000 + milliseconds
  return midnightMs(year ?? 0, month ?? 1, day ?? 1) + timeMs - offset * 60_000
}

/** Date.UTC reads the years 0 to 99 as 1900 to 1999; this does not. */
function midnightMs(year: number, month: number, day: number): number {
  return new Date(0).setUTCFullYear(year, month - 1, day)
}

function isCalendarDay(year: number, month: number, day: number): boolean {
  if (month < 1 || month > 12 || day < 1) return false
  const leap = (year % 4 === 0 && year % 100 !== 0) || year % 400 === 0
  const days = [31, leap ? 29 : 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31]
  return day <= (days[month - 1] ?? 0)
}

function offsetMinutes(offset: string): number | null {
  if (offset === 'Z') return 0
  const hours = Number(offset.slice(1, 3))
  const minutes = Number(offset.slice(3).replace(':', '') || '0')
  if (hours > 23 || minutes > 59) return null
  return (offset.startsWith('-') ? -1 : 1) * (hours * 60 + minutes)
}
