/** The one retry of appends that depend on the length of a stream: another writer may append first. */
import { faultCode } from '../../base/index.ts'

/** Others may append all the time; so often it is tried again. */
const TRIES_MAX = 100

/** Reads, decides and appends again while another writer was first. Fails with the last failure. */
export async function retryWhileMoved<T>(append: () => Promise<T>): Promise<T> {
  for (let tries = 1; ; tries++) {
    try {
      return await append()
    } catch (error) {
      if (faultCode(error) !== 'ledger.head_moved' || tries === TRIES_MAX) throw error
    }
  }
}
