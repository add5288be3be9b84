/**
 * A deadline and what a person says: the earlier one counts, also if no process looks before both have
 * passed, and what was promoted is on the record of the run.
 */
import { expect, it } from 'vitest'
import type { Flow } from '../../src/contracts/index.ts'
import { elementAt, stopsOf } from '../../src/flow/index.ts'
import { SYSTEM_CLOCK } from '../../src/machine/index.ts'
import { actsOf, cancelRun } from '../../src/runs/cancel-run.ts'
import type { FlowHost } from '../../src/runs/flow-host.ts'
import { passTimers } from '../../src/runs/pass-timers.ts'
import { answerOrder, askedOfPeople, verdictText } from '../../src/runs/person-answer.ts'
import { leaveOrder, lookAtRun, type WalkedRun } from '../../src/runs/runs.ts'
import { ANN, type RunPlace } from './place.ts'
import { placeEach } from './place-each.ts'
import { script, TOOL } from './scripts.ts'

let place: RunPlace

placeEach('deadlines', (made) => {
  place = made
})

const TIMEOUT = { timeout: 60_000 }
const DEADLINE = 300

const SENDER = script(`${TOOL}
writeFileSync(input.node.node_id + '.json', '1')
answer({ task_id: input.node.node_id, result_type: 'ARTIFACT',
  artifact: { name: 'out', format: 'md', content: 'sent' } })
`)

/** Each of these sends a file, which a person judges; one that is late leads to `late`. */
function flowOf(...names: readonly string[]): Flow {
  const part = { title: '', phase_id: 'P', actor: 'a', max_attempts: 2 }
  const executor = { command: ['node', 'sender.mjs'] }
  return {
    type: 'flow_v1',
    flow_id: 'deadlines',
    title: '',
    nodes: [
      ...names.flatMap((name) => [
        {
          ...part,
          node_id: name,
          kind: 'WORK' as const,
          executor,
          deadline: DEADLINE,
          writes: [`${name}.json`],
        },
        {
          ...part,
          node_id: `${name}-ok`,
          kind: 'CHECK' as const,
          target: name,
          reviewer: { human: true as const },
        },
      ]),
      { ...part, node_id: 'late', kind: 'WORK' as const },
    ],
    edges: names.flatMap((name) => [
      { edge_id: name, source: name, target: `${name}-ok`, class: 'Progress' as const },
      { edge_id: `${name} late`, source: name, target: 'late', class: 'Exception' as const },
    ]),
  }
}

/** The host as it is so many seconds from now. */
function after(seconds: number) {
  const nowMs = () => SYSTEM_CLOCK.nowMs() + seconds * 1000
  return { clock: { ...SYSTEM_CLOCK, nowMs } }
}

function approve(run: WalkedRun, nodeId: string, seconds: number): void {
  judge(run, nodeId, 'approve', seconds)
}

function judge(
  run: WalkedRun,
  nodeId: string,
  verdict: 'approve' | 'reject',
  seconds: number,
): void {
  const command = askedOfPeople(run).find(({ node_id }) => node_id === nodeId)
  if (command?.review === undefined || command.review === null) throw new Error('not asked')
  const text = verdictText(verdict, command.review, 'said')
  const given = { command, text, principal: ANN, nowMs: 0, namespace: ANN.namespace }
  leaveOrder(place.host(after(seconds)), run.runId, answerOrder(run, given))
}

it('the first answer counts and is shown; a second one is refused with it', TIMEOUT, async () => {
  place.write('sender.mjs', SENDER)
  const begun = await place.run(flowOf('early'))
  expect(begun.given).toEqual([])
  approve(begun, 'early-ok', 1)
  const run = await lookAtRun(place.host(), begun.runId)
  expect(run.given).toMatchObject([{ node_id: 'early-ok', word: 'approve' }])
  expect(stopsOf(run)).toMatchObject([
    {
      kind: 'answered',
      says: expect.stringMatching(/^human:ann@local answered `approve` at 2/),
      next: [`writ flow resume ${run.runId}`],
    },
  ])
  expect(() => judge(run, 'early-ok', 'reject', 2)).toThrow(
    /`early-ok` is answered: human:ann@local answered `approve` at \S+, and the first answer/,
  )
  expect((await place.resume(run.runId)).status).toBe('DONE')
  expect(place.has('early.json')).toBe(true)
})

function statusOf({ state, flow }: WalkedRun, nodeId: string): string {
  return elementAt(state.nodes, flow.nodeIndex.get(nodeId) ?? -1).status
}

it(
  'what comes first counts: an approval in time promotes, a late one does not',
  TIMEOUT,
  async () => {
    place.write('sender.mjs', SENDER)
    const begun = await place.run(flowOf('early', 'tardy'))
    expect(askedOfPeople(begun)).toHaveLength(2)
    approve(begun, 'early-ok', 1)
    approve(begun, 'tardy-ok', DEADLINE + 100)
    expect(await passTimers(place.host(after(DEADLINE + 200)), begun.runId)).toEqual([])
    const run = await place.resume(begun.runId, after(DEADLINE + 200))
    expect([run.status, statusOf(run, 'early'), statusOf(run, 'tardy')]).toEqual([
      'DONE',
      'done',
      'rejected',
    ])
    expect([place.has('early.json'), place.has('tardy.json')]).toEqual([true, false])
    expect([statusOf(run, 'late'), actsOf(run.facts)]).toEqual(['done', [expect.any(String)]])
  },
)

it(
  'a promotion that a process could not record is recorded before the run ends',
  TIMEOUT,
  async () => {
    place.write('sender.mjs', SENDER)
    const begun = await place.run(flowOf('early'))
    const { runId } = begun
    approve(begun, 'early-ok', 1)
    await expect(place.resume(runId, { attempts: dying() })).rejects.toThrow('died')
    expect(place.has('early.json')).toBe(true)
    const late = place.host(after(DEADLINE + 200))
    await passTimers(late, runId)
    expect(statusOf(await lookAtRun(late, runId), 'early')).toBe('promoting')
    const ended = await cancelRun(late, runId, 'human:ann@local', null)
    expect([ended.status, actsOf(ended.facts)]).toEqual(['CANCELLED', [expect.any(String)]])
  },
)

/** Attempts of a process that dies when it has promoted something. */
function dying(): FlowHost['attempts'] {
  const { attempts } = place.gate
  return {
    begin: (order) => attempts.begin(order),
    readStaged: (bases, path) => attempts.readStaged(bases, path),
    leftDigest: (id, path) => attempts.leftDigest(id, path),
    promotedBehind: (seq) => attempts.promotedBehind(seq),
    isPromoted: (id) => attempts.isPromoted(id),
    dropHeld: (id) => attempts.dropHeld(id),
    effects: (id) => attempts.effects(id),
    held: () => attempts.held(),
    promoteHeld: async (id, confirm) => {
      await attempts.promoteHeld(id, confirm)
      throw new Error('died')
    },
  }
}
