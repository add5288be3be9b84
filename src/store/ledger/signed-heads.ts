/**
 * Heads of a ledger on a server, before anything is read behind them: every role that appends can write a
 * head, and only a machine of the home can sign one.
 */
import { faultError, showName } from '../../base/index.ts'
import {
  HOST_STREAM,
  openCheckpoint,
  type SignedHead,
  type VerifierKey,
  verifierFor,
} from '../../ledger/index.ts'
import { publicKeyOf } from '../keys/ed25519.ts'
import type { MachineKeys } from '../keys/machine-keys.ts'
import type { PostgresStore } from '../postgres/postgres-store.ts'
import { newestSigner } from '../streams/stream-state.ts'
import { compareHeads, refuseBehind } from './seen-heads.ts'

/**
 * Compares the ledger with what this machine has seen, and notes how far it goes. Fails if it lost facts, or
 * if no machine that may sign has signed what came since.
 */
export async function compareSigned(
  state: string,
  store: PostgresStore,
  keys: MachineKeys,
): Promise<void> {
  const check = (heads: readonly SignedHead[]) => refuseUnsigned(store, keys, heads)
  await compareHeads(state, () => store.heads(), check)
}

/** The same for a reader, which notes nothing and goes on where tables are damaged. */
export async function refuseUnsound(
  state: string,
  store: PostgresStore,
  keys: MachineKeys,
): Promise<void> {
  const check = (heads: readonly SignedHead[]) => refuseUnsigned(store, keys, heads)
  await refuseBehind(state, () => store.heads(), check)
}

async function refuseUnsigned(
  store: PostgresStore,
  keys: MachineKeys,
  heads: readonly SignedHead[],
): Promise<void> {
  if (heads.length === 0) return
  // Also where every signer is known: a machine may have been removed since.
  await store.refresh(keys)
  // A ledger without a first key has lost its host stream, which the next reader says.
  if (keys.originOf(HOST_STREAM) === null) return
  const unsigned = heads.filter((head) => !isSigned(head, keys)).map(({ stream }) => stream)
  // A key may have ended after the heads were read: those of now have to be signed by one of now.
  const now = unsigned.length === 0 ? [] : await store.heads()
  const wrong = now.find((head) => unsigned.includes(head.stream) && !isSigned(head, keys))
  if (wrong !== undefined) throw forged(wrong.stream)
}

function isSigned({ stream, origin, checkpoint }: SignedHead, keys: MachineKeys): boolean {
  // A signed copy of another stream has the origin of that one.
  if (origin !== keys.originOf(stream)) return false
  const signer = newestSigner(origin, checkpoint)
  if (signer === null) return false
  // Only this machine signs with its own keys. Of a key that version 0.1.0 rotated no certificate is found.
  const key = keys.certified(origin, signer) ?? ownKey(origin, signer, keys)
  const verifier = key === null ? null : verifierFor(key)
  return verifier !== null && openCheckpoint(checkpoint, [verifier]).ok
}

function ownKey(origin: string, signer: number, keys: MachineKeys): VerifierKey | null {
  const own = keys.find(origin, signer)
  return own === null ? null : publicKeyOf(own, origin)
}

function forged(stream: string) {
  const message = `no machine that may sign for this home has signed the end of the stream ${showName(stream)}: another role of the server wrote to it`
  const hint =
    'take the role away from those who have no machine of the home, and restore a backup of the server; `writ ledger verify` says from which fact on'
  return faultError('ledger.tampered', stream, message, hint)
}
