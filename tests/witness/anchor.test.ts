/** A home and its witnesses: real processes, old copies, forks, kills, and witnesses that lie. */
import type { ChildProcess } from 'node:child_process'
import { generateKeyPairSync, type KeyObject, randomInt, sign } from 'node:crypto'
import { cpSync, existsSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { createServer, request, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { formatVerifierKey, parseNote, witnessKey } from '../../src/ledger/index.ts'
import { WitnessDirectory } from '../../src/witness/index.ts'
import { type Json, Place } from '../cli-gate/place.ts'
import { checkCosigned, checkTlogProof } from '../verifier/tlog.mjs'

const place = new Place('witness', { runs: 'warm' })
const WAIT_MS = 30_000

/** A witness as a process. */
class WitnessProcess {
  readonly dir: string
  readonly key: string
  #child: ChildProcess | null = null
  url = ''

  constructor(name: string, logKey: string) {
    this.dir = join(place.folder, name)
    this.key = place.writ(['witness', 'init', `${name}.example/w`, '--dir', this.dir]).out.trim()
    place.writ(['witness', 'add-log', logKey, '--streams', '--dir', this.dir])
  }

  async start(): Promise<this> {
    const port = this.url === '' ? '0' : new URL(this.url).port
    const words = ['witness', 'serve', '--json', '--dir', this.dir, '--listen', `127.0.0.1:${port}`]
    const child = place.start(words)
    this.#child = child
    const line = await new Promise<string>((resolve, reject) => {
      const late = setTimeout(() => reject(new Error('no address')), WAIT_MS)
      child.stdout?.once('data', (chunk) => {
        clearTimeout(late)
        resolve(String(chunk))
      })
    })
    this.url = JSON.parse(line).url
    return this
  }

  async end(signal: NodeJS.Signals): Promise<void> {
    const child = this.#child
    this.#child = null
    if (child === null || child.exitCode !== null) return
    const ended = new Promise((resolve) => child.once('exit', resolve))
    child.kill(signal)
    await ended
  }

  /** The size that was cosigned last, from its files. */
  kept(origin: string): number {
    return WitnessDirectory.open(this.dir).log(origin)?.kept?.size ?? 0
  }
}

let [one, two] = [null, null] as unknown as [WitnessProcess, WitnessProcess] // Made before the tests.
let [state, home] = ['', '']

const writ = (...words: string[]) => place.writ(words)
const json = (...words: string[]): Json => place.writ([...words, '--json']).json
const keyOf = (origin: string): string =>
  json('ledger', 'key').keys.find((text: string) => text.startsWith(`${origin}+`))

beforeAll(async () => {
  place.init()
  place.exec(['--write', '.'], 'echo one > one.txt')
  const [logKey = ''] = writ('ledger', 'key').out.split('\n')
  home = logKey.slice(0, logKey.indexOf('+'))
  one = await new WitnessProcess('one', logKey).start()
  two = await new WitnessProcess('two', logKey).start()
  const root = join(place.folder, 'state')
  const [found = ''] = readdirSync(root, { recursive: true })
    .map(String)
    .filter((name) => name.endsWith('ledger.db'))
  state = join(root, found, '..')
}, 120_000)

afterAll(() => place.remove())

describe('a home with two witnesses (H-9)', () => {
  it('says that none is pinned, and pins by key', () => {
    expect(json('ledger', 'anchor').error.code).toBe('witness.unknown')
    for (const { url, key } of [one, two]) {
      expect(writ('witness', 'pin', url, key).status).toBe(0)
    }
    const wrong = json('witness', 'pin', one.url, two.key.replace('two.', 'one.'))
    expect(wrong.error.code).toBe('witness.key')
    expect(json('witness', 'list').witnesses.map(({ name }: Json) => name)).toEqual([
      'one.example/w',
      'two.example/w',
    ])
    expect(json('ledger', 'verify').anchored).toBe(false)
  })

  it('collects cosignatures of every stream and of the home, as a fact', () => {
    const { ok, cosigned, failures, fact } = json('ledger', 'anchor')
    expect([ok, failures]).toEqual([true, []])
    const origins = [`${home}/host`, `${home}/main`, home]
    expect(cosigned.map(({ origin }: Json) => origin)).toEqual([...origins, ...origins])
    const found = json('log', '--stream', 'host', '--type', 'anchor_v1').facts.at(-1)
    expect(found.fact_id).toBe(fact.factId)
    for (const { origin, note } of found.record.payload.checkpoints) {
      const { times } = checkCosigned(note, keyOf(origin), [one.key, two.key])
      for (const time of times) expect(Math.abs(time - Date.now() / 1000)).toBeLessThan(120)
    }
  })

  it('verifies as anchored, and says who and when', () => {
    const report = json('ledger', 'verify')
    expect([report.ok, report.anchored]).toEqual([true, true])
    expect(report.witnessed.map(({ witness, stream }: Json) => `${witness} ${stream}`)).toEqual([
      'one.example/w host',
      'two.example/w host',
      'one.example/w main',
      'two.example/w main',
    ])
    const { out } = writ('ledger', 'verify')
    expect(out).toContain('anchored: ')
    expect(out).toMatch(/witnessed {2}main, \d+ facts, by `two\.example\/w` at 20\d\d-/)
    // Only the witnesses that the caller names count.
    expect(json('ledger', 'verify', '--witness', two.key).witnessed).toHaveLength(2)
    const other = formatVerifierKey(witnessKey('else.example/w', new Uint8Array(32).fill(7)))
    const named = place.writ(['ledger', 'verify', '--witness', other, '--json'])
    expect([named.status, named.json.anchored, named.json.witnessed]).toEqual([3, false, []])
  })

  it('writes proofs that an independent program checks with the witnesses', () => {
    const file = join(place.folder, 'fact.tlog-proof')
    const said = json('ledger', 'prove', '1', '--out', file)
    expect(said).toMatchObject({ seq: 1, cosigned: true })
    const fact = json('log', '--type', 'sandbox_result_v1').facts[0]
    const stored = json('log', '--after', '0', '--limit', '1').facts[0]
    const text = readFileSync(file, 'utf8')
    const key = keyOf(`${home}/main`)
    expect(checkTlogProof(text, stored, key, [one.key, two.key]).index).toBe(1)
    const altered = { ...stored, source: 'else' }
    expect(() => checkTlogProof(text, altered, key, [])).toThrow('another root')
    expect(fact).toBeDefined()
    expect(json('ledger', 'prove', '1', '--out', file).error.code).toBe('cli.file_unwritable')
  })

  it('exports a proof a fact, or those asked for, with the facts', () => {
    const dir = join(place.folder, 'proofs')
    const { proofs, cosigned } = json('ledger', 'export', dir, '--proof')
    const key = keyOf(`${home}/main`)
    const seqs = readdirSync(dir).flatMap((name) => /^(\d+)\.tlog-proof$/.exec(name)?.[1] ?? [])
    expect([seqs.length, readdirSync(dir).length]).toEqual([proofs, 2 * proofs])
    expect([proofs > 3, cosigned > 3]).toEqual([true, true])
    for (const seq of seqs) {
      const text = readFileSync(join(dir, `${seq}.tlog-proof`), 'utf8')
      const fact = readFileSync(join(dir, `${seq}.json`), 'utf8')
      const witnesses = Number(seq) < cosigned ? [one.key, two.key] : []
      expect(checkTlogProof(text, JSON.parse(fact), key, witnesses).index).toBe(Number(seq))
      const altered = { ...JSON.parse(fact), source: 'else' }
      expect(() => checkTlogProof(text, altered, key, [])).toThrow('another root')
    }
    expect(json('ledger', 'export', dir, '--proof').error.code).toBe('bundle.exists')
    const some = join(place.folder, 'some')
    const asked = json('ledger', 'export', some, '--proof', '--fact', '2', '--fact', '0')
    expect(asked.proofs).toBe(2)
    const names = ['0.json', '0.tlog-proof', '2.json', '2.tlog-proof']
    expect(readdirSync(some).sort()).toEqual(names)
    const none = join(place.folder, 'none')
    const unknown = json('ledger', 'export', none, '--proof', '--fact', '0', '--fact', '9999')
    expect([unknown.error.code, existsSync(none)]).toEqual(['history.unknown', false])
    expect(place.writ(['ledger', 'export', none, '--fact', '0']).status).toBe(2)
  })
})

describe('an old copy and a fork (H-9)', () => {
  const old = join(place.folder, 'old')
  const now = join(place.folder, 'now')
  const put = (from: string): void => {
    rmSync(state, { recursive: true })
    cpSync(from, state, { recursive: true })
  }

  beforeAll(() => {
    cpSync(state, old, { recursive: true })
    place.exec(['--write', '.'], 'echo two > two.txt')
    writ('halt')
    writ('resume')
    expect(json('ledger', 'anchor').ok).toBe(true)
    cpSync(state, now, { recursive: true })
  }, 60_000)

  it('is refused by every witness when it was rolled back', () => {
    put(old)
    // Consistent in itself, and anchored at its old size: only a witness knows better.
    expect(json('ledger', 'verify').ok).toBe(true)
    const { status, json: report } = place.writ(['ledger', 'anchor', '--json'])
    expect(status).toBe(4)
    expect(new Set(report.failures.map(({ code }: Json) => code))).toEqual(
      new Set(['witness.rolled_back']),
    )
    expect(report.failures.map(({ witness }: Json) => witness)).toContain('two.example/w')
  })

  it('is found offline as well where the kept cosignatures are newer than the ledger', () => {
    put(old)
    cpSync(join(now, 'anchors.json'), join(state, 'anchors.json'))
    const { status, json: report } = place.writ(['ledger', 'verify', '--json'])
    expect([status, report.ok, report.anchored]).toEqual([4, false, false])
    expect(report.problems.map(({ code }: Json) => code)).toContain('ledger.truncated')
  })

  it('is refused when it was forked, and found offline', () => {
    put(old)
    for (const name of ['three', 'four']) place.exec(['--write', '.'], `echo ${name} > ${name}.txt`)
    for (let at = 0; at < 3; at++) {
      writ('halt')
      writ('resume')
    }
    const { status, json: report } = place.writ(['ledger', 'anchor', '--json'])
    expect(status).toBe(4)
    const codes = new Set(report.failures.map(({ code }: Json) => code))
    expect([...codes]).toEqual(['witness.forked'])
    // The statement of the home is not handed to a witness that refused a stream.
    expect(report.cosigned).toEqual([])
    cpSync(join(now, 'anchors.json'), join(state, 'anchors.json'))
    const offline = json('ledger', 'verify')
    expect(offline.problems.map(({ code }: Json) => code)).toContain('ledger.not_extended')
    put(now)
    expect(json('ledger', 'anchor').ok).toBe(true)
  })

  it('is neither cosigned nor appended to where only one stream tells: the newer copy goes on', () => {
    const [older, newer] = [join(place.folder, 'older'), join(place.folder, 'newer')]
    cpSync(state, older, { recursive: true })
    place.exec(['--write', '.'], 'echo five > five.txt')
    expect(json('ledger', 'anchor').ok).toBe(true)
    cpSync(state, newer, { recursive: true })
    put(older)
    const known = () => [one, two].flatMap((w) => [w.kept(`${home}/host`), w.kept(`${home}/main`)])
    const before = [known(), json('ledger', 'verify').checked]
    for (let tries = 0; tries < 2; tries++) {
      const { status, json: report } = place.writ(['ledger', 'anchor', '--json'])
      const codes = new Set(report.failures.map(({ code }: Json) => code))
      expect([status, [...codes], report.cosigned]).toEqual([4, ['witness.rolled_back'], []])
      expect([known(), json('ledger', 'verify').checked]).toEqual(before)
    }
    put(newer)
    expect(json('ledger', 'anchor')).toMatchObject({ ok: true, failures: [] })
  }, 60_000)

  it('counts a recorded cosignature only if a pinned witness made it', () => {
    const report = json('ledger', 'verify')
    expect(report.anchored).toBe(true)
    expect(writ('witness', 'unpin', 'one.example/w').status).toBe(0)
    const after = json('ledger', 'verify')
    expect(after.ok).toBe(true)
    expect(new Set(after.witnessed.map(({ witness }: Json) => witness))).toEqual(
      new Set(['two.example/w']),
    )
    expect(writ('witness', 'pin', one.url, one.key).status).toBe(0)
  })
})

describe('a witness that dies (H-9)', () => {
  it('has what it acknowledged, and the next request catches up', async () => {
    const origin = `${home}/host`
    let acknowledged = 0
    for (let round = 0; round < 5; round++) {
      writ(round % 2 === 0 ? 'halt' : 'resume')
      const words = ['ledger', 'anchor', '--json', '--witness', one.url]
      const anchoring = place.start(words)
      let out = ''
      anchoring.stdout?.on('data', (chunk) => {
        out += chunk
      })
      const ended = new Promise((resolve) => anchoring.once('close', resolve))
      // From before the first request to after the last answer.
      await new Promise((resolve) => setTimeout(resolve, randomInt(150, 700)))
      await one.end('SIGKILL')
      await ended
      for (const { origin: name, size } of JSON.parse(out).cosigned) {
        if (name === origin) acknowledged = size
      }
      expect(one.kept(origin)).toBeGreaterThanOrEqual(acknowledged)
      await one.start()
    }
    writ('resume')
    expect(json('ledger', 'anchor')).toMatchObject({ ok: true, failures: [] })
    expect(json('ledger', 'verify').anchored).toBe(true)
  }, 120_000)

  it('stored a checkpoint whose answer was lost: it is cosigned again', async () => {
    const proxy = createServer((incoming, outgoing) => {
      const { hostname, port } = new URL(one.url)
      const to = { hostname, port, path: incoming.url, method: 'POST' }
      const passed = request(to, (answer) => {
        // Which sizes it knows is asked for first; cosignatures are what is lost.
        if (answer.statusCode !== 409) outgoing.destroy()
        else answer.pipe(outgoing.writeHead(409, answer.headers))
      })
      incoming.pipe(passed)
    })
    const url = await listening(proxy)
    writ('halt')
    const sizeBefore = one.kept(`${home}/host`)
    writ('witness', 'pin', url, one.key)
    const lost = await anchor(url)
    expect(lost.failures.map(({ code }: Json) => code)).toEqual(['witness.unreachable'])
    expect(one.kept(`${home}/host`)).toBeGreaterThan(sizeBefore)
    await one.end('SIGKILL')
    await one.start()
    proxy.close()
    writ('witness', 'pin', one.url, one.key)
    writ('resume')
    expect(json('ledger', 'anchor').ok).toBe(true)
  }, 60_000)
})

async function listening(server: Server): Promise<string> {
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', () => resolve()))
  // An address of a server that listens on TCP.
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`
}

/** Anchors in a process of its own: the witness it asks is in this one. */
async function anchor(witness: string): Promise<Json> {
  const child = place.start(['ledger', 'anchor', '--json', '--witness', witness])
  let out = ''
  child.stdout?.on('data', (chunk) => {
    out += chunk
  })
  await new Promise((resolve) => child.once('close', resolve))
  return JSON.parse(out)
}

describe('a witness that lies (H-9)', () => {
  const { publicKey, privateKey } = generateKeyPairSync('ed25519')
  const raw = Buffer.from(publicKey.export({ format: 'jwk' }).x ?? '', 'base64url')
  const key = witnessKey('liar.example/w', raw)
  let lie: (text: string) => { status: number; body: string; headers?: Record<string, string> }
  const server = createServer((incoming, outgoing) => {
    let body = ''
    incoming.on('data', (chunk) => {
      body += chunk
    })
    incoming.on('end', () => {
      const note = body.slice(body.indexOf('\n\n') + 2)
      const { status, body: text, headers = {} } = lie(parseNote(note)?.text ?? '')
      outgoing.writeHead(status, headers).end(text)
    })
  })
  let url = ''

  /** A cosignature as the C2SP page has it, made without writ's code. */
  function line(text: string, seconds: number, signer: KeyObject, name = key.name): string {
    const message = `cosignature/v1\ntime ${seconds}\n${text}`
    const content = Buffer.alloc(12)
    content.writeUInt32BE(key.keyId)
    content.writeBigUInt64BE(BigInt(seconds), 4)
    const bytes = Buffer.concat([content, sign(null, Buffer.from(message), signer)])
    return `\u2014 ${name} ${bytes.toString('base64')}\n`
  }
  const now = (): number => Math.floor(Date.now() / 1000)

  beforeAll(async () => {
    url = await listening(server)
    writ('witness', 'pin', url, formatVerifierKey(key))
  })
  afterAll(() => server.close())

  const other = generateKeyPairSync('ed25519').privateKey
  it.each<[string, string, typeof lie]>([
    [
      'another key signs under its name',
      'witness.signature',
      (text) => ({ status: 200, body: line(text, now(), other) }),
    ],
    [
      'its key signs another text',
      'witness.signature',
      (text) => ({ status: 200, body: line(`${text}x\n`, now(), privateKey) }),
    ],
    [
      'another name',
      'witness.signature',
      (text) => ({ status: 200, body: line(text, now(), privateKey, 'w.example/x') }),
    ],
    ['nothing', 'witness.signature', () => ({ status: 200, body: '' })],
    [
      'an old time',
      'witness.time',
      (text) => ({ status: 200, body: line(text, now() - 86_400, privateKey) }),
    ],
    [
      'a time to come',
      'witness.time',
      (text) => ({ status: 200, body: line(text, now() + 86_400, privateKey) }),
    ],
    [
      'an endless answer',
      'witness.unreachable',
      () => ({ status: 200, body: 'x'.repeat(100_000) }),
    ],
    [
      'a redirect',
      'witness.unreachable',
      () => ({ status: 302, body: '', headers: { location: '/' } }),
    ],
    ['409 without a size', 'witness.unreachable', () => ({ status: 409, body: 'no\n' })],
    [
      'a larger size',
      'witness.rolled_back',
      () => ({ status: 409, body: '999999\n', headers: { 'content-type': 'text/x.tlog.size' } }),
    ],
    ['404', 'witness.refused', () => ({ status: 404, body: '' })],
  ])('is not believed: %s', async (_what, code, answer) => {
    lie = answer
    const before = json('ledger', 'verify').checked
    const report = await anchor(url)
    expect(report.failures[0].code).toBe(code)
    expect(report.cosigned).toEqual([])
    expect(json('ledger', 'verify').checked).toBe(before)
  })

  it('is believed when it does not lie, which shows that the lies were the reason', async () => {
    lie = (text) => ({ status: 200, body: line(text, now(), privateKey) })
    expect((await anchor(url)).ok).toBe(true)
    expect(existsSync(join(state, 'anchors.json'))).toBe(true)
    expect(writ('witness', 'unpin', key.name).status).toBe(0)
  })
})
