/** Facts of a stream that hold all of some words, the newest first. */
import { client } from '../app/service.ts'

export interface ShownFact {
  readonly seq: number
  readonly occurred_at: string
  readonly record: { readonly type: string }
}

/** How many facts one page of the list holds. */
const FOUND_MAX = 50
/** How many are read at once while words are searched for, and how often before the person is asked. */
const READ_MAX = 500
const READS_MAX = 10

interface FoundFacts {
  readonly facts: readonly ShownFact[]
  /** Behind which fact the next page begins; null at the end. */
  readonly next: number | null
}

type Query = NonNullable<Parameters<typeof client.listFacts>[0]['query']>

/** A whole id, or the kind of a fact, which the service finds by itself. */
function queryOf(words: string): Query | null {
  if (/^run-[0-9a-f-]{36}$/.test(words)) return { run: words }
  if (/^act-[\w-]{16,}$/.test(words)) return { task: words }
  if (/^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i.test(words)) return { action: words }
  return /^[a-z_]+_v\d+$/.test(words) ? { type: words } : null
}

export async function foundFacts(
  stream: string,
  words: string,
  after: number | null,
  signal: AbortSignal,
): Promise<FoundFacts> {
  const named = queryOf(words)
  if (words === '' || named !== null) return read(stream, after, { ...named, limit: FOUND_MAX })
  const parts = words.toLowerCase().split(/\s+/)
  const facts: ShownFact[] = []
  let next = after
  for (let reads = 0; reads < READS_MAX && !signal.aborted; reads += 1) {
    const page = await read(stream, next, { limit: READ_MAX })
    for (const fact of page.facts) {
      const text = JSON.stringify(fact).toLowerCase()
      if (!parts.every((part) => text.includes(part))) continue
      facts.push(fact)
      if (facts.length === FOUND_MAX) return { facts, next: fact.seq }
    }
    next = page.next
    if (next === null) break
  }
  return { facts, next }
}

async function read(stream: string, after: number | null, named: Query): Promise<FoundFacts> {
  const query = { ...named, order: 'newest_first' as const, ...(after === null ? {} : { after }) }
  const { value } = await client.listFacts({ params: { stream }, query })
  // The service lists facts with these fields.
  return { facts: value.facts as readonly ShownFact[], next: value.next }
}
