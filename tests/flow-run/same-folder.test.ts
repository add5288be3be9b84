/** Two who work at once and make the same new folder: both become real, and each can be taken back. */
import { existsSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import type { FlowCommand, FlowFact } from '../../src/flow/index.ts'
import { leaveOrder } from '../../src/runs/runs.ts'
import { artifact, checker, edge, flowOf, worker } from './acceptance/scene.ts'
import type { RunPlace } from './place.ts'
import { placeEach } from './place-each.ts'
import { script, TOOL } from './scripts.ts'

let place: RunPlace

placeEach('folder', (made) => {
  place = made
})

/** Both are staged before a person says yes to either. */
function flow() {
  const reviewer = { human: 'ann' }
  const nodes = ['a', 'b'].flatMap((name) => [
    worker(name, { executor: { command: ['node', 'work.mjs', name] } }),
    checker(`check-${name}`, name, { reviewer }),
  ])
  return flowOf(nodes, [edge('a', 'check-a'), edge('b', 'check-b')])
}

function approve(runId: string, waiting: readonly FlowCommand[]): void {
  for (const command of waiting) {
    if (command.type !== 'run_participant' || command.review === null) continue
    const { review_id, artifact_digest } = command.review
    const text = JSON.stringify({ review_id, artifact_digest, total_score: 95 })
    const { node_id, command: number } = command
    const order = {
      kind: 'document' as const,
      node_id,
      command: number,
      text,
      principal: 'human:ann@local',
    }
    leaveOrder(place.host(), runId, order)
  }
}

function actOf(facts: readonly FlowFact[], nodeId: string): string {
  for (const { type, payload } of facts) {
    if (type !== 'flow_event_v1' || payload.kind !== 'event') continue
    const { event } = payload
    if (event.type === 'promoted' && event.node_id === nodeId) return event.action_id ?? ''
  }
  return ''
}

it('different files in it are no conflict, and a rollback leaves what the other made', async () => {
  place.write(
    'work.mjs',
    script(`${TOOL}const [, , name] = process.argv
mkdirSync('new/deep', { recursive: true })
writeFileSync('new/' + name + '.txt', name)
writeFileSync('new/deep/' + name + '.txt', name)
${artifact('name')}`),
  )
  const begun = await place.run(flow())
  expect([begun.status, begun.waiting.length]).toEqual(['WAITING', 2])
  approve(begun.runId, begun.waiting)
  const { status, facts } = await place.resume(begun.runId)
  expect(status).toBe('DONE')
  const names = () => readdirSync(join(place.workspace, 'new'), { recursive: true }).sort()
  expect(names()).toEqual(['a.txt', 'b.txt', 'deep', 'deep/a.txt', 'deep/b.txt'])
  const [first, second] = [actOf(facts, 'a'), actOf(facts, 'b')]
  const undo = (actionId: string) => place.gate.rollback({ actionId }, { dryRun: false })
  expect(await undo(first)).toMatchObject({ verified: true })
  expect(names()).toEqual(['b.txt', 'deep', 'deep/b.txt'])
  expect(await undo(second)).toMatchObject({ verified: true })
  expect(existsSync(join(place.workspace, 'new'))).toBe(false)
}, 60_000)

it('the same file of both is one: the second is refused, and nothing of it becomes real', async () => {
  place.write(
    'work.mjs',
    script(`${TOOL}const [, , name] = process.argv
mkdirSync('new')
writeFileSync('new/' + name + '.txt', name)
writeFileSync('new/same.txt', name)
${artifact('name')}`),
  )
  const begun = await place.run(flow())
  approve(begun.runId, begun.waiting)
  const { status, facts } = await place.resume(begun.runId)
  expect(status).toBe('BLOCKED')
  const winner = place.read('new/same.txt')
  expect(readdirSync(join(place.workspace, 'new')).sort()).toEqual([`${winner}.txt`, 'same.txt'])
  expect(
    facts.some(({ payload }) => 'code' in payload && payload.code === 'flow.promotion_refused'),
  ).toBe(true)
}, 60_000)

it('one that ends while the other still works is no interference: both succeed at once', async () => {
  place.write(
    'work.mjs',
    script(`${TOOL}const [, , name, ms] = process.argv
mkdirSync('new/deep', { recursive: true })
writeFileSync('new/deep/' + name + '.txt', name)
Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, Number(ms))
${artifact('name')}`),
  )
  const one = (name: string, ms: string) =>
    worker(name, { executor: { command: ['node', 'work.mjs', name, ms] }, max_attempts: 1 })
  const { status, facts } = await place.run(flowOf([one('a', '0'), one('b', '4000')], []))
  const order = facts.flatMap(({ type, payload }) =>
    type === 'flow_event_v1' && payload.kind === 'event' && 'node_id' in payload.event
      ? [`${payload.event.type} ${payload.event.node_id}`]
      : [],
  )
  expect(order.indexOf('promoted a')).toBeLessThan(order.indexOf('attempt_ended b'))
  expect(status).toBe('DONE')
  expect(readdirSync(join(place.workspace, 'new/deep')).sort()).toEqual(['a.txt', 'b.txt'])
}, 60_000)

it('what was there before, and was emptied, is still a conflict', async () => {
  place.write('old/kept.txt', 'kept')
  place.write(
    'work.mjs',
    script(`import { rmSync } from 'node:fs'
${TOOL}const [, , name, ms] = process.argv
if (name === 'b') rmSync('old', { recursive: true })
mkdirSync('old', { recursive: true })
writeFileSync('old/' + name + '.txt', name)
Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, Number(ms))
${artifact('name')}`),
  )
  const one = (name: string, ms: string) =>
    worker(name, { executor: { command: ['node', 'work.mjs', name, ms] }, max_attempts: 1 })
  const { status } = await place.run(flowOf([one('a', '0'), one('b', '4000')], []))
  expect(status).not.toBe('DONE')
  expect(readdirSync(join(place.workspace, 'old')).sort()).toEqual(['a.txt', 'kept.txt'])
}, 60_000)
