/**
 * A human accepts the laws of a home as they are now: the register of homes names their digest, and a
 * fact of the host's stream says who accepted what, with laws and lists kept as bodies.
 */
import { digestBytes } from '../../base/index.ts'
import type { Laws } from '../../contracts/index.ts'
import type { KnownHome } from '../../home/index.ts'
import { HOST_STREAM, type Principal } from '../../ledger/index.ts'
import {
  bareLaws,
  DEFAULT_LAWS,
  LAYERED,
  type LawSet,
  loadLaws,
  WHOLE,
} from '../../policy/index.ts'
import type { Ledger } from '../../store/index.ts'
import { keptLaws, openLawBook } from './law-book.ts'

/** The home is registered with these laws already. Says nothing twice. */
export async function recordLaws(
  registered: KnownHome,
  ledger: Ledger,
  principal: Principal,
  nowMs: number,
): Promise<void> {
  const home = { ...registered, registeredLaws: registered.laws }
  const book = await openLawBook(home, ledger)
  const last = await lastAccepted(ledger)
  const { layered } = home
  if (last?.laws === book.digest && (last.layered ?? false) === layered) return
  const bodies = [book.text, book.listsText].map((text) => Buffer.from(text))
  for (const bytes of bodies) await ledger.objects.put({ digest: digestBytes(bytes), bytes })
  const payload: Laws = {
    laws: book.digest,
    body: book.digest,
    lists: book.listsDigest,
    ...(layered ? { layered } : {}),
    accepted_at: new Date(nowMs).toISOString(),
  }
  await ledger.record({
    stream: HOST_STREAM,
    source: 'gate',
    principal,
    record: { type: 'laws_v1', payload },
  })
}

/** Records the default laws as the ones in force; does not read the law file of the home. */
export async function recordDefaultLaws(
  home: KnownHome,
  ledger: Ledger,
  principal: Principal,
  nowMs: number,
): Promise<void> {
  const bytes = Buffer.from(DEFAULT_LAWS)
  await ledger.objects.put({ digest: digestBytes(bytes), bytes })
  await recordLaws({ ...home, laws: digestBytes(bytes) }, ledger, principal, nowMs)
}

/** The laws that a human accepted last; null where there are none or their bytes are lost. */
export async function acceptedLaws(ledger: Ledger): Promise<LawSet | null> {
  const last = await lastAccepted(ledger)
  const text = last === null ? null : await keptLaws(last.laws, ledger.objects)
  if (text === null) return null
  const ground = last?.layered === true ? LAYERED : WHOLE
  if (text.trim() === '') return bareLaws(ground)
  const reading = await loadLaws(text, ground)
  return reading.ok ? reading.laws : null
}

async function lastAccepted(ledger: Ledger): Promise<Laws | null> {
  const page = await ledger.store.find({
    stream: HOST_STREAM,
    type: 'laws_v1',
    limit: 1,
    order: 'newest_first',
  })
  const [found] = page.facts
  if (found === undefined) return null
  // The query asked for facts of this type, and the store checked them when they were recorded.
  return (JSON.parse(found.text) as { record: { payload: Laws } }).record.payload
}
