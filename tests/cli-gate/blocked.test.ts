/** A block that an actor's act earned is the actors': a person who gives the same command is asked. */
import { rmSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, it, vi } from 'vitest'
import { Place } from './place.ts'

vi.setConfig({ testTimeout: 120_000 })

let place: Place

beforeEach(() => {
  place = new Place('blocked', { runs: 'warm' }).init()
})
afterEach(() => place.remove())

const SCRIPT = 'echo a > a.txt; [ ! -e flag ] || echo b > b.txt'
const DECLARED = ['--write', 'a.txt']

it('an undeclared effect of an agent asks a person, also with `--yes`', () => {
  const token = place.token('ai:bot@local')
  place.write('flag')
  const tries = [1, 2].map(() => place.exec(DECLARED, SCRIPT, { token }))
  expect(tries.map(({ lastLine }) => lastLine)).toEqual([
    'writ: effect.undeclared',
    'writ: block.permanent',
  ])
  rmSync(join(place.project, 'flag'))
  expect(place.exec(DECLARED, SCRIPT, { token }).lastLine).toBe('writ: block.permanent')
  const ahead = place.exec([...DECLARED, '--yes'], SCRIPT)
  expect([ahead.status, ahead.lastLine], ahead.err).toEqual([75, 'writ: confirm.blocked'])
  expect(ahead.err).toContain('stays blocked for agents')
  expect(place.has('a.txt')).toBe(false)
  const seen = place.execAsPerson(DECLARED, SCRIPT, [{ expect: '? ' }, { send: 'y\n' }])
  expect([seen.failed, seen.status], seen.output).toEqual([null, 0])
  expect(place.text('a.txt')).toBe('a\n')
  // The yes was for one act: the actor's block is as it was.
  expect(place.exec(DECLARED, SCRIPT, { token }).lastLine).toBe('writ: block.permanent')
  const replayed = place.writ(['replay'])
  expect(replayed.status, replayed.err).toBe(0)
})
