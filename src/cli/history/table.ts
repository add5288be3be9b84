/** Tables for people: columns as wide as their widest cell, the last one cut to the terminal. */
import type { Terminal } from '../terminal.ts'

export function table(
  terminal: Terminal,
  heads: readonly string[],
  rows: readonly (readonly string[])[],
): string {
  const widths = heads.map((head, index) =>
    Math.max(head.length, ...rows.map((row) => row[index]?.length ?? 0)),
  )
  const line = (cells: readonly string[]): string => cut(terminal, join(cells, widths))
  const head = terminal.paint.dim(line(heads))
  return `${[head, ...rows.map(line)].join('\n')}\n`
}

function join(cells: readonly string[], widths: readonly number[]): string {
  return cells
    .map((cell, index) => cell.padEnd(widths[index] ?? 0))
    .join('  ')
    .trimEnd()
}

/** Only a terminal has an edge; what is read by a program is whole. */
function cut({ isTty, columns }: Terminal, text: string): string {
  return !isTty || text.length <= columns ? text : `${text.slice(0, columns - 1)}…`
}
