/**
 * The keys with which devices sign what they report (D-2): facts of the host's stream (`device_key_v1`).
 *
 * INVARIANT (people, I1): a change that no human recorded changes nothing.
 */
import { faultError, invariant, showName } from '../base/index.ts'
import type { DeviceKeyChange, DeviceName } from '../contracts/index.ts'
import { deviceText, type Fact, HOST_STREAM, occurredAtText, type Page } from '../ledger/index.ts'
import type { Actor, Ledger, LedgerReader } from '../store/index.ts'

const PAGE = 500

/** A key from the moment it was set to the moment it was replaced or removed. */
interface EnrolledKey {
  readonly device: DeviceName
  readonly key: string
  readonly setAt: string
  readonly endedAt: string | null
}

/** Reads the keys; each reading takes in only the facts that came since the last one. */
export class DeviceKeys {
  readonly #ledger: Pick<LedgerReader, 'store'>
  readonly #keys = new Map<string, EnrolledKey[]>()
  #last = -1

  constructor(ledger: Pick<LedgerReader, 'store'>) {
    this.#ledger = ledger
  }

  async read(): Promise<this> {
    const query = { stream: HOST_STREAM, type: 'device_key_v1', limit: PAGE } as const
    for (let cursor: number | null = this.#last; cursor !== null; ) {
      const page: Page = await this.#ledger.store.find({ ...query, order: 'oldest_first', cursor })
      for (const { seq, text } of page.facts) {
        // Two readings at once see the same facts.
        if (seq <= this.#last) continue
        // The store returns texts of facts.
        this.#take(JSON.parse(text) as Fact)
        this.#last = seq
      }
      cursor = page.next
    }
    return this
  }

  #take({ principal, record, occurred_at: at }: Fact): void {
    if (principal.kind !== 'human') return
    // The store judged the record by its contract before it was written.
    const { change, device, key } = record.payload as DeviceKeyChange
    const name = deviceText(device)
    const known: EnrolledKey[] = (this.#keys.get(name) ?? []).map((one) => ({
      ...one,
      endedAt: one.endedAt ?? at,
    }))
    if (change === 'set' && key !== undefined) known.push({ device, key, setAt: at, endedAt: null })
    this.#keys.set(name, known)
  }

  /** The key in force; null for a device without one. */
  current(device: DeviceName): string | null {
    const found = this.#keys.get(deviceText(device))?.find(({ endedAt }) => endedAt === null)
    return found?.key ?? null
  }

  /** The keys that were in force at a moment of the ledger. */
  at(device: DeviceName, moment: string): readonly string[] {
    return (this.#keys.get(deviceText(device)) ?? [])
      .filter(({ setAt, endedAt }) => setAt <= moment && (endedAt === null || moment <= endedAt))
      .map(({ key }) => key)
  }

  /** The keys in force, in the order of their devices. */
  all(): readonly EnrolledKey[] {
    return [...this.#keys.values()]
      .flatMap((keys) => keys.filter(({ endedAt }) => endedAt === null))
      .sort((one, other) => (deviceText(one.device) < deviceText(other.device) ? -1 : 1))
  }
}

/** Records a human's word about the key of a device; null takes it away. */
export async function recordDeviceKey(
  ledger: Ledger,
  { principal, source }: Actor,
  device: DeviceName,
  key: string | null,
  nowMs: number,
): Promise<{ readonly seq: number; readonly fact_id: string }> {
  invariant(principal.kind === 'human', 'a human sets the keys of devices')
  const change = key === null ? ({ change: 'removed' } as const) : ({ change: 'set', key } as const)
  const payload: DeviceKeyChange = { ...change, device, at: occurredAtText(nowMs) }
  const record = { type: 'device_key_v1', payload }
  const recorded = await ledger.record({ stream: HOST_STREAM, source, principal, record })
  if (recorded.ok) return { seq: recorded.appended.seq, fact_id: recorded.appended.factId }
  const message = `${showName(key ?? '')} is not the key of a device: base64 of 32 bytes`
  throw faultError('dispatch.key', '', message, '`writ device key` prints it on the device')
}
