/**
 * Routine work: no question if its effects are declared, and one if they are not. The usual
 * run takes 8 tasks, half of them as an ordinary user; `npm run corpus` and `npm run soak corpus` run
 * every task as every user.
 */
import fc from 'fast-check'
import { beforeAll, describe, expect, it } from 'vitest'
import { ensureBuilt } from '../built.ts'
import { runsHere } from './packages.ts'
import { TEST_USERS, type TestUser, tryAll, USER_NAMES } from './round.ts'
import { ROUTINE } from './routine/index.ts'
import { type RoutineFinding, tryRoutine } from './routine-trial.ts'
import type { RoutineTask } from './task.ts'

const IS_WHOLE = process.env['WRIT_CORPUS'] === 'whole'
const MINUTES = 60_000
const PARALLEL = 2
const SLICE = 8

beforeAll(() => {
  ensureBuilt()
}, 3 * MINUTES)

/** The users take turns. */
function tasksOf(user: TestUser): readonly RoutineTask[] {
  const here = ROUTINE.filter(runsHere)
  if (IS_WHOLE) return here
  const seed = fc.readConfigureGlobal().seed ?? 0
  const order = fc.shuffledSubarray([...here], { minLength: SLICE, maxLength: SLICE })
  const [chosen = []] = fc.sample(order, { seed, numRuns: 1 })
  return chosen.filter((_, index) => TEST_USERS[index % TEST_USERS.length] === user)
}

describe.each(TEST_USERS)('routine work, for %s', (user) => {
  const tasks = tasksOf(user)
  const tried = new Map<string, RoutineFinding>()

  beforeAll(async () => {
    await tryAll(user, tasks, tryRoutine, {
      parallel: PARALLEL,
      onResult: (finding) => tried.set(finding.id, finding),
    })
  }, 20 * MINUTES)

  it.each(tasks.map((task) => [task.id, task.run, task] as const))('%s: %s', (id, _, task) => {
    const finding = tried.get(id)
    expect(finding?.broken, 'works without writ').toBe(null)
    // The test also fails if a known limit is gone.
    if (task.limit !== undefined) return expect(finding?.alarms, task.limit).not.toEqual([])
    expect(finding?.alarms, USER_NAMES[user]).toEqual([])
    expect(finding?.prompts.declared).toBe(task.asks === undefined ? 0 : 1)
    expect(finding?.prompts.undeclared).toBeLessThanOrEqual(task.declared === undefined ? 0 : 1)
  })
})

describe('the corpus', () => {
  it('names every task once, and has more than a hundred', () => {
    const ids = ROUTINE.map(({ id }) => id)
    expect(new Set(ids).size).toBe(ids.length)
    expect(ids.length).toBeGreaterThanOrEqual(110)
    expect(new Set(ids.map((id) => id.split('/')[0])).size).toBeGreaterThanOrEqual(5)
  })

  it('says why, where the default laws ask no matter what is declared', () => {
    const asked = ROUTINE.filter(({ asks }) => asks !== undefined)
    expect(asked.length).toBeLessThan(ROUTINE.length / 10)
    for (const { asks } of asked) expect(asks?.because).not.toBe('')
  })
})
