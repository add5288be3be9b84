/** Facts: what is judged, redacted, moved out and sealed. */
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { canonicalJson, digestBytes, digestDocument } from '../../base/index.ts'
import { Audit, readFact } from '../verification/audit.ts'
import {
  BODY_RULES,
  type BodyRule,
  commit,
  contentOf,
  markedBodies,
  parseBodyMarker,
  redact,
} from './body.ts'
import {
  CHAIN_START,
  chainNext,
  factLeaf,
  type LedgerEntry,
  type Preparation,
  prepareFact,
  RECORD_BYTES_MAX,
  sealFact,
} from './fact.ts'
import { indexTerms, matches, type Query } from './store.ts'

const task = {
  type: 'ao_act_task_v0',
  act_task_id: 'act-1',
  issuer: { kind: 'human', id: 'ann', namespace: 'farm' },
  action_type: 'SEED',
  target: { kind: 'field', ref: 'field-7' },
  time_window: { start_ts: 1, end_ts: 2 },
  parameter_schema: { keys: [{ name: 'depth', type: 'number', min: 0, max: 9 }] },
  parameters: { depth: 3 },
  constraints: {},
  created_at_ts: 5,
}
const entry: LedgerEntry = {
  stream: 'main',
  source: 'cli',
  principal: { kind: 'human', id: 'ann', namespace: 'farm' },
  record: { type: 'ao_act_task_v0', payload: task },
}
const SEAL = {
  seq: 0,
  factId: '01936d2f-2a00-7000-8000-000000000001',
  occurredAt: '2026-11-15T08:00:00.000Z',
}
const salt = (): Uint8Array => new Uint8Array(32).fill(7)
const prepare = (given: LedgerEntry): Preparation => prepareFact(given, { salt })

function sealed(given: LedgerEntry, seal = SEAL): string {
  const prepared = prepare(given)
  if (!prepared.ok) throw new Error(JSON.stringify(prepared.violations))
  return sealFact(prepared.draft, seal)
}

const codes = (given: LedgerEntry): readonly string[] => {
  const prepared = prepare(given)
  return prepared.ok ? [] : prepared.violations.map(({ code, path }) => `${code} ${path}`)
}

/** A task whose meta is that many bytes long. */
const withMeta = (bytes: number): LedgerEntry => ({
  ...entry,
  record: { ...entry.record, payload: { ...task, meta: { note: 'x'.repeat(bytes) } } },
})

describe('a sealed fact', () => {
  it('is canonical, and has the keys of L-1 and no others', () => {
    const text = sealed({ ...entry, idempotencyKey: 'k' })
    expect(canonicalJson(JSON.parse(text))).toBe(text)
    expect(JSON.parse(text)).toEqual({
      seq: 0,
      fact_id: SEAL.factId,
      occurred_at: SEAL.occurredAt,
      source: 'cli',
      stream: 'main',
      principal: entry.principal,
      record: { ...entry.record, idempotency_key: 'k' },
    })
    expect(readFact(text, 'main', 0)).toMatchObject({ ok: true, fact: { seq: 0 } })
  })

  it('is not read at another place, nor in another spelling', () => {
    const text = sealed(entry)
    const faults = [
      readFact(text, 'main', 1),
      readFact(text, 'other', 0),
      readFact(text.replace(':', ': '), 'main', 0),
      readFact(text.replace('"source"', '"sauce"'), 'main', 0),
      readFact('[]', 'main', 0),
      readFact('{', 'main', 0),
      readFact(`${'['.repeat(5000)}${']'.repeat(5000)}`, 'main', 0),
    ]
    for (const reading of faults) {
      expect(reading).toMatchObject({ ok: false, fault: { code: 'fact.malformed' } })
    }
  })
})

describe('an entry is refused', () => {
  it.each<[string, LedgerEntry, readonly string[]]>([
    [
      'an unknown type',
      { ...entry, record: { type: 'nope_v1', payload: {} } },
      ['record.type /record/type'],
    ],
    [
      'a payload that breaks its contract',
      { ...entry, record: { ...entry.record, payload: { ...task, action_type: 'BURN' } } },
      ['record.payload /record/payload', 'task.action_type /record/payload/action_type'],
    ],
    ['a stream in capitals', { ...entry, stream: 'Main' }, ['fact.stream /stream']],
    ['an empty source', { ...entry, source: '' }, ['fact.source /source']],
    [
      'a strange principal',
      { ...entry, principal: { kind: 'god' as 'human', id: 'x', namespace: 'y' } },
      ['fact.principal /principal'],
    ],
    [
      'a key with a space',
      { ...entry, idempotencyKey: 'a b' },
      ['fact.idempotency_key /idempotency_key'],
    ],
  ])('%s', (_, given, want) => {
    expect(codes(given)).toEqual(want)
  })

  it('with a value that is no JSON, without a throw', () => {
    const cyclic: Record<string, unknown> = {}
    cyclic['self'] = cyclic
    expect(codes({ ...entry, record: { type: 'ao_act_task_v0', payload: cyclic } })).toHaveLength(1)
    expect(codes({ ...entry, record: undefined as unknown as LedgerEntry['record'] })).toHaveLength(
      1,
    )
  })
})

describe('a long record', () => {
  it('is kept by reference from 16 KiB and a byte on', () => {
    const at = RECORD_BYTES_MAX - canonicalJson({ ...withMeta(0).record }).length
    const inline = prepare(withMeta(at))
    const moved = prepare(withMeta(at + 1))
    expect(inline).toMatchObject({ ok: true, objects: [] })
    if (!moved.ok) throw new Error('refused')
    const payload = withMeta(at + 1).record.payload
    const [object] = moved.objects
    expect(object?.digest).toBe(digestDocument(payload))
    const fact = JSON.parse(sealFact(moved.draft, SEAL))
    expect(fact.record).toEqual({
      type: 'ao_act_task_v0',
      payload_ref: digestDocument(payload),
      bytes: canonicalJson(payload).length,
      refs: { task: 'act-1' },
    })
    expect(indexTerms(fact)).toMatchObject({ task: 'act-1', type: 'ao_act_task_v0' })
  })

  it('counts bytes, not letters', () => {
    const payload = { ...task, meta: { note: '播'.repeat(6000) } }
    expect(prepare({ ...entry, record: { ...entry.record, payload } })).toMatchObject({
      objects: [{ bytes: { length: new TextEncoder().encode(canonicalJson(payload)).length } }],
    })
  })

  it('is never too long for a bundle, but its principal may be', () => {
    expect(codes(withMeta(1_000_000))).toEqual([])
    const long = '播'.repeat(256)
    expect(codes({ ...entry, principal: { kind: 'human', id: long, namespace: long } })).toEqual([])
  })
})

describe('bodies', () => {
  const places: BodyRule = {
    type: 't',
    keep: 'places',
    places: ['/out/stdout', '/steps/*/text', '/**/env/*'],
  }
  const payload = {
    out: { stdout: 'hello', code: 0 },
    steps: [{ text: 'hello' }, { text: 'hello', env: { PATH: '/bin' } }],
    deep: { er: { env: { HOME: '/h' } } },
    env: 'not a map',
  }

  it('leave markers that commit to salt and bytes', () => {
    let salts = 0
    const fresh = (): Uint8Array => new Uint8Array(32).fill(++salts)
    const { payload: view, bodies, original } = redact(payload, places, fresh)
    expect(original).toBe(null)
    expect(bodies).toHaveLength(5)
    expect(new Set(bodies.map(({ digest }) => digest)).size).toBe(5)
    expect(JSON.stringify(view)).not.toMatch(/hello|\/bin|\/h"/)
    expect(view).toMatchObject({ out: { code: 0 }, env: 'not a map' })
    expect(markedBodies(view, places).map(({ digest }) => digest)).toEqual(
      bodies.map(({ digest }) => digest),
    )
    const first = bodies[0] as { digest: string; bytes: Uint8Array }
    expect(new TextDecoder().decode(contentOf(first.bytes))).toBe('hello')
    expect(first.digest).toBe(digestBytes(first.bytes))
    expect(payload.out.stdout).toBe('hello')
  })

  it('hide equal contents behind different salts', () => {
    const bytes = new TextEncoder().encode('yes')
    const one = commit(new Uint8Array(32).fill(1), bytes)
    expect(one.digest).not.toBe(commit(new Uint8Array(32).fill(2), bytes).digest)
    expect(one.digest).not.toBe(digestBytes(bytes))
  })

  it('keep a proposal whole, with its secrets out of the fact', () => {
    const proposal = {
      descriptor: { action_id: 'a-1' },
      operation: {
        type: 'COMMAND_EXECUTION',
        argv: ['sh'],
        stdin: 'secret-1',
        env: { TOKEN: 'secret-2' },
        compensation: { headers: { Cookie: 'secret-3' }, body: 'secret-4' },
      },
      children: [
        { operation: { content: 'secret-5', set: { 'a.b': { c: 'secret-6' } } } },
        { operation: { start_url: 'https://a.example/?k=secret-7#secret-8', steps: [] } },
      ],
    }
    const rule = BODY_RULES.find(({ type }) => type === 'proposal_v1')
    const { payload: view, bodies, original } = redact(proposal, rule, salt)
    expect(JSON.stringify(view)).not.toContain('secret')
    expect(view).toMatchObject({ operation: { env: { TOKEN: 'redacted' }, argv: ['sh'] } })
    expect(bodies).toHaveLength(1)
    expect(original?.body).toBe(bodies[0]?.digest)
    const kept = new TextDecoder().decode(contentOf(bodies[0]?.bytes ?? new Uint8Array()))
    expect(JSON.parse(kept)).toEqual(proposal)
  })

  it('differ from texts that only look like markers', () => {
    expect(parseBodyMarker('body:sha256:00:1')).toBe(null)
    expect(parseBodyMarker(5)).toBe(null)
    expect(parseBodyMarker(`body:${digestBytes('x')}:01`)).toBe(null)
    expect(parseBodyMarker(`body:${digestBytes('x')}:1`)).toEqual({
      digest: digestBytes('x'),
      bytes: 1,
    })
  })

  it('never lose or invent keys of hostile payloads', () => {
    fc.assert(
      fc.property(fc.jsonValue({ depthSize: 'medium' }), (value) => {
        const nothing: BodyRule = { type: 't', keep: 'places', places: ['/**/\u0000never'] }
        expect(redact(value, nothing, salt).payload).toEqual(value)
      }),
    )
    const hostile = JSON.parse('{"__proto__":{"env":{"A":"s"}},"constructor":1}')
    const { payload: view } = redact(hostile, places, salt)
    expect(Object.keys(view as object)).toEqual(['__proto__', 'constructor'])
    expect(JSON.stringify(view)).not.toContain('"s"')
  })
})

describe('an audit', () => {
  it('follows the chain and finds a row that does not', () => {
    const texts = [0, 1, 2].map((seq) => sealed(entry, { ...SEAL, seq }))
    const audit = new Audit()
    let chain: Uint8Array = CHAIN_START
    for (const text of texts) {
      chain = chainNext(chain, factLeaf(text))
      expect(audit.take(text, chain)).toBe(true)
    }
    expect(audit.size).toBe(3)
    expect(audit.take(texts[0] as string, chain)).toBe(false)
  })
})

describe('queries', () => {
  const query: Query = { stream: 'main', limit: 10, order: 'oldest_first' }
  const fact = JSON.parse(sealed({ ...entry, idempotencyKey: 'k' }))

  it.each<[Partial<Query>, boolean]>([
    [{}, true],
    [{ stream: 'other' }, false],
    [{ type: 'ao_act_task_v0' }, true],
    [{ type: 'ao_act_receipt_v0' }, false],
    [{ task: 'act-1' }, true],
    [{ task: 'act-2' }, false],
    [{ action: 'act-1' }, false],
    [{ principal: { kind: 'human', id: 'ann', namespace: 'farm' } }, true],
    [{ principal: { kind: 'human', id: 'bob', namespace: 'farm' } }, false],
    [{ idempotencyKey: 'k' }, true],
    [{ factId: SEAL.factId }, true],
    [{ since: SEAL.occurredAt }, true],
    [{ until: SEAL.occurredAt }, false],
  ])('%j', (part, want) => {
    expect(matches({ ...query, ...part }, fact)).toBe(want)
  })
})
