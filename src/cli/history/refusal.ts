/** Refusals of tasks and receipts: `{valid: false, violations}` and exit 1, or the violations as text. */
import { DOCUMENT_LIMITS, type ParsedJson } from '../../base/index.ts'
import type { Violation } from '../../contracts/index.ts'
import { type CommandCall, EXIT, type Exit } from '../call/command.ts'
import { parseSource, readSource } from '../call/source.ts'
import { violationText } from '../call/terminal.ts'
import { usageError } from '../call/usage.ts'

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
