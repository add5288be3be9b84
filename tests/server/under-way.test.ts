/**
 * Routes about something that is under way: a session, a run that waits for a person, a promotion that was
 * killed, a witness, a device. Each is called for real and answers well (H-2).
 */
import { execFileSync } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { afterAll, beforeAll, expect, it, vi } from 'vitest'
import { type Client, ProblemError } from '../../src/api/index.ts'
import { dying } from '../cli-gate/dying.ts'
import type { Json } from '../cli-gate/place.ts'
import { RECEIPT, TASK } from '../cli-history/rig.ts'
import { artifact, checker, edge, flowOf, goal, worker } from '../flow-run/acceptance/scene.ts'
import { script, TOOL } from '../flow-run/scripts.ts'
import { AGENT, RunningAgent } from '../sessions/session-place.ts'
import { PASSPHRASE, ServicePlace } from './service-place.ts'

vi.setConfig({ testTimeout: 240_000 })

let place: ServicePlace
let asBot: Client
let asAnn: Client
let asPump: Client
const proof = { passphrase: PASSPHRASE }
const value = async (call: Promise<{ readonly value: unknown }>): Promise<Json> =>
  (await call).value

beforeAll(async () => {
  place = new ServicePlace('under-way')
  const [bot, pump] = [place.tokenOf('ai:bot@local'), place.tokenOf('device:pump-3@farm')]
  const ann = place.anotherToken('human:ann@local')
  await place.serve()
  asBot = place.client(bot)
  asAnn = place.client(ann)
  asPump = place.client(pump)
}, 240_000)

afterAll(async () => {
  await place.end()
  place.remove()
})

/** Tries until the service has walked so far. */
async function eventually<T>(call: () => Promise<T>): Promise<T> {
  for (let look = 0; ; look++) {
    try {
      return await call()
    } catch (thrown) {
      if (!(thrown instanceof ProblemError) || look > 60) throw thrown
      await pause(1_000)
    }
  }
}

async function start(flow: unknown): Promise<Json> {
  return value(asAnn.startRun({ body: { flow, proof }, wait: 60 } as Json))
}

it('a session is shown, discarded from, extended, settled and stopped', async () => {
  execFileSync('git', ['init', '-q'], { cwd: place.project })
  const words = ['run', '--time', '1h', '--settle', 'never', '--', 'bash', '-c', AGENT]
  const agent = new RunningAgent(place.start(words))
  await agent.does('echo one > one.txt; echo two > two.txt')
  const [{ session_id: id }] = (await value(asAnn.listSessions({}))).sessions
  const params = { id }
  const one = join(place.project, 'one.txt')
  const { pending } = await value(asAnn.showSession({ params }))
  expect(pending.map(({ path }: Json) => path).sort()).toEqual([
    one,
    join(place.project, 'two.txt'),
  ])
  expect(await value(asAnn.diffSession({ params }))).toContain('+one')
  const body = { paths: [one], proof }
  const { discarded } = await value(asAnn.discardSession({ params, body }))
  expect(JSON.stringify(discarded)).toContain('one.txt')
  const longer = await value(asAnn.extendSession({ params, body: { time: '1h', proof } }))
  expect(Date.parse(longer.until) - Date.now()).toBeGreaterThan(5_400_000)
  await asAnn.settleSession({ params, body: { proof } })
  expect([place.has('one.txt'), place.has('two.txt')]).toEqual([false, true])
  const stopped = await value(asAnn.stopSession({ params, body: { proof } }))
  expect(stopped.stopped).toBe(true)
  await agent.exited
})

it('what a person granted with `always` is revoked', async () => {
  place.write('docs/one.txt', 'mine\n')
  const agent = new RunningAgent(place.start(['run', '--', 'bash', '-c', AGENT]))
  await agent.does('echo theirs > docs/one.txt')
  await agent.hears('1 changed wait for an answer')
  const seen = place.person(
    ['approve', place.pending().at(-1).id],
    [
      { expect: '(always: ' },
      { send: 'always\r' },
      { expect: '[y/N] ' },
      { send: 'y\r' },
      { expect: 'assphrase' },
      { send: `${PASSPHRASE}\r` },
    ],
  )
  expect([seen.failed, place.text('docs/one.txt')], seen.output).toEqual([null, 'theirs\n'])
  // The service closed the connection while the person typed; the client hears of it now.
  await pause(200)
  const [{ grant_id: id }] = (await value(asAnn.listGrants({}))).grants
  await asAnn.revokeGrant({ params: { id }, body: { proof } })
  expect((await value(asAnn.listGrants({}))).grants).toEqual([])
  await agent.ends()
})

it('a person rejects and approves work, brings evidence, and unblocks', async () => {
  const claims = "claims: [{ claim_id: 'it-works', trust_level: 'external_unverified' }]"
  const made = artifact("'draft ' + input.attempt").replace(/ \}\)\n$/, `, ${claims} })\n`)
  place.write('a.mjs', script(`${TOOL}${made}`))
  const judged = checker('c', 'a', { reviewer: { human: true } })
  const nodes = [worker('a'), judged, goal('z', 'P2')]
  const { run_id: id, status } = await start(flowOf(nodes, [edge('a', 'c'), edge('c', 'z')]))
  expect(status).toBe('WAITING')
  const params = { id, node: 'c' }
  const evidence = { claim: 'it-works', id: 'seen', file: 'it ran', proof }
  await asAnn.bringEvidence({ params: { run: id }, body: evidence } as Json)
  await asAnn.rejectNode({ params, body: { comment: 'once more', proof } })
  await eventually(() => asAnn.approveNode({ params, body: { proof } }))
  const slow = worker('a', { minimum_duration: 3600, max_attempts: 1 })
  const blocked = await start(flowOf([slow, goal('b', 'P2')], [edge('a', 'b')]))
  expect(blocked.status).toBe('BLOCKED')
  const at = { id: blocked.run_id, node: 'a' }
  await asAnn.answerNode({ params: at, body: { word: 'unblock', proof } })
})

it('a planner plans', async () => {
  place.write(
    'planner.mjs',
    script(`answer({ plan: { title: input.goal, root_task_id: 'root' }, tasks: [
  { id: 'root', type: 'goal', name: input.goal },
  { id: 'do', type: 'action', name: 'do it', owner: 'maker' }], links: [] })`),
  )
  place.write(
    'judge.mjs',
    script(`answer({ review_id: input.review_id, artifact_digest: input.artifact_digest,
  total_score: 95, action_required: 'APPROVE', summary: 's', breakdown: [], suggestions: [] })`),
  )
  const participants = `type: participants_v1
participants:
  maker: { command: [node, maker.mjs] }
  judge: { command: [node, judge.mjs] }
  planner: { command: [node, planner.mjs] }
reviewer: judge
planner: planner
`
  const body = { goal: 'a word counter', participants, out: 'plan.json', proof }
  expect(await value(asAnn.makePlan({ body, wait: 60 } as Json))).toMatchObject({ approved: true })
  expect(place.has('plan.json')).toBe(true)
})

it('a pinned witness cosigns', async () => {
  const dir = join(place.folder, 'witness')
  const key = place.writ(['witness', 'init', 'w.example/1', '--dir', dir]).out.trim()
  const [log = ''] = place.writ(['ledger', 'key']).out.split('\n')
  place.writ(['witness', 'add-log', log, '--streams', '--dir', dir])
  const words = ['witness', 'serve', '--json', '--dir', dir, '--listen', '127.0.0.1:0']
  const witness = place.start(words)
  const [line] = await once(witness.stdout ?? witness, 'data')
  const { url } = JSON.parse(String(line))
  await asAnn.pinWitness({ body: { url, key, proof } })
  const { cosigned, failures } = await value(asAnn.anchorLedger({ body: {} }))
  expect([cosigned.length > 0, failures]).toEqual([true, []])
  witness.kill()
})

it('a device sends the receipt of a task', async () => {
  const task = { ...TASK, issuer: { kind: 'human', id: 'ann', namespace: 'local' } }
  const { act_task_id } = await value(asAnn.issueTask({ body: { task, proof } } as Json))
  const receipt = { ...RECEIPT, act_task_id }
  expect(await value(asPump.submitReceipt({ body: { receipt } }))).toHaveProperty('fact_id')
})

it('a question shows a path as it is and as it would be', async () => {
  const body = place.proposal('.env', 'KEY=1')
  await asBot.proposeAction({ query: {}, body, wait: 60 } as Json)
  const { questions } = await value(asAnn.listQuestions({ query: {} }))
  const [{ id }] = questions
  const query = { path: join(place.project, '.env') }
  const shown = await value(asAnn.showChange({ params: { id }, query }))
  expect(JSON.stringify(shown.after)).toContain('KEY=1')
})

it('an interrupted promotion is ended as a human chooses', async () => {
  await place.end()
  const files = [...Array(10).keys()].map((each) => `f${each}`)
  const env = dying('linkSync /stage/[^/]+/u5$')
  const made = `for i in ${files.join(' ')}; do echo new > $i; done`
  expect(place.exec(['--write', '.'], made, { env }).status).toBe(null)
  const path = place.write(files.find((name) => !place.has(name)) ?? '', 'foreign\n')
  await place.serve()
  const asAnnAgain = place.client(place.anotherToken('human:ann@local'))
  const { waiting } = await value(asAnnAgain.listRecoveries({ body: { proof } }))
  const params = { id: waiting[0].id }
  const body = { revert: true, keep: [path], proof }
  expect(await value(asAnnAgain.recover({ params, body } as Json))).toHaveProperty('resolved')
  expect(files.filter((name) => place.has(name))).toHaveLength(1)
})

it('each of them answered well, as it is described', () => {
  const called = `showSession diffSession discardSession extendSession settleSession stopSession revokeGrant
    bringEvidence rejectNode approveNode answerNode makePlan anchorLedger submitReceipt showChange recover`
  const missing = called.split(/\s+/).filter((name) => !place.succeeded.has(name))
  expect(missing).toEqual([])
})
