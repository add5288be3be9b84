/**
 * Reviewers that start the work they judge as their child: what the work can do to the answer of its
 * reviewer, and what a reviewer leaves behind. Real processes in the real sandbox.
 */
import { expect, it } from 'vitest'
import {
  artifact,
  checker,
  edge,
  eventsOf,
  flowOf,
  goal,
  review,
  worker,
} from './acceptance/scene.ts'
import { findingsIn, type RunPlace } from './place.ts'
import { placeEach } from './place-each.ts'
import { script, TOOL } from './scripts.ts'

const TIMEOUT = { timeout: 90_000 }

let place: RunPlace

placeEach('children', (made) => {
  place = made
})

const flow = flowOf(
  [
    worker('a', { max_attempts: 1 }),
    checker('c', 'a', { reviewer: { command: ['node', 'agents/c.mjs'], runs_work: true } }),
    goal('b', 'P2'),
  ],
  [edge('a', 'c'), edge('c', 'b', { class: 'Gate' })],
)

/** Tries to open the output of its parent in every way, and prints how each ended. */
const ATTACK = `import { openSync, chmodSync, fchmodSync } from 'node:fs'
const output = '/proc/' + process.ppid + '/fd/1'
const attempts = [
  () => openSync(output, 'r'), () => openSync(output, 'w'), () => openSync(output, 'r+'),
  () => openSync(output, 'a'), () => chmodSync(output, 0o600),
]
console.log(attempts.map((work) => { try { work(); return 'done' } catch (error) { return error.code } }).join(' '))`

it('the work can neither take nor write the answer of its reviewer', TIMEOUT, async () => {
  const attack = JSON.stringify(ATTACK)
  place.write(
    'a.mjs',
    script(`${TOOL}mkdirSync('out'); writeFileSync('out/work.mjs', ${attack})\n${artifact("'w'")}`),
  )
  place.write(
    'agents/c.mjs',
    script(`import { spawnSync } from 'node:child_process'
const { stdout } = spawnSync('node', ['out/work.mjs'], { encoding: 'utf8' })
${review('95').replace("summary: 's'", 'summary: stdout')}`),
  )
  const run = await place.run(flow)
  expect([run.status, findingsIn(run)]).toEqual(['DONE', []])
  const said = run.facts.findLast(({ type }) => type === 'participant_output_v1')
  const [, summary = ''] = /\\?"summary\\?":\\?"([^"\\]*)/.exec(JSON.stringify(said?.payload)) ?? []
  expect(summary).toBe('EACCES EACCES EACCES EACCES EROFS')
})

it('a review counts only if nothing of its reviewer is left running', TIMEOUT, async () => {
  place.write('a.mjs', script(`${TOOL}${artifact("'w'")}`))
  place.write(
    'agents/c.mjs',
    script(`import { spawn } from 'node:child_process'
const isFirst = input.last_error === undefined
if (isFirst) spawn('sleep', ['60'], { detached: true, stdio: 'ignore' }).unref()
${review('isFirst ? 100 : 95')}`),
  )
  const run = await place.run(flow)
  expect(run.status).toBe('DONE')
  expect(eventsOf(run.facts, 'reviewed').map(({ score }) => score)).toEqual([95])
  expect(JSON.stringify(run.facts)).toContain('1 process was still running')
})
