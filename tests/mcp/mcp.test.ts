/** `writ mcp` and `/mcp` of the service, as official clients of both generations use them (M-1, M-2). */
import { existsSync, readFileSync, symlinkSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import type { Client } from '@modelcontextprotocol/client'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { checkFactProof, parseVerifierKey, verifierFor } from '../../src/ledger/index.ts'
import { TOOLS } from '../../src/mcp/index.ts'
import type { Json } from '../cli-gate/place.ts'
import { PASSPHRASE } from '../server/service-place.ts'
import { call, GENERATIONS, McpPlace, read } from './mcp-place.ts'

let place: McpPlace
let bot: string
let other: string
let human: string

beforeAll(async () => {
  place = new McpPlace('mcp')
  bot = place.tokenOf('ai:bot@local')
  other = place.tokenOf('ai:other@local')
  human = place.tokenOf('human:bea@local')
  await place.serve()
}, 120_000)

afterAll(() => place.leave())

const pass = { passphrase: PASSPHRASE }

function inProject(name: string): string {
  return join(place.project, name)
}

/** The whole way of a client that knows nothing but the protocol. */
async function proposeAndProve(client: Client, name: string): Promise<void> {
  const { tools } = await client.listTools()
  expect(tools.map((tool) => tool.name)).toEqual(Object.keys(TOOLS))
  for (const tool of tools) expect(tool.outputSchema, tool.name).toBeDefined()
  const asked = await call(client, 'propose_action', { proposal: place.proposal(name) })
  expect(asked).toMatchObject({ status: 'waiting', decision: 'CONFIRM' })
  const { id, answer } = asked.question
  expect(answer).toContain(`writ approve ${id}`)
  expect(existsSync(inProject(name))).toBe(false)
  const waiting = call(client, 'action_status', { action_id: asked.action_id, wait_seconds: 30 })
  expect(place.writ(['approve', id, '--pass-fd', '3', '--yes'], pass).status).toBe(0)
  expect(await waiting).toMatchObject({ status: 'promoted', effects: { added: 1 } })
  expect(readFileSync(inProject(name), 'utf8')).toBe('hello')
  const { facts } = await read(client, `writ://actions/${asked.action_id}/decision`)
  expect(facts.map(({ type }: Json) => type)).toContain('promotion_v1')
  const verifiers = place
    .writ(['ledger', 'key', '--json'])
    .json.keys.map((key: string) => verifierFor(parseVerifierKey(key) as Json))
  for (const { text, proof } of facts) expect(checkFactProof(proof, text, verifiers)).toBe(true)
  const [{ text, proof }] = facts
  expect(checkFactProof(proof, text.replace('bot', 'bat'), verifiers)).toBe(false)
  const { diff } = await read(client, `writ://actions/${asked.action_id}/diff`)
  expect(diff.added[0].path).toBe(inProject(name))
}

describe.each(GENERATIONS)('a client of the generation %s', (generation) => {
  it('proposes, waits for a person, and checks the proof over stdio', async () => {
    await proposeAndProve(await place.stdio(bot, generation), `.env.stdio-${generation}`)
  }, 90_000)

  it('does the same over HTTP', async () => {
    await proposeAndProve(await place.http(bot, generation), `.env.http-${generation}`)
  }, 90_000)
})

describe('tools', () => {
  let client: Client

  beforeAll(async () => {
    client = await place.http(bot)
  }, 60_000)

  it('write, edit, run and delete in the workspace', async () => {
    const made = await call(client, 'write_file', { path: 'notes.txt', content: 'one two\n' })
    expect(made).toMatchObject({ status: 'promoted', question: null })
    const edit = { path: 'notes.txt', old_text: 'two', new_text: '$& 2' }
    const edited = await call(client, 'edit_file', edit)
    // A change of a file that git does not track is asked about.
    expect(edited.status).toBe('waiting')
    expect(edited.effects.paths).toEqual([inProject('notes.txt')])
    const asked = place.writ(['inbox', edited.question.id]).out
    expect(asked).toContain(`edit ${inProject('notes.txt')} with ${process.execPath}`)
    const own = (await call(client, 'list_my_actions', { limit: 1 })).actions[0]
    expect(own.what).toBe(`edit ${inProject('notes.txt')} with ${process.execPath}`)
    place.writ(['approve', edited.question.id, '--pass-fd', '3', '--yes'], pass)
    expect(readFileSync(inProject('notes.txt'), 'utf8')).toBe('one $& 2\n')
    const missed = await call(client, 'edit_file', { ...edit, old_text: 'three' })
    expect(missed).toMatchObject({ status: 'failed', exit_code: 1 })
    expect(missed.stderr).toContain('old_text is not in the file')
    const ran = await call(client, 'run_command', {
      argv: ['sh', '-c', 'echo said; echo made > made.txt'],
      writes: ['made.txt'],
    })
    expect(ran).toMatchObject({ status: 'promoted', exit_code: 0, stdout: 'said\n' })
    const undeclared = await call(client, 'run_command', { argv: ['touch', 'free.txt'] })
    expect(undeclared.status).toBe('waiting')
    const gone = await call(client, 'delete_path', { path: 'made.txt' })
    expect(gone).toMatchObject({ status: 'waiting', effects: { deleted: 1 } })
    const explained = await call(client, 'explain_decision', { action_id: gone.action_id })
    expect(JSON.stringify(explained.explanation)).toContain('effect.')
    const { actions } = await call(client, 'list_my_actions', { limit: 50 })
    expect(actions.map(({ action_id }: Json) => action_id)).toContain(gone.action_id)
  }, 120_000)

  it('check documents, evaluate rules, and rehearse without a trace', async () => {
    const checked = await call(client, 'check_document', { document: { type: 'record' } })
    expect(checked.valid).toBe(false)
    const proposal = place.proposal('dry.txt')
    const dry = await call(client, 'propose_action', { proposal, dry_run: true })
    expect(dry).toMatchObject({ status: 'dry run', decision: 'PROMOTE' })
    expect(existsSync(inProject('dry.txt'))).toBe(false)
    const { laws } = await read(client, 'writ://laws')
    expect(laws.map((law: Json) => law.policy_id)).toContain('ASK_HIGH')
  }, 60_000)

  it('ask for an undo that only a person carries out', async () => {
    const made = await call(client, 'write_file', { path: 'back.txt', content: 'x' })
    const { action_id } = made
    const stranger = await place.http(other)
    expect(await call(stranger, 'request_undo', { action_id, reason: 'mine' })).toMatchObject({
      refused: expect.stringContaining('history.unknown'),
    })
    const asked = await call(client, 'request_undo', { action_id, reason: 'wrong file' })
    const again = await call(client, 'request_undo', { action_id, reason: 'once more' })
    expect(again.question.id).toBe(asked.question.id)
    expect(existsSync(inProject('back.txt'))).toBe(true)
    const { id } = asked.question
    expect(place.writ(['inbox', '--json']).json.undo_requests).toMatchObject([
      { id, action_id, reason: 'wrong file', asked_by: 'ai:bot@local' },
    ])
    expect(place.writ(['approve', id], { token: bot }).status).toBe(1)
    expect(place.writ(['approve', id, '--yes']).err).toContain('credential.required')
    expect(existsSync(inProject('back.txt'))).toBe(true)
    expect(place.writ(['approve', id, '--pass-fd', '3'], pass).status).toBe(0)
    expect(existsSync(inProject('back.txt'))).toBe(false)
    expect((await call(client, 'action_status', { action_id })).status).toBe('undone')
    expect(place.writ(['approve', id, '--pass-fd', '3'], pass).status).toBe(1)
    const second = await call(client, 'write_file', { path: 'stay.txt', content: 'x' })
    const no = await call(client, 'request_undo', { action_id: second.action_id, reason: 'hm' })
    expect(place.writ(['deny', no.question.id, '--reason', 'keep it']).status).toBe(0)
    expect(existsSync(inProject('stay.txt'))).toBe(true)
    expect(place.writ(['ledger', 'verify']).status).toBe(0)
    expect(place.writ(['replay', '--json']).json).toMatchObject({ ok: true, differences: [] })
  }, 120_000)

  it('tell of progress, and end when the client gives up', async () => {
    const told: number[] = []
    const giveUp = new AbortController()
    const options = {
      signal: giveUp.signal,
      onprogress: ({ progress }: Json) => {
        told.push(progress)
        if (told.length === 3) giveUp.abort()
      },
    }
    const args = { argv: ['sh', '-c', 'sleep 20; echo x > late.txt'], writes: ['late.txt'] }
    await expect(
      client.callTool({ name: 'run_command', arguments: args }, options),
    ).rejects.toThrow()
    expect(told).toEqual([...told].sort((one, two) => one - two))
    let last: Json = null
    for (let look = 0; look < 60 && last?.status !== 'blocked'; look++) {
      await pause(250)
      last = (await call(client, 'list_my_actions', { limit: 1 })).actions[0]
    }
    expect(last.status).toBe('blocked')
    expect(existsSync(inProject('late.txt'))).toBe(false)
    const status = await call(client, 'action_status', { action_id: last.action_id })
    expect(status.codes).toContain('result.policy_aborted')
  }, 90_000)
})

describe('a client that can open an address', () => {
  it.each(GENERATIONS)(
    'is led to the question, and only the recorded answer counts (%s)',
    async (generation) => {
      const opened: string[] = []
      // The person closes the page, or says that it was answered: neither is an answer.
      const options = ['--console', 'http://writ.localhost:4180']
      const client = await place.stdio(bot, generation, options, (url) => {
        opened.push(url)
        return { action: 'accept' }
      })
      const name = `.env.led-${generation}`
      const asked = await call(client, 'propose_action', { proposal: place.proposal(name) })
      expect(asked.status).toBe('waiting')
      expect(existsSync(inProject(name))).toBe(false)
      expect(opened).toEqual([`http://writ.localhost:4180/questions/${asked.question.id}`])
      place.writ(['deny', asked.question.id, '--reason', 'no'], pass)
    },
    60_000,
  )
})

describe('hostile clients', () => {
  it('with a token for reading alone propose nothing', async () => {
    const reader = place.anotherToken('ai:bot@local', '--scope', 'read')
    const { status, err } = place.writ(['mcp'], { token: reader, isWarm: false })
    expect([status, err]).toEqual([1, expect.stringContaining('principal.scope')])
    const headers = {
      'content-type': 'application/json',
      accept: 'application/json, text/event-stream',
      authorization: `Bearer ${reader}`,
    }
    const body = '{"jsonrpc":"2.0","id":1,"method":"tools/list"}'
    const answer = await place.raw({ method: 'POST', path: '/mcp', headers, body })
    expect([answer.status, answer.json.code]).toEqual([403, 'principal.scope'])
  }, 60_000)

  it('never are the person at this machine', async () => {
    for (const [token, code] of [
      ['', 'mcp.no_token'],
      ['nonsense', 'principal.token'],
      [human, 'mcp.human'],
    ] as const) {
      const { status, err } = place.writ(['mcp'], { token, isWarm: false })
      expect({ status, code: err.includes(code) }, err).toEqual({ status: 1, code: true })
    }
    const ping = { method: 'POST', path: '/mcp', body: '{"jsonrpc":"2.0","id":1,"method":"ping"}' }
    const headers = {
      'content-type': 'application/json',
      accept: 'application/json, text/event-stream',
    }
    expect((await place.raw({ ...ping, headers })).status).toBe(401)
    const asHuman = { ...headers, authorization: `Bearer ${human}` }
    expect((await place.raw({ ...ping, headers: asHuman })).json.code).toBe('mcp.human')
    expect((await place.raw({ ...ping, headers, socket: place.socket })).json.code).toBe(
      'mcp.human',
    )
    const foreign = { ...headers, authorization: `Bearer ${bot}`, origin: 'https://evil.example' }
    expect((await place.raw({ ...ping, headers: foreign })).status).toBe(403)
  }, 60_000)

  it('find no tool that answers a question', async () => {
    expect(
      Object.keys(TOOLS).filter((name) => /approve|deny|override|rollback/.test(name)),
    ).toEqual([])
  })

  it('see nothing of others, two at once', async () => {
    const [mine, theirs] = [await place.http(bot), await place.http(other)]
    const [one, two] = await Promise.all([
      call(mine, 'write_file', { path: 'mine.txt', content: 'secret of bot' }),
      call(theirs, 'write_file', { path: 'theirs.txt', content: 'secret of other' }),
    ])
    expect([one.status, two.status]).toEqual(['promoted', 'promoted'])
    const refused = { refused: expect.stringContaining('history.unknown') }
    const { action_id } = one
    expect(await call(theirs, 'action_status', { action_id })).toMatchObject(refused)
    expect(await call(theirs, 'explain_decision', { action_id })).toMatchObject(refused)
    await expect(read(theirs, `writ://actions/${action_id}/decision`)).rejects.toThrow()
    await expect(read(theirs, `writ://actions/${action_id}/diff`)).rejects.toThrow()
    const { actions } = await call(theirs, 'list_my_actions', { limit: 200 })
    expect(actions.map((act: Json) => act.action_id)).not.toContain(action_id)
    // An id that another used is refused without a word about that act.
    const proposal = place.proposal('again.txt')
    proposal.descriptor.action_id = action_id
    const taken = await call(theirs, 'propose_action', { proposal })
    expect(JSON.stringify(taken)).not.toContain('mine.txt')
    expect(existsSync(inProject('again.txt'))).toBe(false)
  }, 90_000)

  it.each([
    ['outside', { path: '../outside.txt', content: 'x' }],
    ['absolute', { path: '/etc/writ-was-here', content: 'x' }],
    ['nul', { path: 'a\0b', content: 'x' }],
    ['home', { path: '.writ/laws.yaml', content: 'replace: true' }],
    ['link', { path: 'link/writ-was-here', content: 'x' }],
  ])(
    'write nothing by a path trick: %s',
    async (name, args) => {
      if (name === 'link') symlinkSync('/etc', inProject('link'))
      const client = await place.http(bot)
      const answer = await call(client, 'write_file', args)
      expect(answer.status, JSON.stringify(answer)).not.toBe('promoted')
      expect(existsSync('/etc/writ-was-here')).toBe(false)
      expect(existsSync(join(place.folder, 'outside.txt'))).toBe(false)
    },
    60_000,
  )

  it.each([
    ['no path', 'write_file', { content: 'x' }],
    ['a number', 'write_file', { path: 7, content: 'x' }],
    ['a key more', 'write_file', { path: 'a', content: 'x', approve: true }],
    ['no words', 'run_command', { argv: [] }],
    ['a text', 'run_command', { argv: 'rm -rf /' }],
    ['too long a text', 'edit_file', { path: 'a', old_text: 'x'.repeat(40_000), new_text: '' }],
    ['too long a wait', 'action_status', { action_id: 'x', wait_seconds: 1e9 }],
  ])(
    'are refused before anything runs: %s',
    async (_name, tool, args) => {
      const client = await place.http(bot)
      const before = await call(client, 'list_my_actions')
      const { refused } = await call(client, tool, args)
      expect(refused).toBeTypeOf('string')
      expect(await call(client, 'list_my_actions')).toEqual(before)
    },
    60_000,
  )

  it('send no more than the service takes', async () => {
    const headers = {
      'content-type': 'application/json',
      accept: 'application/json, text/event-stream',
      authorization: `Bearer ${bot}`,
    }
    // It answers before the body has come, and closes.
    const long = { ...headers, 'content-length': String(5 << 20) }
    const request = { method: 'POST', path: '/mcp', headers: long, body: '{' }
    expect((await place.raw(request)).status).toBe(413)
  }, 60_000)

  it('that are gone in the middle leave no half of an act (stdio)', async () => {
    const client = await place.stdio(bot)
    const args = { argv: ['sh', '-c', 'sleep 5; echo x > orphan.txt'], writes: ['orphan.txt'] }
    const running = client.callTool({ name: 'run_command', arguments: args }).catch(() => 'gone')
    await pause(2_000)
    await client.close()
    expect(await running).toBe('gone')
    // Longer than the command would take.
    await pause(8_000)
    expect(existsSync(inProject('orphan.txt'))).toBe(false)
    expect(place.writ(['ledger', 'verify']).status).toBe(0)
  }, 60_000)
})
