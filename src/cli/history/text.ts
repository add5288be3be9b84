/** Text from documents, for a terminal: what is shown is what is there. */
import { DOCUMENT_LIMITS, type ParsedJson } from '../../base/index.ts'
import type { Violation } from '../../contracts/index.ts'
import { visible } from '../../words/index.ts'
import { type CommandCall, EXIT, type Exit, usageError } from '../call/command.ts'
import { parseSource, readSource } from '../call/source.ts'
import { type Terminal, violationText } from '../call/terminal.ts'

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

/** Refusals of tasks and receipts: `{valid: false, violations}` and exit 1, or the violations as text. */
export async function refuse(
  { options, terminal }: CommandCall,
  violations: readonly Violation[],
): Promise<Exit> {
  if (options.isOn('json')) {
    await terminal.out(`${JSON.stringify({ valid: false, violations })}\n`)
    return EXIT.no
  }
  const lines = violations.map((violation) => violationText(violation, terminal.paint))
  await terminal.out(`${terminal.paint.bad('refused')}\n${lines.join('\n')}\n`)
  return EXIT.no
}

/** The one document that a command was given, as a file or on standard input. */
export async function readDocument(call: CommandCall): Promise<ParsedJson> {
  const [name, ...others] = call.arguments
  if (name === undefined || others.length > 0) {
    throw usageError('name one file, or `-` for standard input')
  }
  return parseSource(await readSource(name), DOCUMENT_LIMITS)
}
