/** Which machine of a home something lies on, as people name it. */
import type { KeyRing } from './ed25519.ts'
import { MachineKeys } from './machine-keys.ts'

interface KeysOfHome {
  keys(): Promise<KeyRing>
}

/** Returns the name of a machine as `writ machine list` shows it; its fingerprint where no fact names it. */
export async function machineName(ledger: KeysOfHome, id: string): Promise<string> {
  return (await machineNamer(ledger))(id)
}

/** Returns a function that names machines, for many of them. */
export async function machineNamer(ledger: KeysOfHome): Promise<(id: string) => string> {
  const keys = await ledger.keys()
  return (id) => (keys instanceof MachineKeys ? keys.nameOf(id) : null) ?? id
}

/** Returns whether a key is one of this machine, or was: always where the home has one machine. */
export async function isOwnMachine(ledger: KeysOfHome, id: string): Promise<boolean> {
  const keys = await ledger.keys()
  return !(keys instanceof MachineKeys) || keys.isOwn(id)
}

/**
 * Returns whether what a machine left undone is for this one to end: it is this one, or is no longer of the
 * home. A machine that has another key is still of the home.
 */
export async function isForThisMachine(ledger: KeysOfHome, id: string): Promise<boolean> {
  const keys = await ledger.keys()
  return !(keys instanceof MachineKeys) || keys.isOwn(id) || keys.isGone(id)
}

/** Returns whether the home has, or had, another machine than this one. */
export async function hasOtherMachines(ledger: KeysOfHome): Promise<boolean> {
  const keys = await ledger.keys()
  if (!(keys instanceof MachineKeys)) return false
  return keys.machines.some(({ fingerprint }) => !keys.isOwn(fingerprint))
}
