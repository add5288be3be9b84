/**
 * What changed in the bytes of one file: a diff of its lines, or why there is none.
 *
 * What a file holds, as far as it can be shown: text, something else, or more than is read here.
 * Streams are read to a limit and never held beyond it; longer ones are only counted.
 */

import { isUtf8 } from 'node:buffer'
import type { Change, ChangeSide } from '../../gate/index.ts'
import { counted, sizeText, visibleLine } from '../../words/index.ts'
import type { ReadSide, View } from './render.ts'

/** Bytes of a file that are read to compare it line by line; `whole` is the limit of the full view. */
const READ_BYTES_MAX = { usual: 4 << 20, whole: 64 << 20 } as const
const COUNTED_BYTES_MAX = 256 << 20
const LINE_FEED = 10

export async function* bytesText(
  change: Change,
  read: ReadSide,
  view: View,
): AsyncGenerator<string> {
  const { before, after } = change
  if (view.hidesContents === true) {
    const sizes = `${sizeText(before?.size ?? 0)} → ${sizeText(after?.size ?? 0)}`
    yield `      ${view.paint.dim(`what files hold is shown to people alone, ${sizes}`)}\n`
    return
  }
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

type Content =
  | { readonly kind: 'text'; readonly text: string }
  | { readonly kind: 'binary' }
  /** `lines` is null when even counting would take too long. */
  | { readonly kind: 'long'; readonly lines: number | null }
  /** What was there a moment ago cannot be read any more. */
  | { readonly kind: 'unreadable'; readonly reason: string }

export async function readContent(
  stream: AsyncIterable<unknown>,
  size: number,
  bytesMax: number,
): Promise<Content> {
  try {
    return size > bytesMax ? await countLines(stream, size) : await readText(stream, bytesMax)
  } catch (thrown) {
    // Streams of files fail with errors of the system.
    const { code, message } = thrown as NodeJS.ErrnoException
    return { kind: 'unreadable', reason: code ?? message }
  }
}

/** The bytes of a small file; null for none, one that is larger, and one that cannot be read. */
export async function readContentBytes(
  stream: AsyncIterable<unknown> | null,
  bytesMax: number,
): Promise<Buffer | null> {
  if (stream === null) return null
  const pieces: Uint8Array[] = []
  let length = 0
  try {
    for await (const piece of bytesOf(stream)) {
      pieces.push(piece)
      length += piece.length
      if (length > bytesMax) return null
    }
  } catch {
    return null
  }
  return Buffer.concat(pieces)
}

async function readText(stream: AsyncIterable<unknown>, bytesMax: number): Promise<Content> {
  const pieces: Uint8Array[] = []
  let length = 0
  for await (const piece of bytesOf(stream)) {
    pieces.push(piece)
    length += piece.length
    // The size was checked before: the file has grown since, and its new bytes are not promoted.
    if (length > bytesMax) return { kind: 'long', lines: null }
  }
  const bytes = Buffer.concat(pieces)
  if (!isUtf8(bytes) || bytes.includes(0)) return { kind: 'binary' }
  return { kind: 'text', text: bytes.toString('utf8') }
}

async function countLines(stream: AsyncIterable<unknown>, size: number): Promise<Content> {
  if (size > COUNTED_BYTES_MAX) return { kind: 'long', lines: null }
  let lines = 0
  for await (const piece of bytesOf(stream)) {
    if (piece.includes(0)) return { kind: 'binary' }
    for (let at = piece.indexOf(LINE_FEED); at !== -1; at = piece.indexOf(LINE_FEED, at + 1))
      lines++
  }
  return { kind: 'long', lines }
}

async function* bytesOf(stream: AsyncIterable<unknown>): AsyncGenerator<Uint8Array> {
  for await (const piece of stream) {
    // A stream of bytes gives buffers, or texts if it has an encoding.
    yield typeof piece === 'string' ? Buffer.from(piece) : (piece as Uint8Array)
  }
}
