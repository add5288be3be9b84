/** Rounds of `rounds.ts` in a process of its own, so that they can be run as another user. */
import { execFileSync } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { createDriver } from '../../src/sandbox/index.ts'
import { fillScene, makeScene, Rounds, randomFrom } from './rounds.ts'

interface Order {
  readonly seed: number
  readonly rounds: number
  readonly watcher: string
  readonly parent?: string
  /** Where the layers lie, if not next to the tree. */
  readonly kept?: string
}

const order: Order = JSON.parse(process.argv[2] ?? '{}')
const base = mkdtempSync(`${order.parent ?? '/var/tmp'}/writ-view-`)
const kept = order.kept === undefined ? undefined : mkdtempSync(`${order.kept}/writ-view-`)
const driver = createDriver({ watcher: new URL(order.watcher) })
const random = randomFrom(order.seed)
const scene = makeScene(base, kept)
fillScene(scene)
const rounds = new Rounds(scene, random, driver)
let round = 0
try {
  await rounds.open()
  await rounds.learnPids()
  for (; round < order.rounds; round++) {
    await rounds.batch()
    if (random(100) < 40) rounds.edit(false)
    if (random(100) < 30) await rounds.batch()
    await rounds.settle({ refreshes: random(100) < 20 })
  }
  process.stdout.write(`${JSON.stringify({ uid: process.getuid?.(), ...rounds.figures })}\n`)
} catch (error) {
  const last = rounds.log.slice(-400)
  process.stdout.write(
    `${JSON.stringify({ seed: order.seed, round, wrong: String(error), last, stack: (error as Error).stack })}\n`,
  )
  process.exitCode = 1
} finally {
  await rounds.close()
  await driver.close()
  for (const path of [base, ...(kept === undefined ? [] : [kept])]) {
    // The kernel closes a directory of its own to ordinary users.
    execFileSync('chmod', ['-R', 'u+rwx', path])
    rmSync(path, { recursive: true, force: true })
  }
}
