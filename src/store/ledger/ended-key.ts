/**
 * Files on the server that are signed by a key of this machine that has just ended. A rotation signs all
 * files with the new key before it commits, but until then every process of the machine signs with the old
 * one. So what they have signed meanwhile is signed once more behind the commit: by the rotation, or where
 * that was killed, by the next process of this machine that opens the home to record.
 */
import { FaultError, fault } from '../../base/index.ts'
import { fingerprint } from '../../ledger/index.ts'
import { forgetEnding, readEnding } from '../keys/keys.ts'
import type { MachineKeys } from '../keys/machine-keys.ts'
import type { HomeFiles } from '../postgres/home-files.ts'

const TIMES_MAX = 100

/** Does nothing if no rotation of this machine was left undone. `keys` know the facts of now. */
export async function signLeftFiles(
  directory: string,
  keys: MachineKeys,
  files: HomeFiles,
): Promise<void> {
  const ended = readEnding(directory)
  if (ended === null) return
  const machine = keys.machines.find(({ fingerprint }) => fingerprint === ended)
  // The rotation was not committed, or not yet.
  if (machine === undefined || machine.removedAt === null) return
  const key = keys.own()
  // It never was, and a human removed the machine: what that key has signed since does not count.
  if (keys.newestOf(ended) !== fingerprint(key.publicKey)) return forgetEnding(directory, ended)
  const renewal = { ending: machine.key, key, machine: 'same' } as const
  for (let times = 0; (await files.signAgain(renewal)) > 0; times++)
    if (times === TIMES_MAX) throw new FaultError(fault('ledger.busy', ended, { waitedMs: 0 }))
  forgetEnding(directory, ended)
}
