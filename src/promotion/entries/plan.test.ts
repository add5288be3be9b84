/** Plans: which changes go together, and that the other way round is the way back. */
import { describe, expect, it } from 'vitest'
import type { Change, EntryKind, EntryState, RawPath } from '../../gate/index.ts'
import { netChanges, type PlanPlaces, planReverse, planSteps } from './plan.ts'

function state(kind: EntryKind, mode = 0o755): EntryState {
  return {
    kind,
    mode,
    size: 0,
    digest: null,
    target: null,
    attributes: [],
    owner: null,
    mtimeNs: '0',
    linkGroup: null,
  }
}

const FILE = state('file')
const DIRECTORY = state('directory')

function change(path: string, before: EntryState | null, after: EntryState | null): Change {
  return { path: path as RawPath, before, after }
}

function stagedAt(...paths: readonly string[]): PlanPlaces {
  return new Map(
    paths.map((path, index) => [path as RawPath, { place: `/s/u${index}`, unit: 'tree' as const }]),
  )
}

/** A step as a line: what is taken, what is put, and how many changes go along. */
function lines(changes: readonly Change[], staged: PlanPlaces = new Map()): string[] {
  return planSteps(changes, staged, '/k/').steps.map(
    ({ path, take, put, changes: own }) =>
      `${path} ${take ?? '-'} ${put ?? '-'} ${own.map((each) => each.path).join(',')}`,
  )
}

describe('planSteps', () => {
  it.each([
    ['a new file', [change('/a', null, FILE)], ['/a'], ['/a - /s/u0 /a']],
    ['a replaced file', [change('/a', FILE, FILE)], ['/a'], ['/a /k/0 /s/u0 /a']],
    ['a deleted file', [change('/a', FILE, null)], [], ['/a /k/0 - /a']],
    [
      'a new tree is one step',
      [change('/d', null, DIRECTORY), change('/d/a', null, FILE)],
      ['/d'],
      ['/d - /s/u0 /d,/d/a'],
    ],
    [
      'a deleted tree is one step, whatever sorts in between',
      [change('/d', DIRECTORY, null), change('/d-x', FILE, null), change('/d/a', FILE, null)],
      [],
      ['/d /k/0 - /d,/d/a', '/d-x /k/1 - /d-x'],
    ],
    [
      'a directory becomes a file',
      [change('/d', DIRECTORY, FILE), change('/d/a', FILE, null)],
      ['/d'],
      ['/d /k/0 /s/u0 /d,/d/a'],
    ],
    [
      'a file becomes a directory',
      [change('/d', FILE, DIRECTORY), change('/d/a', null, FILE)],
      ['/d'],
      ['/d /k/0 /s/u0 /d,/d/a'],
    ],
    [
      'a directory that stays is changed in place, what is in it by itself',
      [change('/d', DIRECTORY, state('directory', 0o700)), change('/d/a', FILE, null)],
      [],
      ['/d - - /d', '/d/a /k/1 - /d/a'],
    ],
  ] as const)('%s', (_, changes, staged, want) => {
    expect(lines(changes, stagedAt(...staged))).toEqual(want)
  })

  it('names what nothing was staged for', () => {
    expect(planSteps([change('/a', null, FILE)], new Map(), '/k/').unstaged).toEqual(['/a'])
  })
})

describe('planReverse', () => {
  it('takes what came and puts back what was taken', () => {
    const changes = [
      change('/d', DIRECTORY, FILE),
      change('/d/a', FILE, null),
      change('/n', null, DIRECTORY),
      change('/n/b', null, FILE),
    ]
    const { steps } = planSteps(changes, stagedAt('/d', '/n'), '/k/')
    const { steps: back, unstaged } = planReverse(steps, '/r/')
    expect(back.map(({ path, take, put }) => [path, take, put])).toEqual([
      ['/d', '/r/0', '/k/0'],
      ['/n', '/r/1', null],
    ])
    expect(unstaged).toEqual([])
    expect(netChanges([steps, back])).toEqual([])
  })
})
