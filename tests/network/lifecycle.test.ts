/**
 * A network through the whole life of an act: declared, kept by laws, compared, released, recorded and
 * computed again, with the built program and real servers on loopback.
 */
import { spawn } from 'node:child_process'
import { closeSync, mkdirSync, openSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import { type Json, Place } from '../cli-gate/place.ts'
import { again, commandProposal, composite } from '../gate/document.ts'
import { plainServer, type TestServer } from './servers.ts'

// Each test is several processes, and each of them a sandbox.
vi.setConfig({ testTimeout: 120_000 })

const PASSPHRASE = 'four words of mine'

let place: Place
let readOnly: TestServer
let api: TestServer

beforeAll(async () => {
  readOnly = await plainServer()
  api = await plainServer()
  place = new Place('network').init(PASSPHRASE)
  place.write('work/keep.txt')
  const laws = join(place.project, '.writ', 'laws.yaml')
  const settings = `settings:\n  read_only_hosts: ['127.0.0.1:${readOnly.port}']\n`
  writeFileSync(laws, readFileSync(laws, 'utf8').replace(/^settings:\n/m, settings))
  expect(writ(['laws', 'accept', '--yes', '--pass-fd', '3'], true).status).toBe(0)
}, 180_000)

afterAll(async () => {
  place.remove()
  await readOnly.close()
  await api.close()
})

/** In the background: the servers answer in this very process. */
async function slow(args: readonly string[], input = '', isHuman = false): Promise<Json> {
  const secret = join(place.folder, 'passphrase')
  writeFileSync(secret, `${PASSPHRASE}\n`)
  const descriptor = isHuman ? openSync(secret, 'r') : null
  const [program, ...rest] = place.argv(args)
  const child = spawn(program, rest, {
    cwd: place.project,
    env: place.env(),
    stdio: ['pipe', 'pipe', 'pipe', ...(descriptor === null ? [] : [descriptor])],
    timeout: 60_000,
  })
  if (descriptor !== null) closeSync(descriptor)
  let [out, err] = ['', '']
  child.stdout?.on('data', (part) => {
    out += part
  })
  child.stderr?.on('data', (part) => {
    err += part
  })
  child.stdin?.end(input)
  const status = await new Promise((resolve) => child.once('close', resolve))
  let json: Json = null
  try {
    json = JSON.parse(out)
  } catch {
    // Not everything answers in JSON.
  }
  return { status, out, err, json }
}

function writ(args: readonly string[], isHuman = false) {
  return place.writ(args, isHuman ? { passphrase: PASSPHRASE } : {})
}

function networked(script: string, hosts: readonly string[], wanted = {}): Json {
  const proposal = commandProposal(place, script, wanted)
  return withHosts(proposal, hosts)
}

function withHosts(proposal: Json, hosts: readonly string[]): Json {
  const { scope, effects, sandbox } = proposal.descriptor
  scope.network = { required: true, hosts }
  effects.network = true
  sandbox.allow_network = true
  return proposal
}

const propose = (proposal: Json, ...more: string[]) =>
  slow(['propose', '-', '--json', ...more], JSON.stringify(proposal))

const readHost = () => `127.0.0.1:${readOnly.port}`
const apiHost = () => `127.0.0.1:${api.port}`

function release(proposal: Json, methods: readonly string[], hosts = [apiHost()]) {
  const file = join(place.folder, 'proposal.json')
  writeFileSync(file, JSON.stringify(proposal))
  const named = [
    ...hosts.flatMap((host) => ['--host', host]),
    ...methods.flatMap((method) => ['--method', method]),
  ]
  const words = ['override', '--release', file, ...named, '--reason', 'I read it', '--pass-fd', '3']
  return writ([...words, '--json'], true)
}

describe('a run with a network', () => {
  it('that only reads from read-only hosts is promoted without a question', async () => {
    const script = `curl -sS http://${readHost()}/x > got.txt`
    const { status, json } = await propose(
      networked(script, [readHost()], { create: ['work/got.txt'] }),
    )
    expect(status, JSON.stringify(json)).toBe(0)
    expect(json.decision).toMatchObject({ decision: 'PROMOTE', codes: ['promote.ok'] })
    expect(json.result.side_effects.network).toMatchObject([
      { host: '127.0.0.1', port: readOnly.port, outcome: 'passed', method: 'GET' },
    ])
    expect(json.result.controls).toContainEqual({ name: 'network_namespace', profile: 'proxy' })
    expect(place.text('work/got.txt')).toBe('hello\n')
    const shown = writ(['show', json.action_id, '--json']).json
    expect(JSON.stringify(shown)).toContain('"effective":"HIGH"')
  })

  it('that is HIGH by its own word is asked about all the same', async () => {
    const script = `curl -sS http://${readHost()}/x > own.txt`
    const wanted = { create: ['work/own.txt'], risk: 'HIGH' }
    const { status, json } = await propose(networked(script, [readHost()], wanted))
    expect(status, JSON.stringify(json)).toBe(3)
    expect(json.decision.codes).toContain('law.ASK_HIGH')
  })

  it('that asks for more is blocked, and nothing was sent', async () => {
    const before = api.heard.length
    const script = `curl -sS -d secret http://${apiHost()}/; echo done > blocked.txt`
    const proposal = networked(script, [apiHost()], { create: ['work/blocked.txt'] })
    const { status, json } = await propose(proposal)
    expect(status).toBe(1)
    expect(json.decision).toMatchObject({
      decision: 'BLOCK',
      code: 'effect.irreversible',
      permanent: false,
    })
    expect(json.result.findings).toContainEqual({
      code: 'effect.irreversible',
      path: apiHost(),
      detail: 'POST: network.method',
    })
    expect(api.heard.length).toBe(before)
    expect(place.has('work/blocked.txt')).toBe(false)
  })

  it('that reaches for a host outside its scope did not declare it', async () => {
    const script = 'curl -sS http://telemetry.test/; true'
    const { json } = await propose(networked(script, [readHost()]))
    expect(json.decision).toMatchObject({
      decision: 'BLOCK',
      code: 'effect.undeclared',
      permanent: true,
    })
    expect(json.result.compliance.effects_declared).toBe(false)
  })

  it('sees of the home only what is on its list', async () => {
    for (const [file, content] of [
      ['Documents/private.txt', 'secret'],
      ['.cache/pip/kept.txt', 'cached'],
      ['.bash_history', 'secret'],
    ] as const) {
      mkdirSync(join(place.home, file, '..'), { recursive: true })
      writeFileSync(join(place.home, file), content)
    }
    const script =
      'ls -A ~ > seen.txt; cat ~/.cache/pip/kept.txt >> seen.txt; cat ~/Documents/private.txt'
    const wanted = { create: ['work/seen.txt'] }
    const proposal = networked(`${script}; touch ~/new; true`, [readHost()], wanted)
    const { json, status } = await propose(proposal)
    expect(status, JSON.stringify(json)).toBe(0)
    expect(place.text('work/seen.txt')).toBe('.cache\ncached')
    const without = await propose(
      commandProposal(place, `${script}; true`, { modify: ['work/seen.txt'] }),
    )
    expect(without.status, JSON.stringify(without.json)).toBe(0)
    expect(place.text('work/seen.txt')).toContain('Documents')
  })
})

describe('a release', () => {
  it('lets the run of one proposal send, once, though it was rehearsed before', async () => {
    const script = `curl -sS -d order http://${apiHost()}/buy > bought.txt`
    const proposal = networked(script, [apiHost()], { create: ['work/bought.txt'] })
    const refused = await propose(proposal)
    expect(refused.json.decision.code).toBe('effect.irreversible')
    expect((await propose(proposal)).json.decision.codes).toContain('descriptor.action_id_reused')
    expect(release(proposal, ['POST']).json).toMatchObject({ ok: true })
    const before = api.heard.length
    const { json } = await propose(proposal)
    // The request is HIGH, and a person decides about the files; it was sent in either case.
    expect(json.decision, JSON.stringify(json)).toMatchObject({ decision: 'CONFIRM' })
    expect(json.result.side_effects.network).toMatchObject([
      { outcome: 'passed', method: 'POST', released: true, url: `http://${apiHost()}/buy` },
    ])
    expect(api.heard.slice(before)).toMatchObject([{ method: 'POST', url: '/buy' }])
    expect(writ(['approve', json.pending.id, '--yes', '--pass-fd', '3'], true).status).toBe(0)
    expect(place.text('work/bought.txt')).toBe('hello\n')
    expect((await propose(proposal)).json.decision.codes).toContain('descriptor.action_id_reused')
    expect(api.heard.length).toBe(before + 1)
  })

  it('is of its hosts, its methods and its proposal', async () => {
    const proposal = networked(`curl -sS -X DELETE http://${apiHost()}/`, [apiHost()])
    expect(release(proposal, ['POST']).status).toBe(0)
    const other = again(proposal)
    expect((await propose(other)).json.decision.code).toBe('effect.irreversible')
    const { json } = await propose(proposal)
    expect(json.result.findings).toMatchObject([
      { code: 'effect.irreversible', detail: 'DELETE: network.method' },
    ])
    const outside = release(again(proposal), ['POST'], ['elsewhere.test'])
    expect([outside.status, outside.json.error.code]).toEqual([1, 'override.release'])
    const without = release(commandProposal(place, 'true', {}), ['POST'])
    expect(without.json.error.code).toBe('override.release')
  })

  it('is not for a dry run, and not given by an actor', async () => {
    const before = api.heard.length
    const proposal = networked(`curl -sS -d x http://${apiHost()}/`, [apiHost()])
    expect(release(proposal, ['POST']).status).toBe(0)
    const dry = await propose(proposal, '--dry-run')
    expect(dry.json.decision.code).toBe('effect.irreversible')
    expect(api.heard.length).toBe(before)
    const file = join(place.folder, 'proposal.json')
    const words = ['override', '--release', file, '--host', apiHost(), '--method', 'POST']
    const plain = place.writ([...words, '--reason', 'x', '--json'])
    expect(plain.json.error.code).toBe('credential.required')
    expect((await propose(proposal)).json.decision.decision).toBe('PROMOTE')
    expect(api.heard.length).toBe(before + 1)
  })

  it('is used once, also by two runs at the same moment', async () => {
    const before = api.heard.length
    const proposal = networked(`curl -sS -d twice http://${apiHost()}/`, [apiHost()])
    expect(release(proposal, ['POST']).status).toBe(0)
    const both = await Promise.all([propose(proposal), propose(proposal), propose(proposal)])
    expect(both.filter(({ status }) => status === 0)).toHaveLength(1)
    expect(api.heard.length).toBe(before + 1)
  })

  it('of a composite is for its last child only', async () => {
    const child = (script: string) => networked(script, [apiHost()])
    const send = `curl -sS -d x http://${apiHost()}/`
    const parent = (children: readonly Json[]) =>
      withHosts(
        composite(place, children, {
          resources: {
            max_cpu_ms: 20_000,
            max_memory_mb: 1_024,
            max_disk_mb: 128,
            max_duration_ms: 40_000,
          },
        }),
        [apiHost()],
      )
    const wrong = parent([child(send), child('true')])
    expect(release(wrong, ['POST']).status).toBe(0)
    expect((await propose(wrong)).json.decision.code).toBe('effect.irreversible')
    const right = parent([child('true'), child(send)])
    expect(release(right, ['POST']).status).toBe(0)
    const before = api.heard.length
    expect((await propose(right)).json.decision.decision).toBe('PROMOTE')
    expect(api.heard.length).toBe(before + 1)
  })
})

describe('writ exec --net', () => {
  it('reaches read-only hosts, and asks for nothing but its effects', async () => {
    const { status, out, err } = await slow([
      ...['exec', '--net', readHost(), '--write', 'work/exec.txt', '--'],
      ...['sh', '-c', `curl -sS http://${readHost()}/ | tee work/exec.txt`],
    ])
    expect([status, out], err).toEqual([0, 'hello\n'])
    expect(place.text('work/exec.txt')).toBe('hello\n')
  })

  it('sends to other hosts only what was released before the run', async () => {
    const words = ['--net', apiHost(), '--', 'curl', '-sS', '-d', 'x', `http://${apiHost()}/`]
    const before = api.heard.length
    const refused = await slow(['exec', ...words])
    expect(refused.status).toBe(125)
    expect(refused.err).toContain('not released')
    expect(refused.err.trimEnd().split('\n').at(-1)).toBe('writ: effect.irreversible')
    expect(api.heard.length).toBe(before)
    const released = await slow(['exec', '--pass-fd', '3', ...words], '', true)
    expect([released.status, released.out], released.err).toEqual([0, 'hello\n'])
    expect(api.heard.length).toBe(before + 1)
  })

  it('sends to a read-only host what --send released', async () => {
    const words = ['--send', readHost(), '--', 'curl', '-sS', '-d', 'x', `http://${readHost()}/`]
    expect((await slow(['exec', ...words])).status).toBe(125)
    const released = await slow(['exec', '--pass-fd', '3', ...words], '', true)
    expect([released.status, released.out], released.err).toEqual([0, 'hello\n'])
  })

  it('asks a person at the terminal before the run, who may say no', () => {
    const words = ['exec', '--net', apiHost(), '--', 'sh', '-c', 'echo ran']
    const no = place.person(words, [
      { expect: 'Release requests to' },
      { send: 'n\r' },
      { expect: 'ran' },
    ])
    expect([no.status, no.failed], no.output).toEqual([0, null])
    expect(no.output).toContain('not released')
    const yes = place.person(words, [
      { expect: 'Release requests to' },
      { send: 'y\r' },
      { expect: 'passphrase for releasing' },
      { send: `${PASSPHRASE}\r` },
      { expect: 'ran' },
    ])
    expect([yes.status, yes.failed], yes.output).toEqual([0, null])
    const facts = writ(['log', '--json', '--type', 'override_v1']).json.facts
    expect(facts.at(-1).record.payload).toMatchObject({ kind: 'release', hosts: [apiHost()] })
  })

  it.each([
    ['Ctrl-C', { send: '\u0003' }, 125],
    ['Ctrl-D', { send: '\u0004' }, 125],
    ['q', { send: 'q\r' }, 125],
    // By SIGHUP, as the shell tells it.
    ['a terminal that goes away', { hangup: true as const }, 129],
  ])('runs nothing after %s at the question about a release', (name, step, status) => {
    const file = `work/cut-${name.replaceAll(' ', '-')}`
    const words = [
      'exec',
      '--net',
      apiHost(),
      '--write',
      file,
      '--',
      'sh',
      '-c',
      `echo 1 > ${file}`,
    ]
    const seen = place.person(words, [{ expect: 'run nothing] ' }, { pause: 0.3 }, step])
    expect(seen.failed, seen.output).toBeNull()
    expect(seen.status).toBe(status)
    expect(seen.output).not.toContain('promoted')
    const asked = place.pending().filter(({ what }) => String(what).includes(file))
    expect([place.has(file), asked]).toEqual([false, []])
  })

  it('runs nothing after Ctrl-C at the passphrase of a release', () => {
    const words = ['exec', '--net', apiHost(), '--', 'sh', '-c', 'echo ran']
    for (const key of ['\u0003', '\u0004']) {
      const seen = place.person(words, [
        { expect: 'run nothing] ' },
        { send: 'y\r' },
        { expect: 'passphrase for releasing' },
        { pause: 0.3 },
        { send: key },
        { expect: 'interrupted' },
      ])
      expect([seen.status, seen.failed], seen.output).toEqual([125, null])
    }
  })

  it('refuses what is no host', () => {
    expect(place.exec(['--net', 'http://a.test/'], 'true').status).toBe(125)
  })
})

it('everything is computed again from the record', async () => {
  const { status, json } = await slow(['replay', '--json'])
  expect(status, JSON.stringify(json)).toBe(0)
  expect(writ(['ledger', 'verify']).status).toBe(0)
})
