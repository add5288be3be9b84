/** Many runs at once: in one process, in several, and two runners on one run. */
import { spawn } from 'node:child_process'
import { expect, it, vi } from 'vitest'
import { faultCode } from '../../src/base/index.ts'
import { replayRun } from '../../src/flow/index.ts'
import { readRun, runHeads } from '../../src/runs/run-records.ts'
import { resumeRun, startRun } from '../../src/runs/runs.ts'
import { flowOf, worker } from './acceptance/scene.ts'
import { childWords } from './child-program.ts'
import type { RunPlace } from './place.ts'
import { placeEach } from './place-each.ts'
import { chain, compiledFlow, script, TOOL } from './scripts.ts'

let place: RunPlace

placeEach('many', (made) => {
  place = made
})

async function verifyAll(count: number): Promise<void> {
  let seen = 0
  for await (const { run_id } of runHeads(place.ledger, 'main')) {
    seen++
    const { facts } = await readRun(place.ledger, 'main', run_id)
    expect(facts.map(({ payload }) => payload.seq)).toEqual(facts.map((_, index) => index))
    expect(facts.at(-1)?.payload).toMatchObject({ kind: 'ended', status: 'DONE' })
    expect(replayRun(compiledFlow(chain(9)), facts)).toBeNull()
  }
  expect(seen).toBe(count)
}

const order = () => ({
  flow: compiledFlow(chain(9)),
  workspace: place.workspace,
  participantsDigest: null,
})

it('twenty in one process: no step is lost and none is doubled', async () => {
  const runs = await Promise.all(Array.from({ length: 20 }, () => startRun(place.host(), order())))
  expect(new Set(runs.map(({ status }) => status))).toEqual(new Set(['DONE']))
  await verifyAll(20)
}, 120_000)

it('twenty in five processes', async () => {
  const words = [...(await childWords()), place.folder, '4']
  const ended = await Promise.all(Array.from({ length: 5 }, () => childEnds(words)))
  expect(ended).toEqual([0, 0, 0, 0, 0])
  await verifyAll(20)
}, 240_000)

it('several with participants at once: each has its own sandbox, and all become real', async () => {
  const many = 6
  const shares = Array.from({ length: many }, (_, index) => `part-${index}`)
  place.write(
    'work.mjs',
    script(`${TOOL}const [, , name] = process.argv
writeFileSync(name + '.txt', readdirSync('.').filter((file) => file.startsWith('part-')).join())
answer({ result_type: 'ARTIFACT', artifact: { name: 'out', format: 'md', content: name } })`),
  )
  const runs = await Promise.all(shares.map((name) => startRun(place.host(), shared(name))))
  expect(runs.map(({ status }) => status)).toEqual(shares.map(() => 'DONE'))
  expect(shares.map((name) => place.read(`artifacts/${name}/1/out.md`))).toEqual(shares)
  expect(await place.gate.attempts.held()).toEqual([])
}, 120_000)

function shared(name: string) {
  const executor = { command: ['node', 'work.mjs', name] }
  return { ...order(), flow: compiledFlow(flowOf([worker(name, { executor })], [])) }
}

it('a second runner of a run is refused while the first one walks', async () => {
  place.write('slow.mjs', script(`setTimeout(() => answer({ result_type: 'NOOP' }), 1500)`))
  const slow = flowOf([worker('slow', { max_attempts: 1 })], [])
  let runId = ''
  const first = startRun(place.host(), {
    ...order(),
    flow: compiledFlow(slow),
    onRun: (id) => {
      runId = id
    },
  })
  const begun = async () =>
    runId !== '' && (await readRun(place.ledger, 'main', runId)).facts.length > 0
  await vi.waitUntil(begun, { timeout: 20_000 })
  const refused = await resumeRun(place.host(), runId).catch(faultCode)
  expect(refused).toBe('flow.taken')
  expect((await first).status).toBe('WAITING')
}, 60_000)

function childEnds(words: readonly string[]): Promise<number | null> {
  return new Promise((resolve) => {
    const child = spawn(process.execPath, words, { stdio: 'inherit' })
    child.on('close', resolve)
  })
}
