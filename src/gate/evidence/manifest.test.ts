/** Tests that a manifest reads back as it was written, for names of any bytes. */
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { type Digest, digestBytes } from '../../base/index.ts'
import { sandboxResult, validate } from '../../contracts/index.ts'
import { type RawPath, rawOfBytes, rawOfText } from '../paths/raw-path.ts'
import {
  type Attribute,
  type Change,
  changesSince,
  type EntryState,
  inlineDiff,
  isSameState,
  listsOf,
  manifestDigest,
  manifestLines,
  readManifest,
} from './manifest.ts'

const digest = (digit: string): Digest => `sha256:${digit.repeat(64)}` as Digest

const fileEntry: EntryState = {
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
const other: EntryState = { ...fileEntry, digest: digest('b') }
const directory: EntryState = { ...fileEntry, kind: 'directory', size: 0, digest: null }

const changeOf = (path: string, before: EntryState | null, after: EntryState | null): Change => ({
  path: rawOfText(path),
  before,
  after,
})

describe('a change', () => {
  it.each([
    ['an addition', null, fileEntry, ['added']],
    ['a deletion', fileEntry, null, ['deleted']],
    ['a modification', fileEntry, other, ['modified']],
    ['a replacement by another kind', directory, fileEntry, ['deleted', 'added']],
  ] as const)('%s is in its lists', (_, before, after, lists) => {
    expect(listsOf(changeOf('/a', before, after))).toEqual(lists)
  })

  it.each([
    ['bytes', { digest: digest('b') }],
    ['mode', { mode: 0o600 }],
    ['kind', { kind: 'directory' }],
    ['target', { target: rawOfText('x') }],
    ['attributes', { attributes: [['user.a', '00']] }],
  ] as const)('is named by its %s', (_, part) => {
    expect(isSameState(fileEntry, { ...fileEntry, ...part } as EntryState)).toBe(false)
  })

  it('is named by its owner, if both are known', () => {
    const owned = { ...fileEntry, owner: { uid: 1, gid: 1 } }
    expect(isSameState(owned, { ...fileEntry, owner: { uid: 1, gid: 2 } })).toBe(false)
    expect(isSameState(owned, { ...fileEntry, owner: { uid: 2, gid: 1 } })).toBe(false)
    expect(isSameState(owned, fileEntry)).toBe(true)
  })

  it('is none when only times and link groups differ', () => {
    expect(isSameState(fileEntry, { ...fileEntry, mtimeNs: '2', linkGroup: 'x' })).toBe(true)
  })
})

describe('what a later rehearsal did', () => {
  it('is reported against what the earlier one left', () => {
    const earlier = [
      changeOf('/a', null, fileEntry),
      changeOf('/b', fileEntry, other),
      changeOf('/d', fileEntry, null),
    ]
    const now = [
      changeOf('/a', null, other),
      changeOf('/b', fileEntry, other),
      changeOf('/c', null, fileEntry),
    ]
    expect(changesSince(earlier, now)).toEqual([
      changeOf('/a', fileEntry, other),
      changeOf('/c', null, fileEntry),
      changeOf('/d', null, fileEntry),
    ])
  })

  it('includes that something was put back as it was', () => {
    const earlier = [changeOf('/a', fileEntry, other), changeOf('/b', null, fileEntry)]
    expect(changesSince(earlier, [])).toEqual([
      changeOf('/a', other, fileEntry),
      changeOf('/b', fileEntry, null),
    ])
  })

  it('is nothing when nothing happened', () => {
    const same = [changeOf('/a', null, fileEntry)]
    expect(changesSince(same, same)).toEqual([])
  })
})

const name = fc
  .uint8Array({ minLength: 1, maxLength: 8 })
  .map((bytes) => bytes.map((byte) => (byte === 0 || byte === 0x2f ? 0x61 : byte)))
const path = fc.array(name, { minLength: 1, maxLength: 4 }).map((names): RawPath => {
  return names.map((bytes) => `/${rawOfBytes(bytes)}`).join('') as RawPath
})
const common = {
  mode: fc.integer({ min: 0, max: 0o7777 }),
  attributes: fc.array(fc.tuple(fc.string(), fc.constantFrom('00', 'ff01')), { maxLength: 2 }),
  owner: fc.option(fc.record({ uid: fc.nat(), gid: fc.nat() })),
  mtimeNs: fc.bigInt({ min: 0n, max: 10n ** 19n }).map(String),
  linkGroup: fc.option(fc.constantFrom('a', 'b')),
}
const state: fc.Arbitrary<EntryState> = fc.oneof(
  fc.record({
    ...common,
    kind: fc.constant('file' as const),
    size: fc.nat(),
    digest: fc.string().map((text): Digest => digestBytes(text.toWellFormed())),
    target: fc.constant(null),
  }),
  fc.record({
    ...common,
    kind: fc.constant('directory' as const),
    size: fc.constant(0),
    digest: fc.constant(null),
    target: fc.constant(null),
  }),
  fc.record({
    ...common,
    kind: fc.constant('symlink' as const),
    size: fc.constant(0),
    digest: fc.constant(null),
    target: path,
  }),
)
const wellFormed = ([attribute, hex]: Attribute): Attribute => [attribute.toWellFormed(), hex]
const change = fc
  .record({ path, before: fc.option(state), after: fc.option(state) })
  .map(({ before, after, ...rest }): Change => {
    const clean = (one: EntryState | null): EntryState | null =>
      one === null ? null : { ...one, attributes: one.attributes.map(wellFormed) }
    return { ...rest, before: clean(before), after: clean(after) }
  })

describe('manifest', () => {
  it('reads what it wrote', () => {
    fc.assert(
      fc.property(fc.array(change, { maxLength: 10 }), fc.boolean(), (changes, drops) => {
        const discarded = new Set(drops ? changes.slice(0, 2).map((one) => one.path) : [])
        const text = [...manifestLines(changes, discarded)].join('')
        const read = readManifest(text.split('\n'))
        expect(read?.changes).toEqual(changes)
        expect(read?.discarded).toEqual(discarded)
      }),
    )
  })

  it('has a digest of its bytes, also when empty', () => {
    expect(manifestDigest([])).toBe(digestBytes(''))
    const one = [{ path: rawOfText('/w/a'), before: null, after: null }]
    expect(manifestDigest(one)).toBe(digestBytes([...manifestLines(one)].join('')))
  })

  it('tells bytes that are no text in base64, next to a form for people', () => {
    const odd = { path: rawOfBytes(Uint8Array.of(0x2f, 0xff)), before: null, after: null }
    const [line = ''] = manifestLines([odd])
    expect(JSON.parse(line)).toMatchObject({ path: '/\ufffd', path_base64: 'L/8=' })
  })

  it.each([
    'no json',
    '[]',
    '{"path":"/a"}',
    '{"path":1,"before":null,"after":null}',
    '{"path":"/a","before":{"kind":"socket"},"after":null}',
    '{"path":"/a","before":{"kind":"file","mode":"9","size":0,"mtime_ns":"0"},"after":null}',
    '{"path":"/a","before":{"kind":"file","mode":"0644","size":0,"mtime_ns":"0","digest":"x"},"after":null}',
    '{"path":"/a","before":{"kind":"symlink","mode":"0777","size":0,"mtime_ns":"0"},"after":null}',
    '{"path":"/a","path_base64":"?","before":null,"after":null}',
  ])('refuses %s', (line) => {
    expect(readManifest([line])).toBe(null)
  })
})

function file(content: string): EntryState {
  return {
    kind: 'file',
    mode: 0o644,
    size: content.length,
    digest: digestBytes(content),
    target: null,
    attributes: [],
    owner: null,
    mtimeNs: '0',
    linkGroup: null,
  }
}

describe('the diff in a result', () => {
  const numbered = (count: number, prefix: string, make: (path: RawPath) => Change): Change[] =>
    Array.from({ length: count }, (_, index) => make(rawOfText(`/w/${prefix}${index}`)))

  it('lists deletions first, then modifications, then additions, 200 in all', () => {
    const changes = [
      ...numbered(150, 'a', (one) => ({ path: one, before: null, after: file('x') })),
      ...numbered(90, 'd', (one) => ({ path: one, before: file('x'), after: null })),
      ...numbered(60, 'm', (one) => ({ path: one, before: file('x'), after: file('y') })),
    ]
    const { added, modified, deleted } = inlineDiff(changes)
    expect([deleted.length, modified.length, added.length]).toEqual([90, 60, 50])
  })

  it('has entries of the form that the contract asks for', () => {
    const link: EntryState = {
      ...file(''),
      kind: 'symlink',
      digest: null,
      target: rawOfText('to'),
    }
    const directory: EntryState = { ...file(''), kind: 'directory', digest: null }
    const changes: Change[] = [
      { path: rawOfText('/w/a'), before: null, after: file('x') },
      { path: rawOfText('/w/b'), before: file('x'), after: file('y') },
      { path: rawOfText('/w/c'), before: file('x'), after: null },
      { path: rawOfText('/w/d'), before: directory, after: link },
      { path: rawOfBytes(Uint8Array.of(0x2f, 0x77, 0x2f, 0xff)), before: null, after: directory },
    ]
    const diff = inlineDiff(changes)
    const counts = {
      added: diff.added.length,
      modified: diff.modified.length,
      deleted: diff.deleted.length,
    }
    expect(counts).toEqual({ added: 3, modified: 1, deleted: 2 })
    const places = validate(sandboxResult, { diff: { ...diff, counts } }).violations
    expect(places.filter(({ path: place }) => place.startsWith('/diff/'))).toEqual([
      expect.objectContaining({ path: '/diff/bytes' }),
      expect.objectContaining({ path: '/diff/manifest' }),
    ])
  })
})
