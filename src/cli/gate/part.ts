/**
 * A part of a question (N-4): the paths and globs that a person names, what belongs to them, and what is
 * left. The part is shown with its own result before a yes to it counts.
 */
import { resolve } from 'node:path'
import { faultError } from '../../base/index.ts'
import { displayOfRaw } from '../../gate/index.ts'
import type { PartQuestion, Question } from '../../service/index.ts'
import { counted, visibleName } from '../../words/index.ts'
import type { Terminal } from '../call/terminal.ts'
import { questionId } from '../effects/question-text.ts'

const WORDS = /"([^"]*)"|'([^']*)'|(\S+)/g

/** Splits a typed line into names; a name with spaces is quoted. */
export function typedPaths(line: string): readonly string[] {
  return [...line.matchAll(WORDS)].map(
    ([, double, single, plain]) => double ?? single ?? plain ?? '',
  )
}

/** Fails where the act is approved whole or not at all. */
export async function partNamed(
  question: Question,
  names: readonly string[],
): Promise<PartQuestion> {
  if (question.part === null) {
    const message =
      'only an act that declared nothing, and changes more than one path, is taken in parts'
    const hint = `it still waits: \`writ inbox ${questionId(question)}\` shows it`
    throw faultError('confirm.part', question.actionId, message, hint)
  }
  return question.part(names.map((name) => resolve(name)))
}

const LEFT_SHOWN = 20

/** What is not in the part, and what becomes of it. */
export function tellRest(terminal: Terminal, { left, confinement }: PartQuestion): void {
  const paint = terminal.paintError
  const fate =
    confinement === 'confined' ? 'stays pending in its session' : 'is dropped after a yes'
  const shown = left
    .slice(0, LEFT_SHOWN)
    .map(({ path }) => `  - ${visibleName(displayOfRaw(path))}`)
  const more = left.length - shown.length
  const rest = more === 0 ? [] : [`  … and ${more} more`]
  const head = paint.strong(`Not in this part, and ${fate} (${counted(left.length, 'path')})`)
  terminal.err(`\n${[head, ...shown, ...rest].join('\n')}\n`)
}
