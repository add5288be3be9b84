/** Counts and sizes in words: `1 file`, `12,034 files`, `91.2 MB`. */

export function counted(count: number, one: string, many = `${one}s`): string {
  return count === 1 ? `1 ${one}` : `${grouped(count)} ${many}`
}

/** Thousands set apart, the same on every machine. */
export function grouped(count: number): string {
  return String(count).replace(/\B(?=(?:\d{3})+$)/g, ',')
}

const UNITS = ['kB', 'MB', 'GB', 'TB'] as const

/** Powers of a thousand, as disks are sold and `ls --si` tells. */
export function sizeText(bytes: number): string {
  if (bytes < 1000) return counted(bytes, 'byte')
  let size = bytes / 1000
  let unit = 0
  while (size >= 999.95 && unit < UNITS.length - 1) {
    size /= 1000
    unit++
  }
  return `${size.toFixed(1)} ${UNITS[unit]}`
}

/** `2 deleted, 1 changed, 14 added`; what is none is left out. */
export function countsText(counts: {
  readonly added: number
  readonly modified: number
  readonly deleted: number
}): string {
  const parts = [
    [counts.deleted, 'deleted'],
    [counts.modified, 'changed'],
    [counts.added, 'added'],
  ] as const
  const named = parts.filter(([count]) => count > 0)
  if (named.length === 0) return 'no effects'
  return named.map(([count, word]) => `${grouped(count)} ${word}`).join(', ')
}
