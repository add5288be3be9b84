/** Copies that are made before anybody knows whether they are wanted: taken, or gone with their stage. */

import { existsSync, lstatSync, mkdirSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import type { Overlay } from '../../tests/tree/overlay.ts'
import { isRoot, Rehearsed } from '../../tests/tree/rehearsed.ts'
import { listingDifferences, treeListing } from '../../tests/tree/tree-hash.ts'
import type { FaultError } from '../base/index.ts'
import type { Change } from '../gate/index.ts'
import { captureChanges } from './capture.ts'
import { CopiesAhead } from './copies-ahead.ts'
import { readStage, stagedPath } from './stage.ts'

let rehearsed: Rehearsed
let root: string
let stage: string
let overlay: Overlay
let ahead: CopiesAhead | null

beforeEach(() => {
  rehearsed = new Rehearsed('ahead')
  ;({ root, stage } = rehearsed)
})

afterEach(() => rehearsed.remove())

/** Copying begins while the scan still goes on. */
async function rehearse(
  script: string,
  upper: 'memory' | 'disk' = 'memory',
): Promise<readonly Change[]> {
  const before = 'mkdir d; echo old > d/old; echo m > d/mode'
  const changes = await rehearsed.run(upper, before, script, {
    onWalked: (pairs) => {
      ahead = CopiesAhead.begin(pairs, [rehearsed.overlay.layer], stage)
    },
  })
  overlay = rehearsed.overlay
  return changes
}

async function capture(changes: readonly Change[], layers = [overlay.layer]) {
  if (ahead === null) throw new Error('nothing is copied ahead')
  await captureChanges(changes, layers, stage, { isRoot, ahead })
  return readStage(stage)
}

const FEW = `echo more >> d/old; touch -d '2001-02-03 04:05:06.123456789' d/old; chmod 751 d/mode
echo a > made; ln -s /nowhere link; ln made also; touch -h -d '1969-12-31 23:59:58.25' link; setfattr -n user.note -v 0x00ff0a made; echo c > cache
setfattr -n system.posix_acl_access -v 0x0200000001000600ffffffff04000400ffffffff10000600ffffffff20000400ffffffff made`

describe('copies that are made ahead', () => {
  it('are what is staged, with all that belongs to them, and nothing else is', async () => {
    const changes = await rehearse(FEW)
    const want = treeListing(overlay.layer.merged)
    const kept = changes.filter(({ path }) => !path.endsWith('/cache'))
    const captured = await capture(kept)
    await ahead?.end()
    expect(captured.entries.map(({ path }) => path.slice(root.length + 1))).toEqual([
      'also',
      'd/mode',
      'd/old',
      'link',
      'made',
    ])
    for (const entry of captured.entries) {
      // Names of one file are told of each other in a listing of both.
      const line = want.get(entry.path.slice(root.length + 1))?.replace('linked as also', '')
      const found = treeListing(stagedPath(captured, entry))
      expect(listingDifferences(new Map([['', line ?? '']]), found)).toEqual([])
    }
    const inodes = [0, 4].map((unit) => lstatSync(join(stage, `u${unit}`)).ino)
    expect(inodes[0]).toBe(inodes[1])
    expect(readdirSync(stage).sort()).toEqual(['stage.jsonl', 'u0', 'u1', 'u2', 'u3', 'u4'])
  })

  it('go with their stage when nobody takes them', async () => {
    await rehearse(FEW)
    await ahead?.end()
    expect(existsSync(stage)).toBe(false)
  })

  it('are made anew when others are wanted', async () => {
    const changes = await rehearse(FEW)
    const same = { ...overlay.layer }
    const captured = await capture(changes, [same])
    await ahead?.end()
    expect(captured.entries.length).toBe(6)
  })

  it('fail whoever stages when they could not be made', async () => {
    // The name of a file is taken there by a directory.
    mkdirSync(join(stage, '0', 'made'), { recursive: true })
    const changes = await rehearse(FEW)
    const failed = await capture(changes).catch((error: unknown) => error)
    await ahead?.end()
    expect((failed as FaultError).fault).toMatchObject({ code: 'stage.tool' })
  })

  it.each([
    ['directories', 'mkdir n; echo a > n/a'],
    ['much', 'head -c 1100000 /dev/zero > big'],
    ['many', 'for i in $(seq 70); do : > f$i; done'],
    ['odd names', `echo a > "$(printf 'odd\\377')"`],
    ['holes', 'truncate -s 9000 hole'],
    ['nothing', 'rm d/old'],
  ])('are not begun for %s', async (_, script) => {
    await rehearse(script)
    expect(ahead).toBeNull()
    expect(existsSync(stage)).toBe(false)
  })

  it('are not begun where the rehearsed files are moved', async () => {
    await rehearse(FEW, 'disk')
    expect(ahead).toBeNull()
  })
})
