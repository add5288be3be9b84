/**
 * `kill -9` between the first byte in the state directory and the first change of the tree: the
 * directory for pre-images is made, its plan written, the journal made, filled and synced. In each
 * case older acts can be undone, a recorded approval is finished, and no file is left behind.
 */
import { readdirSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { dying } from './dying.ts'
import { type Json, Place } from './place.ts'

/**
 * The call that the process does not live to make. A kill before a sync leaves the files that the kill
 * before the next row leaves, so those two rows run in `npm run soak died-early` only.
 */
const MOMENTS = [
  ['the plan is made', 'openSync /plan\\.jsonl$'],
  ['the plan has bytes', 'writeSync /plan\\.jsonl$'],
  ['the plan is synced', 'fsyncSync /plan\\.jsonl$'],
  ['the journal is made', 'openSync \\.journal$'],
  ['the journal has bytes', 'writeSync \\.journal$'],
  ['the journal is synced', 'fsyncSync \\.journal$'],
  ['the first file is displaced', 'renameSync /preimages/[^/]+/'],
] as const
const isWhole = process.env['WRIT_DIED_EARLY'] === 'whole'
const SLICE = MOMENTS.filter(([, at]) => isWhole || !at.startsWith('fsyncSync'))

let place: Place

/** Makes a home with one promoted act. */
function begin(): void {
  place = new Place('early', { runs: 'warm' }).init()
  place.write('f', 'one\n')
  expect(declared('echo two > f').status).toBe(0)
}

function declared(script: string, dieAt?: string) {
  const around = dieAt === undefined ? {} : { env: dying(dieAt) }
  return place.writ(['exec', '--write', '.', '--', 'sh', '-c', script], around)
}

function facts(type: string): Json[] {
  const { facts: found } = place.writ(['log', '--type', type, '--json']).json
  return found.map((fact: Json) => fact.record.payload)
}

function stateFolder(): string {
  const [home = ''] = readdirSync(join(place.folder, 'state', 'writ')).filter((name) =>
    /^[0-9a-f-]{36}$/.test(name),
  )
  return join(place.folder, 'state', 'writ', home)
}

/** Names of journals and of directories with pre-images. */
function remains(): readonly string[] {
  const state = stateFolder()
  return [join(state, 'journal'), join(state, 'stage', 'preimages')].flatMap((folder) =>
    readdirSync(folder),
  )
}

/** Undoes every promoted act, newest first, and checks that nothing is left of them. */
function undoAll(acts: number): void {
  for (let act = 0; act < acts; act++) {
    const undone = place.writ(['undo'])
    expect(undone.status, undone.err).toBe(0)
  }
  expect([place.text('f'), place.has('g')]).toEqual(['one\n', false])
  expect(place.writ(['recover']).out).toMatch(/^nothing to recover/)
  expect(remains()).toEqual([])
}

/** Undoes the newest act; the one of the beginning is kept, and nothing else. */
function undoNewest(kept: readonly string[]): void {
  const undone = place.writ(['undo'])
  expect(undone.status, undone.err).toBe(0)
  expect([place.text('f'), place.has('g')]).toEqual(['two\n', false])
  expect(place.writ(['recover']).out).toMatch(/^nothing to recover/)
  expect(remains()).toEqual(kept)
}

describe.each(SLICE)('killed before %s', (_, at) => {
  beforeAll(begin, 120_000)
  afterAll(() => place.remove())

  it('a declared act is carried out by recover, once, and a killed undo can be tried again', () => {
    const kept = remains()
    expect(declared('echo three > f; echo n > g', at).status).toBe(null)
    expect([place.text('f'), place.has('g')]).toEqual(['two\n', false])
    expect(place.writ(['log']).out).toMatch(/ promoted .*\n.* (unfinished|interrupted) /)
    expect(place.writ(['recover']).out).toMatch(/promoted .* begun before, interrupted/)
    expect([place.text('f'), place.has('g')]).toEqual(['three\n', true])
    expect(facts('promotion_v1').map(({ status }) => status)).toEqual(['APPLIED', 'APPLIED'])
    // Its undo dies too, and can be tried again without recover.
    expect(place.writ(['undo'], { env: dying(at) }).status).toBe(null)
    expect([place.text('f'), place.has('g')]).toEqual(['three\n', true])
    undoNewest(kept)
  }, 120_000)

  it('a yes is carried out by recover, once, and every act can be undone', () => {
    const before = facts('promotion_v1').length
    expect(place.exec([], 'echo three > f; echo n > g').status).toBe(75)
    const { id } = place.pending()[0]
    expect(place.writ(['approve', id, '--yes'], { env: dying(at) }).status).toBe(null)
    expect([place.text('f'), place.has('g')]).toEqual(['two\n', false])
    expect(place.writ(['recover']).out).toMatch(/promoted .* approved before, interrupted/)
    expect([place.text('f'), place.has('g')]).toEqual(['three\n', true])
    const statuses = facts('promotion_v1').map(({ status }) => status)
    expect(statuses.slice(before)).toEqual(['APPLIED'])
    undoAll(2)
  }, 120_000)
})

/** Another program writes to a staged file, so that its act cannot be finished. */
function alterStaged(): void {
  const stages = join(stateFolder(), 'stage')
  const [stage = ''] = readdirSync(stages).filter((name) => /^[0-9a-f-]{36}$/.test(name))
  writeFileSync(join(stages, stage, 'u1'), 'of another program')
}

describe('a declared act whose files recovery puts back', () => {
  beforeEach(begin, 120_000)
  afterEach(() => place.remove())

  it('is printed by recover, and not tried again', () => {
    const at = 'linkSync /stage/[^/]+/u0$'
    expect(declared('echo three > f; echo n > g', at).status).toBe(null)
    alterStaged()
    const told = place.writ(['recover']).out
    expect(told.match(/not promoted/g)).toHaveLength(1)
    expect(told).toMatch(/begun before and interrupted.*promote\.interrupted/)
    expect(facts('promotion_v1').map(({ status }) => status)).toEqual(['APPLIED', 'REVERTED'])
    expect(facts('decision_v1').map(({ decision }) => decision)).toEqual(['PROMOTE', 'PROMOTE'])
    expect(place.text('f')).toBe('two\n')
    undoAll(1)
  }, 120_000)
})

describe('a yes whose files recovery puts back', () => {
  beforeEach(begin, 120_000)
  afterEach(() => place.remove())

  it('is printed by recover', () => {
    expect(place.exec([], 'echo three > f; echo n > g').status).toBe(75)
    const { id } = place.pending()[0]
    const env = dying('linkSync /stage/[^/]+/u0$')
    expect(place.writ(['approve', id, '--yes'], { env }).status).toBe(null)
    expect(place.has('f')).toBe(false)
    alterStaged()
    const told = place.writ(['recover']).out
    expect(told).toMatch(/^not promoted .* approved before and interrupted/)
    expect(place.writ(['log']).out).toMatch(/ put back /)
    undoAll(1)
  }, 120_000)
})

describe('what a process left that died early', () => {
  beforeEach(begin, 120_000)
  afterEach(() => place.remove())

  it.each(['recover', 'gc'])(
    'is removed by %s',
    (command) => {
      expect(declared('echo three > f; echo n > g').status).toBe(0)
      const before = remains()
      place.writ(['undo'], { env: dying('writeSync \\.journal$') })
      expect(remains()).toHaveLength(before.length + 2)
      const swept = place.writ([command])
      expect(swept.status, swept.err).toBe(0)
      expect(remains()).toEqual(before)
    },
    120_000,
  )

  it('is not an act whose times were not kept', () => {
    expect(declared('echo new > g').status).toBe(0)
    const kept = remains()
    for (const id of kept) {
      rmSync(join(stateFolder(), 'stage', 'preimages', id, 'after.json'))
    }
    expect(place.writ(['recover']).status).toBe(0)
    expect(remains()).toEqual(kept)
    undoAll(2)
  }, 120_000)
})
