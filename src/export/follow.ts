/**
 * Exports facts in their order, once or for ever. The function that delivers gets a batch of lines and
 * the cursor behind it, and the cursor moves only after it has resolved: each fact is delivered at least
 * once, in order, over any number of interruptions.
 */
import { setTimeout as pause } from 'node:timers/promises'
import { type FaultError, faultError, isDigest, showPath } from '../base/index.ts'
import { openFact } from '../history/index.ts'
import { factLeaf, hashText } from '../ledger/index.ts'
import { readIfThere, writeWhole } from '../machine/index.ts'
import type { LedgerReader } from '../store/index.ts'
import { type ExportSource, linesOf } from './formats.ts'

/** The last fact that was delivered. */
interface ExportCursor {
  readonly stream: string
  readonly seq: number
  /** Of that fact: a ledger that holds another one there is not the one that was read. */
  readonly leaf: string
}

interface ExportOrder {
  readonly stream: string
  readonly after: number
  readonly since?: string
  /** How many facts are looked at, at most. */
  readonly most: number
  readonly isFollowing: boolean
  readonly stop: AbortSignal
}

const PAGE = 200
const POLL_MS = 200

export async function exportFacts(
  source: ExportSource,
  order: ExportOrder,
  deliver: (lines: readonly string[], cursor: ExportCursor) => Promise<void>,
): Promise<void> {
  const { store } = source.ledger
  const { stream, since, most, isFollowing, stop } = order
  let [cursor, left] = [order.after, most]
  while (left > 0 && !stop.aborted) {
    const page = await store.find({
      stream,
      cursor,
      limit: Math.min(PAGE, left),
      order: 'oldest_first',
      ...(since === undefined ? {} : { since }),
    })
    const lines: string[] = []
    for (const { text } of page.facts) {
      const documents = await linesOf(source, await openFact(source.ledger, text), text)
      for (const document of documents) lines.push(`${JSON.stringify(document)}\n`)
    }
    const last = page.facts.at(-1)
    if (last !== undefined) {
      await deliver(lines, { stream, seq: last.seq, leaf: hashText(factLeaf(last.text)) })
      cursor = last.seq
      left -= page.facts.length
    }
    if (page.next !== null) continue
    if (!isFollowing) return
    await pause(POLL_MS, null, { signal: stop }).catch(() => null)
  }
}

/** Null when there is no such file yet. Fails if the ledger does not hold the fact that it names. */
export async function readCursor(
  file: string,
  { store }: LedgerReader,
  stream: string,
): Promise<ExportCursor | null> {
  const text = readIfThere(file)
  if (text === null) return null
  const cursor = cursorIn(text)
  if (cursor === null) throw wrongCursor(file, 'it does not hold a cursor')
  if (cursor.stream !== stream) throw wrongCursor(file, `it is of the stream ${cursor.stream}`)
  const [fact] = await store.read(stream, cursor.seq, 1)
  if (fact?.seq !== cursor.seq || hashText(factLeaf(fact.text)) !== cursor.leaf) {
    throw wrongCursor(
      file,
      `the ledger does not hold the fact ${stream}/${cursor.seq} that it names`,
    )
  }
  return cursor
}

/** Durable when it returns. */
export function writeCursor(file: string, cursor: ExportCursor): void {
  writeWhole(file, `${JSON.stringify(cursor)}\n`, 0o600)
}

function cursorIn(text: string): ExportCursor | null {
  try {
    // Written above; every field is looked at.
    const { stream, seq, leaf } = JSON.parse(text) as Partial<ExportCursor>
    if (typeof stream !== 'string' || typeof seq !== 'number' || !Number.isSafeInteger(seq))
      return null
    return typeof leaf === 'string' && isDigest(leaf) ? { stream, seq, leaf } : null
  } catch {
    return null
  }
}

function wrongCursor(file: string, reason: string): FaultError {
  const message = `${showPath(file)} is no cursor of this ledger: ${reason}`
  const hint = 'name another file to begin again, or look with writ ledger verify'
  return faultError('export.cursor', file, message, hint)
}
