/**
 * What a command does through writ is what it does plainly, on random trees of many owners, groups and
 * hard links: by root, and by an ordinary user with one more group than their own.
 *
 * `WRIT_FAITHFUL_ROUNDS` and `WRIT_SEED` make the soak out of the slice; the seed is in the name.
 */
import { execFileSync } from 'node:child_process'
import { afterAll, describe, expect, it, vi } from 'vitest'
import { ORDINARY_UID } from '../tree/users.ts'
import { type Account, FAILED_INSIDE, faithfulRound, type Round } from './faithful-rounds.ts'
import { Place } from './place.ts'

const ROUNDS = Number(process.env['WRIT_FAITHFUL_ROUNDS'] ?? 10)
const SEED = Number(process.env['WRIT_SEED'] ?? 20261116)
const GROUP = ORDINARY_UID + 1

vi.setConfig({ testTimeout: 3_600_000 })

const ROOT: Account = { through: [], owners: ['0:0', '1234:2345', '1234:0', '0:2345'], gives: true }
const ORDINARY: Account = {
  through: [
    ...['setpriv', '--reuid', `${ORDINARY_UID}`, '--regid', `${ORDINARY_UID}`],
    ...['--groups', `${ORDINARY_UID},${GROUP}`, '--inh-caps=-all', '--'],
  ],
  owners: [`${ORDINARY_UID}:${ORDINARY_UID}`, `${ORDINARY_UID}:${GROUP}`],
  // A sandbox of one user knows one group.
  gives: false,
}

/**
 * Replaces a file of the second group, and moves one by a copy: few of the random programs do, and a
 * rename of such a file fails inside.
 */
const GROUPS = {
  build: `mkdir a; for f in 0 1 2; do echo $f > a/f$f; done
    chown ${ORDINARY_UID}:${GROUP} a/f0 a/f1`,
  change: 'sed -i s/1/one/ a/f1 && cp -p a/f0 m && rm a/f0 && echo more >> a/f2 && echo done',
}

/** The rounds, with a line for each that is wrong. */
function rounds(place: Place, account: Account): { all: Round[]; wrong: string[] } {
  const all = Array.from({ length: ROUNDS }, (_, index) =>
    faithfulRound(place, SEED + index, account),
  )
  const wrong = all.flatMap(({ program, wrong }, index) =>
    wrong.length === 0 ? [] : [`seed ${SEED + index}\n${program}\n${wrong.join('\n')}`],
  )
  return { all, wrong }
}

describe(`${ROUNDS} trees, seed ${SEED}`, () => {
  const places: Place[] = []
  afterAll(() => {
    for (const place of places) place.remove()
  })

  it('by root', () => {
    const place = new Place('faithful').init()
    places.push(place)
    const { all, wrong } = rounds(place, ROOT)
    expect(wrong).toEqual([])
    // Root is refused nothing inside, and most programs ask nothing more.
    expect(all.filter(({ told }) => told.includes(FAILED_INSIDE))).toEqual([])
    expect(all.filter(({ told }) => told.length === 0).length).toBeGreaterThan(ROUNDS / 3)
  })

  it('by an ordinary user', () => {
    const place = new Place('faithful-user')
    places.push(place)
    place.copyProgram()
    execFileSync('chown', ['-R', `${ORDINARY_UID}:${ORDINARY_UID}`, place.folder])
    const around = { through: ORDINARY.through, isWarm: true }
    expect(place.writ(['init', '--name', 'ann', '--no-pass'], around).status).toBe(0)
    expect(faithfulRound(place, SEED - 1, ORDINARY, GROUPS)).toMatchObject({ told: [], wrong: [] })
    const { all, wrong } = rounds(place, ORDINARY)
    expect(wrong).toEqual([])
    expect(all.filter(({ told }) => told.length === 0).length).toBeGreaterThan(ROUNDS / 3)
  })
})
