/**
 * A question as it is shown: its head, its effects, what would be sent, what was fetched, and what
 * others changed meanwhile. At a terminal one screen or a little more; all of it in a pager on request;
 * without a terminal the first lines and where the rest is.
 */
import { once } from 'node:events'
import { rawOfText } from '../../gate/index.ts'
import { findNamed, type ProgramPath, startProgram } from '../../machine/index.ts'
import type { Question } from '../../service/index.ts'
import { failureText, grouped, visibleName } from '../../words/index.ts'
import type { Paint, Terminal } from '../call/terminal.ts'
import { headLines } from '../effects/question-head.ts'
import { questionId } from '../effects/question-text.ts'
import { renderEffects } from '../effects/render.ts'
import { heldLines, networkHeading, networkLines, withoutAwaited } from '../effects/request-text.ts'
import { obeysSequences, resetFor, type SeenOutput } from '../effects/reset.ts'

interface ShownAs {
  readonly paint: Paint
  readonly whole: boolean
  /** The width of the terminal; null without one. */
  readonly columns: number | null
  readonly hidesContents?: boolean
}

/** On standard error: standard output belongs to the command. */
export async function showEffects(
  terminal: Terminal,
  question: Question,
  seen: SeenOutput | null = null,
): Promise<void> {
  const { isErrorTty, paintError: paint, columns } = terminal
  if (isErrorTty && obeysSequences(process.env['TERM'])) terminal.err(resetFor(seen))
  const shown = { paint, whole: false, columns: isErrorTty ? columns : null }
  for await (const piece of effectsText(question, shown)) terminal.err(piece)
}

/** Everything, in the person's pager. */
export async function pageEffects(terminal: Terminal, question: Question): Promise<void> {
  const shown = { paint: terminal.paintError, whole: true, columns: null }
  await page(effectsText(question, shown), terminal)
}

export async function* effectsText(question: Question, shown: ShownAs): AsyncGenerator<string> {
  const { changes, deferred, builds, result, read, proposal } = question
  const { paint, whole } = shown
  for (const line of headLines(question, paint, whole)) yield `${line}\n`
  const failure = failureText(result)
  if (failure !== null) yield `${paint.bad(failure)}\n`
  const [root = '/'] = proposal.descriptor.scope.filesystem.paths
  const { network, held = [] } = result.side_effects
  const findings = withoutAwaited(question.findings, held)
  const view = { ...shown, base: rawOfText(root) }
  yield* renderEffects({ changes, findings, deferred, builds, read }, view)
  if (held.length > 0) {
    yield `\n${paint.strong(`Sent after a yes, last (${grouped(held.length)})`)}\n`
    for (const line of heldLines(held, proposal, paint)) yield `${line}\n`
  }
  if (network.length > 0) {
    yield `\n${networkHeading(network, paint)}\n`
    for (const line of networkLines(network, paint)) yield `${line}\n`
  }
  yield* meanwhileText(question, paint)
}

function* meanwhileText({ obstacles }: Question, paint: Paint): Generator<string> {
  const changed = obstacles.filter(({ code }) => code === 'promote.inputs_changed')
  // A question that was asked several times names some of them more than once.
  const meanwhile = [...new Set(changed.map(({ path = '' }) => path))]
  if (meanwhile.length === 0) return
  yield `\n${paint.strong(`Changed meanwhile, by others (${grouped(meanwhile.length)})`)}\n`
  for (const path of meanwhile) yield `  ${paint.accent('!')} ${visibleName(path)}\n`
}

/** Without a terminal the reader may be a program that reads everything. */
const UNSEEN_LINES_MAX = 40

/** The first lines of a text, and where the rest is. */
export async function* firstLines(
  pieces: AsyncIterable<string>,
  question: Question,
): AsyncGenerator<string> {
  let left = UNSEEN_LINES_MAX
  for await (const piece of pieces) {
    const lines = piece.split('\n')
    const count = lines.length - 1
    if (count > left) {
      yield `${lines.slice(0, left).join('\n')}\n… all of it: writ inbox ${questionId(question)} --all\n`
      return
    }
    left -= count
    yield piece
  }
}

/**
 * Shows a long text with the person's pager (`$PAGER`, else `less`), or writes it to the terminal where
 * there is none. The pager is a program of the machine, never one that a project put into the PATH, and
 * `less` may neither start programs nor write files.
 */
async function page(pieces: AsyncIterable<string>, terminal: Terminal): Promise<void> {
  const pager = terminal.isErrorTty ? pagerOf(process.env['PAGER']) : null
  if (pager === null) {
    for await (const piece of pieces) terminal.err(piece)
    return
  }
  const [program, ...words] = pager
  // Standard output may be a pipe to another program; standard error is the terminal.
  const stdio = ['pipe', 2, 2] as const
  const child = startProgram(program, words, {
    stdio: [...stdio],
    variables: pagerVariables(),
    // It reads keys from the terminal of this session.
    detached: false,
  })
  const { stdin } = child
  if (stdin === null) return
  const ended = once(child, 'close')
  // A person who leaves the pager early has seen enough.
  stdin.on('error', () => {})
  for await (const piece of pieces) {
    if (child.exitCode !== null || stdin.destroyed) break
    if (!stdin.write(piece)) await Promise.race([once(stdin, 'drain'), ended])
  }
  stdin.end()
  await ended
}

/** Null when there is none. Of a path only the name counts, and only a system directory is looked at. */
function pagerOf(wish: string | undefined): readonly [ProgramPath, ...string[]] | null {
  const [name = '', ...words] = (wish ?? '').split(/\s+/).filter((word) => word !== '')
  const wanted = name === '' ? null : findNamed(name.slice(name.lastIndexOf('/') + 1))
  if (wanted !== null) return [wanted, ...words]
  const less = findNamed('less')
  // What fits on the screen is left there at once.
  return less === null ? null : [less, '-R', '-F']
}

function pagerVariables(): Readonly<Record<string, string>> {
  const { TERM = 'dumb', HOME = '/' } = process.env
  return { TERM, HOME, LESSSECURE: '1', LESSCHARSET: 'utf-8' }
}
