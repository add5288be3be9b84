/** Participants of every kind, over the protocols they speak. */
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import type { Flow, Participant } from '../../src/contracts/index.ts'
import { startRun, type WalkedRun } from '../../src/runs/runs.ts'
import { type Asked, Endpoint } from './endpoints.ts'
import { findingsIn, RunPlace } from './place.ts'
import { compiledFlow } from './scripts.ts'

const TIMEOUT = { timeout: 60_000 }
const opened: Endpoint[] = []

async function open(endpoint: Endpoint): Promise<string> {
  opened.push(endpoint)
  return endpoint.open()
}

afterEach(async () => {
  for (const endpoint of opened.splice(0)) await endpoint.close()
})

/** What a chat endpoint answers; as many tokens asked as answered. */
function completion(message: object, tokens = 5) {
  return {
    body: {
      id: 'c',
      object: 'chat.completion',
      created: 1,
      model: 'm',
      choices: [
        {
          index: 0,
          finish_reason: 'stop',
          message: { role: 'assistant', content: null, ...message },
        },
      ],
      usage: { prompt_tokens: tokens, completion_tokens: tokens, total_tokens: 2 * tokens },
    },
  }
}

function flow(executor: Participant, reviewer: Participant, more: Partial<Flow> = {}): Flow {
  return {
    type: 'flow_v1',
    flow_id: 'remote',
    title: '',
    nodes: [
      {
        node_id: 'a',
        kind: 'WORK',
        title: '',
        phase_id: 'P',
        actor: 'w',
        executor,
        max_attempts: 2,
      },
      {
        node_id: 'c',
        kind: 'CHECK',
        title: '',
        phase_id: 'P',
        actor: 'v',
        reviewer,
        target: 'a',
        max_attempts: 2,
      },
    ],
    edges: [{ edge_id: 'e', source: 'a', target: 'c', class: 'Progress' }],
    ...more,
  }
}

const ACTION = {
  result_type: 'ARTIFACT',
  artifact: { name: 'out', format: 'md', content: 'from elsewhere' },
}

function reviewOf(asked: Asked): unknown {
  const { review_id, artifact_digest } = asked
  return {
    review_id,
    artifact_digest,
    total_score: 95,
    action_required: 'APPROVE',
    summary: 's',
    breakdown: [],
    suggestions: [],
  }
}

const judge = () => open(Endpoint.json((asked) => ({ body: reviewOf(asked) })))

describe('elsewhere', TIMEOUT, () => {
  let place: RunPlace

  /** An operation that is carried out in the sandbox of the attempt. */
  const look = () => ({
    operation: { type: 'COMMAND_EXECUTION', argv: ['ls'], cwd: place.workspace },
  })

  beforeEach(async () => {
    place = await new RunPlace('participants').make()
  })
  afterEach(() => place.remove())

  const run = (document: Flow, environment: NodeJS.ProcessEnv = {}): Promise<WalkedRun> =>
    startRun(place.host({ environment }), {
      flow: compiledFlow(document),
      workspace: place.workspace,
      participantsDigest: null,
    })

  it('HTTP: operations are carried out, their results sent, and the last answer is taken', async () => {
    const worker = Endpoint.json((asked) => ({
      body: asked.tool_results === undefined ? { tool_calls: [look()] } : ACTION,
    }))
    const reviewer = Endpoint.json((asked) => ({ body: reviewOf(asked) }))
    const ended = await run(
      flow(
        { http: `${await open(worker)}/work`, secrets: ['WORK_KEY'] },
        { http: await open(reviewer) },
      ),
      { WORK_KEY: 'key-of-the-worker' },
    )
    expect([ended.status, findingsIn(ended)]).toEqual(['DONE', []])
    expect(worker.asked[1].tool_results).toMatchObject([{ id: 0, decision: 'PROMOTE' }])
    expect(worker.headers[0]?.authorization).toBe('Bearer key-of-the-worker')
    expect(reviewer.headers[0]?.authorization).toBeUndefined()
    // A reviewer elsewhere cannot open files: it is sent what it judges.
    expect(reviewer.asked[0].artifact.content).toBe('from elsewhere')
    expect(place.read('artifacts/a/1/out.md')).toBe('from elsewhere')
  })

  it('HTTP: a line that fails is tried again after a while, and never counted', async () => {
    const worker = Endpoint.json((_asked, count) =>
      count === 1 ? { status: 503, body: {} } : { body: { ...ACTION, tool_calls: [look()] } },
    )
    const ended = await run(flow({ http: await open(worker) }, { http: await judge() }))
    expect([ended.status, ended.state.totals.attempts, findingsIn(ended)]).toEqual(['DONE', 2, []])
    expect(worker.asked.length).toBe(2)
  })

  it('HTTP: what is declined is a failed attempt', async () => {
    const worker = Endpoint.json(() => ({ status: 403, body: {} }))
    const ended = await run(flow({ http: await open(worker) }, { http: await judge() }))
    expect(findingsIn(ended).slice(0, 2)).toEqual([
      'flow.attempt_failed rerun',
      'flow.attempt_failed escalate',
    ])
  })

  it('chat: the model asks for operations by propose_action; tokens are counted', async () => {
    const model = Endpoint.json((asked) => {
      const last = asked.messages.at(-1)
      if (last.role === 'user')
        return completion({
          tool_calls: [
            {
              id: 't1',
              type: 'function',
              function: { name: 'propose_action', arguments: JSON.stringify(look()) },
            },
          ],
        })
      return completion({ content: `Here it is:\n\`\`\`json\n${JSON.stringify(ACTION)}\n\`\`\`` })
    })
    const chat = { chat: `${await open(model)}/v1`, model: 'm', secrets: ['CHAT_KEY'] }
    const ended = await run(flow(chat, { http: await judge() }), { CHAT_KEY: 'sk-chat-key' })
    expect([ended.status, ended.state.totals.tokens, findingsIn(ended)]).toEqual(['DONE', 20, []])
    expect(model.headers[0]?.authorization).toBe('Bearer sk-chat-key')
    expect(JSON.parse(model.asked[1].messages.at(-1).content)).toMatchObject({
      decision: 'PROMOTE',
    })
  })

  it('chat: a budget of tokens ends the work', async () => {
    const model = Endpoint.json(() => completion({ content: 'no' }, 50))
    const chat = { chat: `${await open(model)}/v1`, model: 'm' }
    const ended = await run(flow(chat, { http: await judge() }, { budgets: { tokens: 300 } }))
    // Asked three times in the first attempt; there are no tokens for a fourth.
    expect([model.asked.length, findingsIn(ended).at(-1)]).toEqual([3, 'flow.budget block'])
  })

  it('MCP over HTTP: the tool gets the document and gives the answer', async () => {
    const server = Endpoint.mcp((asked) =>
      asked.tool_results === undefined ? { tool_calls: [look()] } : ACTION,
    )
    const ended = await run(
      flow({ mcp: `${await open(server)}/mcp`, tool: 'work' }, { http: await judge() }),
    )
    expect([ended.status, findingsIn(ended)]).toEqual(['DONE', []])
    expect(server.asked[0]).toMatchObject({ node: { node_id: 'a' }, attempt: 1 })
  })

  it('a variable that is not set is reported before any participant is asked', async () => {
    const refused = run(flow({ http: 'http://127.0.0.1:9', secrets: ['NOT_SET'] }, { human: true }))
    await expect(refused).rejects.toThrow('flow.secret_missing')
  })

  it('a secret that a participant repeats is in no fact and no body', async () => {
    const secret = 'very-secret-value-1234'
    const worker = Endpoint.json(() => ({
      body: {
        ...ACTION,
        artifact: { ...ACTION.artifact, content: `I know ${secret}` },
        tool_calls: [look()],
      },
    }))
    const ended = await run(
      flow({ http: await open(worker), secrets: ['KEY'] }, { http: await judge() }),
      { KEY: secret },
    )
    expect(ended.status).toBe('DONE')
    expect(place.read('artifacts/a/1/out.md')).toBe('I know [secret KEY]')
    const { execFileSync } = await import('node:child_process')
    const found = execFileSync('sh', [
      '-c',
      `grep -rl ${secret} ${place.folder} || true`,
    ]).toString()
    expect(found).toBe('')
  })
})

/** The protocol over lines, as small as it can be. */
const MCP_SERVER = `
import { createInterface } from 'node:readline'
import { writeFileSync } from 'node:fs'
const send = (id, result) => process.stdout.write(JSON.stringify({ jsonrpc: '2.0', id, result }) + '\\n')
createInterface({ input: process.stdin }).on('line', (line) => {
  if (line.trim() === '') return
  const { id, method, params } = JSON.parse(line)
  if (method === 'initialize') send(id, { protocolVersion: params.protocolVersion, capabilities: { tools: {} }, serverInfo: { name: 's', version: '1' } })
  else if (method === 'tools/list') send(id, { tools: [{ name: 'work', inputSchema: { type: 'object' } }] })
  else if (method === 'tools/call') {
    writeFileSync('by-server.txt', 'made inside')
    const first = params.arguments.tool_results === undefined
    const body = first ? { tool_calls: [{ operation: { type: 'COMMAND_EXECUTION', argv: ['true'], cwd: process.cwd() } }] }
      : { result_type: 'ARTIFACT', artifact: { name: 'out', format: 'md', content: 'by MCP' } }
    send(id, { content: [{ type: 'text', text: JSON.stringify(body) }] })
  } else if (id !== undefined) process.stdout.write(JSON.stringify({ jsonrpc: '2.0', id, error: { code: -32601, message: 'no' } }) + '\\n')
})
`

it('MCP over standard input and output: the server runs inside the sandbox', TIMEOUT, async () => {
  const place = await new RunPlace('mcp').make()
  try {
    place.write('server.mjs', MCP_SERVER)
    const ended = await place.run(
      flow({ mcp: ['node', 'server.mjs'], tool: 'work' }, { http: await judge() }),
    )
    expect([ended.status, findingsIn(ended)]).toEqual(['DONE', []])
    expect([place.read('by-server.txt'), place.read('artifacts/a/1/out.md')]).toEqual([
      'made inside',
      'by MCP',
    ])
  } finally {
    await place.remove()
  }
})

/** A server whose tool answers with what `body` makes of the arguments `i`: lines of results. */
const judgingServer = (body: string): string => `
import { createInterface } from 'node:readline'
const out = (line) => process.stdout.write(line + '\\n')
const send = (id, result) => out(JSON.stringify({ jsonrpc: '2.0', id, result }))
const text = (said) => ({ content: [{ type: 'text', text: said }] })
const review = (i, score) => ({ review_id: i.review_id, artifact_digest: i.artifact_digest, total_score: score,
  action_required: score < 90 ? 'MODIFY' : 'APPROVE', summary: 's', breakdown: [], suggestions: [] })
createInterface({ input: process.stdin }).on('line', (line) => {
  if (line.trim() === '') return
  const { id, method, params } = JSON.parse(line)
  if (method === 'initialize') send(id, { protocolVersion: params.protocolVersion, capabilities: { tools: {} }, serverInfo: { name: 's', version: '1' } })
  else if (method === 'tools/list') send(id, { tools: [{ name: 'judge', inputSchema: { type: 'object' } }] })
  else if (method === 'tools/call') { const i = params.arguments; ${body} }
})
`

const DOUBLED =
  'JSON.stringify(review(i, 95)).replace(\'"total_score"\', \'"total_score":10,"total_score"\')'

describe('a reviewer that is an MCP server in the sandbox', TIMEOUT, () => {
  let place: RunPlace

  beforeEach(async () => {
    place = await new RunPlace('mcp-judge').make()
  })
  afterEach(() => place.remove())

  /** Walks with a reviewer that makes `first` of its first question, and an approval of the next. */
  async function judged(first: string, more = ''): Promise<WalkedRun> {
    const body = `if (i.last_error === undefined) { ${first} } else send(id, text(JSON.stringify(review(i, 95))))`
    place.write('review/server.mjs', judgingServer(body) + more)
    const worker = Endpoint.json((asked) => ({
      body:
        asked.tool_results === undefined
          ? {
              tool_calls: [
                { operation: { type: 'COMMAND_EXECUTION', argv: ['ls'], cwd: place.workspace } },
              ],
            }
          : ACTION,
    }))
    const reviewer = { mcp: ['node', 'review/server.mjs'], tool: 'judge' }
    return place.run(flow({ http: `${await open(worker)}/work` }, reviewer))
  }

  const errorsOf = ({ facts }: WalkedRun): string =>
    JSON.stringify(
      facts.flatMap(({ type, payload }) =>
        type === 'participant_output_v1' && payload.node_id === 'c' ? payload.errors : [],
      ),
    )

  it.each([
    ['text that is no JSON', "send(id, text('not json'))", '', 'there is no JSON object'],
    [
      'the same, by a server that stays',
      "send(id, text('not json'))",
      'setInterval(() => {}, 1000)',
      'there is no JSON object',
    ],
    [
      'a name twice in the structured part',
      `out('{"jsonrpc":"2.0","id":' + id + ',"result":{"content":[],"structuredContent":' + ${DOUBLED} + '}}')`,
      '',
      'a name twice in one object',
    ],
    [
      'the result twice',
      `const one = JSON.stringify({ content: [], structuredContent: review(i, 95) }); out('{"jsonrpc":"2.0","id":' + id + ',"result":{},"result":' + one + '}')`,
      '',
      'a name twice in one object',
    ],
    [
      'a rejecting review in the text, and an approving one beside it',
      'send(id, { ...text(JSON.stringify(review(i, 10))), structuredContent: review(i, 95) })',
      '',
      'more than one object carries the pins',
    ],
  ])('is asked again: %s', async (_, first, more, why) => {
    const ended = await judged(first, more)
    expect(errorsOf(ended)).toContain(why)
    expect([ended.status, findingsIn(ended)]).toEqual(['DONE', []])
  })

  it('is not asked again if the text is the structured part once more', async () => {
    const said =
      'const one = review(i, 95); send(id, { ...text(JSON.stringify(one, null, 1)), structuredContent: one })'
    const ended = await judged(said)
    expect([ended.status, errorsOf(ended)]).toEqual(['DONE', '[]'])
  })
})
