/**
 * Two acts that were rehearsed side by side and make the same directory: both are promoted, files are
 * judged each for itself, and whichever is rolled back leaves what is the other's. The directory goes
 * with the last of them. The same with a process that dies at every point.
 */
import { randomUUID } from 'node:crypto'
import {
  chmodSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { laterActs } from '../../src/promotion/index.ts'
import { runProgram } from '../ledger/program.ts'
import type { ActInput } from './act.program.ts'
import {
  codeOf,
  hasJournals,
  keepFor,
  makeRig,
  promoteIn,
  type Rehearsed,
  type Rig,
  recoverIn,
  rehearse,
  rollbackIn,
} from './rig.ts'
import { factsOf, fileRecording } from './scene.ts'

// Every point of an act is a process of its own.
vi.setConfig({ testTimeout: 900_000 })

let rig: Rig

beforeEach(() => {
  rig = makeRig('shared')
})

afterEach(() => rig.remove())

/** Makes `new/`, `new/deep/` and files of its own in both. */
function making(name: string) {
  return (root: string): void => {
    mkdirSync(join(root, 'new', 'deep'), { recursive: true })
    writeFileSync(join(root, 'new', `${name}.txt`), name)
    // The name that its own bytes are moved to when they are put back.
    writeFileSync(join(root, 'new', `${name}.txt.aside`), `${name} aside`)
    writeFileSync(join(root, 'new', 'deep', `${name}.md`), `${name} deep`)
    symlinkSync('deep', join(root, 'new', `${name}-link`))
    mkdirSync(join(root, 'new', `${name}-own`))
    writeFileSync(join(root, 'new', `${name}-own`, 'inside'), `${name} inside`)
  }
}

async function rehearseBoth(): Promise<readonly [Rehearsed, Rehearsed]> {
  return [await rehearse(rig, making('one')), await rehearse(rig, making('two'))]
}

/** Everything below the tree, files with what they hold. */
function found(): readonly string[] {
  return readdirSync(rig.tree, { recursive: true, withFileTypes: true })
    .map((entry) => {
      const path = join(entry.parentPath, entry.name)
      const name = path.slice(rig.tree.length + 1)
      return entry.isFile() ? `${name}: ${readFileSync(path, 'utf8')}` : name
    })
    .sort()
}

/** What one of the two made, with the directories that are of both. */
function madeBy(...names: readonly string[]): readonly string[] {
  const own = names.flatMap((name) => [
    `new/${name}.txt: ${name}`,
    `new/${name}.txt.aside: ${name} aside`,
    `new/deep/${name}.md: ${name} deep`,
    `new/${name}-link`,
    `new/${name}-own`,
    `new/${name}-own/inside: ${name} inside`,
  ])
  return names.length === 0 ? [] : ['new', 'new/deep', ...own].sort()
}

describe('a directory that two acts make', () => {
  it.each([
    ['the first', 0],
    ['the second', 1],
  ] as const)('holds what both made, and %s can be rolled back first', async (_, first) => {
    const both = await rehearseBoth()
    for (const each of both) await promoteIn(rig, each)
    expect(found()).toEqual(madeBy('one', 'two'))
    const names = ['one', 'two'] as const
    const done = await rollbackIn(rig, [both[first].actionId])
    expect(done).toMatchObject({ status: 'APPLIED', verified: true })
    expect(found()).toEqual(madeBy(names[1 - first] ?? 'two'))
    await rollbackIn(rig, [both[1 - first]?.actionId ?? ''])
    expect(found()).toEqual([])
    expect(readdirSync(rig.preimages)).toEqual([])
  })

  it('is no ground of either: the newer act does not stand on the older one', async () => {
    const [one, two] = await rehearseBoth()
    await promoteIn(rig, one)
    await promoteIn(rig, two)
    const [first, second] = [one, two].map(({ actionId: id }) => ({ id, keep: keepFor(rig, id) }))
    expect(
      first === undefined || second === undefined ? null : laterActs([first], [second]),
    ).toEqual([])
  })

  it('cannot be rolled back by a plan whose last line is cut', async () => {
    const [one] = await rehearseBoth()
    await promoteIn(rig, one)
    const plan = join(keepFor(rig, one.actionId), 'plan.jsonl')
    writeFileSync(plan, readFileSync(plan, 'utf8').slice(0, -1))
    expect(await codeOf(rollbackIn(rig, [one.actionId]))).toBe('promote.failed')
    expect(found()).toEqual(madeBy('one'))
  })

  it('goes when both are rolled back at once', async () => {
    const [one, two] = await rehearseBoth()
    await promoteIn(rig, one)
    await promoteIn(rig, two)
    await rollbackIn(rig, [two.actionId, one.actionId])
    expect(found()).toEqual([])
  })

  /** One, who makes it, and the two others in the order of their ids: the last of them inherits. */
  const three = async () => {
    const [one, two] = await rehearseBoth()
    const other = await rehearse(rig, making('three'))
    for (const each of [one, two, other]) await promoteIn(rig, each)
    await rollbackIn(rig, [one.actionId])
    expect(found()).toEqual(madeBy('two', 'three'))
    const named = [
      { id: two.actionId, name: 'two' },
      { id: other.actionId, name: 'three' },
    ]
    return named.sort((left, right) => (left.id < right.id ? -1 : 1))
  }

  it.each([
    ['the one who did not inherit it goes', 0],
    ['the heir goes', 1],
  ])('is handed on among three, and goes with the last: %s first', async (_, first) => {
    const heirs = await three()
    const [next, last] = [heirs[first], heirs[1 - first]]
    await rollbackIn(rig, [next?.id ?? ''])
    expect(found()).toEqual(madeBy(last?.name ?? ''))
    await rollbackIn(rig, [last?.id ?? ''])
    expect(found()).toEqual([])
  })

  it.each([false, true])('goes with both others at once (the heir last: %s)', async (isLast) => {
    const ids = (await three()).map(({ id }) => id)
    await rollbackIn(rig, isLast ? ids : ids.reverse())
    expect(found()).toEqual([])
  })

  it('stays for a process that put something into it', async () => {
    const [one, two] = await rehearseBoth()
    await promoteIn(rig, one)
    await promoteIn(rig, two)
    await rollbackIn(rig, [one.actionId])
    writeFileSync(join(rig.tree, 'new', 'mine'), 'mine')
    await rollbackIn(rig, [two.actionId])
    expect(found()).toEqual(['new', 'new/mine: mine'])
  })

  it('stays for an act that made nothing else', async () => {
    const one = await rehearse(rig, making('one'))
    const two = await rehearse(rig, (root) => mkdirSync(join(root, 'new')))
    await promoteIn(rig, one)
    await promoteIn(rig, two)
    await rollbackIn(rig, [one.actionId])
    expect(found()).toEqual(['new'])
    await rollbackIn(rig, [two.actionId])
    expect(found()).toEqual([])
  })

  it('is not taken away from a process that made it itself', async () => {
    const one = await rehearse(rig, making('one'))
    mkdirSync(join(rig.tree, 'new'))
    await promoteIn(rig, one)
    expect(found()).toEqual(madeBy('one'))
    await rollbackIn(rig, [one.actionId])
    expect(found()).toEqual(['new'])
  })
})

describe('a conflict it is all the same', () => {
  it('when both make the same file: that file, and nothing is changed', async () => {
    const [one, two] = await rehearseBoth()
    const third = await rehearse(rig, (root) => {
      making('three')(root)
      writeFileSync(join(root, 'new', 'one.txt'), 'other')
    })
    await promoteIn(rig, one)
    const failed: unknown = await promoteIn(rig, third).catch((error: unknown) => error)
    expect(failed).toMatchObject({
      fault: { code: 'promote.conflict', details: { paths: [join(rig.tree, 'new', 'one.txt')] } },
    })
    expect(found()).toEqual(madeBy('one'))
    // What could not be promoted is whole, and another that can still is.
    await promoteIn(rig, two)
    expect(found()).toEqual(madeBy('one', 'two'))
  })

  it('when the directory has another mode, or is no directory', async () => {
    const [one, two] = await rehearseBoth()
    await promoteIn(rig, one)
    chmodSync(join(rig.tree, 'new'), 0o700)
    expect(await codeOf(promoteIn(rig, two))).toBe('promote.conflict')
    chmodSync(join(rig.tree, 'new'), 0o755)
    await promoteIn(rig, two)
    expect(found()).toEqual(madeBy('one', 'two'))
    const three = await rehearse(rig, (root) => mkdirSync(join(root, 'file')))
    writeFileSync(join(rig.tree, 'file'), '')
    expect(await codeOf(promoteIn(rig, three))).toBe('promote.conflict')
  })

  it('when an act alone made the directory and another process put something into it', async () => {
    const [one] = await rehearseBoth()
    await promoteIn(rig, one)
    writeFileSync(join(rig.tree, 'new', 'mine'), 'mine')
    expect(await codeOf(rollbackIn(rig, [one.actionId]))).toBe('rollback.conflict')
  })
})

const ROLLBACK_ID = randomUUID()

async function act(input: ActInput): Promise<readonly string[]> {
  const { lines, errors } = await runProgram('tests/promotion/act.program.ts', input)
  expect(errors).toBe('')
  return lines
}

/** Both rehearsed, the first one promoted, the second one in a file for another process. */
async function begun(): Promise<{ one: Rehearsed; two: Rehearsed; file: string }> {
  const [one, two] = await rehearseBoth()
  await promoteIn(rig, one, { record: fileRecording(rig).recordPromotion })
  const file = join(rig.base, 'rehearsed.json')
  writeFileSync(file, JSON.stringify(two))
  return { one, two, file }
}

/** After a point the files are as before the next one, so the slice dies before each. */
const STEP = process.env['WRIT_PROMOTION_MATRIX'] === 'whole' ? 1 : 2

/** Dies at one point after the other until it comes to its end. */
async function atEveryPoint(round: (dieAt: number) => Promise<boolean>): Promise<number> {
  for (let point = 0; ; point += STEP) {
    if (await round(point)) return point
    rig.remove()
    rig = makeRig('shared')
  }
}

describe('a process that dies', () => {
  it('while the second is promoted leaves all of it or nothing, and both can be rolled back', async () => {
    const points = await atEveryPoint(async (dieAt) => {
      const { one, two, file } = await begun()
      const lines = await act({ base: rig.base, act: 'promote', rehearsed: file, dieAt })
      await recoverIn(rig, fileRecording(rig))
      const isApplied = factsOf(rig).get(`promotion/${two.actionId}`)?.status === 'APPLIED'
      const want = { dieAt, found: madeBy('one', ...(isApplied ? ['two'] : [])), open: false }
      expect({ dieAt, found: found(), open: hasJournals(rig) }).toEqual(want)
      await rollbackIn(rig, [one.actionId])
      expect({ dieAt, found: found() }).toEqual({
        dieAt,
        found: madeBy(...(isApplied ? ['two'] : [])),
      })
      if (isApplied) await rollbackIn(rig, [two.actionId])
      expect({ dieAt, found: found() }).toEqual({ dieAt, found: [] })
      return lines.at(-1) === 'done'
    })
    expect(points).toBeGreaterThan(20)
  })

  it('while the first is rolled back leaves what is of the second, which then takes the rest', async () => {
    const points = await atEveryPoint(async (dieAt) => {
      const { one, two } = await begun()
      await promoteIn(rig, two, { record: fileRecording(rig).recordPromotion })
      const actionIds = [one.actionId]
      const order: ActInput = { base: rig.base, act: 'rollback', actionIds, dieAt }
      const lines = await act({ ...order, rollbackId: ROLLBACK_ID })
      await recoverIn(rig, fileRecording(rig))
      const isApplied = factsOf(rig).get(`rollback/${ROLLBACK_ID}`)?.status === 'APPLIED'
      const want = { dieAt, found: madeBy(...(isApplied ? [] : ['one']), 'two'), open: false }
      expect({ dieAt, found: found(), open: hasJournals(rig) }).toEqual(want)
      expect(existsSync(keepFor(rig, one.actionId))).toBe(!isApplied)
      if (!isApplied) await rollbackIn(rig, actionIds)
      await rollbackIn(rig, [two.actionId])
      expect({ dieAt, found: found() }).toEqual({ dieAt, found: [] })
      return lines.at(-1) === 'done'
    })
    expect(points).toBeGreaterThan(20)
  })
})
