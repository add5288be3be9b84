/**
 * Scripts that do something besides their job. The usual run declares each job once, as who runs the
 * tests, and lets an ordinary user try six of them by every door; `npm run corpus` and
 * `npm run soak corpus` run all of it by every door and user.
 */
import fc from 'fast-check'
import { beforeAll, describe, expect, it } from 'vitest'
import { ensureBuilt } from '../built.ts'
import { HIDDEN } from './hidden/index.ts'
import { type HiddenFinding, tryHidden, WAYS, type Way } from './hidden-trial.ts'
import { TEST_USERS, type TestUser, tryAll, USER_NAMES } from './round.ts'
import { fileText, type HiddenTask } from './task.ts'

const IS_WHOLE = process.env['WRIT_CORPUS'] === 'whole'
const MINUTES = 60_000
const PARALLEL = 2
const SLICE = 6

beforeAll(() => {
  ensureBuilt()
}, 3 * MINUTES)

function tasksOf(user: TestUser): readonly HiddenTask[] {
  if (IS_WHOLE || user === 'self') return HIDDEN
  const seed = fc.readConfigureGlobal().seed ?? 0
  const order = fc.shuffledSubarray([...HIDDEN], { minLength: SLICE, maxLength: SLICE })
  return fc.sample(order, { seed, numRuns: 1 })[0] ?? HIDDEN
}

function waysOf(user: TestUser): readonly Way[] {
  return IS_WHOLE || user === 'ordinary' ? WAYS : ['declared']
}

describe.each(TEST_USERS)('what scripts do besides, for %s', (user) => {
  const tasks = tasksOf(user)
  const found = new Map<string, HiddenFinding>()

  beforeAll(async () => {
    const ways = waysOf(user)
    await tryAll(user, tasks, (ground, task) => tryHidden(ground, task, ways), {
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
