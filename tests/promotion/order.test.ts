/**
 * Rollbacks in any order: each succeeds or names newer acts that go first, and newest first always
 * restores everything. What others put into a directory after it was taken away comes back with it.
 */
import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import * as fc from 'fast-check'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { laterActs } from '../../src/promotion/index.ts'
import {
  codeOf,
  keepFor,
  makeRig,
  promoteIn,
  type Rig,
  readTree,
  rehearse,
  rollbackIn,
  unlike,
} from './rig.ts'

let rig: Rig
beforeEach(() => {
  rig = makeRig('order')
})
afterEach(() => rig.remove())

const at = (name: string): string => join(rig.tree, name)

async function act(change: (copy: string) => void): Promise<string> {
  const rehearsed = await rehearse(rig, change)
  await promoteIn(rig, rehearsed)
  return rehearsed.actionId
}

const kept = (id: string) => ({ id, keep: keepFor(rig, id) })

function laterThan(id: string, standing: readonly string[]): string[] {
  return laterActs([kept(id)], standing.map(kept)).map((later) => later.id)
}

describe('newer acts that stand on an older one', () => {
  it('are found where the bytes are the same again', async () => {
    writeFileSync(at('f'), 'v0')
    const write = (text: string) => act((copy) => writeFileSync(join(copy, 'f'), text))
    const [a, b, c] = [await write('v1'), await write('v2'), await write('v1')]
    expect(laterThan(a, [a, b, c])).toEqual([b, c])
    expect(laterThan(b, [a, b, c])).toEqual([c])
    expect(laterThan(c, [a, b, c])).toEqual([])
  })

  it('are found below a directory that it made, and above a path that it deleted', async () => {
    mkdirSync(at('old'))
    writeFileSync(at('old/gone'), 'x')
    const made = await act((copy) => {
      mkdirSync(join(copy, 'd'))
      rmSync(join(copy, 'old/gone'))
    })
    const put = await act((copy) => writeFileSync(join(copy, 'd/x'), 'x'))
    const taken = await act((copy) => rmSync(join(copy, 'old'), { recursive: true }))
    const other = await act((copy) => writeFileSync(join(copy, 'other'), 'x'))
    expect(laterThan(made, [made, put, taken, other])).toEqual([put, taken])
  })
})

const NAMES = ['a', 'd/b', 'd/c', 'd/e/f'] as const

/** Writes, deletes, or removes a directory whole. */
function change(copy: string, name: string, kind: number): void {
  const path = join(copy, name)
  if (kind === 0) rmSync(path, { force: true })
  else if (kind === 1 && name !== 'a') rmSync(join(copy, 'd'), { recursive: true, force: true })
  else {
    mkdirSync(join(path, '..'), { recursive: true })
    writeFileSync(path, `v${kind}`)
  }
}

describe('rollbacks in a random order', () => {
  it('succeed or name newer acts; newest first restores everything', async () => {
    const acts = fc.array(fc.tuple(fc.constantFrom(...NAMES), fc.nat({ max: 4 })), {
      minLength: 2,
      maxLength: 6,
    })
    await fc.assert(
      fc.asyncProperty(acts, fc.infiniteStream(fc.nat()), async (list, picks) => {
        rig.remove()
        rig = makeRig('order')
        mkdirSync(at('d'))
        writeFileSync(at('a'), 'v2')
        const old = readTree(rig.tree, rig.tree)
        let standing: string[] = []
        for (const [name, kind] of list) {
          const rehearsed = await rehearse(rig, (copy) => change(copy, name, kind))
          if (rehearsed.changes.length === 0) continue
          await promoteIn(rig, rehearsed)
          standing.push(rehearsed.actionId)
        }
        while (standing.length > 0) {
          const id = standing[(picks.next().value ?? 0) % standing.length] as string
          const later = laterThan(id, standing)
          const going = [...later].reverse().concat(id)
          expect(later.every((one) => standing.indexOf(one) > standing.indexOf(id))).toBe(true)
          expect(await codeOf(rollbackIn(rig, going))).toBe('none')
          standing = standing.filter((one) => !going.includes(one))
        }
        expect(unlike(rig, old)).toEqual([])
      }),
      { numRuns: Number(process.env['WRIT_ORDER_RUNS'] ?? 8) },
    )
  }, 300_000)
})

describe('what came into a pre-image after it was displaced', () => {
  const inKeep = (id: string, name: string): string => join(keepFor(rig, id), '0', name)

  async function removed(): Promise<string> {
    mkdirSync(at('d/e'), { recursive: true })
    writeFileSync(at('d/e/f'), 'old')
    return act((copy) => rmSync(join(copy, 'd'), { recursive: true }))
  }

  it('additions come back with their directory, and everything displaced is proven', async () => {
    const id = await removed()
    mkdirSync(inKeep(id, 'e/new'))
    writeFileSync(inKeep(id, 'e/new/theirs'), 'theirs')
    const done = await rollbackIn(rig, [id])
    expect(done.verified).toBe(true)
    expect(readFileSync(at('d/e/f'), 'utf8')).toBe('old')
    expect(readFileSync(at('d/e/new/theirs'), 'utf8')).toBe('theirs')
  })

  it('a changed file is refused, and put back as it is when a human wants that', async () => {
    const id = await removed()
    writeFileSync(inKeep(id, 'e/f'), 'changed later')
    const failed = await rollbackIn(rig, [id]).catch((error: unknown) => error)
    expect(failed).toMatchObject({
      fault: {
        code: 'rollback.altered',
        details: { paths: [at('d/e/f')] },
        hint: expect.stringContaining(`writ rollback ${id} --as-is`),
      },
    })
    const done = await rollbackIn(rig, [id], { asIs: true })
    expect(done.verified).toBe(false)
    expect(readFileSync(at('d/e/f'), 'utf8')).toBe('changed later')
  })

  it('a changed file is carried through older acts that made it', async () => {
    const first = await act((copy) => writeFileSync(join(copy, 'f'), 'one'))
    const second = await act((copy) => writeFileSync(join(copy, 'f'), 'two'))
    writeFileSync(join(keepFor(rig, second), '0'), 'one and more')
    expect(await codeOf(rollbackIn(rig, [second, first]))).toBe('rollback.altered')
    expect(await codeOf(rollbackIn(rig, [second, first], { asIs: true }))).toBe('none')
    expect(readTree(rig.tree, rig.tree).size).toBe(1)
  })
})
