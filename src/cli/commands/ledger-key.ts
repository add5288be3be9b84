/**
 * `writ ledger key`: the public keys under which checkpoints are signed now, one per name: the home's
 * and each stream's. Kept outside this machine they are what `writ ledger verify --key` pins: a history
 * signed by another key does not pass then. The keys come from the facts, not from the files in `keys/`.
 */

import {
  formatVerifierKey,
  mayKnow,
  type SignedHead,
  type VerifierKey,
  verifierKey,
} from '../../ledger/index.ts'
import { ledgerNameOf, recordedKeys } from '../../store/index.ts'
import { type CommandCall, EXIT, type Exit } from '../call/command.ts'
import { type ReadSession, withHistory } from '../call/home.ts'

export async function run(call: CommandCall): Promise<Exit> {
  return withHistory(call, async (session) => {
    const names = await namesOf(session)
    const recorded = await recordedKeys(session.ledger.store)
    // A list with at least one key stays one when it is reversed.
    const [current, ...retired] = [...recorded].reverse() as [VerifierKey, ...VerifierKey[]]
    const [public_key = ''] = textsOf(current, names)
    const earlier = retired.flatMap((key) => textsOf(key, names.slice(0, 1)))
    const shown = call.options.isOn('all') ? [current, ...retired] : [current]
    const keys = shown.flatMap((key) => textsOf(key, names))
    await call.terminal.out(
      call.options.isOn('json')
        ? `${JSON.stringify({ public_key, earlier, keys })}\n`
        : keys.map((key) => `${key}\n`).join(''),
    )
    return EXIT.yes
  })
}

/** The home's name, then the origins of the streams that the caller may know of. */
async function namesOf({ ledger, caller }: ReadSession): Promise<readonly string[]> {
  const heads = await ledger.store.heads()
  const [first] = heads as [SignedHead, ...SignedHead[]] // A ledger that was opened has a host stream.
  const known = heads.filter(({ stream }) => mayKnow(caller, stream))
  return [ledgerNameOf(first), ...known.map(({ origin }) => origin)]
}

function textsOf({ type, publicKey }: VerifierKey, names: readonly string[]): readonly string[] {
  return names.map((name) => formatVerifierKey(verifierKey(name, type, publicKey)))
}
