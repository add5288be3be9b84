/** A released run whose process is killed: that something may have been sent is a fact, and is shown. */
import { readdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { afterAll, beforeAll, expect, it, vi } from 'vitest'
import { type Json, Place } from '../cli-gate/place.ts'
import { commandProposal } from '../gate/document.ts'
import { plainServer, type TestServer } from './servers.ts'

vi.setConfig({ testTimeout: 120_000 })

const PASSPHRASE = 'four words of mine'
let place: Place
let api: TestServer

beforeAll(async () => {
  api = await plainServer()
  place = new Place('interrupted').init(PASSPHRASE)
  place.write('work/keep.txt')
}, 180_000)

afterAll(async () => {
  place?.remove()
  await api?.close()
})

function ordering(host: string): Json {
  const script = `curl -sS -d order http://${host}/buy; sleep 15`
  const proposal = commandProposal(place, script, {})
  const { scope, effects, sandbox } = proposal.descriptor
  scope.network = { required: true, hosts: [host] }
  effects.network = true
  sandbox.allow_network = true
  return proposal
}

function release(proposal: Json, host: string): void {
  const file = join(place.folder, 'proposal.json')
  writeFileSync(file, JSON.stringify(proposal))
  const words = ['override', '--release', file, '--host', host, '--method', 'POST']
  const ended = place.writ([...words, '--reason', 'I read it', '--pass-fd', '3', '--json'], {
    passphrase: PASSPHRASE,
  })
  expect(ended.json, ended.err).toMatchObject({ ok: true })
}

const facts = (type: string): Json[] => place.writ(['log', '--type', type, '--json']).json.facts

it('is reported once, by the first process that looks, and never while it goes on', async () => {
  const host = `127.0.0.1:${api.port}`
  const proposal = ordering(host)
  const { action_id } = proposal.descriptor
  release(proposal, host)
  const child = place.start(['propose', '-', '--json'])
  child.stdin?.end(JSON.stringify(proposal))
  const gone = new Promise((resolve) => child.once('close', resolve))
  for (let tries = 0; tries < 200 && api.heard.length === 0; tries++) await pause(50)
  expect(api.heard).toMatchObject([{ method: 'POST', url: '/buy' }])

  // Its process lives, so nothing is known to be wrong.
  expect(place.writ(['inbox', '--json']).json).toEqual({ pending: [] })
  child.kill('SIGKILL')
  await gone

  const { json } = place.writ(['inbox', '--json'])
  const told = { action_id, code: 'request.unknown', hosts: [host], methods: ['POST'] }
  expect(json.interrupted).toMatchObject([told])
  expect(place.writ(['inbox']).out).toContain('may have been sent')
  expect(place.writ(['recover']).out).toContain('may have been sent')
  const decisions = facts('decision_v1')
  expect(decisions).toHaveLength(1)
  expect(decisions[0]).toMatchObject({
    principal: { kind: 'script', id: 'writ' },
    record: { payload: { action_id, decision: 'BLOCK', code: 'request.unknown' } },
  })
  expect(facts('evaluation_v1')[0].record.payload.obstacles).toMatchObject([
    { code: 'request.unknown', detail: expect.stringContaining(host) },
  ])

  // The release is used: the same proposal sends nothing a second time.
  const again = place.writ(['propose', '-', '--json'], { input: JSON.stringify(proposal) })
  expect(again.json.decision.decision).toBe('BLOCK')
  expect(api.heard).toHaveLength(1)
  const locks = readdirSync(join(place.folder, 'state'), { recursive: true, encoding: 'utf8' })
  expect(locks.filter((name) => name.includes('/released/'))).toEqual([])
  const replayed = place.writ(['replay', '--json'])
  expect(replayed.json, replayed.out).toMatchObject({ ok: true, differences: [] })
  expect(place.writ(['ledger', 'verify', '--json']).json.ok).toBe(true)
})
