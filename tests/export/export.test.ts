/** What `writ export` prints, judged by schemas of the formats, and what it must never print. */
import { createHash, createPublicKey, randomUUID, verify } from 'node:crypto'
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { exportFacts, readCursor, writeCursor } from '../../src/export/index.ts'
import { type Json, Place } from '../cli-gate/place.ts'
import { LogRig, NAME } from '../witness/log-rig.ts'
import {
  type Judge,
  judgeCloudEvent,
  judgeEnvelope,
  judgeOcsf,
  judgeStatement,
  judgeTraces,
  signedBytes,
} from './schemas.ts'

const place = new Place('export', { runs: 'warm' })
const CANARY = 'canary4f1c9aSECRET'

function lines(...words: string[]): Json[] {
  const { status, out, err } = place.writ(['export', ...words])
  expect(status, err).toBe(0)
  return out.split('\n').flatMap((line) => (line === '' ? [] : [JSON.parse(line)]))
}

/** An attribute of a span, as a pair. */
function textOf({ key, value }: Json): [string, string] {
  return [key, value.stringValue]
}

/** Every document follows its format, and a changed one does not: a judge that lets all pass proves nothing. */
function expectAll(judge: Judge, documents: readonly Json[], broken: readonly object[]): void {
  expect(documents.length).toBeGreaterThan(0)
  for (const one of documents) expect(judge(one), JSON.stringify(one)).toBeNull()
  for (const change of broken) {
    expect(judge({ ...documents[0], ...change }), JSON.stringify(change)).not.toBeNull()
  }
}

beforeAll(() => {
  place.init()
  // A secret in each place that can hold one: argument, input, variable, output, contents, intent.
  const script = `echo ${CANARY}; cat; echo ${CANARY} > made.txt`
  place.exec(['--write', '.', '--env', `KEY=${CANARY}`], script, { input: `${CANARY}\n` })
  const { descriptor, operation } = place.writ(['propose', '--example', 'FILE_WRITE']).json
  const path = join(place.project, 'proposed.txt')
  const filesystem = { create: [path], modify: [path], delete: [] }
  const proposal = {
    descriptor: {
      ...descriptor,
      action_id: randomUUID(),
      intent_summary: `write ${CANARY}`,
      effects: { ...descriptor.effects, filesystem },
    },
    operation: { ...operation, path, content: CANARY },
  }
  place.writ(['propose', '-'], { input: JSON.stringify(proposal) })
  place.exec(['--write', '.'], `echo ${CANARY}2 > made.txt; echo two > other.txt`)
  place.exec(['--write', '.'], `echo ${CANARY} >&2; exit 3`)
  place.exec(['--delete', '.'], 'rm other.txt')
  const undone = place.writ(['undo'])
  expect(undone.status, undone.err).toBe(0)
  const session = place.writ(['run', '--', 'sh', '-c', 'echo settled > settled.txt'])
  expect(session.status, session.err).toBe(0)
}, 240_000)

afterAll(() => place.remove())

describe('the formats (N-2)', () => {
  it('are CloudEvents 1.0', () => {
    const events = lines('--format', 'cloudevents')
    expectAll(judgeCloudEvent, events, [{ source: '' }, { id: undefined }, { Own_Name: 'x' }])
    expect(new Set(events.map(({ id }) => id)).size).toBe(events.length)
    expect(events.map(({ type }) => type)).toContain('dev.writ.promotion.v1')
  })

  it('are OCSF events, one for each path that was changed', () => {
    const events = lines('--format', 'ocsf')
    const broken = [
      { type_uid: 1 },
      { action_id: 3 },
      { time: 'now' },
      { note: 'x' },
      { actor: {} },
    ]
    expectAll(judgeOcsf, events, broken)
    const files = events.filter(({ class_uid }) => class_uid === 1001)
    expect(files.map(({ file, activity_id }) => [file.name, activity_id])).toEqual(
      expect.arrayContaining([
        ['made.txt', 1],
        ['made.txt', 3],
        ['other.txt', 1],
        ['other.txt', 4],
      ]),
    )
    const digest = createHash('sha256').update(`${CANARY}\n`).digest('hex')
    const made = files.find(({ file }) => file.name === 'made.txt')
    expect(made.file.hashes[0].value).toBe(digest)
  })

  it('are traces in the JSON form of OTLP, one for each act that ended', () => {
    const traces = lines('--format', 'otlp')
    const [{ resourceSpans: resources }] = traces as [Json]
    const note = resources.map((one: Json) => ({ ...one, note: 'x' }))
    const spans = [{ scopeSpans: [{ spans: [{ kind: 'most kind' }] }] }]
    expectAll(judgeTraces, traces, [{ resourceSpans: note }, { resourceSpans: spans }])
    const names = traces.flatMap(
      ({
        resourceSpans: [
          {
            scopeSpans: [{ spans }],
          },
        ],
      }) => spans.map(({ name }: Json) => name),
    )
    expect(names).toEqual(
      expect.arrayContaining(['action', 'rehearse', 'decide', 'promote', 'roll back']),
    )
  })

  it('name the session and the tool of an act that an agent made (H-7)', () => {
    const traces = lines('--format', 'otlp')
    const roots = traces.map((one) => one.resourceSpans[0].scopeSpans[0].spans[0])
    const ofAgents = roots
      .map(({ attributes }) => Object.fromEntries(attributes.map(textOf)))
      .filter((one) => 'gen_ai.operation.name' in one)
    expect(ofAgents).toHaveLength(1)
    const [act] = ofAgents
    const words = ['log', '--facts', '--type', 'session_v1', '--json']
    const [{ record }] = place.writ(words).json.facts
    expect(act).toMatchObject({
      'gen_ai.operation.name': 'execute_tool',
      'gen_ai.tool.name': expect.stringMatching(/^[A-Z_]+$/),
      'gen_ai.tool.call.id': act?.['writ.action_id'],
      'gen_ai.conversation.id': record.payload.session_id,
    })
  })

  it('are in-toto statements that the home signed, one for each promotion', () => {
    const envelopes = lines('--format', 'intoto')
    const signed = [{ keyid: 'k', sig: 'eA==', note: 'x' }]
    expectAll(judgeEnvelope, envelopes, [{ payload: '%' }, { signatures: signed }])
    const [key = ''] = place.writ(['ledger', 'key']).out.split('\n')
    const raw = Buffer.from(
      key.slice(key.lastIndexOf('+', key.indexOf('+', key.indexOf('+') + 1)) + 1),
      'base64',
    )
    const spki = Buffer.concat([Buffer.from('302a300506032b6570032100', 'hex'), raw.subarray(1)])
    const publicKey = createPublicKey({ key: spki, format: 'der', type: 'spki' })
    const statements = envelopes.map((envelope) => {
      const [{ keyid, sig }] = envelope.signatures
      expect(keyid).toBe(key)
      expect(envelope.payloadType).toBe('application/vnd.in-toto+json')
      const body = Buffer.from(envelope.payload, 'base64')
      expect(verify(null, signedBytes(envelope), publicKey, Buffer.from(sig, 'base64'))).toBe(true)
      expect(verify(null, body, publicKey, Buffer.from(sig, 'base64'))).toBe(false)
      return JSON.parse(body.toString())
    })
    expectAll(judgeStatement, statements, [{ subject: [{ name: 'x' }] }, { _type: 'Statement' }])
    const subjects = statements.flatMap(({ subject }) => subject.map(({ name }: Json) => name))
    expect(subjects).toContain(join(place.project, 'made.txt'))
    expect(statements.map(({ predicate }) => predicate.deleted)).toContain(1)
  })

  it('never hold what an act was given, printed or wrote', () => {
    // The secret is where it was put, so that its absence below says something.
    const log = place.writ(['log', '--jsonl']).out
    expect(log).toContain(CANARY)
    expect(readFileSync(join(place.project, 'made.txt'), 'utf8')).toContain(CANARY)
    for (const format of ['jsonl', 'cloudevents', 'ocsf', 'otlp', 'intoto']) {
      const { out } = place.writ(['export', '--format', format])
      const payloads = out.matchAll(/"payload":"([^"]+)"/g)
      const decoded = [...payloads].map(([, text = '']) => Buffer.from(text, 'base64').toString())
      expect(`${out}${decoded.join('')}`).not.toContain(CANARY)
    }
  })

  it('refuses a format that it does not know, and takes times', () => {
    expect(place.writ(['export', '--format', 'xml', '--json']).json.error.code).toBe('cli.usage')
    expect(lines('--format', 'jsonl', '--since', '2030-01-01')).toEqual([])
    expect(
      lines('--format', 'jsonl', '--after', '1', '--limit', '2').map(({ seq }) => seq),
    ).toEqual([2, 3])
  })
})

describe('the cursor (N-2)', () => {
  it('goes on where the last export ended', () => {
    const file = join(place.folder, 'cursor')
    const first = lines('--format', 'jsonl', '--cursor', file, '--limit', '3')
    const rest = lines('--format', 'jsonl', '--cursor', file)
    expect([...first, ...rest]).toEqual(lines('--format', 'jsonl'))
    expect(lines('--format', 'jsonl', '--cursor', file)).toEqual([])
  })

  it('follows facts as they come, and ends with a signal', async () => {
    const file = join(place.folder, 'followed')
    const child = place.start(['export', '--format', 'jsonl', '--follow', '--cursor', file])
    let out = ''
    const seen = (wanted: number) =>
      expect.poll(() => out.split('\n').length - 1, { timeout: 20_000 }).toBe(wanted)
    child.stdout?.on('data', (chunk) => {
      out += chunk
    })
    const before = lines('--format', 'jsonl').length
    await seen(before)
    place.exec(['--write', '.'], 'echo three > three.txt')
    const after = lines('--format', 'jsonl').length
    expect(after).toBeGreaterThan(before)
    await seen(after)
    const ended = new Promise((resolve) => child.once('exit', resolve))
    child.kill('SIGTERM')
    expect(await ended).toBe(0)
    expect(lines('--format', 'jsonl', '--cursor', file)).toEqual([])
  }, 60_000)

  it('moves only after a delivery, so that a failed one comes again', async () => {
    const rig = new LogRig()
    const ledger = await rig.create('log', 5)
    const other = await rig.create('other', 5)
    const file = rig.path('cursor')
    const source = { ledger, home: NAME, format: 'jsonl', signer: null } as const
    const order = {
      stream: 'main',
      after: -1,
      most: 3,
      isFollowing: false,
      stop: new AbortController().signal,
    }
    const delivered: number[] = []
    const failing = exportFacts(source, order, async () => {
      throw new Error('the receiver is away')
    })
    await expect(failing).rejects.toThrow('away')
    expect(existsSync(file)).toBe(false)
    const deliver: Parameters<typeof exportFacts>[2] = async (documents, cursor) => {
      delivered.push(...documents.map((line) => JSON.parse(line).seq))
      writeCursor(file, cursor)
    }
    await exportFacts(source, order, deliver)
    const cursor = await readCursor(file, ledger, 'main')
    expect(cursor?.seq).toBe(2)
    await exportFacts(source, { ...order, after: cursor?.seq ?? -1 }, deliver)
    expect(delivered).toEqual([0, 1, 2, 3, 4])
    // Another history at the same place is not gone on with.
    const code = expect.objectContaining({
      fault: expect.objectContaining({ code: 'export.cursor' }),
    })
    await expect(readCursor(file, other, 'main')).rejects.toEqual(code)
    await expect(readCursor(file, ledger, 'host')).rejects.toEqual(code)
    await ledger.close()
    await other.close()
    rig.remove()
  })
})
