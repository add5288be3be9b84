/** Rounds of `scan-rounds.ts` in a process of its own, so that they can be run as another user. */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type Round, scanRound } from './scan-rounds.ts'

const { seed, rounds } = JSON.parse(process.argv[2] ?? '{}') as { seed: number; rounds: number }
const temporary = mkdtempSync(join(tmpdir(), 'writ-scan-fuzz-'))
try {
  let changes = 0
  for (let round = 0; round < rounds; round++) {
    const { wrong, changes: count } = await roundOf(seed + round)
    changes += count
    if (wrong.length > 0) {
      process.stdout.write(`${JSON.stringify({ seed: seed + round, wrong })}\n`)
      process.exitCode = 1
      break
    }
  }
  process.stdout.write(`${JSON.stringify({ uid: process.getuid?.(), changes })}\n`)
} finally {
  rmSync(temporary, { recursive: true, force: true })
}

/** A round that fails on its way has to be found again as well. */
async function roundOf(seed: number): Promise<Round> {
  try {
    return await scanRound(seed, temporary)
  } catch (error) {
    throw new Error(`the round of seed ${seed}`, { cause: error })
  }
}
