/**
 * Which witnesses a home believes: facts of the host's stream (`witness_v1`).
 *
 * INVARIANT (people, I1): a change that no human recorded changes nothing.
 */
import { type FaultError, faultError, showName } from '../base/index.ts'
import type { WitnessChange } from '../contracts/index.ts'
import {
  type Fact,
  HOST_STREAM,
  occurredAtText,
  type Page,
  parseWitnessKey,
  type VerifierKey,
} from '../ledger/index.ts'
import type { Actor, Ledger, LedgerReader } from '../store/index.ts'

export interface PinnedWitness {
  readonly name: string
  /** Without a slash at its end. */
  readonly url: string
  readonly key: VerifierKey
  readonly keyText: string
  readonly pinnedAt: string
}

const PAGE = 200

/** The witnesses that are pinned now, in the order of their names. */
export async function pinnedWitnesses({ store }: LedgerReader): Promise<readonly PinnedWitness[]> {
  const found = new Map<string, PinnedWitness>()
  const query = { stream: HOST_STREAM, type: 'witness_v1', limit: PAGE } as const
  for (let cursor: number | null = -1; cursor !== null; ) {
    const page: Page = await store.find({ ...query, order: 'oldest_first', cursor })
    for (const { text } of page.facts) take(found, text)
    cursor = page.next
  }
  return [...found.values()].sort((one, other) => (one.name < other.name ? -1 : 1))
}

function take(found: Map<string, PinnedWitness>, text: string): void {
  // The store returns texts of facts, and judged the record by its contract before it was written.
  const { principal, record, occurred_at: pinnedAt } = JSON.parse(text) as Fact
  if (principal.kind !== 'human') return
  // As above; a record of this type is short and lies in its fact.
  const { change, name, key: keyText = '', url = '' } = record.payload as WitnessChange
  const key = parseWitnessKey(keyText)
  if (change === 'unpinned') found.delete(name)
  else if (key !== null) found.set(name, { name, url, key, keyText, pinnedAt })
}

/** Pins a witness, or changes the address of one. Fails if another key is pinned under its name. */
export async function pinWitness(
  ledger: Ledger,
  actor: Actor,
  {
    url,
    keyText,
    nowMs,
  }: { readonly url: string; readonly keyText: string; readonly nowMs: number },
): Promise<PinnedWitness> {
  const key = parseWitnessKey(keyText)
  if (key === null) {
    const message = `${showName(keyText)} is not the key of a witness`
    const hint = '`writ witness init` printed it there: name+id+base64'
    throw faultError('witness.key', '', message, hint)
  }
  const { name } = key
  const known = (await pinnedWitnesses(ledger)).find((one) => one.name === name)
  if (known !== undefined && known.keyText !== keyText) {
    const message = `the witness ${showName(name)} is pinned with another key`
    throw faultError('witness.pinned', name, message, `writ witness unpin ${name}`)
  }
  const plain = url.replace(/\/+$/, '')
  const at = occurredAtText(nowMs)
  await record(ledger, actor, { change: 'pinned', name, key: keyText, url: plain, at })
  return { name, url: plain, key, keyText, pinnedAt: at }
}

export async function unpinWitness(
  ledger: Ledger,
  actor: Actor,
  name: string,
  nowMs: number,
): Promise<void> {
  const known = await pinnedWitnesses(ledger)
  if (!known.some((one) => one.name === name)) throw unknownWitness(name)
  await record(ledger, actor, { change: 'unpinned', name, at: occurredAtText(nowMs) })
}

export function unknownWitness(name: string): FaultError {
  const which = name === '' ? '' : ` ${showName(name)}`
  const message = `no witness${which} is pinned in this home`
  return faultError('witness.unknown', name, message, 'writ witness list; writ witness pin URL KEY')
}

async function record(
  ledger: Ledger,
  { principal, source }: Actor,
  payload: WitnessChange,
): Promise<void> {
  const entry = { stream: HOST_STREAM, principal, source, record: { type: 'witness_v1', payload } }
  const recorded = await ledger.record(entry)
  if (recorded.ok) return
  const [first] = recorded.violations
  throw faultError('witness.key', first?.path ?? '', first?.message ?? 'the witness is refused')
}
