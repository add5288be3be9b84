/** Locks, room, filesystems, attributes: what is looked at before anything changes (G-19). */
import { spawnSync } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import {
  existsSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { FaultError, fault } from '../../src/base/index.ts'
import {
  directoriesInUse,
  dropPreimages,
  measureKeep,
  withWorkspaceLock,
} from '../../src/promotion/index.ts'
import { treeHash } from '../tree/tree-hash.ts'
import {
  codeOf,
  hasJournals,
  keepFor,
  makeRig,
  promoteIn,
  type Rig,
  recoverIn,
  rehearse,
  rollbackIn,
} from './rig.ts'

let rig: Rig
beforeEach(() => {
  rig = makeRig('guard')
})
afterEach(() => rig.remove())

const at = (name: string): string => join(rig.tree, name)

function tool(command: string, ...args: readonly string[]): void {
  const { status, stderr } = spawnSync(command, args, { encoding: 'utf8' })
  if (status !== 0) throw new Error(`${command}: ${stderr}`)
}

describe('the lock of the workspace', () => {
  it('is held by one at a time, and says by whom', async () => {
    await withWorkspaceLock(rig.tree, { waitMs: 0 }, async () => {
      const second = withWorkspaceLock(rig.tree, { waitMs: 0 }, async () => undefined)
      const failed = await second.catch((error: unknown) => error)
      expect(failed).toMatchObject({
        fault: { code: 'workspace.busy', details: { process: process.pid } },
      })
    })
    await withWorkspaceLock(rig.tree, { waitMs: 0 }, async () => undefined)
  })

  it('is waited for', async () => {
    const order: string[] = []
    let letGo = (): void => {}
    const first = withWorkspaceLock(rig.tree, { waitMs: 0 }, async () => {
      await new Promise<void>((resolve) => {
        letGo = resolve
      })
      order.push('first')
    })
    await new Promise((resolve) => setTimeout(resolve, 200))
    const second = withWorkspaceLock(rig.tree, { waitMs: 20_000 }, async () => {
      order.push('second')
    })
    setTimeout(letGo, 100)
    await Promise.all([first, second])
    expect(order).toEqual(['first', 'second'])
  })
})

describe("git's own lock", () => {
  beforeEach(() => {
    mkdirSync(at('.git'))
    writeFileSync(at('.git/index'), 'old')
  })

  it('is held while entries of a repository change', async () => {
    const rehearsed = await rehearse(rig, (root) => writeFileSync(join(root, '.git/index'), 'new'))
    const old = treeHash(rig.tree)
    let held = ''
    await promoteIn(rig, rehearsed, {
      onPoint: (point, moment) => {
        if (point !== 'put' || moment !== 'before') return
        held = readFileSync(at('.git/index.lock'), 'utf8')
      },
    })
    expect(held).toBe(`writ ${rehearsed.actionId}\n`)
    expect(readdirSync(at('.git'))).toEqual(['index'])
    await rollbackIn(rig, [rehearsed.actionId])
    expect(treeHash(rig.tree)).toBe(old)
  })

  it('stops a promotion when git has it', async () => {
    const rehearsed = await rehearse(rig, (root) => writeFileSync(join(root, '.git/index'), 'new'))
    writeFileSync(at('.git/index.lock'), '')
    expect(await codeOf(promoteIn(rig, rehearsed))).toBe('promote.busy')
    expect(readFileSync(at('.git/index'), 'utf8')).toBe('old')
    expect(existsSync(at('.git/index.lock'))).toBe(true)
    expect(hasJournals(rig)).toBe(false)
  })
})

describe('room and filesystems', () => {
  it('gives the reserve back when the ledger has no room for the record', async () => {
    writeFileSync(at('a'), 'old')
    const rehearsed = await rehearse(rig, (root) => writeFileSync(join(root, 'a'), 'new'))
    let calls = 0
    await promoteIn(rig, rehearsed, {
      record: async () => {
        calls++
        if (!existsSync(join(rig.state, 'reserve'))) return
        throw new FaultError(fault('ledger.disk_full', '', null))
      },
    })
    expect(calls).toBe(2)
    expect(readFileSync(at('a'), 'utf8')).toBe('new')
  })

  it('takes the room beforehand', async () => {
    writeFileSync(at('a'), 'old')
    const rehearsed = await rehearse(rig, (root) => writeFileSync(join(root, 'a'), 'new'))
    await promoteIn(rig, rehearsed)
    expect(lstatSync(join(rig.state, 'reserve')).blocks * 512).toBeGreaterThanOrEqual(1 << 20)
  })

  it('refuses to move between filesystems', async () => {
    writeFileSync(at('a'), 'old')
    const rehearsed = await rehearse(rig, (root) => writeFileSync(join(root, 'a'), 'new'))
    const elsewhere = mkdtempSync('/dev/shm/writ-promotion-')
    try {
      const keep = join(elsewhere, rehearsed.actionId)
      expect(await codeOf(promoteIn(rig, rehearsed, { keep }))).toBe('promote.unsupported_fs')
      expect(readFileSync(at('a'), 'utf8')).toBe('old')
    } finally {
      rmSync(elsewhere, { recursive: true })
    }
  })

  it('refuses a scope that is another directory than the rehearsed one', async () => {
    writeFileSync(at('a'), 'old')
    const rehearsed = await rehearse(rig, (root) => writeFileSync(join(root, 'a'), 'new'))
    const roots = [{ root: rig.tree, device: 1n, inode: 2n }]
    expect(await codeOf(promoteIn(rig, rehearsed, { roots }))).toBe('promote.conflict')
  })

  it('measures and drops pre-images', async () => {
    writeFileSync(at('a'), 'x'.repeat(10_000))
    const rehearsed = await rehearse(rig, (root) => rmSync(join(root, 'a')))
    await promoteIn(rig, rehearsed)
    const keep = keepFor(rig, rehearsed.actionId)
    expect(measureKeep(keep)).toBeGreaterThan(10_000)
    expect([dropPreimages(keep), dropPreimages(keep)]).toEqual([true, false])
    expect(await codeOf(rollbackIn(rig, [rehearsed.actionId]))).toBe('rollback.expired')
  })
})

describe('attributes', () => {
  it('that another process changed since are a conflict', async () => {
    writeFileSync(at('a'), 'old')
    const rehearsed = await rehearse(rig, (root) => writeFileSync(join(root, 'a'), 'new'))
    tool('setfattr', '-n', 'user.theirs', '-v', 'x', at('a'))
    expect(await codeOf(promoteIn(rig, rehearsed))).toBe('promote.conflict')
  })

  it('of a directory are set and taken back', async () => {
    mkdirSync(at('d'))
    tool('setfattr', '-n', 'user.old', '-v', 'x', at('d'))
    const old = treeHash(rig.tree)
    const rehearsed = await rehearse(rig, (root) => {
      tool('setfattr', '-x', 'user.old', join(root, 'd'))
      tool('setfattr', '-n', 'user.new', '-v', 'y', join(root, 'd'))
    })
    await promoteIn(rig, rehearsed)
    const { stdout } = spawnSync('getfattr', ['-d', '--absolute-names', at('d')], {
      encoding: 'utf8',
    })
    expect(stdout).toContain('user.new="y"')
    expect(stdout).not.toContain('user.old')
    await rollbackIn(rig, [rehearsed.actionId])
    expect(treeHash(rig.tree)).toBe(old)
  })
})

describe('the record', () => {
  it('that fails leaves the journal, and recovery records it', async () => {
    writeFileSync(at('a'), 'old')
    const rehearsed = await rehearse(rig, (root) => writeFileSync(join(root, 'a'), 'new'))
    const record = async (): Promise<void> => {
      throw new FaultError(fault('ledger.busy', '', { waitedMs: 1 }))
    }
    expect(await codeOf(promoteIn(rig, rehearsed, { record }))).toBe('ledger.busy')
    expect(hasJournals(rig)).toBe(true)
    expect([...directoriesInUse(rig.state)].sort()).toEqual(
      [keepFor(rig, rehearsed.actionId), rehearsed.stage].sort(),
    )
    expect(await codeOf(rollbackIn(rig, [randomUUID()]))).toBe('promote.unrecovered')
    expect(await recoverIn(rig)).toEqual([{ outcome: 'APPLIED', id: rehearsed.actionId }])
    expect([...rig.facts.values()]).toMatchObject([{ status: 'APPLIED', recovered: true }])
    expect(directoriesInUse(rig.state).size).toBe(0)
  })
})
