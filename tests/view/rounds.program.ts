/** Rounds of `rounds.ts` in a process of its own, so that they can be run as another user. */
import { execFileSync } from 'node:child_process'
import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { createDriver } from '../../src/sandbox/index.ts'
import { fillScene, makeScene, Rounds, randomFrom } from './rounds.ts'

interface Order {
  readonly seed: number
  readonly rounds: number
  readonly watcher: string
  readonly parent?: string
  /** Where the layers lie, if not next to the tree. */
  readonly kept?: string
  /** A scene of an earlier process, which goes on; this one is killed in its last settle. */
  readonly base?: string
  readonly crash?: 'promote' | 'prune'
}

const order: Order = JSON.parse(process.argv[2] ?? '{}')
const base = order.base ?? mkdtempSync(`${order.parent ?? '/var/tmp'}/writ-view-`)
const kept = order.kept === undefined ? undefined : mkdtempSync(`${order.kept}/writ-view-`)
const driver = createDriver({ watcher: new URL(order.watcher) })
const random = randomFrom(order.seed)
const scene = makeScene(base, kept)
if (!existsSync(`${scene.real}/d0`) && !existsSync(scene.begun)) fillScene(scene)
writeFileSync(scene.begun, '')
const rounds = new Rounds(scene, random, driver)
let round = 0
try {
  await rounds.open()
  await rounds.learnPids()
  await rounds.compare()
  for (; round < order.rounds; round++) {
    await rounds.batch()
    if (random(100) < 40) rounds.edit(false)
    if (random(100) < 30) await rounds.batch()
    if (random(100) < 10) await rounds.rest()
    const isLast = round === order.rounds - 1
    await rounds.settle({
      refreshes: random(100) < 20,
      ...(isLast && order.crash !== undefined ? { crash: order.crash } : {}),
    })
  }
  // Killed while it prunes, or soon after.
  if (order.crash !== undefined) await new Promise((resolve) => setTimeout(resolve, 2000))
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
  const made = order.base === undefined ? [base] : []
  for (const path of [...made, ...(kept === undefined ? [] : [kept])]) {
    // The kernel closes a directory of its own to ordinary users.
    execFileSync('chmod', ['-R', 'u+rwx', path])
    rmSync(path, { recursive: true, force: true })
  }
}
