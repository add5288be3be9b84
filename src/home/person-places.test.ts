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

it.each(['', '{"PATH":', '[]', 'null'])('refuses a list that reads %j', (text) => {
  writeFileSync(join(state, 'person-places.json'), text)
  expect(() => knownPlaces(state)).toThrow(/home\.malformed/)
})
