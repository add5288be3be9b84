/** A halt stops flows: none starts or goes on, and a request under way ends. */
import { execFileSync } from 'node:child_process'
import { once } from 'node:events'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterAll, afterEach, beforeAll, beforeEach, expect, it, vi } from 'vitest'
import { Place } from '../cli-gate/place.ts'
import { RunPlace } from './place.ts'
import { smallFlow } from './scripts.ts'

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
  place = new Place('halted').init()
  const { port } = server.address() as AddressInfo
  const executor = { http: `http://127.0.0.1:${port}/`, secrets: ['GITHUB_TOKEN'] }
  place.write('flow.json', JSON.stringify(smallFlow({}, { executor })))
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
  const bot = { kind: 'ai', id: 'bot', namespace: 'local' } as const
  // Without the variable the run stops where a person could take it further.
  const stopped = other.run(smallFlow({}, { executor }), { principal: bot, environment: {} })
  await expect(stopped).rejects.toThrow('flow.secret_missing')
  await other.close()
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
