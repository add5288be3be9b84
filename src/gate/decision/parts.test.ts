/** Pending changes of a session, split by what would become of them. */
import { describe, expect, it } from 'vitest'
import type { Change, EntryState } from '../evidence/manifest.ts'
import { displayOfRaw, rawOfText } from '../paths/raw-path.ts'
import { pendingParts } from './parts.ts'

const FILE: EntryState = {
  kind: 'file',
  mode: 0o644,
  size: 3,
  digest: null,
  target: null,
  attributes: [],
  owner: null,
  mtimeNs: '0',
  linkGroup: null,
}
const FOLDER: EntryState = { ...FILE, kind: 'directory', size: 0 }
const digest = (letter: string) => `sha256:${letter.repeat(64)}` as never // Of the form of one.

function change(path: string, before: EntryState | null, after: EntryState | null): Change {
  return { path: rawOfText(path), before, after }
}

function parts(changes: readonly Change[], findings: readonly { code: string; path?: string }[]) {
  // Codes of the page.
  const split = pendingParts(changes, findings as never)
  return Object.fromEntries(
    Object.entries(split).map(([kind, list]) => [kind, list.map(({ path }) => displayOfRaw(path))]),
  )
}

describe('parts of what is pending', () => {
  it('keeps groups together, in the part of their worst change', () => {
    const changes = [
      change('/w/.git/HEAD', FILE, FILE),
      change('/w/.git/index', FILE, FILE),
      change('/w/free.txt', null, FILE),
      change('/w/package-lock.json', FILE, FILE),
      change('/w/package.json', FILE, FILE),
    ]
    const findings = [
      { code: 'effect.deferred_execution', path: '/w/package.json' },
      { code: 'effect.git_forged', path: '/w/.git/HEAD' },
    ]
    expect(parts(changes, findings)).toEqual({
      granted: ['/w/free.txt'],
      asked: ['/w/package-lock.json', '/w/package.json'],
      blocked: ['/w/.git/HEAD', '/w/.git/index'],
    })
  })

  it('keeps both names of a rename, and hard links', () => {
    const [one, other] = [digest('a'), digest('b')]
    const changes = [
      change('/w/link1', FILE, { ...FILE, linkGroup: 'g' }),
      change('/w/link2', FILE, { ...FILE, linkGroup: 'g' }),
      change('/w/new', null, { ...FILE, digest: one }),
      change('/w/old', { ...FILE, digest: one }, null),
      change('/w/other', null, { ...FILE, digest: other }),
    ]
    const findings = [
      { code: 'effect.ungranted', path: '/w/old' },
      { code: 'effect.ungranted', path: '/w/link2' },
    ]
    expect(parts(changes, findings)).toEqual({
      granted: ['/w/other'],
      asked: ['/w/link1', '/w/link2', '/w/new', '/w/old'],
      blocked: [],
    })
  })

  it('lets a new directory wait for none of its entries, and its entries for it', () => {
    const changes = [
      change('/w/d', null, FOLDER),
      change('/w/d/asked', null, FILE),
      change('/w/d/free', null, FILE),
      change('/w/gone', FOLDER, null),
      change('/w/gone/kept', FILE, null),
      change('/w/x', null, FOLDER),
      change('/w/x/in', null, FILE),
    ]
    const findings = [
      { code: 'effect.ungranted', path: '/w/d/asked' },
      { code: 'effect.ungranted', path: '/w/gone/kept' },
      { code: 'effect.out_of_scope', path: '/w/x' },
    ]
    expect(parts(changes, findings)).toEqual({
      granted: ['/w/d', '/w/d/free'],
      asked: ['/w/d/asked', '/w/gone', '/w/gone/kept'],
      blocked: ['/w/x', '/w/x/in'],
    })
  })

  it('takes a finding about all of them for all of them', () => {
    const changes = [change('/w/a', null, FILE), change('/w/b', null, FILE)]
    expect(parts(changes, [{ code: 'effect.ungranted', path: '/w' }])).toEqual({
      granted: [],
      asked: ['/w/a', '/w/b'],
      blocked: [],
    })
    expect(parts(changes, [{ code: 'effect.not_observed', path: '/w/c' }]).granted).toHaveLength(2)
  })
})
