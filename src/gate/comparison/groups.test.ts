/** What a person takes of an act: exactly what they named, with all that cannot be divided from it. */
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { Change, EntryState } from '../evidence/manifest.ts'
import { displayOfRaw, rawOfText } from '../paths/raw-path.ts'
import { takenPart } from './groups.ts'

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

function change(path: string, before: EntryState | null, after: EntryState | null): Change {
  return { path: rawOfText(path), before, after }
}

function taken(changes: readonly Change[], ...only: readonly string[]): readonly string[] {
  return [...takenPart(changes, only).taken].map(displayOfRaw).sort()
}

describe('a part of an act', () => {
  it('takes a directory with everything below it, and globs', () => {
    const changes = ['/w/a/b', '/w/a/c', '/w/ab', '/w/d.txt'].map((path) =>
      change(path, null, FILE),
    )
    expect(taken(changes, '/w/a')).toEqual(['/w/a/b', '/w/a/c'])
    expect(taken(changes, '/w/*.txt')).toEqual(['/w/d.txt'])
    expect(takenPart(changes, ['/w/a', '/w/none']).unmatched).toEqual(['/w/none'])
  })

  it('takes new parents, and what the deletion of a directory needs, and nothing for a mode', () => {
    const changes = [
      change('/w/gone', FOLDER, null),
      change('/w/gone/x', FILE, null),
      change('/w/gone/y', FILE, null),
      change('/w/mode', FOLDER, { ...FOLDER, mode: 0o700 }),
      change('/w/mode/in', FILE, FILE),
      change('/w/new', null, FOLDER),
      change('/w/new/deep', null, FOLDER),
      change('/w/new/deep/f', null, FILE),
      change('/w/new/other', null, FILE),
    ]
    expect(taken(changes, '/w/new/deep/f')).toEqual(['/w/new', '/w/new/deep', '/w/new/deep/f'])
    expect(taken(changes, '/w/gone/x')).toEqual(['/w/gone/x'])
    expect(taken(changes, '/w/gon*')).toEqual(['/w/gone', '/w/gone/x', '/w/gone/y'])
    expect(taken(changes, '/w/mode/in')).toEqual(['/w/mode/in'])
  })

  it('takes databases with their journals, and one .git whole', () => {
    const changes = [
      '/w/.git/HEAD',
      '/w/.git/index',
      '/w/s.db',
      '/w/s.db-journal',
      '/w/s.db-x',
    ].map((path) => change(path, FILE, FILE))
    expect(taken(changes, '/w/s.db')).toEqual(['/w/s.db', '/w/s.db-journal'])
    expect(taken(changes, '/w/.git/HEAD')).toEqual(['/w/.git/HEAD', '/w/.git/index'])
  })

  it('holds what was named, is closed, and is the same when it is named as a whole', () => {
    const path = fc
      .array(fc.constantFrom('a', 'b.db', 'b.db-wal', '.git', 'go.mod', 'go.sum', 'd'), {
        minLength: 1,
        maxLength: 4,
      })
      .map((names) => `/w/${names.join('/')}`)
    const state = fc.constantFrom(null, FILE, FOLDER, { ...FILE, linkGroup: 'g' })
    const all = fc
      .uniqueArray(fc.record({ path, before: state, after: state }), {
        selector: (one) => one.path,
        maxLength: 14,
      })
      .map((rows) => rows.map((row) => change(row.path, row.before, row.after)))
      .map((rows) => rows.sort((one, other) => (one.path < other.path ? -1 : 1)))
    fc.assert(
      fc.property(all, fc.nat(), (changes, at) => {
        const one = changes[at % Math.max(1, changes.length)]
        if (one === undefined) return
        const part = taken(changes, displayOfRaw(one.path))
        expect(part).toContain(displayOfRaw(one.path))
        const inPart = changes.filter((each) => part.includes(displayOfRaw(each.path)))
        // Of itself the part takes nothing more: it is whole.
        for (const each of inPart) {
          for (const needed of taken(changes, displayOfRaw(each.path)).filter(
            (other) => !other.startsWith(`${displayOfRaw(each.path)}/`),
          )) {
            expect(part).toContain(needed)
          }
        }
      }),
    )
  })
})
