/** What `writ doctor` says of a home whose facts lie on a server: where, with which machines and workers. */
import { seenWorkers } from '../../fleet/index.ts'
import { fingerprint, formatVerifierKey, HOST_STREAM } from '../../ledger/index.ts'
import { connectionIn, ledgerNameOf, MachineKeys, publicKeyOf } from '../../store/index.ts'
import { counted } from '../../words/index.ts'
import type { Session } from '../call/home.ts'

export interface MachineLook {
  readonly server: string
  readonly state: 'admitted' | 'not_admitted' | 'removed'
  /** The key of this machine, for `writ machine admit`. */
  readonly key: string
  /** How many may sign now. */
  readonly machines: number
  readonly workers: number
}

/** Null where the facts lie in a file. */
export async function machineLook({ ledger }: Session): Promise<MachineLook | null> {
  const keys = await ledger.keys()
  const { server } = ledger
  if (server === null || !(keys instanceof MachineKeys)) return null
  const host = await ledger.store.head(HOST_STREAM)
  const own = keys.current()
  const known = keys.machines.find((one) => one.fingerprint === fingerprint(own.publicKey))
  const { host: name = 'localhost', port = 5432 } = connectionIn(server.queries)
  return {
    server: name.startsWith('/') ? name : `${name}:${port}`,
    state: known === undefined ? 'not_admitted' : known.removedAt === null ? 'admitted' : 'removed',
    key: formatVerifierKey(publicKeyOf(own, host === null ? '' : ledgerNameOf(host))),
    machines: keys.machines.filter(({ removedAt }) => removedAt === null).length,
    workers: (await seenWorkers(server)).length,
  }
}

const STATES: Readonly<Record<MachineLook['state'], (look: MachineLook) => string>> = {
  admitted: () => 'this machine may record',
  not_admitted: ({ key }) =>
    `this machine is not let in: it reads, and records nothing; on a machine of the home: writ machine admit NAME ${key}`,
  removed: () =>
    'this machine was removed: it reads, and records nothing; writ machine join --again makes a new key',
}

export function machineLines(look: MachineLook): readonly string[] {
  const { server, machines, workers, state } = look
  const counts = `${counted(machines, 'machine')} may record, ${counted(workers, 'worker')} on the roll`
  return [`the facts lie on the server ${server}: ${counts}`, STATES[state](look)]
}
