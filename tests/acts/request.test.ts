/**
 * NETWORK_REQUEST from end to end: held in the rehearsal, sent once after a yes, undone by its
 * compensation. The other side is a real server on the loopback, which counts what reaches it.
 */
import { once } from 'node:events'
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import type { Json } from '../cli-gate/place.ts'
import { Actor, BOTH_USERS, type Who } from './actor.ts'
import { Counterpart } from './counterpart.ts'

vi.setConfig({ testTimeout: 120_000 })

let server: Counterpart

beforeAll(async () => {
  server = await Counterpart.open()
}, 180_000)

afterAll(() => server?.close())

let actor: Actor

function request(fields: Json, wanted: Json = {}): Json {
  const { path = '/', ...rest } = fields
  const operation = {
    type: 'NETWORK_REQUEST',
    method: 'POST',
    url: `${server.url}${path}`,
    ...rest,
  }
  return actor.proposal(operation, { hosts: [server.host], ...wanted })
}

/** Gives the tests of a group an actor of their own. */
function useActor(who: Who): void {
  beforeAll(() => {
    actor = new Actor(who, 'request')
  }, 120_000)
  afterAll(() => actor?.remove())
}

describe.each(BOTH_USERS)('as %s', (who) => {
  useActor(who)

  it('nothing leaves before a yes; then it leaves once, as it was shown', async () => {
    const proposal = request({
      path: '/orders?secret=query',
      headers: { Authorization: 'Bearer hush', 'Content-Type': 'text/plain' },
      body: 'one order',
    })
    const proposed = actor.propose(proposal)
    expect(proposed.status, JSON.stringify(proposed.json)).toBe(3)
    expect(proposed.json.decision).toMatchObject({ decision: 'CONFIRM' })
    expect(proposed.json.decision.codes).toContain('confirm.class')
    expect(proposed.json.result.side_effects.held).toMatchObject([
      {
        method: 'POST',
        url: `${server.url}/orders`,
        has_query: true,
        header_names: ['Authorization', 'Content-Type'],
        body_bytes: 9,
      },
    ])
    expect(await server.taken()).toEqual([])
    const approved = actor.approve(proposed.json.pending.id)
    expect(approved.status, JSON.stringify(approved.json)).toBe(0)
    expect(await server.taken()).toMatchObject([
      {
        method: 'POST',
        path: '/orders?secret=query',
        headers: { authorization: 'Bearer hush' },
        body: 'one order',
      },
    ])
    const facts = actor.facts('request_v1')
    expect(facts.map(({ state }: Json) => state)).toEqual(['SENDING', 'ANSWERED'])
    expect(facts[1]).toMatchObject({ answer: { status: 200, bytes: 2 } })
    expect(actor.approve(proposed.json.action_id).status).not.toBe(0)
    expect(await server.taken()).toEqual([])
    const log = actor.writ(['log', '--json']).out
    for (const secret of ['hush', 'secret=query', 'one order']) expect(log).not.toContain(secret)
  })

  it.each(['rollback', 'undo'])(
    'an answer is kept in a file, and `%s` takes it back once it is compensated',
    async (command) => {
      const file = actor.at(`work/${command}.txt`)
      const compensation = { type: 'NETWORK_REQUEST', method: 'DELETE', url: `${server.url}/made` }
      const proposal = request(
        { path: `/make/${command}`, save_to: file, compensation },
        { create: [`work/${command}.txt`], rollback: 'compensation' },
      )
      const { status, json } = actor.act(proposal)
      expect(status, JSON.stringify(json)).toBe(0)
      expect(actor.text(`work/${command}.txt`)).toBe('ok')
      expect((await server.taken()).map(({ method, path }) => `${method} ${path}`)).toEqual([
        `POST /make/${command}`,
      ])
      const takeBack = () =>
        command === 'undo' ? actor.writ(['undo', '--json']) : actor.rollback(json.action_id)
      const waiting = takeBack()
      expect(waiting.status, JSON.stringify(waiting.json)).toBe(3)
      expect(actor.place.has(`work/${command}.txt`)).toBe(true)
      expect(await server.taken()).toEqual([])
      expect(actor.approve(waiting.json.compensation.pending.id).status).toBe(0)
      const undone = takeBack()
      expect(undone.json, JSON.stringify(undone.json)).toMatchObject({
        restored: [file],
        verified: true,
        compensated_by: [waiting.json.compensation.action_id],
      })
      expect(actor.place.has(`work/${command}.txt`)).toBe(false)
      expect((await server.taken()).map(({ method, path }) => `${method} ${path}`)).toEqual([
        'DELETE /made',
      ])
      expect(actor.facts('rollback_v1').at(-1)).toMatchObject({ action_ids: [json.action_id] })
    },
  )

  it('a composite sends last, when its files are there, in the order of its children', async () => {
    const first = request({ path: `/saw${actor.at('work/c.txt')}` })
    const write = actor.proposal(
      { type: 'FILE_WRITE', path: actor.at('work/c.txt'), content: 'x' },
      { create: ['work/c.txt'] },
    )
    const second = request({ path: '/then', method: 'PUT' })
    const proposal = actor.composite([first, write, second], {
      create: ['work/c.txt'],
      hosts: [server.host],
    })
    const { json } = actor.act(proposal)
    expect(json.promoted, JSON.stringify(json)).toBe(true)
    // The server looks for the file when the request reaches it.
    expect((await server.taken()).map(({ method, sawFile }) => [method, sawFile])).toEqual([
      ['POST', true],
      ['PUT', false],
    ])
  })

  it('all of it is computed again', () => {
    const { status, json } = actor.replay()
    expect(status, JSON.stringify(json)).toBe(0)
  })
})

// What writ decides here does not depend on the user.
describe('as one of them', () => {
  useActor('user')

  it('a no sends nothing', async () => {
    const proposed = actor.propose(request({ path: '/denied' }))
    const denied = actor.writ(['deny', proposed.json.pending.id, '--json'])
    expect(denied.json).toMatchObject({ promoted: false })
    expect(await server.taken()).toEqual([])
  })

  it('is compensated once, however often it is taken back', async () => {
    const compensation = { type: 'NETWORK_REQUEST', method: 'DELETE', url: `${server.url}/once` }
    const made = request({ path: '/make/once', compensation }, { rollback: 'compensation' })
    const { json } = actor.act(made)
    expect(json.promoted, JSON.stringify(json)).toBe(true)
    await server.taken()
    // At the same time: each of them finds that nothing was proposed yet.
    const racing = await Promise.all([1, 2, 3].map(() => actor.later(['undo', '--json'])))
    const [{ id }] = actor.place.pending()
    for (const ended of racing) {
      expect(ended.status, ended.out).toBe(3)
      expect(JSON.parse(ended.out).compensation.pending.id).toBe(id)
    }
    const again = actor.writ(['undo'])
    expect(again.status).toBe(3)
    expect(again.out).toContain(`writ approve ${id}`)
    expect(actor.place.pending()).toHaveLength(1)
    expect(actor.approve(id).status).toBe(0)
    expect(actor.rollback(json.action_id).json).toMatchObject({ verified: true })
    expect((await server.taken()).map(({ method }) => method)).toEqual(['DELETE'])
    expect(actor.replay().status).toBe(0)
  })

  it('says what is sent, what came of it, and what undo would do', async () => {
    const file = actor.at('work/told.txt')
    const compensation = { type: 'NETWORK_REQUEST', method: 'DELETE', url: `${server.url}/told` }
    const fields = { path: '/tell', body: 'one order', save_to: file, compensation }
    const wanted = { create: ['work/told.txt'], rollback: 'compensation' }
    const proposed = actor.propose(request(fields, wanted))
    const { pending, action_id } = proposed.json
    const sent = `1 request (POST ${server.url}/tell, 9 bytes)`
    const undo = `writ undo asks to send what compensates it: DELETE ${server.url}/told`
    expect(actor.writ(['inbox']).out).toContain(sent)
    const asked = actor.writ(['inbox', pending.id]).out
    for (const words of [sent, undo]) expect(asked).toContain(words)
    expect(asked).not.toContain('cannot be taken back')
    expect(actor.approve(pending.id).status).toBe(0)
    const told = actor.writ(['show', action_id]).out
    expect(told).toContain(`→ POST ${server.url}/tell, 9 bytes; answer: 200, written to ${file}`)
    expect(told).toContain('writ undo asks to send what compensates it')
    for (const words of ['nothing to change', 'no effects', 'effect.not_observed']) {
      expect(told).not.toContain(words)
    }
    expect(actor.writ(['log']).out).toMatch(/promoted +human:ann@local +1 request +POST /)
    await server.taken()
  })

  it('what nothing compensates is not rolled back, and the list says why', async () => {
    const { json } = actor.act(request({ path: '/final' }))
    expect(json.promoted, JSON.stringify(json)).toBe(true)
    const refused = actor.rollback(json.action_id)
    expect(refused.status).toBe(1)
    expect(refused.json.error).toMatchObject({ code: 'rollback.irreversible' })
    expect(refused.json.error.message).toContain(json.action_id)
    await server.taken()
  })

  it('an existing file takes an answer only where a change is declared', async () => {
    actor.write('work/old.txt', 'before')
    const save_to = actor.at('work/old.txt')
    const wrong = actor.act(request({ path: '/w', save_to }, { create: ['work/old.txt'] }))
    expect(wrong.json.decision).toMatchObject({ decision: 'BLOCK', code: 'request.save_to' })
    expect(await server.taken()).toEqual([])
    const undeclared = actor.propose(request({ path: '/w', save_to }))
    expect(undeclared.json.decision.codes).toContain('descriptor.effects_omitted')
    const right = actor.act(request({ path: '/w', save_to }, { modify: ['work/old.txt'] }))
    expect(right.json.promoted, JSON.stringify(right.json)).toBe(true)
    expect(actor.text('work/old.txt')).toBe('ok')
    await server.taken()
  })

  it.each([
    ['/status/404', 'request.refused'],
    ['/status/500', 'request.refused'],
  ])('%s is a known failure: files are put back, and that is the answer', async (path, code) => {
    const write = actor.proposal(
      { type: 'FILE_WRITE', path: actor.at('work/with.txt'), content: 'x' },
      { create: ['work/with.txt'] },
    )
    const proposal = actor.composite([write, request({ path })], {
      create: ['work/with.txt'],
      hosts: [server.host],
    })
    const { status, json } = actor.act(proposal)
    expect(status, JSON.stringify(json)).toBe(1)
    expect(json.decision).toMatchObject({ decision: 'BLOCK', code: 'request.failed' })
    expect(actor.place.has('work/with.txt')).toBe(false)
    expect(actor.facts('request_v1').at(-1)).toMatchObject({ state: 'FAILED', code })
    expect(await server.taken()).toHaveLength(1)
  })

  it('no server is there: known, and nothing is left', async () => {
    const closed = await Counterpart.closedPort()
    const operation = { type: 'NETWORK_REQUEST', method: 'GET', url: `http://127.0.0.1:${closed}/` }
    const { json } = actor.act(actor.proposal(operation, { hosts: [`127.0.0.1:${closed}`] }))
    expect(json.decision).toMatchObject({ code: 'request.failed' })
    expect(actor.facts('request_v1').at(-1)).toMatchObject({
      state: 'FAILED',
      code: 'network.unreachable',
    })
  })

  it('a name that leads to the machine itself is not called', async () => {
    const operation = {
      type: 'NETWORK_REQUEST',
      method: 'GET',
      url: `http://localhost:${server.port}/`,
    }
    const { json } = actor.act(actor.proposal(operation, { hosts: [`localhost:${server.port}`] }))
    expect(json.decision.code, JSON.stringify(json)).toBe('request.failed')
    expect(actor.facts('request_v1').at(-1)).toMatchObject({ code: 'network.address' })
    expect(await server.taken()).toEqual([])
  })

  it('a connection that breaks before an answer leaves it unknown, and the files where they are', async () => {
    const write = actor.proposal(
      { type: 'FILE_WRITE', path: actor.at('work/u.txt'), content: 'x' },
      { create: ['work/u.txt'] },
    )
    const proposal = actor.composite([write, request({ path: '/break' })], {
      create: ['work/u.txt'],
      hosts: [server.host],
    })
    const { json } = actor.act(proposal)
    expect(json.promoted, JSON.stringify(json)).toBe(true)
    expect(actor.facts('request_v1').at(-1)).toMatchObject({
      state: 'UNKNOWN',
      code: 'request.unknown',
    })
    expect(actor.text('work/u.txt')).toBe('x')
    await server.taken()
  })

  it.each([false, true])(
    'killed while it is sent (with files: %s): unknown, reported, and never sent again',
    async (withFiles) => {
      const path = `work/killed-${withFiles}.txt`
      const write = actor.proposal(
        { type: 'FILE_WRITE', path: actor.at(path), content: 'x' },
        { create: [path] },
      )
      const single = request({ path: '/stall' })
      const proposal = withFiles
        ? actor.composite([write, single], { create: [path], hosts: [server.host] })
        : single
      const { json } = actor.propose(proposal)
      const child = actor.startApproval(json.pending.id)
      const reached = await server.until(1)
      expect(reached.map(({ path: one }) => one)).toEqual(['/stall'])
      expect(actor.place.has(path)).toBe(withFiles)
      child.kill('SIGKILL')
      await once(child, 'close')
      // Any next act under the lock tells what is known.
      const look = { type: 'FILE_READ', path: actor.at('work/keep.txt') }
      expect(actor.propose(actor.proposal(look)).status).toBe(0)
      const states = actor
        .facts('request_v1')
        .filter(({ action_id }: Json) => action_id === json.action_id)
        .map(({ state }: Json) => state)
      expect(states).toEqual(['SENDING', 'UNKNOWN'])
      const promotions = actor
        .facts('promotion_v1')
        .filter(({ action_id }: Json) => action_id === json.action_id)
      expect(promotions).toMatchObject([{ status: 'APPLIED', recovered: true }])
      expect(actor.place.has(path)).toBe(withFiles)
      expect(actor.approve(json.action_id).status).not.toBe(0)
      expect(await server.taken()).toEqual([])
    },
  )

  it('a person at a terminal sees what would be sent before being asked', async () => {
    const proposed = actor.propose(
      request({ path: '/shown?to=me', headers: { 'X-Secret': 'hush' }, body: '12345' }),
    )
    const { out, err } = actor.writ(['inbox', proposed.json.pending.id])
    const shown = `${out}${err}`
    expect(shown).toContain(`POST ${server.url}/shown?to=me`)
    expect(shown).toContain('X-Secret')
    expect(shown).toContain('cannot be taken back')
    expect(shown).not.toContain('hush')
    expect(await server.taken()).toEqual([])
  })

  it('a redirect is an answer and is not followed', async () => {
    const { json } = actor.act(request({ path: '/redirect' }))
    expect(json.promoted).toBe(true)
    expect(await server.taken()).toHaveLength(1)
    expect(actor.facts('request_v1').at(-1)).toMatchObject({ answer: { status: 302 } })
  })

  it('all of it is computed again', () => {
    const { status, json } = actor.replay()
    expect(status, JSON.stringify(json)).toBe(0)
  })
})
