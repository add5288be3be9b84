/**
 * Other processes at work between the check and the change (G-20): every race is played at its exact
 * point. Their bytes are never overwritten; everything of ours is put back, and the paths are named.
 */
import {
  appendFileSync,
  closeSync,
  existsSync,
  openSync,
  readdirSync,
  readFileSync,
  renameSync,
  symlinkSync,
  writeFileSync,
  writeSync,
} from 'node:fs'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import type { RawPath } from '../../src/gate/index.ts'
import {
  type InterruptPoint,
  resolveRecovery,
  withWorkspaceLock,
} from '../../src/promotion/index.ts'
import {
  codeOf,
  hasJournals,
  keepFor,
  makeRig,
  promoteIn,
  type Rig,
  recording,
  recoverIn,
} from './rig.ts'
import { makeScene, type Scene, unlikeOld } from './scene.ts'

let rig: Rig
let scene: Scene
beforeEach(async () => {
  rig = makeRig('race')
  scene = await makeScene(rig)
})
afterEach(() => rig.remove())

const at = (name: string): string => join(rig.tree, name)
const textOf = (name: string): string => readFileSync(at(name), 'utf8')

interface Failed {
  readonly code: string
  readonly paths: readonly string[]
}

/** Promotes with something happening once, at a point of one path. */
async function promoteAgainst(
  point: InterruptPoint,
  moment: 'before' | 'after',
  name: string | null,
  happening: () => void,
  then?: readonly [InterruptPoint, () => void],
): Promise<Failed> {
  let isDone = false
  let rest = then
  const wanted = name === null ? null : at(name)
  const onPoint = (
    passed: InterruptPoint,
    when: 'before' | 'after',
    path: RawPath | null,
  ): void => {
    if (isDone && rest !== undefined && passed === rest[0] && when === 'after') {
      const [, later] = rest
      rest = undefined
      later()
    }
    if (isDone || passed !== point || when !== moment || path !== wanted) return
    isDone = true
    happening()
  }
  try {
    await promoteIn(rig, scene.rehearsed, { onPoint })
  } catch (error) {
    const { fault } = error as { fault: { code: string; details: { paths: string[] } } }
    expect(isDone).toBe(true)
    return { code: fault.code, paths: fault.details.paths }
  }
  expect(isDone).toBe(true)
  return { code: 'none', paths: [] }
}

/** Everything but the named paths, and the directories they lie in, is as it was. */
function expectOldBut(...names: readonly string[]): void {
  const different = unlikeOld(rig, scene).map((line) => JSON.parse(line.split('\n')[0] ?? '""'))
  expect(different.filter((name) => name !== '').sort()).toEqual([...names].sort())
  expect(hasJournals(rig)).toBe(false)
}

describe('edits between the check and the change', () => {
  it('a file is written in place before it is taken away', async () => {
    // As long as the old one: only a hash can tell.
    const failed = await promoteAgainst('take', 'before', 'changed', () =>
      writeFileSync(at('changed'), 'their edit!'),
    )
    expect(failed).toEqual({ code: 'promote.conflict', paths: [at('changed')] })
    expect(textOf('changed')).toBe('their edit!')
    expectOldBut('changed')
  })

  it('a file is replaced before it is taken away', async () => {
    const failed = await promoteAgainst('take', 'before', 'changed', () => {
      writeFileSync(join(rig.base, 'theirs'), 'their edit')
      renameSync(join(rig.base, 'theirs'), at('changed'))
    })
    expect(failed).toEqual({ code: 'promote.conflict', paths: [at('changed')] })
    expect(textOf('changed')).toBe('their edit')
    expectOldBut('changed')
  })

  it('a large file is written before it is taken away', async () => {
    const failed = await promoteAgainst('take', 'before', 'large', () =>
      appendFileSync(at('large'), 'their edit'),
    )
    expect(failed).toEqual({ code: 'promote.conflict', paths: [at('large')] })
    expect(textOf('large').endsWith('their edit')).toBe(true)
    expectOldBut('large')
  })

  it('a file is made where one was just taken away', async () => {
    const failed = await promoteAgainst('put', 'before', 'changed', () =>
      writeFileSync(at('changed'), 'theirs'),
    )
    expect(failed).toEqual({ code: 'promote.conflict', paths: [at('changed')] })
    expect(textOf('changed')).toBe('theirs')
    expectOldBut('changed')
    // The old one had no place to go back to; it is kept.
    const keep = keepFor(rig, scene.rehearsed.actionId)
    const kept = readdirSync(keep).filter((name) => /^\d+$/.test(name))
    expect(kept.map((name) => readFileSync(join(keep, name), 'utf8'))).toEqual(['old changed'])
  })

  it('a file is made where a new one comes', async () => {
    const failed = await promoteAgainst('put', 'before', 'stay/added', () =>
      writeFileSync(at('stay/added'), 'theirs'),
    )
    expect(failed).toEqual({ code: 'promote.conflict', paths: [at('stay/added')] })
    expect(textOf('stay/added')).toBe('theirs')
    expectOldBut('stay/added')
  })

  it('an empty directory is made where a tree comes', async () => {
    const failed = await promoteAgainst('placeholder', 'before', 'fresh', () => {
      writeFileSync(at('fresh'), 'theirs')
    })
    expect(failed).toEqual({ code: 'promote.conflict', paths: [at('fresh')] })
    expect(textOf('fresh')).toBe('theirs')
    expectOldBut('fresh')
  })

  it('something is put into the place that was made for a tree', async () => {
    const failed = await promoteAgainst('put', 'before', 'fresh', () =>
      writeFileSync(at('fresh/theirs'), 'theirs'),
    )
    expect(failed).toEqual({ code: 'promote.conflict', paths: [at('fresh')] })
    expect(textOf('fresh/theirs')).toBe('theirs')
    expectOldBut('fresh', 'fresh/theirs')
  })

  it('something is added to a directory that goes whole', async () => {
    const failed = await promoteAgainst('take', 'before', 'gone', () =>
      writeFileSync(at('gone/deep/theirs'), 'theirs'),
    )
    expect(failed).toEqual({ code: 'promote.conflict', paths: [at('gone/deep/theirs')] })
    expect(textOf('gone/deep/theirs')).toBe('theirs')
    expectOldBut('gone/deep', 'gone/deep/theirs')
  })

  it('something is edited in a directory that goes whole', async () => {
    const failed = await promoteAgainst('take', 'before', 'gone', () =>
      writeFileSync(at('gone/deep/b'), 'their edit'),
    )
    expect(failed).toEqual({ code: 'promote.conflict', paths: [at('gone/deep/b')] })
    expect(textOf('gone/deep/b')).toBe('their edit')
    expectOldBut('gone/deep/b')
  })

  it('a file is held open and written after it was taken away', async () => {
    let handle = -1
    let passed = false
    try {
      const failed = await promoteAgainst('take', 'before', 'changed', () => {
        handle = openSync(at('changed'), 'r+')
        passed = true
      })
      expect(failed).toEqual({ code: 'promote.busy', paths: [at('changed')] })
      writeSync(handle, 'late')
    } finally {
      if (passed) closeSync(handle)
    }
    expect(textOf('changed').startsWith('late')).toBe(true)
    expectOldBut('changed')
  })

  it.each([
    ['changed', 'changed'],
    ['large', 'large'],
    ['gone/deep/b', 'gone'],
  ])('%s is opened before, written and closed after it was verified', async (name, step) => {
    let handle = -1
    const taken = promoteAgainst(
      'take',
      'before',
      step,
      () => {
        handle = openSync(at(name), 'a')
      },
      [
        'times',
        () => {
          writeSync(handle, 'late')
          closeSync(handle)
        },
      ],
    )
    expect(await taken).toEqual({ code: 'promote.conflict', paths: [at(name)] })
    expect(textOf(name).endsWith('late')).toBe(true)
    expectOldBut(name)
  })

  it('a file inside a directory that goes whole is held open', async () => {
    let handle = -1
    try {
      const failed = await promoteAgainst('take', 'before', 'gone', () => {
        handle = openSync(at('gone/deep/b'), 'a')
      })
      expect(failed).toEqual({ code: 'promote.busy', paths: [at('gone/deep/b')] })
      writeSync(handle, 'late')
    } finally {
      closeSync(handle)
    }
    expect(textOf('gone/deep/b').endsWith('late')).toBe(true)
    expectOldBut('gone/deep/b')
  })

  it('the directory is moved away and a link put in its place', async () => {
    const failed = await promoteAgainst('take', 'before', 'stay/changed', () => {
      renameSync(at('stay'), join(rig.base, 'moved'))
      symlinkSync(join(rig.base, 'moved'), at('stay'))
    })
    expect(failed).toEqual({ code: 'promote.conflict', paths: [at('stay')] })
    expect(readFileSync(join(rig.base, 'moved/changed'), 'utf8')).toBe('old stay/changed')
    expect(existsSync(join(rig.base, 'moved/added'))).toBe(false)
  })
})

describe('a file that is held open for writing', () => {
  it('is busy before anything changes', async () => {
    const handle = openSync(at('changed'), 'r+')
    try {
      const failed = await promoteIn(rig, scene.rehearsed).catch((error: unknown) => error)
      expect(failed).toMatchObject({
        fault: {
          code: 'promote.busy',
          details: { paths: [at('changed')], processes: [process.pid] },
        },
      })
    } finally {
      closeSync(handle)
    }
    expectOldBut()
  })
})

describe('what was put in place is edited, and then everything should go back', () => {
  /** `changed` is new and edited; then `swap` collides. */
  async function collide(): Promise<Failed> {
    return promoteAgainst('take', 'before', 'swap', () => {
      writeFileSync(at('changed'), 'their edit of the new one')
      writeFileSync(at('swap/theirs'), 'x')
    })
  }

  it('waits for a human, and nothing else is promoted meanwhile', async () => {
    const failed = await collide()
    expect(failed).toEqual({ code: 'recovery.conflict', paths: [at('changed')] })
    expect(textOf('changed')).toBe('their edit of the new one')
    expect(await codeOf(promoteIn(rig, scene.rehearsed))).toBe('promote.unrecovered')
    expect(await recoverIn(rig)).toMatchObject([{ outcome: 'CONFLICT', paths: [at('changed')] }])
    expect(textOf('changed')).toBe('their edit of the new one')
  })

  it.each([
    ['held open', false],
    ['closed again', true],
  ])('a line that was written on the way back stays, %s', async (_, closes) => {
    let handle = -1
    const failed = await promoteAgainst(
      'take',
      'before',
      'swap',
      () => {
        handle = openSync(at('changed'), 'a')
        writeFileSync(at('swap/theirs'), 'x')
      },
      [
        'undo_take',
        () => {
          writeSync(handle, 'late')
          if (closes) closeSync(handle)
        },
      ],
    )
    if (!closes) closeSync(handle)
    expect(failed).toEqual({ code: 'recovery.conflict', paths: [at('changed')] })
    expect(textOf('changed').endsWith('late')).toBe(true)
    expect(await recoverIn(rig)).toMatchObject([{ outcome: 'CONFLICT', paths: [at('changed')] }])
  })

  it('old and new were written to: the old is back, the new is kept and named', async () => {
    let [old, fresh] = [-1, -1]
    const onPoint = (
      point: InterruptPoint,
      when: 'before' | 'after',
      path: RawPath | null,
    ): void => {
      if (point === 'take' && when === 'before' && path === at('changed')) {
        old = openSync(at('changed'), 'a')
      } else if (point === 'times' && fresh < 0) {
        fresh = openSync(at('changed'), 'a')
        writeSync(old, ' late')
        closeSync(old)
      } else if (point === 'undo_take' && when === 'after' && path === at('changed')) {
        writeSync(fresh, ' too')
        closeSync(fresh)
      }
    }
    const failed = promoteIn(rig, scene.rehearsed, { onPoint })
    const { fault } = await failed.then(
      () => expect.unreachable('it was promoted'),
      (error: { readonly fault: { readonly code: string; readonly hint: string } }) => error,
    )
    expect(fault.code).toBe('promote.conflict')
    expect(textOf('changed')).toBe('old changed late')
    const place = / is kept in (\S+)$/.exec(fault.hint)?.[1] ?? ''
    expect(readFileSync(place, 'utf8')).toBe('new changed too')
    expectOldBut('changed')
  })

  it.each([
    ['keep', 'their edit of the new one'],
    ['old', 'old changed'],
  ] as const)('the human says %s', async (choice, text) => {
    await collide()
    const resolve = (choices: ReadonlyMap<RawPath, 'keep' | 'old' | 'new'>) =>
      withWorkspaceLock(rig.tree, { waitMs: 1000 }, (lock) =>
        resolveRecovery({
          id: scene.rehearsed.actionId,
          lock,
          state: rig.state,
          direction: 'REVERTED',
          choices,
          ...recording(rig),
        }),
      )
    expect(await codeOf(resolve(new Map()))).toBe('recovery.conflict')
    await resolve(new Map([[at('changed') as RawPath, choice]]))
    expect(textOf('changed')).toBe(text)
    expectOldBut(...(choice === 'keep' ? ['changed'] : []), 'swap/theirs', 'swap')
    expect([...rig.facts.values()]).toMatchObject([{ status: 'REVERTED', recovered: true }])
  })
})
