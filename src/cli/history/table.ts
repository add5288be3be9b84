/** Tables for people: columns as wide as their widest cell. Nothing is cut: ids are there to be copied. */
import type { Terminal } from '../call/terminal.ts'

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
