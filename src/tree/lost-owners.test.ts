/** Groups that a sandbox of one user does not know: kept where this user may, asked about where not. */
import { expect, it } from 'vitest'
import { type Change, type EntryState, rawOfText } from '../gate/index.ts'
import { TreeFindings } from './findings.ts'
import type { Pair } from './layer-walk.ts'
import { LostOwners } from './lost-owners.ts'

const IDS = { uid: 1000, gid: 1000, groups: new Set([1000, 50]) }
const OWN = [1000, 1000] as const
const GROUP = [1000, 50] as const
const OTHERS = [1000, 60] as const

interface Side {
  readonly owner: readonly [number, number]
  readonly content: string
  readonly time?: string
}

function state({ content, time = '1' }: Side): EntryState {
  const kind = content === 'directory' ? 'directory' : 'file'
  const digest = kind === 'file' ? (`sha256:${content}` as EntryState['digest']) : null
  const rest = { mode: 0o644, size: 1, target: null, attributes: [], owner: null, linkGroup: null }
  return { kind, digest, mtimeNs: time, ...rest }
}

/** Returns the owners that are restored, by path, and the paths that a person is asked about. */
function settled(sides: Record<string, readonly [Side | null, Side | null]>) {
  const owners = new LostOwners(IDS)
  const findings = new TreeFindings()
  const changes = Object.entries(sides).map(([name, [before, after]]): Change => {
    const path = rawOfText(name)
    const [uid, gid] = before?.owner ?? OWN
    // Nothing else of it is looked at.
    if (before !== null) owners.note({ path, before: { stats: { uid, gid } } } as unknown as Pair)
    return {
      path,
      before: before === null ? null : state(before),
      after: after === null ? null : state(after),
    }
  })
  const kept = owners.settle(changes, findings).flatMap(({ path, after }) => {
    const { uid, gid } = after?.owner ?? IDS
    return gid === IDS.gid ? [] : [`${path} ${uid}:${gid}`]
  })
  return { kept, asked: findings.list().map(({ code, path }) => `${code} ${path}`) }
}

it.each([
  [
    'a moved directory',
    {
      '/a': [{ owner: GROUP, content: 'directory' }, null],
      '/a/f': [{ owner: GROUP, content: 'x', time: '2' }, null],
      '/b': [null, { owner: OWN, content: 'directory' }],
      '/b/f': [null, { owner: OWN, content: 'x', time: '2' }],
    },
    ['/b 1000:50', '/b/f 1000:50'],
    [],
  ],
  [
    'a file that was moved and written',
    {
      '/a/f': [{ owner: GROUP, content: 'x' }, null],
      '/b/f': [null, { owner: OWN, content: 'y', time: '9' }],
    },
    ['/b/f 1000:50'],
    [],
  ],
  [
    'a replaced file',
    {
      '/f': [
        { owner: GROUP, content: 'x' },
        { owner: OWN, content: 'y', time: '9' },
      ],
    },
    ['/f 1000:50'],
    [],
  ],
  [
    'one of our own moved over it',
    {
      '/f': [
        { owner: GROUP, content: 'x' },
        { owner: OWN, content: 'y', time: '3' },
      ],
      '/g': [{ owner: OWN, content: 'y', time: '3' }, null],
    },
    [],
    [],
  ],
  [
    'a group of others, moved',
    {
      '/a/f': [{ owner: OTHERS, content: 'x' }, null],
      '/b/f': [null, { owner: OWN, content: 'x' }],
    },
    [],
    ['diff.owner_lost /b/f'],
  ],
  ['a deleted file', { '/f': [{ owner: OTHERS, content: 'x' }, null] }, [], []],
] as const)('%s', (_, sides, kept, asked) => {
  expect(settled(sides)).toEqual({ kept, asked })
})

it('what was there says whose it is, and what is created does not', () => {
  const owners = new LostOwners(IDS)
  const path = rawOfText('/f')
  const change = { path, before: state({ owner: OWN, content: 'x' }), after: null }
  const added = { path, before: null, after: change.before }
  const own = { uid: 1000, gid: 1000 }
  expect(owners.settle([change, added], new TreeFindings())).toMatchObject([
    { before: { owner: own }, after: null },
    { before: null, after: { owner: null } },
  ])
})
