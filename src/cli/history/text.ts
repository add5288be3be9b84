/** Text from documents, for a terminal: what is shown is what is there. */

import type { Terminal } from '../call/terminal.ts'
import { visible } from '../effects/visible.ts'

export function plain(text: string): string {
  return visible(text)
}

/** Of several lines that are our own, each. */
export function plainLines(text: string): string {
  return text.split('\n').map(plain).join('\n')
}

/**
 * Tables for people: columns as wide as their widest cell. Nothing is cut: ids are there to be copied.
 */
export function table(
  { paint }: Pick<Terminal, 'paint'>,
  heads: readonly string[],
  rows: readonly (readonly string[])[],
): string {
  const widths = heads.map((head, index) =>
    rows.reduce((width, row) => Math.max(width, row[index]?.length ?? 0), head.length),
  )
  const line = (cells: readonly string[]): string =>
    cells
      .map((cell, index) => cell.padEnd(widths[index] ?? 0))
      .join('  ')
      .trimEnd()
  return `${[paint.dim(line(heads)), ...rows.map(line)].join('\n')}\n`
}
