/** Requirements of plans: no participant runs before what is required is there. */
import { beforeEach, expect, it } from 'vitest'
import type { Flow, FlowRequirement } from '../../src/contracts/index.ts'
import { leaveOrder, resumeRun, startRun } from '../../src/runs/runs.ts'
import type { RunPlace } from './place.ts'
import { placeEach } from './place-each.ts'
import { compiledFlow, WORKER } from './scripts.ts'

let place: RunPlace

placeEach('requirements', (made) => {
  place = made
})

beforeEach(() => {
  place.write('worker.mjs', WORKER)
})

const FILE: FlowRequirement = {
  name: 'survey',
  kind: 'FILE',
  source: 'USER',
  required: true,
  min_count: 2,
  allowed_types: ['csv'],
}

function flow(requirements: FlowRequirement[]): Flow {
  const executor = { command: ['node', 'worker.mjs'] }
  const node = { node_id: 'a', kind: 'WORK', title: '', phase_id: 'P', actor: 'w' } as const
  const nodes = [{ ...node, executor, max_attempts: 1, requirements }]
  return { type: 'flow_v1', flow_id: 'f', title: '', nodes, edges: [] }
}

async function begin(requirements: FlowRequirement[]) {
  const order = { workspace: place.workspace, participantsDigest: null }
  return startRun(place.host(), { flow: compiledFlow(flow(requirements)), ...order })
}

function provided(runId: string, command: number): void {
  const answer = { kind: 'answer', node_id: 'a', answer: 'provided', principal: 'ann' } as const
  leaveOrder(place.host(), runId, { ...answer, command })
}

it('files are counted by type; the wait says where to put them', async () => {
  place.write('inputs/survey/one.csv', '1')
  place.write('inputs/survey/notes.txt', '1')
  const run = await begin([FILE])
  expect(run.status).toBe('WAITING')
  const [command] = run.waiting
  expect(command).toMatchObject({
    type: 'ask_human',
    needs: [{ name: 'survey', accepted_types: ['csv'], suggested_path: 'inputs/survey' }],
  })
  provided(run.runId, command?.command ?? 0)
  expect((await resumeRun(place.host(), run.runId)).status).toBe('WAITING')
  place.write('inputs/survey/two.CSV', '1')
  provided(run.runId, (await resumeRun(place.host(), run.runId)).waiting[0]?.command ?? 0)
  const done = await resumeRun(place.host(), run.runId)
  expect([done.status, done.state.totals.toolCalls]).toEqual(['DONE', 1])
}, 60_000)

it('a confirmation is a human’s word; what is not required is not asked for', async () => {
  const word: FlowRequirement = { ...FILE, name: 'go', kind: 'CONFIRMATION', min_count: 1 }
  const run = await begin([word, { ...FILE, required: false }])
  expect([run.status, run.waiting.length]).toEqual(['WAITING', 1])
  provided(run.runId, run.waiting[0]?.command ?? 0)
  expect((await resumeRun(place.host(), run.runId)).status).toBe('DONE')
}, 60_000)

it('evidence that was left before its person answered for the node is not taken', async () => {
  const word: FlowRequirement = { ...FILE, name: 'go', kind: 'CONFIRMATION', min_count: 1 }
  const claim = {
    claim_id: 'C',
    node_id: 'a',
    actor: 'a',
    trust_level: 'external_unverified',
    text: 'so',
    evidence_ids: [],
    verification_status: 'pending',
  }
  const order = { workspace: place.workspace, participantsDigest: null }
  const claimed = compiledFlow({ ...flow([word]), claims: [claim] } as Flow)
  const run = await startRun(place.host(), { flow: claimed, ...order })
  provided(run.runId, run.waiting[0]?.command ?? 0)
  const bring = (actor: string) => {
    const evidence = {
      evidence_id: actor,
      claim_id: 'C',
      actor,
      digest: `sha256:${'a'.repeat(64)}`,
    }
    const kept = { ...evidence, supports: true }
    leaveOrder(place.host(), run.runId, { kind: 'evidence', evidence: kept, principal: actor })
  }
  bring('ann')
  bring('bob')
  const { facts } = await resumeRun(place.host(), run.runId)
  const taken = facts.flatMap(({ type, payload }) =>
    type === 'flow_evidence_v1' ? [payload.evidence.actor] : [],
  )
  expect(taken).toEqual(['bob'])
}, 60_000)
