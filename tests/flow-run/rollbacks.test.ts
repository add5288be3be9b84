/** A flow that takes its own work back again and again goes on without asking a person. */
import { expect, it } from 'vitest'
import { artifact, edge, enteredIn, eventsOf, flowOf, goal, worker } from './acceptance/scene.ts'
import type { RunPlace } from './place.ts'
import { placeEach } from './place-each.ts'
import { script, TOOL } from './scripts.ts'

let place: RunPlace

placeEach('rollbacks', (made) => {
  place = made
})

it('a fifth round is promoted like the first', { timeout: 120_000 }, async () => {
  place.write(
    'a.mjs',
    script(`${TOOL}mkdirSync('out', { recursive: true })
writeFileSync('out/round.txt', String(input.attempt))
${artifact("'round ' + input.attempt")}`),
  )
  const back = { class: 'Rollback' as const, guard_expr: 'state.attempt_count < 5' }
  const run = await place.run(
    flowOf(
      [worker('a', { max_attempts: 9 }), goal('z', 'P1')],
      [edge('a', 'z'), edge('z', 'a', back)],
    ),
  )
  expect([run.status, enteredIn(run.facts)]).toEqual([
    'DONE',
    ['a', 'z', 'a', 'z', 'a', 'z', 'a', 'z', 'a', 'z'],
  ])
  expect(place.read('out/round.txt')).toBe('5')
  expect(eventsOf(run.facts, 'fired').filter(({ edge_id }) => edge_id === 'z>a')).toHaveLength(4)
})
