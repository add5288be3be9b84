/** Promotion and rollback on small trees, case by case (G-19 to G-21). */
import { randomUUID } from 'node:crypto'
import {
  chmodSync,
  existsSync,
  linkSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import type { RawPath } from '../../src/gate/index.ts'
import { listingDifferences, treeListing } from '../tree/tree-hash.ts'
import {
  codeOf,
  hasJournals,
  keepFor,
  makeRig,
  promoteIn,
  type Rig,
  rehearse,
  rollbackIn,
  unlike,
} from './rig.ts'

let rig: Rig
beforeEach(() => {
  rig = makeRig('case')
})
afterEach(() => rig.remove())

/** A tree from names: a name that ends with a slash is a directory. */
function plant(root: string, entries: Readonly<Record<string, string>>): void {
  for (const [name, text] of Object.entries(entries)) {
    const path = join(root, name)
    if (name.endsWith('/')) mkdirSync(path, { recursive: true })
    else {
      mkdirSync(join(path, '..'), { recursive: true })
      writeFileSync(path, text)
    }
  }
}

interface Case {
  readonly name: string
  readonly before: Readonly<Record<string, string>>
  readonly change: (root: string) => void
}

const CASES: readonly Case[] = [
  {
    name: 'a new file',
    before: { a: 'old' },
    change: (root) => writeFileSync(join(root, 'b'), 'new'),
  },
  {
    name: 'a replaced file',
    before: { a: 'old' },
    change: (root) => writeFileSync(join(root, 'a'), 'new'),
  },
  { name: 'a deleted file', before: { a: 'old' }, change: (root) => rmSync(join(root, 'a')) },
  {
    name: 'a new tree',
    before: { a: 'x' },
    change: (root) => plant(root, { 'd/e/f': '1', 'd/g': '2', 'd/empty/': '' }),
  },
  {
    name: 'a deleted tree',
    before: { 'd/e/f': '1', 'd/g': '2', 'd/empty/': '' },
    change: (root) => rmSync(join(root, 'd'), { recursive: true }),
  },
  {
    name: 'a directory becomes a file',
    before: { 'd/e': '1' },
    change: (root) => {
      rmSync(join(root, 'd'), { recursive: true })
      writeFileSync(join(root, 'd'), 'file')
    },
  },
  {
    name: 'a file becomes a directory',
    before: { d: 'file' },
    change: (root) => {
      rmSync(join(root, 'd'))
      plant(root, { 'd/e': '1' })
    },
  },
  {
    name: 'a name between a directory and its entries in the order of bytes',
    before: { 'd/e': '1', 'd-x': '2' },
    change: (root) => {
      rmSync(join(root, 'd'), { recursive: true })
      writeFileSync(join(root, 'd-x'), '3')
    },
  },
  {
    name: 'symbolic links',
    before: { a: '1' },
    change: (root) => {
      symlinkSync('nowhere', join(root, 'l'))
      rmSync(join(root, 'a'))
      symlinkSync('/', join(root, 'a'))
    },
  },
  {
    name: 'modes of files and directories',
    before: { 'd/a': '1', b: '2' },
    change: (root) => {
      chmodSync(join(root, 'd'), 0o750)
      chmodSync(join(root, 'b'), 0o600)
      writeFileSync(join(root, 'd/new'), '3')
    },
  },
  {
    name: 'hard links',
    before: { a: '1' },
    change: (root) => {
      linkSync(join(root, 'a'), join(root, 'b'))
      writeFileSync(join(root, 'c'), 'linked')
      linkSync(join(root, 'c'), join(root, 'd'))
    },
  },
  {
    name: 'a rename of a directory',
    before: { 'd/a': '1', 'd/b/c': '2' },
    change: (root) => renameSync(join(root, 'd'), join(root, 'e')),
  },
]

describe('promote, then roll back', () => {
  it.each(CASES)('$name', async ({ before, change }) => {
    plant(rig.tree, before)
    const old = treeListing(rig.tree)
    const rehearsed = await rehearse(rig, change)
    const promotion = await promoteIn(rig, rehearsed)
    expect(promotion).toMatchObject({ status: 'APPLIED', paths: rehearsed.changes.length })
    expect(unlike(rig, rehearsed.wanted)).toEqual([])
    expect(hasJournals(rig)).toBe(false)
    expect(existsSync(rehearsed.stage)).toBe(false)
    const undone = await rollbackIn(rig, [rehearsed.actionId])
    expect(undone).toMatchObject({ status: 'APPLIED', verified: true })
    expect(listingDifferences(old, treeListing(rig.tree))).toEqual([])
    expect(hasJournals(rig)).toBe(false)
    expect(readdirSync(rig.preimages)).toEqual([])
    expect([...rig.facts.keys()]).toEqual([
      `promotion/${rehearsed.actionId}`,
      `rollback/${undone.rollbackId}`,
    ])
  })

  it('several actions at once, newest first', async () => {
    plant(rig.tree, { 'd/x': 'v0', 'd/y': 'y' })
    const old = treeListing(rig.tree)
    const ids: string[] = []
    for (const change of [
      (root: string) => writeFileSync(join(root, 'd/x'), 'v1'),
      (root: string) => rmSync(join(root, 'd'), { recursive: true }),
      (root: string) => plant(root, { 'd/new/z': '1' }),
      (root: string) => writeFileSync(join(root, 'd/new/z'), '2'),
    ]) {
      const rehearsed = await rehearse(rig, change)
      await promoteIn(rig, rehearsed)
      ids.unshift(rehearsed.actionId)
    }
    const undone = await rollbackIn(rig, ids)
    expect(undone.actionIds).toEqual(ids)
    expect(listingDifferences(old, treeListing(rig.tree))).toEqual([])
  })

  it('a directory that comes back and was only touched by the action before', async () => {
    plant(rig.tree, { 'd/x': 'v0' })
    const old = treeListing(rig.tree)
    const ids: string[] = []
    for (const change of [
      (root: string) => {
        chmodSync(join(root, 'd'), 0o700)
        utimesSync(join(root, 'd'), 409_865_052.5, 409_865_052.5)
      },
      (root: string) => rmSync(join(root, 'd'), { recursive: true }),
    ]) {
      const rehearsed = await rehearse(rig, change)
      await promoteIn(rig, rehearsed)
      ids.unshift(rehearsed.actionId)
    }
    await rollbackIn(rig, ids)
    expect(listingDifferences(old, treeListing(rig.tree))).toEqual([])
  })
})

it('an action is promoted once (I3)', async () => {
  const rehearsed = await rehearse(rig, (root) => writeFileSync(join(root, 'a'), 'new'))
  await promoteIn(rig, rehearsed)
  rmSync(join(rig.tree, 'a'))
  const again = await rehearse(
    rig,
    (root) => writeFileSync(join(root, 'a'), 'new'),
    rehearsed.actionId,
  )
  expect(await codeOf(promoteIn(rig, again))).toBe('promote.failed')
  expect(existsSync(join(rig.tree, 'a'))).toBe(false)
})

describe('conflicts before anything changes', () => {
  it('names every path that is not as it was, and changes nothing', async () => {
    plant(rig.tree, { a: '1', b: '2', 'd/e': '3', 'd/f': '4' })
    const rehearsed = await rehearse(rig, (root) => {
      writeFileSync(join(root, 'a'), 'new')
      writeFileSync(join(root, 'n'), 'new')
      rmSync(join(root, 'd'), { recursive: true })
    })
    writeFileSync(join(rig.tree, 'a'), 'edited')
    writeFileSync(join(rig.tree, 'n'), 'somebody')
    writeFileSync(join(rig.tree, 'd/other'), 'somebody')
    chmodSync(join(rig.tree, 'd/e'), 0o600)
    const edited = treeListing(rig.tree)
    const failed = await promoteIn(rig, rehearsed).catch((error: unknown) => error)
    expect(failed).toMatchObject({ fault: { code: 'promote.conflict' } })
    const { paths } = (failed as { fault: { details: { paths: string[] } } }).fault.details
    expect(paths).toEqual(['a', 'd/e', 'd/other', 'n'].map((name) => join(rig.tree, name)))
    expect(listingDifferences(edited, treeListing(rig.tree))).toEqual([])
    expect(rig.facts.size).toBe(0)
    expect(hasJournals(rig)).toBe(false)
  })

  it('a directory that was made again holds what it held', async () => {
    plant(rig.tree, { 'd/a': '1', 'd/b': '2' })
    const rehearsed = await rehearse(rig, (root) => {
      rmSync(join(root, 'd'), { recursive: true })
      plant(root, { 'd/c': '3' })
    })
    const names = ['a', 'b'] as RawPath[]
    const listings = [{ path: join(rig.tree, 'd') as RawPath, names }]
    writeFileSync(join(rig.tree, 'd/theirs'), 'x')
    const failed = await promoteIn(rig, rehearsed, { listings }).catch((error: unknown) => error)
    expect(failed).toMatchObject({
      fault: { code: 'promote.conflict', details: { paths: [join(rig.tree, 'd/theirs')] } },
    })
    rmSync(join(rig.tree, 'd/theirs'))
    await promoteIn(rig, rehearsed, { listings })
    expect(readdirSync(join(rig.tree, 'd'))).toEqual(['c'])
  })

  it('a parent that became a symbolic link is not followed', async () => {
    plant(rig.tree, { 'd/a': '1' })
    const rehearsed = await rehearse(rig, (root) => writeFileSync(join(root, 'd/new'), 'x'))
    renameSync(join(rig.tree, 'd'), join(rig.base, 'elsewhere'))
    symlinkSync(join(rig.base, 'elsewhere'), join(rig.tree, 'd'))
    expect(await codeOf(promoteIn(rig, rehearsed))).toBe('promote.conflict')
    expect(readdirSync(join(rig.base, 'elsewhere'))).toEqual(['a'])
  })

  it('staged bytes that were altered are not promoted', async () => {
    plant(rig.tree, { a: '1' })
    const rehearsed = await rehearse(rig, (root) => writeFileSync(join(root, 'a'), 'new'))
    writeFileSync(join(rehearsed.stage, 'u0'), 'bad')
    expect(await codeOf(promoteIn(rig, rehearsed))).toBe('promote.stage_altered')
    expect(readFileSync(join(rig.tree, 'a'), 'utf8')).toBe('1')
  })

  it('a halt before the intent ends it', async () => {
    plant(rig.tree, { a: '1' })
    const rehearsed = await rehearse(rig, (root) => writeFileSync(join(root, 'a'), 'new'))
    expect(await codeOf(promoteIn(rig, rehearsed, { isHalted: () => true }))).toBe('halted')
    expect(readFileSync(join(rig.tree, 'a'), 'utf8')).toBe('1')
  })
})

describe('rollback', () => {
  it('is refused with the exact paths when another process changed something', async () => {
    plant(rig.tree, { a: '1', b: '2' })
    const rehearsed = await rehearse(rig, (root) => {
      writeFileSync(join(root, 'a'), 'new')
      plant(root, { 'd/e': '1' })
    })
    await promoteIn(rig, rehearsed)
    writeFileSync(join(rig.tree, 'd/theirs'), 'x')
    const now = treeListing(rig.tree)
    const failed = await rollbackIn(rig, [rehearsed.actionId]).catch((error: unknown) => error)
    expect(failed).toMatchObject({
      fault: { code: 'rollback.conflict', details: { paths: [join(rig.tree, 'd/theirs')] } },
    })
    expect(listingDifferences(now, treeListing(rig.tree))).toEqual([])
  })

  it('says expired when the pre-images are gone', async () => {
    expect(await codeOf(rollbackIn(rig, [randomUUID()]))).toBe('rollback.expired')
  })

  it('refuses a pre-image that is not what was displaced', async () => {
    plant(rig.tree, { a: '1' })
    const rehearsed = await rehearse(rig, (root) => writeFileSync(join(root, 'a'), 'new'))
    await promoteIn(rig, rehearsed)
    const [name = ''] = readdirSync(keepFor(rig, rehearsed.actionId)).filter((each) =>
      /^\d/.test(each),
    )
    writeFileSync(join(keepFor(rig, rehearsed.actionId), name), '2')
    expect(await codeOf(rollbackIn(rig, [rehearsed.actionId]))).toBe('rollback.altered')
  })

  it('leaves the time of a directory alone in which another process worked', async () => {
    plant(rig.tree, { a: '1' })
    const rehearsed = await rehearse(rig, (root) => writeFileSync(join(root, 'a'), 'new'))
    await promoteIn(rig, rehearsed)
    writeFileSync(join(rig.tree, 'theirs'), 'x')
    const theirs = lstatSync(rig.tree, { bigint: true }).mtimeNs
    await rollbackIn(rig, [rehearsed.actionId])
    expect(lstatSync(rig.tree, { bigint: true }).mtimeNs).toBeGreaterThanOrEqual(theirs)
  })
})
