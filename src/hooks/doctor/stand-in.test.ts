/** The stand-in for a model: the same script in four wire formats, streamed and whole. */
import { afterEach, describe, expect, it } from 'vitest'
import { type StandIn, startStandIn } from './stand-in.ts'

let model: StandIn | null = null
afterEach(async () => {
  await model?.close()
  model = null
})

const TURNS = [{ tool: 'shell', arguments: { command: 'ls' } }, { text: 'done' }] as const
const TOOL = {
  name: 'shell',
  function: { name: 'shell' },
  functionDeclarations: [{ name: 'shell' }],
}

/** A conversation with and without a tool result. */
const WIRES = [
  ['/v1/messages', { messages: [] }, { messages: [{ content: [{ type: 'tool_result' }] }] }],
  ['/v1/responses', { input: [] }, { input: [{ type: 'function_call_output' }] }],
  ['/v1/chat/completions', { messages: [] }, { messages: [{ role: 'tool' }] }],
  [
    '/v1beta/models/x:generateContent',
    { contents: [] },
    { contents: [{ parts: [{ functionResponse: {} }] }] },
  ],
] as const

async function post(path: string, body: object): Promise<string> {
  const response = await fetch(`${model?.url}${path}`, {
    method: 'POST',
    body: JSON.stringify(body),
  })
  return response.text()
}

describe.each(WIRES)('%s', (path, begin, later) => {
  it('plays its turns in every wire format', async () => {
    model = await startStandIn(TURNS)
    for (const [body, want] of [
      [begin, /ls/],
      [later, /done/],
    ] as const) {
      expect(await post(path, { ...body, tools: [TOOL] })).toMatch(want)
      const streamed = await post(path.replace(':gen', ':streamGen'), {
        ...body,
        tools: [TOOL],
        stream: true,
      })
      expect(streamed).toMatch(want)
      expect(streamed).toMatch(/^(?:event: .+\n)?data: \{/)
    }
    // What a host asks for itself offers no tools.
    expect(await post(path, begin)).not.toMatch(/command|done/)
    expect(model.requests).toHaveLength(5)
    expect(model.requests[0]?.body).toMatchObject(begin)
  })
})

it('listens on the loopback, and knows no other path', async () => {
  model = await startStandIn(TURNS)
  expect(model.url).toMatch(/^http:\/\/127\.0\.0\.1:\d+$/)
  expect((await fetch(`${model.url}/v1/files`)).status).toBe(404)
  expect((await fetch(`${model.url}/v1/models`)).status).toBe(200)
})
