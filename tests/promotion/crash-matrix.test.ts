/**
 * The crash matrix (I6): every point of a promotion, of a rollback and of a recovery, and the record written but not acknowledged. Each time a process kills itself there; after
 * recovery the tree is wholly old or wholly new, and the facts say which.
 */
import { randomUUID } from 'node:crypto'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { runProgram } from '../ledger/program.ts'
import type { ActInput } from './act.program.ts'
import { hasJournals, keepFor, makeRig, promoteIn, type Rig, recoverIn, rollbackIn } from './rig.ts'
import { factsOf, fileRecording, makeScene, type Scene, unlikeNew, unlikeOld } from './scene.ts'

const PROGRAM = 'tests/promotion/act.program.ts'

async function act(input: ActInput): Promise<readonly string[]> {
  const { lines, errors } = await runProgram(PROGRAM, input)
  expect(errors).toBe('')
  return lines
}

async function inScene(work: (rig: Rig, scene: Scene) => Promise<void>): Promise<void> {
  const rig = makeRig('crash')
  try {
    await work(rig, await makeScene(rig))
  } finally {
    rig.remove()
  }
}

/** Recovery ended it; tree and fact agree. */
async function checkPromoted(rig: Rig, scene: Scene, at: string): Promise<void> {
  await recoverIn(rig, fileRecording(rig))
  const key = `promotion/${scene.rehearsed.actionId}`
  const status = factsOf(rig).get(key)?.status ?? 'none'
  const found = status === 'APPLIED' ? unlikeNew(rig, scene) : unlikeOld(rig, scene)
  expect({ at, status, found, open: hasJournals(rig) }).toEqual({
    at,
    status,
    found: [],
    open: false,
  })
  if (UNTOUCHED.test(at)) expect({ at, status }).toEqual({ at, status: 'none' })
  if (status === 'none') {
    // It changed nothing and ended nothing, so the same act can still be promoted, once.
    const record = fileRecording(rig).recordPromotion
    await promoteIn(rig, scene.rehearsed, { record })
    expect({ at, now: unlikeNew(rig, scene) }).toEqual({ at, now: [] })
    expect(factsOf(rig).get(key)?.status).toBe('APPLIED')
  }
  if (status === 'REVERTED') return
  await rollbackIn(rig, [scene.rehearsed.actionId])
  expect({ at, back: unlikeOld(rig, scene) }).toEqual({ at, back: [] })
}

/** Points of a promotion at which the tree is as it was. */
const UNTOUCHED = / (?:plan|journal|intent) /

async function pointsOf(input: Input): Promise<string[]> {
  let points: string[] = []
  await inScene(async (rig, scene) => {
    const lines = await act(await input(rig, scene))
    expect(lines.at(-1)).toMatch(/^(?:done|failed promote.conflict)$/)
    points = lines.filter((line) => / (?:before|after)$/.test(line))
  })
  return points
}

const promotion = async (rig: Rig, { file }: Scene): Promise<ActInput> => ({
  base: rig.base,
  act: 'promote',
  rehearsed: file,
})

const ROLLBACK_ID = randomUUID()

const rollingBack = async (rig: Rig, scene: Scene): Promise<ActInput> => {
  const { actionId } = scene.rehearsed
  await promoteIn(rig, scene.rehearsed, { record: fileRecording(rig).recordPromotion })
  return { base: rig.base, act: 'rollback', actionIds: [actionId], rollbackId: ROLLBACK_ID }
}

async function checkRolledBack(rig: Rig, scene: Scene, at: string): Promise<void> {
  await recoverIn(rig, fileRecording(rig))
  const status = factsOf(rig).get(`rollback/${ROLLBACK_ID}`)?.status ?? 'none'
  const found = status === 'APPLIED' ? unlikeOld(rig, scene) : unlikeNew(rig, scene)
  expect({ at, status, found, open: hasJournals(rig) }).toEqual({
    at,
    status,
    found: [],
    open: false,
  })
  if (status === 'APPLIED') return
  // Nothing was undone, so it still can be.
  await rollbackIn(rig, [scene.rehearsed.actionId], {
    keep: keepFor(rig, `again-${scene.rehearsed.actionId}`),
  })
  expect({ at, back: unlikeOld(rig, scene) }).toEqual({ at, back: [] })
}

/** Several at once: most of the time is spent waiting for processes. */
const AT_ONCE = 3

async function forEach<T>(of: readonly T[], work: (each: T, index: number) => Promise<void>) {
  for (let from = 0; from < of.length; from += AT_ONCE) {
    const some = of.slice(from, from + AT_ONCE)
    await Promise.all(some.map((each, index) => work(each, from + index)))
  }
}

/**
 * The slice dies before points and after the last: after a point the files are as before the next. It
 * takes every kind of point, and every \`each\`-th of all, which differ by the file that is at stake.
 */
const isWhole = process.env['WRIT_PROMOTION_MATRIX'] === 'whole'

type Input = (rig: Rig, scene: Scene) => Promise<ActInput>
type Judge = (rig: Rig, scene: Scene, at: string) => Promise<void>

/** Dies at each of the points from one on, and is judged after recovery. */
async function dieEverywhere(
  input: Input,
  judge: Judge,
  { from = null, least, each = 1 }: { from?: string | null; least: number; each?: number },
): Promise<void> {
  const points = await pointsOf(input)
  const first = from === null ? 0 : points.indexOf(from)
  expect(points.length - first).toBeGreaterThan(least)
  const numbers = Array.from({ length: points.length - first }, (_, index) => first + index)
  const apart = numbers.filter(
    (number) => points[number]?.endsWith(' before') || number === points.length - 1,
  )
  const isFirst = (number: number): boolean =>
    points.indexOf(points[number] ?? '', first) === number
  const slice = apart.filter((number, at) => isFirst(number) || at % each === 0)
  const chosen = isWhole ? numbers : slice
  await forEach(chosen, (dieAt) =>
    inScene(async (rig, scene) => {
      const lines = await act({ ...(await input(rig, scene)), dieAt })
      expect(lines.at(-1)).toBe(points[dieAt])
      await judge(rig, scene, `${dieAt} ${points[dieAt]}`)
    }),
  )
}

/** A promotion that another process disturbs: it is put back. */
const intruded: Input = async (rig, scene) => ({
  ...(await promotion(rig, scene)),
  intrude: { path: join(rig.tree, 'swap'), file: join(rig.tree, 'swap/theirs') },
})

async function checkPutBack(rig: Rig, scene: Scene, at: string): Promise<void> {
  await recoverIn(rig, fileRecording(rig))
  const names = unlikeOld(rig, scene).map((line) => JSON.parse(line.split('\n')[0] ?? ''))
  expect({ at, names, open: hasJournals(rig) }).toEqual({
    at,
    names: ['swap', 'swap/theirs'],
    open: false,
  })
  const { status = 'none' } = factsOf(rig).get(`promotion/${scene.rehearsed.actionId}`) ?? {}
  expect(['none', 'REVERTED']).toContain(status)
}

/** A recovery of a promotion that died in its middle. */
const recovering =
  (dieAt: number): Input =>
  async (rig, scene) => {
    await act({ ...(await promotion(rig, scene)), dieAt })
    return { base: rig.base, act: 'recover' }
  }

describe('a process dies at every point', () => {
  it('of a promotion', async () => {
    await dieEverywhere(promotion, checkPromoted, { least: 60, each: 2 })
  }, 600_000)

  it('of a rollback', async () => {
    await dieEverywhere(rollingBack, checkRolledBack, { least: 60, each: 3 })
  }, 600_000)

  it('of putting everything back', async () => {
    await dieEverywhere(intruded, checkPutBack, {
      from: 'reverting before',
      least: 20,
      each: Number.POSITIVE_INFINITY,
    })
  }, 600_000)

  it('of a recovery', async () => {
    await dieEverywhere(recovering(30), checkPromoted, {
      least: 20,
      each: Number.POSITIVE_INFINITY,
    })
  }, 600_000)

  it('with the record written and not acknowledged', async () => {
    await inScene(async (rig, scene) => {
      await act({ ...(await promotion(rig, scene)), dieUnacknowledged: true })
      await checkPromoted(rig, scene, 'promotion unacknowledged')
    })
    await inScene(async (rig, scene) => {
      await act({ ...(await rollingBack(rig, scene)), dieUnacknowledged: true })
      await checkRolledBack(rig, scene, 'rollback unacknowledged')
    })
  }, 60_000)
})
