/** A request that one machine sends is no other machine's to send or to settle (X-1, G-22). */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, realpathSync } from 'node:fs'
import { createServer, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, it } from 'vitest'
import type { Place } from '../cli-gate/place.ts'
import { until } from '../field/field-rig.ts'
import { operationProposal } from '../gate/document.ts'
import { Fleet, FleetMachine, PROGRAM } from './fleet-rig.ts'

const TIMEOUT = { timeout: 180_000 }
const WORDS = 'four words of mine'
let fleet: Fleet
let first: FleetMachine
let second: FleetMachine
/** Requests that wait for their answer. */
const heard: ServerResponse[] = []
const server = createServer((request, response) => {
  request.resume()
  heard.push(response)
})

beforeAll(async () => {
  fleet = await Fleet.start()
  first = fleet.first('alpha')
  first.must(['principal', 'pass', '--pass-fd', '0'], WORDS)
  second = fleet.joined(first, 'beta', undefined, WORDS)
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
}, 180_000)

afterAll(async () => {
  server.closeAllConnections()
  server.close()
  await fleet.stop()
})

/** Proposes on the first machine to post an order and to keep the answer; returns the id of the act. */
function propose(answer: string): string {
  const { port } = server.address() as AddressInfo
  const host = `127.0.0.1:${port}`
  const saved = join(realpathSync(first.project), answer)
  const operation = {
    type: 'NETWORK_REQUEST',
    method: 'POST',
    url: `http://${host}/orders`,
    body: 'one order',
    save_to: saved,
  }
  const place = { project: realpathSync(first.project) } as Place
  const proposal = operationProposal(place, operation, {
    scope: [place.project],
    create: [answer],
    risk: 'HIGH',
  })
  const { scope, effects, sandbox } = proposal.descriptor
  scope.network = { required: true, hosts: [host] }
  effects.network = true
  sandbox.allow_network = true
  const { status, json } = first.writ(['propose', '-'], JSON.stringify(proposal))
  expect([status, json.decision?.decision], JSON.stringify(json)).toEqual([3, 'CONFIRM'])
  return proposal.descriptor.action_id
}

/** Says yes on a machine, without waiting for what comes of it. */
function approve({ project: cwd, env }: FleetMachine, id: string) {
  const words = [PROGRAM, 'approve', id, '--pass-fd', '0', '--json']
  const child = spawn(process.execPath, words, { cwd, env, stdio: ['pipe', 'pipe', 'inherit'] })
  child.stdin.end(WORDS)
  let out = ''
  child.stdout.on('data', (chunk) => {
    out += chunk
  })
  const ended = new Promise<{ status: number | null; out: string }>((resolve) => {
    child.once('close', (status) => resolve({ status, out }))
  })
  return { child, ended }
}

function states(id: string): readonly string[] {
  const { facts } = first.must(['log', '--type', 'request_v1', '--action', id])
  // biome-ignore lint/suspicious/noExplicitAny: parts of answers
  return facts.map(({ record }: any) => record.payload.state)
}

it('is settled by the machine that sends it, and answered there', TIMEOUT, async () => {
  const id = propose('answer.txt')
  const { ended } = approve(first, id)
  await until(
    () => heard.length,
    (count) => count === 1,
    60_000,
  )
  second.must(['show', id])
  // This command ends what was interrupted, and this was not.
  expect(second.spawn(['exec', '--', 'true']).status).toBe(0)
  expect(states(id)).toEqual(['SENDING'])
  heard[0]?.end('thanks')
  const { status, out } = await ended
  expect([status, states(id)], out).toEqual([0, ['SENDING', 'ANSWERED', 'SAVED']])
  expect(JSON.parse(out)).toMatchObject({ promoted: true })
  const { facts } = first.must(['log', '--type', 'promotion_v1', '--action', id])
  expect(facts).toHaveLength(1)
  expect(facts[0].record.payload.recovered).toBe(false)
  expect(existsSync(join(second.project, 'answer.txt'))).toBe(false)
  expect(heard).toHaveLength(1)
})

it(
  'is left alone by the machine that rehearsed the act, when another one sends it',
  TIMEOUT,
  async () => {
    const id = propose('elsewhere.txt')
    const before = heard.length
    const { ended } = approve(second, id)
    await until(
      () => heard.length,
      (count) => count > before,
      60_000,
    )
    expect(first.spawn(['exec', '--', 'true']).status).toBe(0)
    first.must(['halt'])
    expect(states(id)).toEqual(['SENDING'])
    heard.at(-1)?.end('thanks')
    const { status, out } = await ended
    first.must(['resume', '--pass-fd', '0'], WORDS)
    expect([status, states(id)], out).toEqual([0, ['SENDING', 'ANSWERED', 'SAVED']])
    const { facts } = first.must(['log', '--type', 'decision_v1', '--action', id])
    expect(facts).toHaveLength(1)
  },
)

it(
  'is settled by another one once a human removed its machine, also by one of its name',
  TIMEOUT,
  async () => {
    const third = fleet.joined(first, 'gamma', undefined, WORDS)
    const id = propose('other.txt')
    // The act changes no file, so any machine may carry it out.
    const { child, ended } = approve(third, id)
    const before = heard.length
    await until(
      () => heard.length,
      (count) => count > before,
      60_000,
    )
    child.kill('SIGKILL')
    await ended
    const recover = () => expect(second.spawn(['exec', '--', 'true']).status).toBe(0)
    recover()
    expect(states(id)).toEqual(['SENDING'])
    first.must(['machine', 'remove', 'gamma', '--pass-fd', '0'], WORDS)
    const { key } = new FleetMachine(fleet.folder, 'delta').must(['machine', 'join', fleet.url])
    first.must(['machine', 'admit', 'gamma', key, '--pass-fd', '0'], WORDS)
    recover()
    expect(states(id)).toEqual(['SENDING', 'UNKNOWN'])
    expect(heard).toHaveLength(before + 1)
    expect(first.must(['ledger', 'verify']).ok).toBe(true)
  },
)

it('is not called refused by a halt that is typed elsewhere meanwhile', TIMEOUT, async () => {
  const id = propose('third.txt')
  const before = heard.length
  const { ended } = approve(first, id)
  await until(
    () => heard.length,
    (count) => count > before,
    60_000,
  )
  second.must(['halt'])
  heard.at(-1)?.end('thanks')
  const { status, out } = await ended
  expect([status, states(id)], out).toEqual([0, ['SENDING', 'ANSWERED', 'SAVED']])
  const { facts } = first.must(['log', '--type', 'decision_v1', '--action', id])
  expect(facts).toHaveLength(1)
  second.must(['resume', '--pass-fd', '0'], WORDS)
})

it('is not sent for a yes that was given before a halt', TIMEOUT, async () => {
  const id = propose('fourth.txt')
  // Its process dies between the yes and the request.
  const { child, ended } = approve(first, id)
  await until(
    async () => first.must(['log', '--type', 'confirmation_v1', '--action', id]).facts.length,
    (count) => count === 1,
    60_000,
  )
  child.kill('SIGKILL')
  await ended
  const sent = states(id)
  second.must(['halt'])
  second.must(['resume', '--pass-fd', '0'], WORDS)
  second.must(['resume', '--pass-fd', '0'], WORDS)
  expect(first.spawn(['exec', '--', 'true']).status).toBe(0)
  expect(states(id)).toEqual(sent.length === 0 ? [] : ['SENDING', 'UNKNOWN'])
})

it('that may have been sent is not called carried out', TIMEOUT, async () => {
  const id = propose('fifth.txt')
  const before = heard.length
  const { child, ended } = approve(first, id)
  await until(
    () => heard.length,
    (count) => count > before,
    60_000,
  )
  child.kill('SIGKILL')
  await ended
  const told = first.spawn(['recover']).stdout
  expect(told).toContain('interrupted while its request was sent')
  expect(told).not.toContain('carried out')
  expect(states(id)).toEqual(['SENDING', 'UNKNOWN'])
})
