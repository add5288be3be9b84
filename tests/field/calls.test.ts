/** Calls to another system that cannot be made: refused at the start, or a receipt that says what surely was not done. */
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { createServer, type Server } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, it } from 'vitest'
import type { ActTask } from '../../src/contracts/index.ts'
import { calls } from '../../src/device/index.ts'

const TASK: ActTask = JSON.parse(readFileSync('examples/documents/task.json', 'utf8'))
const NOT_DONE = { status: 'not_executed', observed: {} }

let folder: string
let url: string
/** Where no server listens. */
let nowhere: string
let server: Server

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'writ-calls-'))
  server = createServer((request, response) => {
    if (request.url === '/cut') request.socket.destroy()
    else response.writeHead(200, { 'content-type': 'application/json' }).end('{"state":"on"}')
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const address = server.address()
  url = typeof address === 'object' ? `http://127.0.0.1:${address?.port}` : ''
  const gone = createServer()
  await new Promise<void>((resolve) => gone.listen(0, '127.0.0.1', resolve))
  const left = gone.address()
  nowhere = typeof left === 'object' ? `http://127.0.0.1:${left?.port}/api?key=word` : ''
  await new Promise((resolve) => gone.close(resolve))
})

afterAll(() => {
  server.close()
  rmSync(folder, { recursive: true, force: true })
})

function made(steps: readonly unknown[], env: Readonly<Record<string, string>> = {}) {
  const file = join(folder, 'calls.json')
  writeFileSync(file, JSON.stringify({ steps }))
  return calls(file, env)
}

it('begins with no variable that is not set, and names each', () => {
  const steps = [
    { http: { url: 'http://127.0.0.1/{{env.PLACE}}', headers: { a: 'Bearer {{ env.WORD }}' } } },
    { wait_s: '{{env.KNOWN}}' },
  ]
  expect(() => made(steps, { KNOWN: '1' })).toThrow(/variables that are not set: `PLACE`, `WORD`/)
  expect(() => made(steps, { KNOWN: '1', PLACE: 'x', WORD: 'y' })).not.toThrow()
  const shipped = join('examples', 'field', 'home-assistant.json')
  expect(() => calls(shipped, {})).toThrow('a variable that is not set: `HASS_TOKEN`')
})

it('names the address and the cause of a request that was not sent, which did nothing', async () => {
  const outcome = await made([{ http: { url: nowhere } }])(TASK)
  const address = nowhere.replace('?key=word', '')
  const reason = `step 1: there is no connection to ${address} (ECONNREFUSED)`
  expect(outcome).toMatchObject({ ...NOT_DONE, violations: [reason] })
  const unknown = await made([{ http: { url: 'http://no-such-host.invalid/' } }])(TASK)
  expect(unknown).toMatchObject(NOT_DONE)
})

it('claims nothing about a request that was cut, or one behind another that worked', async () => {
  const cut = await made([{ http: { url: `${url}/cut` } }])(TASK)
  expect(cut).toMatchObject({ status: 'unknown' })
  expect(JSON.stringify(cut)).toContain(`${url}/cut was asked and gave no answer`)
  const later = await made([{ http: { url } }, { http: { url: nowhere } }])(TASK)
  expect(later).toMatchObject({ status: 'unknown' })
  const expects = { http: { url: nowhere }, equals: 'on', within_s: 0 }
  const looked = await made([{ http: { url }, expect: expects }])(TASK)
  expect(looked).toMatchObject({ status: 'unknown' })
  const both = await made([{ http: { url }, mqtt: { topic: 'a', payload: 'b' } }])(TASK)
  expect(both).toMatchObject({ status: 'unknown' })
})

it('makes no call for a task that lacks a value', async () => {
  const outcome = await made([{ http: { url, body: '{{parameters.none}}' } }])(TASK)
  expect(outcome).toMatchObject(NOT_DONE)
  expect(JSON.stringify(outcome)).toContain('parameters.none')
})
