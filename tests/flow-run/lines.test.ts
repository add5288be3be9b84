/** Lines to participants elsewhere: how long they last, how their end is noticed, what is not retried. */
import { setTimeout as pause } from 'node:timers/promises'
import { describe, expect, it, vi } from 'vitest'
import type { Participant } from '../../src/contracts/index.ts'
import { participate } from '../../src/runs/participant/participate.ts'
import { edge, eventsOf, flowOf, goal, worker } from './acceptance/scene.ts'
import { Endpoint } from './endpoints.ts'
import { findingsIn, type RunPlace } from './place.ts'
import { placeEach } from './place-each.ts'

const TIMEOUT = { timeout: 60_000 }
let place: RunPlace

const open = placeEach('lines', (made) => {
  place = made
})

/** A server over standard input and output, in plain JavaScript: `body` is what the tool does. */
function server(body: string): string {
  return `import { createInterface } from 'node:readline'
const say = (message) => process.stdout.write(JSON.stringify({ jsonrpc: '2.0', ...message }) + '\\n')
const pause = (ms) => new Promise((resolve) => setTimeout(resolve, ms))
const ACTION = { result_type: 'ARTIFACT', artifact: { name: 'out', format: 'md', content: 'by MCP' } }
async function work({ id, params }) {
  const progress = (progress) => say({ method: 'notifications/progress', params: { progressToken: params._meta?.progressToken, progress } })
  ${body}
  say({ id, result: { content: [{ type: 'text', text: JSON.stringify(ACTION) }] } })
}
createInterface({ input: process.stdin }).on('line', (line) => {
  const message = JSON.parse(line)
  const { id, method, params } = message
  if (method === 'initialize') say({ id, result: { protocolVersion: params.protocolVersion, capabilities: { tools: {} }, serverInfo: { name: 's', version: '1' } } })
  if (method === 'tools/list') say({ id, result: { tools: [{ name: 'work', inputSchema: { type: 'object' } }, { name: 'rest', inputSchema: { type: 'object' } }] } })
  if (method === 'tools/call') work(message)
})
`
}

const MCP: Participant = { mcp: ['node', 'server.mjs'], tool: 'work', tools: 'none' }

function asking(participant: Participant, seconds: number) {
  const attempt = place.gate.attempts.begin({
    actionId: crypto.randomUUID(),
    intent: 'A line is tried.',
    workspace: place.workspace,
    writes: ['**'],
    bases: [],
    hidden: [],
    readOnly: [],
    egress: [],
    secrets: {},
    limits: { seconds: 60, memoryMb: null, diskMb: null },
    isTraced: false,
    abort: new AbortController().signal,
  })
  return {
    participant,
    input: {},
    kind: 'action' as const,
    workspace: place.workspace,
    attempt: () => attempt,
    operate: () => Promise.reject(new Error('no operation is asked for')),
    secrets: {},
    refuseHalted: async () => {},
    seconds,
    tokensLeft: () => Number.POSITIVE_INFINITY,
    onTokens: () => {},
    signal: new AbortController().signal,
  }
}

describe('MCP', TIMEOUT, () => {
  it('the time of the node holds, and progress begins it again', async () => {
    const steps = 'for (let n = 1; n <= 6; n++) { await pause(700); progress(n) }'
    place.write('server.mjs', server(steps))
    const request = asking(MCP, 3)
    expect(await participate(request)).toMatchObject({ outcome: 'ended' })
    await (await request.attempt()).abandon()
    place.write('server.mjs', server('await pause(30_000)'))
    const silent = asking(MCP, 2)
    const said = await participate(silent)
    expect(said).toMatchObject({ outcome: 'failed', why: 'no answer within 2 seconds' })
    await (await silent.attempt()).abandon()
  })

  it('progress begins the time of a node again, and a failure after that is no lack of time', async () => {
    const steps = 'for (let n = 1; n <= 6; n++) { await pause(700); progress(n) }'
    place.write('server.mjs', server(steps))
    const node = worker('a', { executor: MCP, max_attempts: 1, timeout: 3 })
    const run = await place.run(flowOf([node, goal('g', 'P1')], [edge('a', 'g')]))
    expect([run.status, findingsIn(run)]).toEqual(['DONE', []])
    place.write('server.mjs', server(`${steps}; console.error('out of paper'); process.exit(7)`))
    const { facts } = await place.run(flowOf([node], []))
    expect(JSON.stringify(eventsOf(facts, 'attempt_failed'))).toMatch(/exit status 7: .*out of/)
  })

  it('a server that is silent for the time of a node has failed for lack of time', async () => {
    place.write('server.mjs', server('await pause(30_000)'))
    const node = worker('a', { executor: MCP, max_attempts: 1, timeout: 2 })
    const { facts } = await place.run(flowOf([node], []))
    const [failed] = eventsOf(facts, 'attempt_failed')
    expect(failed?.['error']).toMatchObject({ why: 'no answer within 2 seconds' })
    const ended = eventsOf(facts, 'event').map(({ event }) => event)
    expect(JSON.stringify(ended)).toContain('"cause":"timeout"')
  })

  it('a server that dies during a call is noticed at once, with what it complained about', async () => {
    place.write('server.mjs', server("console.error('out of paper'); process.exit(7)"))
    const node = worker('a', { executor: MCP, max_attempts: 1 })
    const { facts } = await place.run(flowOf([node], []))
    const [failed] = eventsOf(facts, 'attempt_failed')
    expect(failed?.['error']).toMatchObject({ outcome: 'failed' })
    expect(JSON.stringify(failed)).toMatch(/exit status 7: .*out of paper/)
    expect(eventsOf(facts, 'commanded').filter(isRun).length).toBe(1)
  })

  it('an unknown tool is refused before the run begins, with the tools that exist', async () => {
    place.write('server.mjs', server(''))
    const begun = place.run(flowOf([worker('a', { executor: { ...MCP, tool: 'wrok' } })], []))
    await expect(begun).rejects.toMatchObject({
      fault: { code: 'flow.tool_unknown', message: expect.stringContaining('work') },
    })
    await expect(begun).rejects.toMatchObject({
      fault: { message: expect.stringContaining('rest') },
    })
    const found = await place.ledger.store.find({
      stream: 'main',
      type: 'flow_started_v1',
      cursor: -1,
      limit: 1,
      order: 'oldest_first',
    })
    expect(found.facts).toEqual([])
  })

  async function refusal(executor: Participant): Promise<unknown> {
    const begun = place.run(flowOf([worker('a', { executor })], []))
    return begun.then(
      () => null,
      (error: { readonly fault: { readonly code: string; readonly message: string } }) =>
        `${error.fault.code} ${error.fault.message}`,
    )
  }

  it('a program that ends is refused before the run begins, with its cause', async () => {
    place.write('server.mjs', "console.error('no license'); process.exit(9)")
    expect(await refusal(MCP)).toMatch(/^flow.server_failed .*exit status 9: .*no license/)
  })

  it('so is an address where no server is, or one that says no', async () => {
    const gone = new Endpoint(() => {})
    const nowhere = await gone.open()
    await gone.close()
    const mcp = { tool: 'work', tools: 'none' } as const
    expect(await refusal({ ...mcp, mcp: `${nowhere}/mcp` })).toMatch(
      /^flow.server_failed .*ECONNREFUSED/,
    )
    const locked = Endpoint.json(() => ({ status: 401, body: {} }))
    expect(await refusal({ ...mcp, mcp: `${await open(locked)}/mcp` })).toMatch(
      /^flow.server_failed /,
    )
  })

  it('a program whose parts an earlier node may make is left to the run', async () => {
    place.write('server.mjs', "console.error('no license'); process.exit(9)")
    const node = worker('a', { executor: MCP, max_attempts: 1 })
    const { facts } = await place.run(flowOf([goal('s', 'P0'), node], [edge('s', 'a')]))
    expect(JSON.stringify(eventsOf(facts, 'attempt_failed'))).toContain('no license')
  })
})

function isRun({ command }: Record<string, unknown>): boolean {
  return (command as { readonly type: string }).type === 'run_participant'
}

it('a model is not asked by the built-in client, which gives up after five minutes', async () => {
  const document = { name: 'out', format: 'md', content: 'by a model' }
  const said = JSON.stringify({ result_type: 'ARTIFACT', artifact: document })
  const endpoint = Endpoint.json(() => ({
    body: { choices: [{ message: { role: 'assistant', content: said } }] },
  }))
  const chat = await open(endpoint)
  vi.stubGlobal('fetch', () => Promise.reject(new Error('the built-in client')))
  try {
    const executor: Participant = { chat, model: 'm', tools: 'none' }
    const { status } = await place.run(flowOf([worker('a', { executor })], []))
    expect(status).toBe('DONE')
  } finally {
    vi.unstubAllGlobals()
  }
})

describe('HTTP', TIMEOUT, () => {
  async function ends(endpoint: Endpoint, participant: (url: string) => Participant) {
    const executor = participant(await open(endpoint))
    const node = worker('a', { executor, max_attempts: 1 })
    const { facts } = await place.run(flowOf([node], []))
    const runs = eventsOf(facts, 'commanded').filter(isRun).length
    return { runs, why: JSON.stringify(eventsOf(facts, 'attempt_failed')[0]?.['error']) }
  }

  const page = () =>
    new Endpoint((_request, response) => {
      response.writeHead(200, { 'content-type': 'text/html' })
      response.end('<html><title>Please log in</title></html>')
    })

  const elsewhere = () =>
    new Endpoint((_request, response) => {
      response.writeHead(302, { location: 'https://login.example/' })
      response.end()
    })

  const http = (url: string): Participant => ({ http: url })
  const chat = (url: string): Participant => ({ chat: url, model: 'm' })

  it.each([
    ['HTTP, a redirect', elsewhere, http, /302.*login\.example/],
    ['HTTP, a page', page, http, /a page.*Please log in/],
    ['a model, a redirect', elsewhere, chat, /302/],
    ['a model, a page', page, chat, /else than a completion.*Please log in/],
  ])('%s fails at once with the cause', async (_name, endpoint, participant, words) => {
    const { runs, why } = await ends(endpoint(), participant)
    expect(why).toMatch(words)
    expect(runs).toBe(1)
  })

  it('a body that comes late is waited for', async () => {
    const slow = new Endpoint((_request, response) => {
      response.writeHead(200, { 'content-type': 'application/json' })
      void pause(1_500).then(() => response.end('{"result_type":"NOOP"}'))
    })
    const said = await participate(asking({ http: await open(slow) }, 10))
    expect(said).toMatchObject({ outcome: 'ended', text: '{"result_type":"NOOP"}' })
  })
})
