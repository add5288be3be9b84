/** The built program of runs.child.ts, with the thread that it needs beside it. */
import { programFile } from '../ledger/program.ts'

/** What node is given; the folder and what is to be done follow. */
export function childWords(): Promise<readonly string[]> {
  const sources = ['tests/flow-run/runs.child.ts', 'src/sandbox/watch.worker.ts']
  return Promise.all(sources.map(programFile))
}
