/** The built program of runs.child.ts, with the worker that it needs. */
import { programFile } from '../ledger/program.ts'

/** Returns the first arguments for node; the folder and the order follow. */
export function childWords(): Promise<readonly string[]> {
  const sources = ['tests/flow-run/runs.child.ts', 'src/sandbox/supervision/watch.worker.ts']
  return Promise.all(sources.map(programFile))
}
