/** What changed in the bytes of one file: a diff of its lines, or why there is none. */
import type { Change, ChangeSide } from '../../gate/index.ts'
import { counted, sizeText } from './amount.ts'
import { type Content, READ_BYTES_MAX, readContent } from './content.ts'
import type { ReadSide, View } from './render.ts'
import { visibleLine } from './visible.ts'

export async function* bytesText(
  change: Change,
  read: ReadSide,
  view: View,
): AsyncGenerator<string> {
  const { before, after } = change
  const [old, now] = [
    await contentOf(change, 'before', read, view),
    await contentOf(change, 'after', read, view),
  ]
  if (old.kind === 'text' && now.kind === 'text') {
    yield* diffText(old.text, now.text, view)
    return
  }
  const { paint } = view
  const sizes = `${sizeText(before?.size ?? 0)} → ${sizeText(after?.size ?? 0)}`
  const told = [old, now].find(({ kind }) => kind !== 'text') ?? old
  yield `      ${paint.dim(`${unshown(told, old, now, view)}, ${sizes}`)}\n`
}

function unshown(told: Content, old: Content, now: Content, { whole }: View): string {
  if (told.kind === 'binary') return 'not text'
  if (told.kind === 'unreadable') return `cannot be shown (${told.reason})`
  const lines = `${linesText(old)} → ${linesText(now)}`
  return `too long to compare here, ${lines}${whole ? '' : '; `a` compares up to 67 MB'}`
}

function linesText(content: Content): string {
  if (content.kind === 'long')
    return content.lines === null ? 'many lines' : linesCount(content.lines)
  return content.kind === 'text' ? linesCount(content.text.split('\n').length - 1) : 'no lines'
}

function linesCount(lines: number): string {
  return counted(lines, 'line')
}

async function contentOf(
  change: Change,
  side: ChangeSide,
  read: ReadSide,
  view: View,
): Promise<Content> {
  const state = change[side]
  if (state === null || state.kind !== 'file') return { kind: 'text', text: '' }
  const stream = read(change, side)
  if (stream === null) return { kind: 'unreadable', reason: 'no longer kept' }
  const bytesMax = view.whole ? READ_BYTES_MAX.whole : READ_BYTES_MAX.usual
  return readContent(stream, state.size, bytesMax)
}

async function* diffText(
  before: string,
  after: string,
  { paint, whole }: View,
): AsyncGenerator<string> {
  // Loaded when the first text differs: most runs change nothing.
  const [{ diffLines }, { cutLines }] = [
    await import('./line-diff.ts'),
    await import('./line-cut.ts'),
  ]
  const { hunks, removed, added, isShortest } = diffLines(before, after)
  const isCrlf = before + after !== '' && endsInCrlf(before) && endsInCrlf(after)
  const note = `${isShortest ? '' : ', shown as one block'}${isCrlf ? ', lines end in CRLF' : ''}`
  yield `      ${paint.dim(`${linesCount(removed)} removed, ${linesCount(added)} added${note}`)}\n`
  for (const { oldStart, oldCount, newStart, newCount, lines } of hunks) {
    yield `      ${paint.accent(`@@ -${oldStart},${oldCount} +${newStart},${newCount} @@`)}\n`
    for (const { sign, text, isOpen } of cutLines(lines, whole)) {
      const colour = sign === '-' ? paint.bad : sign === '+' ? paint.good : paint.dim
      const style = { text: sign === ' ' ? asItIs : colour, escaped: paint.strong }
      const shown = isCrlf ? text.replace(/\r$/, '') : text
      yield `      ${colour(sign)}${visibleLine(shown, style)}\n`
      if (isOpen) yield `      ${paint.dim('\\ no line feed at the end')}\n`
    }
  }
}

/** Whether each line does; only then is the end of a line said once for all of them. */
function endsInCrlf(text: string): boolean {
  return text === '' || (text.endsWith('\r\n') && !/(?<!\r)\n/.test(text))
}

const asItIs = (text: string): string => text
