/** What is set aside is what was rehearsed, by either way of carrying it. */

import { lstatSync, readdirSync, truncateSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import type { Overlay } from '../../tests/tree/overlay.ts'
import { isRoot, Rehearsed } from '../../tests/tree/rehearsed.ts'
import { listingDifferences, treeListing } from '../../tests/tree/tree-hash.ts'
import { FaultError } from '../base/index.ts'
import type { Change } from '../gate/index.ts'
import { captureChanges } from './capture.ts'
import { type Captured, readStage, stagedPath } from './stage.ts'

let rehearsed: Rehearsed
let folder: string
let root: string
let overlay: Overlay

beforeEach(() => {
  rehearsed = new Rehearsed('capture')
  ;({ folder, root } = rehearsed)
})

afterEach(() => rehearsed.remove())

async function rehearse(
  upper: 'memory' | 'disk',
  before: string,
  script: string,
): Promise<readonly Change[]> {
  const changes = await rehearsed.run(upper, before, script)
  overlay = rehearsed.overlay
  return changes
}

async function capture(changes: readonly Change[]): Promise<Captured> {
  const stage = join(folder, 'stage')
  await captureChanges(changes, [overlay.layer], stage, { isRoot })
  return readStage(stage)
}

const SCRIPT = `
mkdir -p new/deep/er new/empty; echo 1 > new/deep/er/1; ln new/deep/er/1 new/linked; ln -s /nowhere new/l
truncate -s 3M new/sparse; printf x | dd of=new/sparse bs=1 seek=1500000 conv=notrunc 2>/dev/null
setfattr -n user.note -v 0x00ff0a new/deep/er/1; setfattr -n user.d -v d new/deep
setfattr -n system.posix_acl_access -v 0x0200000001000600ffffffff04000400ffffffff10000600ffffffff20000400ffffffff new/sparse
printf n > "new/$(printf 'odd\\n\\\\ =\\377')"; printf n > "new/-rf"; : > new/none
echo more >> d/old; rm d/gone; chmod 751 d/mode; rm -r swap; mkdir swap; echo s > swap/s
touch -d '2001-02-03 04:05:06.123456789' d/old new/deep new/linked; touch -h -d '2001-01-01 00:00:00.5' new/l
touch -d '1969-12-31 23:59:58.25' d/mode
echo secret > new/closed; chmod 000 new/closed; mkdir new/shut; echo x > new/shut/x; chmod 300 new/shut
`
const FEW = `echo more >> d/old; touch -d '2001-02-03 04:05:06.123456789' d/old; chmod 751 d/mode
echo a > made; ln -s /nowhere link; ln made also; touch -h -d '1969-12-31 23:59:58.25' link
setfattr -n user.note -v 0x00ff0a made; echo c > cache
setfattr -n system.posix_acl_access -v 0x0200000001000600ffffffff04000400ffffffff10000600ffffffff20000400ffffffff made`
const BEFORE = 'mkdir d; echo old > d/old; echo gone > d/gone; echo m > d/mode; echo swap > swap'

describe.each(['memory', 'disk'] as const)('with the upper layer in %s', (upper) => {
  it('stages everything that can be put in place', async () => {
    const changes = await rehearse(upper, BEFORE, SCRIPT)
    const want = treeListing(overlay.layer.merged)
    const captured = await capture(changes)
    const units = captured.entries.filter(({ isUnit }) => isUnit)
    expect(units.map(({ path }) => path.slice(root.length))).toEqual([
      '/d/mode',
      '/d/old',
      '/new',
      '/swap',
    ])
    for (const entry of units) {
      const name = entry.path.slice(root.length + 1)
      const part = new Map(
        [...want]
          .filter(([one]) => one === name || one.startsWith(`${name}/`))
          .map(([one, line]) => [one.slice(name.length + 1), line.replace(`as ${name}/`, 'as ')]),
      )
      expect(listingDifferences(part, treeListing(stagedPath(captured, entry)))).toEqual([])
    }
  })

  it('stages a few plain files with all that belongs to them, and nothing else', async () => {
    const changes = await rehearse(upper, 'mkdir d; echo old > d/old; echo m > d/mode', FEW)
    const want = treeListing(overlay.layer.merged)
    const captured = await capture(changes.filter(({ path }) => !path.endsWith('/cache')))
    const names = captured.entries.map(({ path }) => path.slice(root.length + 1))
    expect(names).toEqual(['also', 'd/mode', 'd/old', 'link', 'made'])
    for (const [index, entry] of captured.entries.entries()) {
      // A listing of one name does not say that the file has another.
      const line = want.get(names[index] ?? '')?.replace('linked as also', '')
      const found = treeListing(stagedPath(captured, entry))
      expect(listingDifferences(new Map([['', line ?? '']]), found)).toEqual([])
    }
    const { stage } = captured
    expect(lstatSync(join(stage, 'u0')).ino).toBe(lstatSync(join(stage, 'u4')).ino)
    expect(readdirSync(stage).sort()).toEqual(['stage.jsonl', 'u0', 'u1', 'u2', 'u3', 'u4'])
  })

  it('leaves out what is not promoted', async () => {
    const changes = await rehearse(
      upper,
      '',
      'mkdir -p n/cache/x n/keep; echo a > n/a; echo b > n/cache/x/b; chmod 0 n/cache',
    )
    const kept = changes.filter(({ path }) => !path.includes('/cache'))
    const captured = await capture(kept)
    const staged = [...treeListing(join(captured.stage, 'u0')).keys()]
    expect(staged).toEqual(['', 'a', 'keep'])
    const [unit] = captured.entries
    expect(unit?.path).toBe(`${root}/n`)
  })

  it('names what lies in a unit by the unit, no matter what is sorted in between', async () => {
    const changes = await rehearse(upper, '', 'mkdir a; echo x > a/x; echo b > a-b')
    const captured = await capture(changes)
    expect(captured.entries.map(({ place }) => place)).toEqual(['u0', 'u1', 'u0/x'])
    expect(readdirSync(join(captured.stage, 'u0'))).toEqual(['x'])
  })

  it('stages nothing for a deletion or the mode of a directory', async () => {
    const changes = await rehearse(upper, 'mkdir d; echo a > d/a', 'rm d/a; chmod 700 d')
    expect(changes).toHaveLength(2)
    const captured = await capture(changes)
    expect(captured.entries).toEqual([])
    expect(readdirSync(captured.stage)).toEqual(['stage.jsonl'])
  })

  it('fails when the bytes are not the scanned ones', async () => {
    const changes = await rehearse(upper, 'echo a > a', 'echo b > a')
    writeFileSync(join(overlay.layer.upper, 'a'), 'c\n')
    const failed = await capture(changes).catch((error: unknown) => error)
    expect(failed).toBeInstanceOf(FaultError)
    expect((failed as FaultError).fault.code).toBe('stage.mismatch')
  })
})

it('fails with a fault when the stage cannot be made', async () => {
  const changes = await rehearse('memory', '', 'echo a > a')
  writeFileSync(join(folder, 'stage'), 'in the way')
  const failed = await capture(changes).catch((error: unknown) => error)
  expect(failed).toBeInstanceOf(FaultError)
  expect((failed as FaultError).fault.code).toBe('stage.tool')
})

it('reads no stage that is not whole', async () => {
  const changes = await rehearse('memory', '', 'echo a > a; echo b > b')
  const captured = await capture(changes)
  truncateSync(join(captured.stage, 'stage.jsonl'), 80)
  expect(() => readStage(captured.stage)).toThrow(FaultError)
  expect(() => readStage(join(folder, 'nowhere'))).toThrow(FaultError)
})
