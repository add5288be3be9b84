/** Held requests over TLS: a trusted authority must have signed the certificate for the name. */
import { afterAll, beforeAll, expect, it, vi } from 'vitest'
import type { Json } from '../cli-gate/place.ts'
import { type Certificate, certificate } from '../network/servers.ts'
import { Actor } from './actor.ts'
import { Counterpart } from './counterpart.ts'

vi.setConfig({ testTimeout: 120_000 })

let known: Certificate
let server: Counterpart
let actor: Actor

beforeAll(async () => {
  known = certificate()
  server = await Counterpart.open(known)
  actor = new Actor('root', 'secure')
}, 180_000)

afterAll(() => {
  known?.remove()
  server?.close()
  actor?.remove()
})

function request(): Json {
  const url = `https://${server.host}/`
  const operation = { type: 'NETWORK_REQUEST', method: 'POST', url, body: 'secret' }
  return actor.proposal(operation, { hosts: [server.host] })
}

it('is sent where the certificate is trusted', () => {
  const { json } = actor.act(request(), {
    isWarm: false,
    env: { NODE_EXTRA_CA_CERTS: known.file },
  })
  expect(json, JSON.stringify(json)).toMatchObject({
    promoted: true,
    requests: [{ state: 'ANSWERED', status: 200 }],
  })
})

it('is not sent where it is not: a known failure, and the other side saw nothing', async () => {
  await server.taken()
  const { json } = actor.act(request())
  expect(json.decision).toMatchObject({ decision: 'BLOCK', code: 'request.failed' })
  expect(json.requests).toMatchObject([{ state: 'FAILED' }])
  expect(await server.taken()).toEqual([])
})

it('settings of the caller do not turn the check off', async () => {
  const { json } = actor.act(request(), {
    isWarm: false,
    env: { NODE_TLS_REJECT_UNAUTHORIZED: '0' },
  })
  expect(json.decision).toMatchObject({ code: 'request.failed' })
  expect(await server.taken()).toEqual([])
})
