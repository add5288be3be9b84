/** Rounds of `rename-rounds.ts` in a process of its own, so that they can be run as another user. */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createDriver } from '../../src/sandbox/linux.ts'
import { renameRound } from './rename-rounds.ts'

interface Order {
  readonly seed: number
  readonly rounds: number
  /** The built thread that looks at runs. */
  readonly watcher: string
}

const { seed, rounds, watcher } = JSON.parse(process.argv[2] ?? '{}') as Order
const temporary = mkdtempSync(join(tmpdir(), 'writ-rename-fuzz-'))
const driver = createDriver({
  directory: join(temporary, 'work'),
  disks: [temporary],
  watcher: new URL(watcher),
})
try {
  let [changes, renamed] = [0, 0]
  for (let round = 0; round < rounds; round++) {
    const ended = await renameRound(seed + round, temporary, driver)
    changes += ended.changes
    renamed += ended.renamed
    if (ended.wrong.length > 0) {
      process.stdout.write(`${JSON.stringify({ seed: seed + round, wrong: ended.wrong })}\n`)
      process.exitCode = 1
      break
    }
  }
  process.stdout.write(`${JSON.stringify({ uid: process.getuid?.(), changes, renamed })}\n`)
} finally {
  await driver.close()
  rmSync(temporary, { recursive: true, force: true })
}
