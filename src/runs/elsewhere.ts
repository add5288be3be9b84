/** Runs that other machines of the home walk: a person may answer them at any machine. */
import type { Ledger } from '../store/index.ts'
import { machineOf } from './flow-host.ts'
import { runHeads } from './run-records.ts'

/** So many of the newest runs are looked at: whether a run has ended is known from its facts alone. */
const LOOKED_AT = 100

export async function runsElsewhere(
  ledger: Pick<Ledger, 'files' | 'machine' | 'store' | 'objects' | 'keys' | 'close'>,
  stream: string,
): Promise<readonly string[]> {
  if (ledger.files === null) return []
  const own = await ledger.machine()
  const found: string[] = []
  let looked = 0
  for await (const { run_id } of runHeads(ledger, stream)) {
    if (++looked > LOOKED_AT) break
    const machine = await machineOf(ledger, run_id)
    if (machine !== null && machine !== own) found.push(run_id)
  }
  return found
}
