/**
 * The keys that the facts name. The host's stream tells its first key and every change of it, and all
 * streams change together, so its keys are the ledger's.
 */
import { showName } from '../../base/index.ts'
import {
  type Fact,
  fingerprint,
  HOST_STREAM,
  KeySchedule,
  type Problem,
  parseNote,
  ROTATION_MARK,
  type Store,
  type VerifierKey,
} from '../../ledger/index.ts'
import { namesIfThere } from '../../machine/index.ts'
import { failure } from '../database/sqlite-connection.ts'
import { readCurrent } from './keys.ts'

const PAGE = 1_000

/** Returns the host's keys in the order of their use, at least one: the last one signs now. */
export async function recordedKeys(
  store: Store,
): Promise<readonly [VerifierKey, ...VerifierKey[]]> {
  const host = await store.head(HOST_STREAM)
  const schedule = new KeySchedule(host?.origin ?? '')
  for (let from = 0; from < (host?.size ?? 0); from += PAGE) {
    for (const { seq, text } of await store.read(HOST_STREAM, from, PAGE)) {
      if (text.includes(ROTATION_MARK)) take(schedule, seq, text)
    }
  }
  const [first, ...others] = schedule.keys
  const last = others[others.length - 1] ?? first
  const signers = parseNote(host?.checkpoint ?? '')?.signatures.map(({ keyId }) => keyId) ?? []
  if (first === undefined || last === undefined || !signers.includes(last.keyId)) {
    throw failure('ledger.tampered', HOST_STREAM, 'the facts name another key than signs')
  }
  return [first, ...others]
}

function take(schedule: KeySchedule, seq: number, text: string): void {
  const payload = payloadOf(text)
  if (payload?.['stream'] !== HOST_STREAM) return
  const wrong =
    payload['old_key'] === null ? schedule.begin(payload['new_key']) : schedule.rotate(payload, seq)
  if (wrong !== null) throw failure('ledger.tampered', `${HOST_STREAM}/${seq}`, wrong.message)
}

function payloadOf(text: string): Readonly<Record<string, unknown>> | null {
  try {
    // The store checks the form of a fact when it appends it; another text throws and counts as none.
    const { record } = JSON.parse(text) as Fact
    // Facts of this type always hold their payload; its fields are looked at one by one.
    return record.type === 'key_rotated_v1'
      ? (record.payload as Readonly<Record<string, unknown>>)
      : null
  } catch {
    return null
  }
}

export function fingerprintsOf(keys: readonly VerifierKey[]): ReadonlySet<string> {
  return new Set(keys.map(({ publicKey }) => fingerprint(publicKey)))
}

/** Says whether `current` is the key that signs. A directory without keys belongs to a reader. */
export async function checkCurrentKey(
  directory: string,
  store: Store,
): Promise<readonly Problem[]> {
  if (namesIfThere(directory).length === 0) return []
  const keys = await recordedKeys(store)
  const wanted = fingerprint((keys[keys.length - 1] ?? keys[0]).publicKey)
  const found = namesIfThere(directory).includes('current') ? readCurrent(directory) : 'no key'
  if (found === wanted) return []
  const message = `keys/current names ${showName(found)}, and the facts name ${wanted}; write that name into the file`
  return [{ code: 'ledger.key_current', message }]
}
