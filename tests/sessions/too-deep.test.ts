/** A tree that is deeper than paths may be long: refused as a whole, and in the way of nothing. */
import { afterEach, beforeEach, expect, it } from 'vitest'
import { SessionPlace } from './session-place.ts'

let place: SessionPlace
beforeEach(() => {
  place = new SessionPlace('deep')
  place.commit({ 'a.txt': 'one\n' })
  place.init()
})
afterEach(() => place.remove())

const NAME = 'd'.repeat(100)
const DEEP = `for i in $(seq 60); do mkdir ${NAME} && cd ${NAME} || exit 1; done; echo leaf > leaf`

it('is refused in words and goes with a discard', { timeout: 120_000 }, () => {
  const script = `echo n > n; mkdir deep; cd deep; ${DEEP}`
  const { status, err } = place.writ(['run', '--', 'bash', '-c', script])
  expect(status, err).toBe(0)
  expect(err).toContain('deep: a path is longer than paths may be (diff.path_too_long)')
  expect(err).not.toContain('promote.ok')
  expect([place.has('n'), place.has('deep')]).toEqual([true, false])
  const [{ session_id: id }] = place.sessions()
  expect(place.writ(['session', 'settle']).out).toContain('nothing new to settle')
  const { pending } = place.writ(['session', 'show', '--json']).json
  expect(new Set(pending.map(({ why }: { why: string }) => why))).toEqual(new Set(['refused']))
  const again = place.writ(['run', '--resume', id, '--', 'sh', '-c', 'ls deep; echo m > m'])
  expect([again.status, again.out.trim(), place.has('m')], again.err).toEqual([0, NAME, true])
  expect(place.writ(['session', 'discard', id, 'deep']).status).toBe(0)
  expect([place.sessions(), place.has('deep')]).toEqual([[], false])
})
