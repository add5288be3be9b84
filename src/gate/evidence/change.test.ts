/** Tests of changes: which lists they stand in, and what counts as one. */
import { describe, expect, it } from 'vitest'
import type { Digest } from '../../base/index.ts'
import { rawOfText } from '../paths/raw-path.ts'
import { type Change, changesSince, type EntryState, isSameState, listsOf } from './change.ts'

const digest = (digit: string): Digest => `sha256:${digit.repeat(64)}` as Digest

const file: EntryState = {
  kind: 'file',
  mode: 0o644,
  size: 1,
  digest: digest('a'),
  target: null,
  attributes: [],
  owner: null,
  mtimeNs: '1',
  linkGroup: null,
}
const other: EntryState = { ...file, digest: digest('b') }
const directory: EntryState = { ...file, kind: 'directory', size: 0, digest: null }

const change = (path: string, before: EntryState | null, after: EntryState | null): Change => ({
  path: rawOfText(path),
  before,
  after,
})

describe('a change', () => {
  it.each([
    ['an addition', null, file, ['added']],
    ['a deletion', file, null, ['deleted']],
    ['a modification', file, other, ['modified']],
    ['a replacement by another kind', directory, file, ['deleted', 'added']],
  ] as const)('%s is in its lists', (_, before, after, lists) => {
    expect(listsOf(change('/a', before, after))).toEqual(lists)
  })

  it.each([
    ['bytes', { digest: digest('b') }],
    ['mode', { mode: 0o600 }],
    ['kind', { kind: 'directory' }],
    ['target', { target: rawOfText('x') }],
    ['attributes', { attributes: [['user.a', '00']] }],
  ] as const)('is named by its %s', (_, part) => {
    expect(isSameState(file, { ...file, ...part } as EntryState)).toBe(false)
  })

  it('is named by its owner, if both are known', () => {
    const owned = { ...file, owner: { uid: 1, gid: 1 } }
    expect(isSameState(owned, { ...file, owner: { uid: 1, gid: 2 } })).toBe(false)
    expect(isSameState(owned, { ...file, owner: { uid: 2, gid: 1 } })).toBe(false)
    expect(isSameState(owned, file)).toBe(true)
  })

  it('is none when only times and link groups differ', () => {
    expect(isSameState(file, { ...file, mtimeNs: '2', linkGroup: 'x' })).toBe(true)
  })
})

describe('what a later rehearsal did', () => {
  it('is reported against what the earlier one left', () => {
    const earlier = [change('/a', null, file), change('/b', file, other), change('/d', file, null)]
    const now = [change('/a', null, other), change('/b', file, other), change('/c', null, file)]
    expect(changesSince(earlier, now)).toEqual([
      change('/a', file, other),
      change('/c', null, file),
      change('/d', null, file),
    ])
  })

  it('includes that something was put back as it was', () => {
    const earlier = [change('/a', file, other), change('/b', null, file)]
    expect(changesSince(earlier, [])).toEqual([change('/a', other, file), change('/b', file, null)])
  })

  it('is nothing when nothing happened', () => {
    const same = [change('/a', null, file)]
    expect(changesSince(same, same)).toEqual([])
  })
})
