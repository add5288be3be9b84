/** A halt stops flows: none starts or goes on, and a request under way ends. */
import { execFileSync } from 'node:child_process'
import { once } from 'node:events'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterAll, afterEach, beforeAll, beforeEach, expect, it, vi } from 'vitest'
import type { Flow, Participant } from '../../src/contracts/index.ts'
import { Place } from '../cli-gate/place.ts'
import { RunPlace } from './place.ts'
import { script, smallFlow, TOOL } from './scripts.ts'

vi.setConfig({ testTimeout: 120_000 })

let place: Place
let server: Server
let requests = 0
let asked: () => void = () => {}
/** What the endpoint was sent as its token, of each request. */
const tokens: (string | undefined)[] = []

beforeAll(async () => {
  execFileSync(process.execPath, ['tools/build.mjs'])
  // It never answers.
  server = createServer((request) => {
    requests++
    tokens.push(request.headers.authorization)
    asked()
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
}, 120_000)

afterAll(() => {
  server?.closeAllConnections()
  server?.close()
})

beforeEach(() => {
  place = new Place('halted', { runs: 'warm' }).init()
  const { port } = server.address() as AddressInfo
  const executor = { http: `http://127.0.0.1:${port}/`, secrets: ['GITHUB_TOKEN'] }
  place.write('flow.json', JSON.stringify(smallFlow({}, { executor })))
  // Programs that a flow names have to be there before it starts.
  place.write('reviewer.mjs', APPROVES)
  requests = 0
  tokens.length = 0
})

afterEach(() => place?.remove())

const SECRET = { env: { GITHUB_TOKEN: 'ghp_of_a_person' } }

it('no flow starts, goes on or is planned while everything is halted', () => {
  expect(place.writ(['halt']).status).toBe(0)
  const { status, err } = place.writ(['flow', 'run', 'flow.json'], SECRET)
  expect(status).toBe(1)
  expect(err).toContain('halted')
  expect(err).toContain('writ resume')
  expect(requests).toBe(0)
  expect(place.writ(['flow', 'status', '--json']).json.runs).toEqual([])
})

it('a request under way ends, and the run goes on only after the halt is lifted', async () => {
  const reached = new Promise<void>((resolve) => {
    asked = resolve
  })
  const child = place.start(['flow', 'run', 'flow.json', '--json'], SECRET)
  let out = ''
  child.stdout?.on('data', (part: Buffer) => {
    out += part.toString('utf8')
  })
  await reached
  expect(place.writ(['halt']).status).toBe(0)
  const [status] = await once(child, 'close')
  expect(status, out).toBe(1)
  expect(JSON.parse(out).error.code).toBe('halted')
  expect(place.writ(['flow', 'resume', '--json'], SECRET).json.error.code).toBe('halted')
  expect(requests).toBe(1)
})

it('a run that an agent began shows a person hosts and variables before it goes on', async () => {
  const { port } = server.address() as AddressInfo
  const other = await new RunPlace('agent', place.folder).open()
  const executor = { http: `http://127.0.0.1:${port}/`, secrets: ['GITHUB_TOKEN'] }
  await stopAtOnce(other, smallFlow({}, { executor }))
  const refused = place.writ(['flow', 'resume'], SECRET)
  expect(refused.status).not.toBe(0)
  expect(refused.err).toContain('ai:bot@local began this run')
  expect(refused.err).toContain(`requests to http://127.0.0.1:${port}/; gets your GITHUB_TOKEN`)
  const seen = place.person(
    ['flow', 'resume'],
    [{ expect: 'Go on with these participants? [y/N] ' }, { send: 'n\r' }],
    SECRET,
  )
  expect(seen.failed).toBeNull()
  expect(seen.status).not.toBe(0)
  expect(tokens).toEqual([])
})

const WORKS = script(`${TOOL}
answer({ task_id: input.node.node_id, result_type: 'ARTIFACT',
  artifact: { name: 'out', format: 'md', content: String(process.env.GITHUB_TOKEN).length + ' characters' } })
`)
const APPROVES = script(`
answer({ review_id: input.review_id, artifact_digest: input.artifact.digest, total_score: 95,
  action_required: 'APPROVE', summary: 'read', breakdown: [], suggestions: [] })
`)

/** Leaves a run that an agent began and that stopped before its first participant. */
async function begunByAgent(): Promise<void> {
  place.write('worker.mjs', WORKS)
  place.write('reviewer.mjs', APPROVES)
  const other = await new RunPlace('agent', place.folder).open()
  const executor = { command: ['node', 'worker.mjs'], secrets: ['GITHUB_TOKEN'] }
  await stopAtOnce(other, smallFlow({}, { executor }))
}

/** Begins a run as an agent and stops it as soon as it is on the record. */
async function stopAtOnce(other: RunPlace, flow: Flow): Promise<void> {
  const bot = { kind: 'ai', id: 'bot', namespace: 'local' } as const
  const stop = new AbortController()
  const started = other.run(
    flow,
    { principal: bot, environment: { GITHUB_TOKEN: 'of_an_agent' } },
    { abort: stop.signal, onFacts: () => stop.abort(new Error('stopped early')) },
  )
  await expect(started).rejects.toThrow('stopped early')
  await other.close()
}

it('such a run goes on after the yes of a person', async () => {
  await begunByAgent()
  const seen = place.person(
    ['flow', 'resume'],
    [{ expect: 'Go on with these participants? [y/N] ' }, { send: 'y\r' }],
    SECRET,
  )
  expect([seen.failed, seen.status], seen.output).toEqual([null, 0])
  expect(place.writ(['flow', 'status', '--json']).json.runs[0].status).toBe('DONE')
})

it('such a run goes on only with the passphrase, where one is set', async () => {
  const passphrase = 'four words are enough'
  place.remove()
  place = new Place('halted-pass', { runs: 'warm' }).init(passphrase)
  await begunByAgent()
  const wrong = place.writ(['flow', 'resume', '--pass-fd', '3', '--json'], {
    ...SECRET,
    passphrase: 'some other words here',
  })
  expect(wrong.json.error.code).toBe('credential.wrong')
  const without = place.writ(['flow', 'resume', '--yes', '--json'], SECRET)
  expect(without.json.error.code).toBe('credential.required')
  const given = ['flow', 'resume', '--pass-fd', '3', '--json']
  const { status, json, err } = place.writ(given, { ...SECRET, passphrase })
  expect([status, json?.status], err).toEqual([0, 'DONE'])
})

/** Participants elsewhere that never answer. */
const SILENT: readonly (readonly [string, (address: string) => Participant])[] = [
  ['an endpoint', (address) => ({ http: address })],
  ['a model', (address) => ({ chat: `${address}v1`, model: 'm' })],
  ['an MCP server', (address) => ({ mcp: `${address}mcp`, tool: 'work' })],
]

/** Starts a command, halts when the participant is asked, and returns the code it ends with. */
async function haltedCode(words: readonly string[]): Promise<string> {
  const reached = new Promise<void>((resolve) => {
    asked = resolve
  })
  const child = place.start([...words, '--json'], SECRET)
  let out = ''
  child.stdout?.on('data', (part: Buffer) => {
    out += part.toString('utf8')
  })
  await reached
  expect(place.writ(['halt']).status).toBe(0)
  const [status] = await once(child, 'close')
  expect(status, out).toBe(1)
  return JSON.parse(out).error.code
}

const own = (): string => `http://127.0.0.1:${(server.address() as AddressInfo).port}/`

it.each(SILENT)('a halt ends the request to %s of a flow', async (_name, participant) => {
  place.write('flow.json', JSON.stringify(smallFlow({}, { executor: participant(own()) })))
  expect(await haltedCode(['flow', 'run', 'flow.json'])).toBe('halted')
  expect(requests).toBe(1)
})

it.each(SILENT)('a halt ends the request to %s that plans', async (_name, participant) => {
  const participants = {
    type: 'participants_v1',
    participants: { planner: participant(own()), reviewer: { command: ['node', 'r.mjs'] } },
  }
  place.write('participants.json', JSON.stringify(participants))
  const order = ['--goal', 'g', '--participants', 'participants.json', '--out', 'plan.json']
  expect(await haltedCode(['flow', 'plan', ...order])).toBe('halted')
  for (const words of [
    ['flow', 'plan', ...order],
    ['flow', 'plan', '--resume'],
  ]) {
    expect(place.writ([...words, '--json'], SECRET).json.error.code).toBe('halted')
  }
  expect(requests).toBe(1)
  expect(place.has('plan.json')).toBe(false)
})
