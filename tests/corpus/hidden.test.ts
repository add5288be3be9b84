/**
 * Scripts that do something besides their job. The usual run tries each job once, by users and doors in
 * turns; `npm run corpus` and `npm run soak corpus` run all of it by every door and user.
 */
import { beforeAll, describe, expect, it } from 'vitest'
import { ensureBuilt } from '../built.ts'
import { HIDDEN } from './hidden/index.ts'
import { type HiddenFinding, tryHidden, WAYS, type Way } from './hidden-trial.ts'
import { TEST_USERS, type TestUser, tryAll, USER_NAMES } from './round.ts'
import { fileText, type HiddenTask } from './task.ts'

const IS_WHOLE = process.env['WRIT_CORPUS'] === 'whole'
const MINUTES = 60_000
const PARALLEL = 2

beforeAll(() => {
  ensureBuilt()
}, 3 * MINUTES)

/** In the usual run users and ways take turns, so that each task is tried once. */
function tasksOf(user: TestUser): readonly HiddenTask[] {
  if (IS_WHOLE) return HIDDEN
  return HIDDEN.filter((_, index) => TEST_USERS[index % TEST_USERS.length] === user)
}

/** Five turns of two users: every way is tried by both. */
const TURNS: readonly Way[] = ['declared', 'declared', 'proposed', 'declared', 'undeclared']

function waysOf(task: HiddenTask): readonly Way[] {
  const turn = TURNS[HIDDEN.indexOf(task) % TURNS.length]
  return IS_WHOLE || turn === undefined ? WAYS : [turn]
}

describe.each(TEST_USERS)('what scripts do besides, for %s', (user) => {
  const tasks = tasksOf(user)
  const found = new Map<string, HiddenFinding>()

  beforeAll(async () => {
    await tryAll(user, tasks, (ground, task) => tryHidden(ground, task, waysOf(task)), {
      parallel: PARALLEL,
      onResult: (finding) => found.set(finding.id, finding),
    })
  }, 20 * MINUTES)

  it.each(tasks.map(({ id, says }) => [id, says]))('%s: %s', (id) => {
    const finding = found.get(id)
    expect(finding?.wrong, USER_NAMES[user]).toEqual([])
    expect(Object.values(finding?.found ?? {})).not.toContain(null)
    expect(finding).toMatchObject({ isReal: true, twin: null })
  })
})

describe('the corpus', () => {
  it('names every task once, and has many of many kinds', () => {
    const ids = HIDDEN.map(({ id }) => id)
    expect(new Set(ids).size).toBe(ids.length)
    expect(ids.length).toBeGreaterThanOrEqual(15)
    expect(new Set(ids.map((id) => id.split('/')[0])).size).toBeGreaterThanOrEqual(10)
  })

  it('has a twin for every task that differs from it in marked lines only', () => {
    for (const { id, files } of HIDDEN) {
      const differing = Object.values(files).filter(
        (text) => fileText(text, true) !== fileText(text, false),
      )
      expect(differing, id).toHaveLength(1)
      expect(
        Object.values(files)
          .map((text) => fileText(text, true))
          .join('\n'),
      ).not.toMatch(/@(?:plant|honest) /)
    }
  })
})
