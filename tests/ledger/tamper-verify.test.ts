/** What `verifyLedger` says, case by case: codes, places, anchors, pins, exit statuses. */
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { sha256 } from '../../src/base/index.ts'
import {
  type FactDraft,
  formatVerifierKey,
  HashSet,
  signHomeCheckpoint,
} from '../../src/ledger/index.ts'
import { connect } from '../../src/store/database/sqlite-driver.ts'
import {
  createLedger,
  exitOfReport,
  InlineWriter,
  keyFromSeed,
  type Ledger,
  openKeys,
  openLedger,
  publicKeyOf,
  signerFor,
  signHome,
  type VerifyOptions,
  verifyLedger,
} from '../../src/store/index.ts'
import { ANN, entry, taskDraft } from './entries.ts'
import { codeOf } from './store-suite.ts'
import { NAME, scratch } from './test-ledger.ts'

const ACTOR = { principal: ANN, source: 'test' } as const

let place: ReturnType<typeof scratch>
let directory: string
let ledger: Ledger

beforeEach(async () => {
  place = scratch()
  directory = join(place.directory, 'state')
  await createLedger({ directory }, NAME, ACTOR)
  ledger = await openLedger({ directory })
  for (let index = 0; index < 6; index++) {
    await ledger.record(entry(`t-${index}`, { idempotencyKey: `k-${index}` }))
  }
  await ledger.record(entry('x', { stream: 'north' }))
})

afterEach(async () => {
  await ledger.close()
  place.remove()
})

const verify = (options: Partial<VerifyOptions> = {}) =>
  verifyLedger({ directory }, { contracts: true, ...options })

const codes = async (options: Partial<VerifyOptions> = {}) =>
  (await verify(options)).problems.map(({ code, seq }) => (seq === undefined ? code : [code, seq]))

/** SQL around the API, with every guard away for its time. */
function around(...sql: readonly string[]): void {
  const database = connect(join(directory, 'ledger.db'), 'write')
  const triggers = database
    .prepare(`SELECT name, sql FROM sqlite_schema WHERE type = 'trigger'`)
    .all() as { name: string; sql: string }[]
  for (const { name } of triggers) database.exec(`DROP TRIGGER ${name}`)
  for (const one of sql) database.exec(one)
  for (const one of triggers) database.exec(one.sql)
  database.close()
}

/** Appends what no contract would let through, well signed: the key was stolen. */
async function smuggle(draft: FactDraft): Promise<void> {
  const keys = openKeys(join(directory, 'keys'))
  const writer = new InlineWriter({ file: join(directory, 'ledger.db'), keys })
  await writer.append([draft])
  await writer.close()
}

const checkpoint = async (stream = 'main') => (await ledger.store.head(stream))?.checkpoint ?? ''
const home = () => signHome(ledger.store, openKeys(join(directory, 'keys')))
const MAIN = '(2 << 32)'

describe('a sound ledger', () => {
  it('is reported in one shape, and without an anchor as not anchored', async () => {
    const report = await verify()
    const keys = ['ok', 'anchored', 'size', 'root', 'checked', 'problems', 'streams', 'witnessed']
    expect(Object.keys(report)).toEqual(keys)
    const { root } = (await ledger.store.head('main')) ?? {}
    expect(report.streams.map(({ stream, size, anchor }) => [stream, size, anchor])).toEqual([
      ['host', 3, 'none'],
      ['main', 6, 'none'],
      ['north', 1, 'none'],
    ])
    expect(report).toMatchObject({
      ok: true,
      anchored: false,
      size: 6,
      root: `sha256:${Buffer.from(root ?? []).toString('hex')}`,
      checked: 10,
      problems: [],
    })
    expect(exitOfReport(report)).toBe(0)
  })

  it('is anchored by a checkpoint kept elsewhere, of any size', async () => {
    const anchor = await home()
    expect(await verify({ anchor })).toMatchObject({ ok: true, anchored: true, size: 6 })
    await ledger.record(entry('more'))
    await ledger.rotateKey(ACTOR)
    expect(await verify({ anchor })).toMatchObject({ ok: true, anchored: true, size: 8 })
    expect(await verify({ anchor: await home() })).toMatchObject({ ok: true, anchored: true })
    expect(await verify({ anchor, stream: 'north' })).toMatchObject({ ok: true, anchored: true })
  })

  it('names the streams that an anchor of one stream does not cover', async () => {
    const anchored = async (...anchor: string[]) => {
      const report = await verify({ anchor })
      return [report.ok, report.anchored, ...report.streams.map((one) => one.anchor)]
    }
    const [main, north, host] = [
      await checkpoint(),
      await checkpoint('north'),
      await checkpoint('host'),
    ]
    expect(await anchored(main)).toEqual([true, false, 'none', 'extends', 'none'])
    expect(await anchored(north)).toEqual([true, false, 'none', 'none', 'extends'])
    expect(await anchored(main, north)).toEqual([true, false, 'none', 'extends', 'extends'])
    expect(await anchored(main, host)).toEqual([true, false, 'extends', 'extends', 'none'])
    expect(await anchored(main, north, host)).toEqual([true, true, 'extends', 'extends', 'extends'])
    expect(await verify({ anchor: north, stream: 'main' })).toMatchObject({
      ok: false,
      problems: [{ code: 'ledger.anchor_foreign' }],
    })
  })

  it('counts a stream that began behind the anchor as an extension of it', async () => {
    const anchor = await home()
    await ledger.record(entry('s', { stream: 'south' }))
    const report = await verify({ anchor })
    expect([report.anchored, report.streams.at(-1)?.anchor]).toEqual([true, 'begun_since'])
  })

  it('is not anchored when the host stream was put back, or a stream was taken out', async () => {
    const anchor = await home()
    await ledger.close()
    // The host's second last fact names `main`, its last one `north`.
    around('DELETE FROM facts WHERE place = (1 << 32) + 2')
    expect(await codes({ anchor })).toContain('ledger.truncated')
    around(
      'DELETE FROM facts WHERE place >= (3 << 32)',
      'DELETE FROM heads WHERE stream = 3',
      'DELETE FROM streams WHERE stream = 3',
    )
    expect(await codes({ anchor })).toContain('ledger.stream_missing')
  })

  it('refuses a home checkpoint of another key, of another home or with a line that is none', async () => {
    const anchor = await home()
    const heads = await ledger.store.heads()
    const stranger = signerFor(keyFromSeed(new Uint8Array(32).fill(9)), NAME)
    const forged = signHomeCheckpoint(NAME, heads, [stranger]) ?? ''
    expect(await codes({ anchor: forged })).toContain('ledger.signers')
    const bent = anchor.replace(/^north 1 /m, 'north 2 ')
    expect(await codes({ anchor: bent })).toContain('ledger.signature_invalid')
    expect(await codes({ anchor: anchor.replaceAll(NAME, 'example.org/other') })).toContain(
      'ledger.anchor_foreign',
    )
    const torn = anchor.replace(/^north 1 .*$/m, 'north')
    expect(await codeOf(verify({ anchor: torn }))).toBe('ledger.checkpoint_malformed')
  })

  it('can be looked at by stream, fast, and with its progress shown', async () => {
    const seen: unknown[] = []
    const report = await verify({
      stream: 'north',
      contracts: false,
      onProgress: (progress) => seen.push(progress),
    })
    expect(report).toMatchObject({ ok: true, size: 1, checked: 4 })
    expect(seen.at(-1)).toEqual({ checked: 4, total: 4 })
    expect(await codeOf(verify({ stream: 'none' }))).toBe('ledger.stream_unknown')
  })

  it('holds after rotations that shared a moment with appends', async () => {
    const writes = [
      ledger.record(entry('a')),
      ledger.rotateKey(ACTOR),
      ledger.record(entry('b')),
      ledger.record(entry('c', { stream: 'south' })),
    ]
    await Promise.all(writes)
    await ledger.rotateKey(ACTOR)
    expect(await verify()).toMatchObject({ ok: true, problems: [] })
  })

  it('lets the old key sign the size of the change and nothing behind it', async () => {
    const keys = openKeys(join(directory, 'keys'))
    const [file, key] = [join(directory, 'ledger.db'), keyFromSeed(new Uint8Array(32).fill(3))]
    const writer = new InlineWriter({ file, keys })
    const drafts = await Promise.all(
      ['host', 'main', 'north'].map(async (stream) => {
        const { size = 0, origin = '' } = (await ledger.store.head(stream)) ?? {}
        const text = (one: typeof key) => formatVerifierKey(publicKeyOf(one, origin))
        const payload = {
          stream,
          origin,
          old_key: text(keys.current()),
          new_key: text(key),
          last_size: size + 1,
        }
        const record = { type: 'key_rotated_v1', payload }
        return taskDraft('', { stream, record })
      }),
    )
    // Both are asked for in one moment; they must not become one commit.
    await Promise.all([writer.rotate(drafts, key), writer.append([taskDraft('later')])])
    await writer.close()
    expect(await verify()).toMatchObject({ ok: true, size: 8 })
  })
})

describe('anchors and pins', () => {
  it('find another history of the same size, a longer one, and that of others', async () => {
    const [own, long] = [await checkpoint(), place.directory]
    await ledger.record(entry('more'))
    const longer = await checkpoint()
    await ledger.close()
    const other = join(long, 'other')
    await createLedger({ directory: other }, 'example.org/writ/other', ACTOR)
    ledger = await openLedger({ directory: other })
    await ledger.record(entry('t'))
    expect(await codes({ anchor: await checkpoint() })).toEqual(['ledger.anchor_foreign'])
    around(`DELETE FROM facts WHERE place = ${MAIN} + 6`, `DELETE FROM tiles WHERE place >> 32 = 2`)
    expect(await codes({ anchor: longer })).toContain('ledger.truncated')
    expect(await codeOf(verify({ anchor: 'nothing' }))).toBe('ledger.checkpoint_malformed')
    expect(own).not.toBe(longer)
  })

  it('believe a pinned key, and no other', async () => {
    const text = (key: ReturnType<typeof keyFromSeed>) => formatVerifierKey(publicKeyOf(key, NAME))
    const current = text(openKeys(join(directory, 'keys')).current())
    const stranger = text(keyFromSeed(new Uint8Array(32).fill(9)))
    expect(await codes({ pinnedKeys: [current] })).toEqual([])
    expect(await codes({ pinnedKeys: [stranger, current] })).toEqual([])
    expect(new Set(await codes({ pinnedKeys: [stranger] }))).toEqual(
      new Set(['ledger.key_unpinned']),
    )
    expect(await codeOf(verify({ pinnedKeys: ['x'] }))).toBe('ledger.key_malformed')
    await ledger.rotateKey(ACTOR)
    expect(await codes({ pinnedKeys: [current] })).toEqual([])
  })
})

describe('the first bad fact is named', () => {
  it.each([
    [
      'changed',
      `UPDATE facts SET fact = replace(fact, 't-3', 't-9') WHERE place = ${MAIN} + 3`,
      'ledger.chain',
      3,
    ],
    ['gone', `DELETE FROM facts WHERE place = ${MAIN} + 3`, 'ledger.sequence', 3],
    [
      'with another chain value',
      `UPDATE facts SET chain = zeroblob(32) WHERE place = ${MAIN} + 5`,
      'ledger.chain',
      5,
    ],
  ])('%s', async (_, sql, code, seq) => {
    await ledger.close()
    around(sql)
    expect((await codes())[0]).toEqual([code, seq])
    expect((await codes({ contracts: false }))[0]).toEqual([code, seq])
  })

  it('with something behind a zero byte, which some versions of Node read no further', async () => {
    await ledger.close()
    around(
      `UPDATE facts SET fact = CAST(CAST(fact AS BLOB) || x'00414243' AS TEXT) WHERE place = ${MAIN} + 3`,
    )
    expect(await codes()).not.toEqual([])
    expect(await codes({ contracts: false })).not.toEqual([])
  })

  it('and a ledger that lost its end is a fault', async () => {
    await ledger.close()
    around(`DELETE FROM facts WHERE place = ${MAIN} + 5`)
    const report = await verify({ contracts: false })
    expect(report.problems[0]?.code).toBe('ledger.truncated')
    expect(exitOfReport(report)).toBe(4)
    around(`UPDATE tiles SET hashes = zeroblob(32) WHERE place = 3 << 32`)
    expect(exitOfReport(await verify({ stream: 'north' }))).toBe(1)
  })

  it('and a whole stream that is gone', async () => {
    await ledger.close()
    around(
      ...['facts', 'tiles', 'checkpoints'].map(
        (table) => `DELETE FROM ${table} WHERE place >> 32 = 3`,
      ),
      'DELETE FROM heads WHERE stream = 3',
      'DELETE FROM streams WHERE stream = 3',
    )
    expect(await codes()).toEqual(['ledger.stream_missing'])
  })
})

describe('what a stolen key signed', () => {
  const signed = taskDraft('stolen')

  it.each([
    [
      'a record of no contract',
      { ...signed, middle: signed.middle.replace('"ao_act_task_v0"}', '"no"}') },
      'fact.contract',
    ],
    [
      'a task by an issuer that is not human',
      { ...signed, middle: signed.middle.replace('"SEED"', '"SEEDS"') },
      'fact.contract',
    ],
    [
      'a text that is not canonical',
      { ...signed, middle: signed.middle.replace(',', ', ') },
      'fact.malformed',
    ],
    [
      'a principal of no kind',
      { ...signed, middle: signed.middle.replace('"human"', '"humus"') },
      'fact.malformed',
    ],
    [
      'a fact of another stream',
      { ...signed, tail: signed.tail.replace('main', 'north') },
      'fact.malformed',
    ],
    ['a fact with another key', { ...signed, tail: `${signed.tail},"z":1` }, 'fact.malformed'],
    [
      'an idempotency key again',
      { ...taskDraft('t', { idempotencyKey: 'k-2' }), idempotencyKey: null },
      'ledger.key_reused',
    ],
  ])('%s', async (_, draft, code) => {
    expect(draft).not.toEqual(signed)
    await smuggle(draft)
    expect(await codes()).toEqual([[code, 6]])
    expect((await verify({ contracts: false })).ok).toBe(true)
  })

  it('a fact from before the one in front of it', async () => {
    const { occurred_at: at } = JSON.parse((await ledger.store.read('main', 5, 1))[0]?.text ?? '')
    expect(at).toMatch(/Z$/)
    const keys = openKeys(join(directory, 'keys'))
    const late = new InlineWriter({
      file: join(directory, 'ledger.db'),
      keys,
      nowMs: () => Date.parse('2999-01-01T00:00:00Z'),
    })
    await late.append([signed])
    await late.close()
    around(`UPDATE facts SET fact = replace(fact, '2999-', '1999-') WHERE place = ${MAIN} + 6`)
    expect(await codes()).toContainEqual(['ledger.clock', 6])
  })

  it('a rotation that does not follow', async () => {
    const origin = `${NAME}/main`
    const text = (byte: number) =>
      formatVerifierKey(publicKeyOf(keyFromSeed(new Uint8Array(32).fill(byte)), origin))
    const payload = { stream: 'main', origin, old_key: text(1), new_key: text(2), last_size: 7 }
    await smuggle(taskDraft('', { record: { type: 'key_rotated_v1', payload } }))
    expect((await codes())[0]).toEqual(['ledger.key_unfit', 6])
  })
})

describe('the query index', () => {
  it.each([
    ['sound', '', []],
    ['without a term', 'DELETE FROM terms WHERE seq = 2', ['ledger.index_wrong']],
    ['with a term too many', `INSERT INTO terms VALUES (2, 0, 'x', 1)`, ['ledger.index_wrong']],
    [
      'with another value',
      `UPDATE terms SET value = 'x' WHERE seq = 3 AND field = 0`,
      ['ledger.index_wrong'],
    ],
    [
      'with a value behind a zero byte',
      `UPDATE terms SET value = CAST(CAST(value AS BLOB) || x'0041' AS TEXT) WHERE seq = 3 AND field = 0`,
      ['ledger.index_wrong'],
    ],
    ['of another history', `UPDATE marks SET chain = x'00'`, []],
  ])('%s', async (_, sql, wanted) => {
    await ledger.close()
    const index = connect(join(directory, 'ledger-index.db'), 'write')
    expect(index.prepare('SELECT count(*) FROM terms').pluck().get()).toBeGreaterThan(10)
    index.exec(sql)
    index.close()
    expect([...new Set(await codes({ index: true }))]).toEqual(wanted)
    expect(await codes()).toEqual([])
  })
})

it('a set of hashes holds what was added, and no more', () => {
  const set = new HashSet()
  for (let index = 0; index < 5_000; index++) expect(set.add(sha256(`${index}`))).toBe(true)
  for (let index = 0; index < 5_000; index++) expect(set.add(sha256(`${index}`))).toBe(false)
  expect(set.has(sha256('5000'))).toBe(false)
  expect(set.size).toBe(5_000)
})
