/** The comparison at scale and under random declarations; single cases are in spec/vectors/gate. */
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { sizeOf } from '../../../tests/arbitrary/runs.ts'
import type { ActionDescriptor } from '../../contracts/index.ts'
import { DEFAULT_LISTS } from '../data/lists.ts'
import { FINDINGS_PER_CODE_MAX } from '../evidence/findings.ts'
import type { Change, EntryState } from '../evidence/manifest.ts'
import { rawOfText } from '../paths/raw-path.ts'
import { type ComparisonInput, compareEffects } from './comparison.ts'

const FILE: EntryState = {
  kind: 'file',
  mode: 0o644,
  size: 1,
  digest: null,
  target: null,
  attributes: [],
  owner: null,
  mtimeNs: '0',
  linkGroup: null,
}

type Effects = ActionDescriptor['effects']['filesystem']

function input(changes: readonly Change[], effects: Partial<Effects>): ComparisonInput {
  const filesystem = { create: [], modify: [], delete: [], ...effects }
  return {
    // Only what a comparison reads of it.
    descriptor: {
      scope: { filesystem: { paths: ['/w'], recursive: true } },
      effects: { filesystem },
    } as unknown as ActionDescriptor,
    changes,
    lists: DEFAULT_LISTS,
    host: {
      roots: [
        {
          declared: '/w',
          real: '/w',
          kind: 'directory',
          filesystem: 'ext4',
          read_only: false,
          mounts: [],
          device: '1',
          inode: '2',
        },
      ],
      real_paths: [],
      homes: [{ path: '/home/ann', own: true }],
      writ_places: ['/home/ann/.local/state/writ'],
    },
    isAmended: true,
    declaredByApproval: false,
    scriptsChanged: new Set(),
    pathDirectories: ['/usr/bin'],
  }
}

function many(count: number): readonly Change[] {
  return Array.from({ length: count }, (_, index) => ({
    path: rawOfText(
      `/w/node_modules/p${String(index >> 6).padStart(5, '0')}/lib/deep/er/f${String(index).padStart(7, '0')}.js`,
    ),
    before: null,
    after: FILE,
  }))
}

describe('at scale', () => {
  const count = sizeOf(50_000, 200_000)
  const changes = many(count)

  it('compares many changes', () => {
    const found = compareEffects(input(changes, { create: ['/w/node_modules/**'] }))
    expect(found.counts.added).toBe(count)
    expect(found.findings).toEqual([])
  })

  it('lists some findings of one code and counts the rest', () => {
    const { findings } = compareEffects(input(many(20_000), {}))
    expect(findings).toHaveLength(FINDINGS_PER_CODE_MAX + 1)
    expect(findings.at(-1)).toEqual({ code: 'effect.undeclared', detail: 'and 19800 more' })
  })

  it('is not held up by hostile patterns, and then declares nothing', () => {
    const create = Array.from({ length: 5_000 }, (_, index) => `/w/**/er/*f*${index}*x*.js`)
    const hook = { path: rawOfText('/w/.git/hooks/pre-push'), before: null, after: FILE }
    const found = compareEffects(input([hook, ...changes.slice(0, 20_000)], { create }))
    expect(found.effectsDeclared).toBe(false)
    // What is spent on the actor's patterns does not blind the host's own lists.
    expect(found.deferred).toEqual([hook])
  })
})

describe('in depth', () => {
  it('is not held up by directories two thousand deep', () => {
    const deep = `/w${'/a'.repeat(1_000)}${'/.git'.repeat(200)}`
    const changes = Array.from({ length: 1_000 }, (_, index) => ({
      path: rawOfText(`${deep}/f${String(index).padStart(4, '0')}`),
      before: null,
      after: FILE,
    }))
    const create = ['/w/**/a/**/a/**/a/**/b', '/w/**/.git/f*', '/w/**/a', '/w/**/a/.git']
    const literal = Array.from({ length: 200 }, (_, index) => `${deep}/${index}`)
    const found = compareEffects(input(changes, { create: [...create, ...literal] }))
    expect(found.effectsDeclared).toBe(true)
  })
})

const segment = fc.constantFrom('a', 'b', '.git', 'hooks', 'x.log', '__pycache__', '.envrc')
const path = fc
  .array(segment, { minLength: 1, maxLength: 3 })
  .map((names) => `/w/${names.join('/')}`)
const change = fc.tuple(path, fc.constantFrom('added', 'modified', 'deleted')).map(
  ([text, list]): Change => ({
    path: rawOfText(text),
    before: list === 'added' ? null : FILE,
    after: list === 'deleted' ? null : { ...FILE, mode: 0o600 },
  }),
)
const changeList = fc
  .uniqueArray(change, { selector: ({ path: one }) => one, maxLength: 12 })
  .map((list) => list.sort((one, other) => (one.path < other.path ? -1 : 1)))
const glob = fc.oneof(path, fc.constantFrom('/w/**', '/w/*', '/w/a/**', '/w/**/x.log'))
const effects = fc.record({
  create: fc.array(glob, { maxLength: 4 }),
  modify: fc.array(glob, { maxLength: 4 }),
  delete: fc.array(glob, { maxLength: 4 }),
})

describe('laws', () => {
  it('everything is either promoted or discarded, once', () => {
    fc.assert(
      fc.property(changeList, effects, (changes, declared) => {
        const { promoted, discarded } = compareEffects(input(changes, declared))
        const all = [...promoted, ...discarded].map(({ path: one }) => one).sort()
        expect(all).toEqual(changes.map(({ path: one }) => one).sort())
      }),
    )
  })

  it('declaring less never makes fewer effects undeclared', () => {
    fc.assert(
      fc.property(changeList, effects, effects, (changes, declared, more) => {
        const wide = {
          create: [...declared.create, ...more.create],
          modify: [...declared.modify, ...more.modify],
          delete: [...declared.delete, ...more.delete],
        }
        const narrow = compareEffects(input(changes, declared))
        if (narrow.effectsDeclared) return
        const undeclared = (list: ReturnType<typeof compareEffects>): readonly unknown[] =>
          list.findings.filter(({ code }) => code === 'effect.undeclared').map((one) => one.path)
        // What is declared in addition is kept instead of dropped, so only undeclared paths shrink.
        for (const one of undeclared(compareEffects(input(changes, wide)))) {
          expect(undeclared(narrow)).toContain(one)
        }
      }),
    )
  })

  it('never promotes an undeclared path without a finding', () => {
    fc.assert(
      fc.property(changeList, effects, (changes, declared) => {
        const { promoted, effectsDeclared } = compareEffects(input(changes, declared))
        const isEmpty = [...declared.create, ...declared.modify, ...declared.delete].length === 0
        if (isEmpty) expect(effectsDeclared).toBe(promoted.length === 0)
      }),
    )
  })

  it('same input, same answer', () => {
    fc.assert(
      fc.property(changeList, effects, (changes, declared) => {
        expect(compareEffects(input(changes, declared))).toEqual(
          compareEffects(input(changes, declared)),
        )
      }),
    )
  })
})

describe('a new directory that holds nothing but what no list keeps, by approval', () => {
  const DIRECTORY: EntryState = { ...FILE, kind: 'directory', mode: 0o755, size: 0 }
  const promoted = (...paths: readonly string[]): readonly string[] => {
    const changes = paths.map((path) => ({
      path: rawOfText(path.replace(/\/$/, '')),
      before: null,
      after: path.endsWith('/') ? DIRECTORY : FILE,
    }))
    const found = compareEffects({ ...input(changes, {}), declaredByApproval: true })
    return found.promoted.map(({ path }) => path)
  }

  it('is dropped where the list names it', () => {
    expect(
      promoted('/w/node_modules/', '/w/node_modules/.vite/', '/w/node_modules/.vite/x'),
    ).toEqual([])
  })

  it('is left to the person where it does not', () => {
    expect(promoted('/w/d/', '/w/d/__pycache__/', '/w/d/__pycache__/x.pyc')).toEqual(['/w/d'])
  })

  it('is kept with what is kept in it', () => {
    const kept = ['/w/node_modules/', '/w/node_modules/a/', '/w/node_modules/a/index.js']
    expect(promoted('/w/node_modules/', '/w/node_modules/.vite/', ...kept.slice(1))).toEqual(
      kept.map((path) => path.replace(/\/$/, '')),
    )
  })
})
