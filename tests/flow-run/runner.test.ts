/** Runs with real processes as participants, from their first fact to what is promoted. */
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { beforeEach, describe, expect, it } from 'vitest'
import type { Flow } from '../../src/contracts/index.ts'
import { type FlowFact, replayRun } from '../../src/flow/index.ts'
import { readRun } from '../../src/runs/run-records.ts'
import { resumeRun, startRun } from '../../src/runs/runs.ts'
import type { RunPlace } from './place.ts'
import { placeEach } from './place-each.ts'
import { compiledFlow, REVIEWER, script, smallFlow, TOOL, WORKER } from './scripts.ts'

let place: RunPlace

placeEach('runner', (made) => {
  place = made
})

beforeEach(() => {
  place.write('worker.mjs', WORKER)
  place.write('reviewer.mjs', REVIEWER)
})

function flow(more: Partial<Flow> = {}): Flow {
  const { edges, ...rest } = smallFlow()
  const loop = { edge_id: 'E3', source: 'review', target: 'draft', class: 'Loop' as const }
  const guard_expr = "state.validator_verdict == 'REJECT'"
  return { ...rest, edges: [...edges, { ...loop, guard_expr }], ...more }
}

const begin = (document = flow()) =>
  startRun(place.host(), {
    flow: compiledFlow(document),
    workspace: place.workspace,
    participantsDigest: null,
  })

describe('a run', () => {
  it('is rejected once, improves, is approved and promoted; the facts say all of it', async () => {
    const run = await begin()
    expect(run.status).toBe('DONE')
    expect(place.read('artifacts/draft/2/out.md')).toBe('by draft, attempt 2')
    expect(place.has('artifacts/draft/1/out.md')).toBe(false)
    expect(place.read('orchestration_log.md')).toContain('Phase P1 has ended')
    const { facts } = await readRun(place.ledger, 'main', run.runId)
    expect(facts.length).toBe(run.facts.length)
    expect(replayRun(run.flow, facts)).toBeNull()
    expect(await place.gate.attempts.held()).toEqual([])
  }, 60_000)

  it('that has ended is reported as it is', async () => {
    const run = await begin()
    const again = await resumeRun(place.host(), run.runId)
    expect([again.status, again.facts.length]).toEqual(['DONE', run.facts.length])
  }, 60_000)

  it('asks again for what is no answer, at most four times, and counts none of them', async () => {
    place.write(
      'worker.mjs',
      script(`${TOOL}if (!input.last_error || input.last_error.length === 0) console.log('hello')
else answer({ task_id: input.node.node_id, result_type: 'ARTIFACT', artifact: { name: 'out', format: 'md', content: 'attempt 2' } })`),
    )
    const run = await begin()
    expect(run.status).toBe('DONE')
    const outputs = run.facts.filter(({ type }) => type === 'participant_output_v1')
    expect(outputs.length).toBe(3)
    expect(run.state.totals.attempts).toBe(3)
  }, 60_000)

  it('that asks a program again lets it go on with what it had done', async () => {
    // The work is done once: a program that is asked again, for a valid answer, finds its files there.
    place.write(
      'worker.mjs',
      script(`const before = existsSync('made/log.txt') ? readFileSync('made/log.txt', 'utf8') : ''
if (before === '') {
  ${TOOL}
  mkdirSync('made')
}
const log = before + 'run ' + (input.last_error === undefined ? 'first' : 'again') + '\\n'
writeFileSync('made/log.txt', log)
if (log.split('again').length <= 2) console.log('{ no answer')
else answer({ task_id: input.node.node_id, result_type: 'ARTIFACT', artifact: { name: 'out', format: 'md', content: 'attempt 2' } })`),
    )
    const run = await begin()
    expect(run.status).toBe('DONE')
    expect(place.read('made/log.txt')).toBe('run first\nrun again\nrun again\n')
    expect([run.state.totals.toolCalls, run.state.totals.attempts]).toEqual([1, 3])
    expect(replayRun(run.flow, run.facts)).toBeNull()
    // On the record: each run of the worker, the one thing it asked for, and the reviewer.
    const type = 'proposal_v1'
    const found = await place.ledger.store.find({
      stream: 'main',
      type,
      order: 'oldest_first',
      limit: 50,
    })
    expect(found.facts.length).toBe(5)
    await place.gate.rollback({ actionId: promotedBy(run.facts) }, { dryRun: false })
    expect(existsSync(join(place.workspace, 'made'))).toBe(false)
  }, 60_000)
})

/** The act that a run promoted. */
function promotedBy(facts: readonly FlowFact[]): string {
  for (const { type, payload } of facts) {
    if (type !== 'flow_event_v1' || payload.kind !== 'event') continue
    if (payload.event.type === 'promoted') return payload.event.action_id ?? ''
  }
  return ''
}
