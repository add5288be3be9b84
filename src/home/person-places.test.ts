/** The list of directories of persons: kept, joined, and refused when it is malformed. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { knownPlaces, rememberPlaces } from './person-places.ts'

let state: string

beforeEach(() => {
  state = mkdtempSync(join(tmpdir(), 'writ-places-'))
})

afterEach(() => rmSync(state, { recursive: true, force: true }))

it('keeps what each person named, absolute directories only', () => {
  expect(knownPlaces(state).PATH).toEqual([])
  rememberPlaces(state, { PATH: '/a/bin:relative:/usr/bin' })
  rememberPlaces(state, { PATH: '/b/bin:/usr/bin', XDG_CONFIG_HOME: '/c' })
  expect(knownPlaces(state)).toMatchObject({
    PATH: ['/a/bin', '/usr/bin', '/b/bin'],
    XDG_CONFIG_HOME: ['/c'],
  })
})

it('keeps the first ones, however many a later call names', () => {
  rememberPlaces(state, { PATH: '/home/ann/tools:/home/ann/bin' })
  const many = Array.from({ length: 3000 }, (_, index) => `/junk/${index}`)
  for (const from of [0, 1500]) {
    rememberPlaces(state, { PATH: many.slice(from, from + 1500).join(':') })
  }
  const { PATH } = knownPlaces(state)
  expect(PATH.slice(0, 2)).toEqual(['/home/ann/tools', '/home/ann/bin'])
  expect(PATH).toHaveLength(1024)
})

it('remembers no directory of the store of nix', () => {
  rememberPlaces(state, { PATH: '/nix/store/abc-git/bin:/a/bin' })
  expect(knownPlaces(state).PATH).toEqual(['/a/bin'])
})

it.each(['', '{"PATH":', '[]', 'null'])('refuses a list that reads %j', (text) => {
  writeFileSync(join(state, 'person-places.json'), text)
  expect(() => knownPlaces(state)).toThrow(/home\.malformed/)
})
