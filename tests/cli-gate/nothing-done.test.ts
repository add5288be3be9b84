/** Commands that had nothing to do say so, and what changed nothing does not read as done. */
import { rmSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { Place } from './place.ts'

let place: Place
beforeEach(() => {
  place = new Place('nothing', { runs: 'warm' }).init()
})
afterEach(() => place.remove())

it('log of a new home says that there is nothing yet', () => {
  expect(place.writ(['log']).out).toMatch(/^nothing yet: `writ exec/)
  expect(place.writ(['log', '--action', '12345678']).out).toBe('nothing matches\n')
})

it('lifting what is denied or waits records nothing', () => {
  expect(place.exec([], 'echo 1 > f').status).toBe(75)
  const [{ id, action_id }] = place.pending()
  const lift = ['override', '--lift', action_id, '--reason', 'x']
  expect(place.writ(lift).out).toMatch(/^nothing to lift: /)
  expect(place.writ(['deny', id]).status).toBe(0)
  expect(place.writ([...lift, '--json']).json).toEqual({ ok: true, lifted: false })
  expect(place.writ(['log', '--type', 'override_v1', '--json']).json.facts).toEqual([])
})

it('lifting the cooldown of an act that was taken back is recorded', () => {
  expect(place.exec(['--yes'], 'echo 1 > f').status).toBe(0)
  const { action_id } = place.writ(['undo', '--json']).json
  expect(place.writ(['override', '--lift', action_id, '--reason', 'x']).out).toBe('recorded\n')
})

it('undo of a file that is gone already says that nothing was to restore', () => {
  expect(place.exec(['--yes'], 'echo 1 > f').status).toBe(0)
  rmSync(join(place.project, 'f'))
  const undone = place.writ(['undo'])
  expect([undone.status, undone.out]).toEqual([
    0,
    expect.stringMatching(/^taken back .* nothing to restore: every path is already as it was/),
  ])
})

it('a command that failed without effects is failed in the log, not blocked', () => {
  expect(place.exec([], 'exit 3').status).toBe(3)
  const { out } = place.writ(['log'])
  expect(out).toMatch(/ failed /)
  expect(out).not.toContain('blocked')
})

it('a no at the prompt reads as declined first, and ends with the code', () => {
  const seen = place.execAsPerson([], 'echo 1 > f', [{ expect: 'show all] ' }, { send: 'n\n' }])
  expect(seen.failed).toBe(null)
  expect(seen.output).toContain('Declined. Nothing was changed.')
  expect(seen.output.trimEnd()).toMatch(/\nwrit: confirm\.descriptor$/)
  expect(place.has('f')).toBe(false)
})
