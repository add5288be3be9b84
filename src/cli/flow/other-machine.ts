/** The machine that walks a run, where it is not this one. */
import { faultCode } from '../../base/index.ts'
import { workersIfPrepared } from '../../fleet/index.ts'
import { machineOf } from '../../runs/index.ts'
import { isOwnMachine, type LedgerReader, machineNamer } from '../../store/index.ts'

interface OtherMachine {
  readonly name: string
  /** Whether a worker runs there. */
  readonly hasWorker: boolean
}

/** Returns the other machine that walks a run; null if this one does, or no machine has signed which. */
export async function otherMachineOf(
  ledger: LedgerReader,
  run: string,
): Promise<OtherMachine | null> {
  const machine = await machineOf(ledger, run).catch(unsigned)
  if (machine === null || (await isOwnMachine(ledger, machine))) return null
  const nameOf = await machineNamer(ledger)
  const name = nameOf(machine)
  const workers = ledger.server === null ? [] : await workersIfPrepared(ledger.server)
  return { name, hasWorker: workers.some((one) => nameOf(one.machine) === name) }
}

function unsigned(error: unknown): null {
  if (faultCode(error) === 'machine.unknown') return null
  throw error
}

/** Says who goes on with a run of another machine. */
export function otherMachineText({ name, hasWorker }: OtherMachine): string {
  return hasWorker
    ? `the machine ${name} walks it, with a worker`
    : `the machine ${name} walks it, and no worker runs there; to go on, type there: writ worker`
}
