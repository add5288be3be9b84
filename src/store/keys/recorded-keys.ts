/**
 * The keys that the facts name. The host's stream tells its first key and every change of keys, and all
 * streams change together, so its keys are the ledger's.
 */
import { faultError, showName } from '../../base/index.ts'
import {
  type Fact,
  fingerprint,
  HOST_STREAM,
  KeySchedule,
  mayChangeKeys,
  type Problem,
  parseNote,
  type Store,
  type VerifierKey,
} from '../../ledger/index.ts'
import { namesIfThere } from '../../machine/index.ts'
import { privateKeyNames, readCurrent } from './keys.ts'

const PAGE = 1_000

interface RecordedKeys {
  /** In the order of their use. */
  readonly keys: readonly VerifierKey[]
  /** Those that may sign now, one for each machine; at least one. */
  readonly inForce: readonly VerifierKey[]
}

export async function recordedKeys(store: Store): Promise<RecordedKeys> {
  const host = await store.head(HOST_STREAM)
  const schedule = new KeySchedule(host?.origin ?? '')
  for (let from = 0; from < (host?.size ?? 0); from += PAGE) {
    for (const { seq, text } of await store.read(HOST_STREAM, from, PAGE)) {
      if (mayChangeKeys(text)) take(schedule, seq, text)
    }
  }
  const { keys, inForce } = schedule
  const signers = parseNote(host?.checkpoint ?? '')?.signatures.map(({ keyId }) => keyId) ?? []
  if (!inForce.some(({ keyId }) => signers.includes(keyId))) {
    throw faultError('ledger.tampered', HOST_STREAM, 'the facts name another key than signs')
  }
  return { keys, inForce }
}

function take(schedule: KeySchedule, seq: number, text: string): void {
  const record = recordOf(text)
  // Facts of these types always hold their payload; its fields are looked at one by one.
  const payload = record?.payload as Readonly<Record<string, unknown>> | undefined
  if (payload?.['stream'] !== HOST_STREAM) return
  const wrong =
    record?.type === 'machine_v1'
      ? schedule.change(payload, seq)
      : payload['old_key'] === null
        ? schedule.begin(payload['new_key'])
        : schedule.rotate(payload, seq)
  if (wrong !== null) throw faultError('ledger.tampered', `${HOST_STREAM}/${seq}`, wrong.message)
}

function recordOf(text: string): Fact['record'] | null {
  try {
    // The store checks the form of a fact when it appends it; another text throws and counts as none.
    const { record } = JSON.parse(text) as Fact
    return record.type === 'key_rotated_v1' || record.type === 'machine_v1' ? record : null
  } catch {
    return null
  }
}

export function fingerprintsOf(keys: readonly VerifierKey[]): ReadonlySet<string> {
  return new Set(keys.map(({ publicKey }) => fingerprint(publicKey)))
}

/**
 * Says whether `current` is a key that signs. A directory without keys belongs to a reader, and one whose
 * keys sign not yet, or no more, to a machine that reads a shared home.
 */
export async function checkCurrentKey(
  directory: string,
  { store, files }: { readonly store: Store; readonly files: object | null },
): Promise<readonly Problem[]> {
  if (namesIfThere(directory).length === 0) return []
  const { inForce } = await recordedKeys(store)
  const own = privateKeyNames(directory)
  const wanted = [...fingerprintsOf(inForce)].filter((key) => files === null || own.includes(key))
  if (wanted.length === 0) return []
  const found = namesIfThere(directory).includes('current') ? readCurrent(directory) : 'no key'
  if (wanted.includes(found)) return []
  const message = `keys/current names ${showName(found)}, and the facts name ${wanted.join(', ')}; write that name into the file`
  return [{ code: 'ledger.key_current', message }]
}
