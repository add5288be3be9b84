/**
 * hypercore, an append-only log with a signed Merkle tree, against the ledger: the same bytes in the
 * same batches. It does not sync, so its rate is that of a promise the ledger does not make.
 *
 * It is no dependency: `npm install hypercore@11.37.1` in any directory, and WRIT_BENCH_PEERS names
 * that directory. Without it the row says `not run`.
 */
import { rmSync } from 'node:fs'
import { createRequire } from 'node:module'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'

export const HYPERCORE = 'hypercore 11.37.1, the same batches, not synced'

/** Rows per second; null when it is not installed. */
export async function hypercoreRate(folder, bytes, count, perBatch, repeats) {
  const Hypercore = await load()
  if (Hypercore === null) return null
  const directory = join(folder, 'hypercore')
  const core = new Hypercore(directory)
  await core.ready()
  const batch = Array.from({ length: perBatch }, () => bytes)
  const rates = []
  for (let repeat = 0; repeat < repeats; repeat++) {
    const started = performance.now()
    for (let done = 0; done < count; done += perBatch) await core.append(batch)
    rates.push((count / (performance.now() - started)) * 1000)
  }
  await core.close()
  rmSync(directory, { recursive: true, force: true })
  return rates.sort((a, b) => a - b)[repeats >> 1]
}

async function load() {
  const { WRIT_BENCH_PEERS: peers } = process.env
  if (peers === undefined) return null
  const file = createRequire(join(peers, 'package.json')).resolve('hypercore')
  const { default: Hypercore } = await import(pathToFileURL(file).href)
  return Hypercore
}
