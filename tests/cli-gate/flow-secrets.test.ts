/** The key of a model, which the other side knows and may say again in every way, is written nowhere. */
import { readdirSync, readFileSync } from 'node:fs'
import { createServer, type IncomingMessage, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, it, vi } from 'vitest'
import { type Json, Place } from './place.ts'

vi.setConfig({ testTimeout: 120_000 })

const KEY = 'sk-chat-9f8e7d6c5b4a'
let place: Place
let server: Server
/** How often the model was asked with the key. */
let asked = 0

beforeAll(async () => {
  place = new Place('flow-secrets', { runs: 'warm' }).init()
  server = createServer((request, response) => {
    void answerTo(request).then(({ status, body }) => {
      response.writeHead(status, { 'content-type': 'application/json' })
      response.end(JSON.stringify(body))
    })
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
}, 300_000)

afterAll(async () => {
  place?.remove()
  await new Promise((resolve) => server.close(resolve))
})

/** First a failure, then operations, then an answer: all of them tell the key. */
async function answerTo(request: IncomingMessage): Promise<{ status: number; body: Json }> {
  const parts: Buffer[] = []
  for await (const part of request) parts.push(part as Buffer)
  const { messages } = JSON.parse(Buffer.concat(parts).toString('utf8'))
  const key = request.headers.authorization?.replace('Bearer ', '') ?? ''
  if (key === KEY) asked++
  if (asked === 1) return { status: 400, body: { error: { message: `no such key: ${key}` } } }
  const isFirst = messages.at(-1).role === 'user'
  const artifact = { name: 'out', format: 'md', content: `the key is ${key}` }
  const message = isFirst
    ? { tool_calls: operations(key).map(called) }
    : { content: JSON.stringify({ result_type: 'ARTIFACT', artifact, [key]: key }) }
  return { status: 200, body: completion(message) }
}

function operations(key: string): readonly Json[] {
  const cwd = place.project
  return [
    { type: 'COMMAND_EXECUTION', argv: ['sh', '-c', `echo ${key} | tee told.txt`], cwd },
    { type: 'FILE_WRITE', path: join(cwd, 'key.txt'), content: key },
  ]
}

function called(operation: Json, index: number): Json {
  const name = 'propose_action'
  const call = { name, arguments: JSON.stringify({ operation }) }
  return { id: `t${index}`, type: 'function', function: call }
}

function completion(message: Json): Json {
  const choice = { index: 0, finish_reason: 'stop', message: { role: 'assistant', ...message } }
  const head = { id: 'c', object: 'chat.completion', created: 1, model: 'm' }
  return { ...head, choices: [choice], usage: { total_tokens: 7 } }
}

async function run(...words: readonly string[]): Promise<Json> {
  const child = place.start(words, { env: { OPENAI_API_KEY: KEY } })
  let out = ''
  child.stdout?.on('data', (part) => {
    out += part
  })
  child.stdin?.end()
  await new Promise((resolve) => child.once('close', resolve))
  return JSON.parse(out)
}

function holders(): readonly string[] {
  return readdirSync(place.folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name))
    .filter((file) => readFileSync(file).includes(KEY))
}

it('the usual key of a chat participant is in no fact, no body and no file', async () => {
  const { port } = server.address() as AddressInfo
  const chat = { chat: `http://127.0.0.1:${port}/v1`, model: 'm' }
  const node = { title: '', actor: 'a', max_attempts: 3, phase_id: 'P' }
  const nodes = [
    { ...node, node_id: 'a', kind: 'WORK', executor: chat },
    { ...node, node_id: 'z', kind: 'GOAL' },
  ]
  const edges = [{ edge_id: 'e', source: 'a', target: 'z', class: 'Progress' }]
  const document = { type: 'flow_v1', flow_id: 'f', title: 'F', nodes, edges }
  place.write('flow.json', JSON.stringify(document))
  const answer = await run('flow', 'run', 'flow.json', '--json')
  // It knew the key, and said it.
  expect(asked, JSON.stringify(answer)).toBeGreaterThan(2)
  const log = place.writ(['log', '--limit', '500', '--json']).out
  expect(log).toContain('participant_output_v1')
  expect(log).toContain('[secret OPENAI_API_KEY]')
  expect(holders()).toEqual([])
  expect(answer.status, JSON.stringify(answer)).toBe('DONE')
})
