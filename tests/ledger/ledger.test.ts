/** A ledger as the rest of writ uses it: made, recorded to, with bodies, and its keys rotated. */
import { chmodSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { digestBytes, FaultError, isDigest } from '../../src/base/index.ts'
import {
  contentOf,
  type Fact,
  HOST_STREAM,
  markedBodies,
  openCheckpoint,
  parseNote,
} from '../../src/ledger/index.ts'
import { connect } from '../../src/store/database/sqlite-driver.ts'
import {
  type Actor,
  createLedger,
  type EntryOutcome,
  FileObjects,
  type Ledger,
  openKeys,
  openLedger,
} from '../../src/store/index.ts'
import { ANN, entry, task } from './entries.ts'
import { allFacts, checkStream, codeOf } from './store-suite.ts'
import { NAME, scratch, verifierOf } from './test-ledger.ts'

/** The public key of the Go checksum database. */
const PUBLIC_OF_OTHERS = 'sum.golang.org+033de0ae+Ac4zctda0e5eza+HJyk9SxEdh+s3Ux18htTTAD8OuAn8'
const ACTOR: Actor = { principal: ANN, source: 'test' }

let place: ReturnType<typeof scratch>
let directory: string
let ledger: Ledger

beforeEach(async () => {
  place = scratch()
  directory = join(place.directory, 'state')
  await createLedger({ directory }, NAME, ACTOR)
  ledger = await openLedger({ directory })
})

afterEach(async () => {
  await ledger.close()
  place.remove()
})

function seqOf(recorded: EntryOutcome): number {
  if (!recorded.ok) throw new Error(JSON.stringify(recorded.violations))
  return recorded.appended.seq
}

const current = () => openKeys(join(directory, 'keys')).current()
const own = () => ({
  open: async () => ledger.store,
  verifier: (origin: string) => verifierOf(origin, current()),
  remove: async () => undefined,
})

describe('several entries as one commit', () => {
  it('become facts when what they wait for has come about, and none when it fails', async () => {
    const facts = async () => (await allFacts(ledger.store, 'main')).length
    let open = (): void => undefined
    const event = new Promise<void>((resolve) => {
      open = resolve
    })
    const recorded = ledger.recordAll([entry('w-1'), entry('w-2')], undefined, event)
    await new Promise((resolve) => setTimeout(resolve, 100))
    expect(await facts()).toBe(0)
    open()
    expect(await recorded).toMatchObject({ ok: true })
    expect(await facts()).toBe(2)
    const failed = Promise.reject(new Error('it did not'))
    await expect(ledger.recordAll([entry('w-3')], undefined, failed)).rejects.toThrow('it did not')
    expect(await facts()).toBe(2)
  })
})

describe('a new ledger', () => {
  it('has a key that only its owner can read, and a first fact that names it', async () => {
    const isPointer = (name: string) => Number(name === 'current')
    const files = readdirSync(join(directory, 'keys')).sort(
      (a, b) => isPointer(a) - isPointer(b) || (a < b ? -1 : 1),
    )
    expect(files).toEqual([
      expect.stringMatching(/\.key$/),
      expect.stringMatching(/\.pub$/),
      'current',
    ])
    expect(statSync(join(directory, 'keys', files[0] ?? '')).mode & 0o777).toBe(0o600)
    expect(statSync(join(directory, 'keys')).mode & 0o777).toBe(0o700)
    const [fact] = await allFacts(ledger.store, HOST_STREAM)
    expect(fact?.record).toMatchObject({
      type: 'key_rotated_v1',
      payload: { stream: 'host', origin: `${NAME}/host`, old_key: null, last_size: 0 },
    })
    await checkStream(ledger.store, own(), HOST_STREAM)
  })

  it('is made once', async () => {
    expect(await codeOf(createLedger({ directory }, NAME, ACTOR))).toBe('ledger.exists')
  })

  it('can be opened twice', async () => {
    const other = await openLedger({ directory })
    expect(seqOf(await other.record(entry('a')))).toBe(0)
    expect(seqOf(await ledger.record(entry('b')))).toBe(1)
    await other.close()
    await checkStream(ledger.store, own())
  })
})

describe('recording', () => {
  it('refuses what breaks its contract, as an answer', async () => {
    const recorded = await ledger.record(entry('a', { record: { type: 'nope', payload: {} } }))
    expect(recorded).toMatchObject({ ok: false, violations: [{ code: 'record.type' }] })
    expect(await ledger.store.head('main')).toBe(null)
  })

  it('keeps a long payload by reference, readable and checked', async () => {
    const payload = task('long', 'x'.repeat(50_000))
    seqOf(await ledger.record(entry('long', { record: { type: 'ao_act_task_v0', payload } })))
    const [fact] = (await allFacts(ledger.store)) as [Fact]
    const { payload_ref: reference = '', bytes } = fact.record
    if (!isDigest(reference)) throw new Error('no reference')
    const kept = await ledger.objects.get(reference)
    expect(kept.length).toBe(bytes)
    expect(JSON.parse(new TextDecoder().decode(kept))).toEqual(payload)
    const query = { stream: 'main', task: 'long', limit: 1, order: 'oldest_first' } as const
    expect((await ledger.store.find(query)).facts).toHaveLength(1)
  })

  it('keeps bodies next to the fact, and the fact without them', async () => {
    const rule = { type: 'ao_act_task_v0', keep: 'places', places: ['/meta/note'] } as const
    await ledger.close()
    ledger = await openLedger({ directory, bodyRules: [rule] })
    const payload = task('t', 'a secret')
    seqOf(await ledger.record(entry('t', { record: { type: 'ao_act_task_v0', payload } })))
    const [row] = await ledger.store.read('main', 0, 1)
    expect(row?.text).not.toContain('secret')
    const [body] = markedBodies((JSON.parse(row?.text ?? '') as Fact).record.payload, rule)
    const kept = await ledger.objects.get(body?.digest ?? digestBytes(''))
    expect(new TextDecoder().decode(contentOf(kept))).toBe('a secret')
    expect(digestBytes('a secret')).not.toBe(body?.digest)
    await checkStream(ledger.store, own())
  })

  it('keeps no body of a record that is a fact already', async () => {
    const rule = { type: 'ao_act_task_v0', keep: 'places', places: ['/meta/note'] } as const
    await ledger.close()
    ledger = await openLedger({ directory, bodyRules: [rule] })
    const objects = () =>
      readdirSync(join(directory, 'objects'), { recursive: true, withFileTypes: true })
        .filter((found) => found.isFile())
        .map(({ name }) => name)
    const payload = task('t', 'a secret')
    const given = entry('t', {
      record: { type: 'ao_act_task_v0', payload },
      idempotencyKey: 'once',
    })
    seqOf(await ledger.record(given))
    const [row] = await ledger.store.read('main', 0, 1)
    const [body] = markedBodies((JSON.parse(row?.text ?? '') as Fact).record.payload, rule)
    const kept = objects()
    expect(await ledger.record(given)).toMatchObject({ ok: true, appended: { repeated: true } })
    expect(await ledger.recordAll([entry('u'), given])).toMatchObject({ ok: true })
    expect(objects()).toEqual(kept)
    expect(await ledger.objects.has(body?.digest ?? digestBytes(''))).toBe(true)
  })

  it('knows the size a caller expects', async () => {
    seqOf(await ledger.record(entry('a'), 0))
    expect(await codeOf(ledger.record(entry('b'), 0))).toBe('ledger.head_moved')
  })
})

describe.each([
  ['next to the caller', false],
  ['at once', true],
])('objects, written %s', (_, isInline) => {
  const objects = () => new FileObjects(join(directory, 'objects'), isInline)
  const object = (text: string) => {
    const bytes = new TextEncoder().encode(text)
    return { digest: digestBytes(bytes), bytes }
  }
  const fileOf = (digest: string) => join(directory, 'objects', digest.slice(7, 9), digest.slice(9))

  it('are kept under their digest, for the owner only, and given back', async () => {
    const one = object('hello')
    await objects().put(one)
    await objects().put(one)
    expect(readFileSync(fileOf(one.digest), 'utf8')).toBe('hello')
    expect(statSync(fileOf(one.digest)).mode & 0o777).toBe(0o600)
    expect(await objects().get(one.digest)).toEqual(Buffer.from('hello'))
    expect(await objects().has(one.digest)).toBe(true)
    expect(readdirSync(join(directory, 'objects', 'tmp'))).toEqual([])
  })

  it('of many writers at once are whole', async () => {
    const many = Array.from({ length: 40 }, (_, index) => object(`body ${index % 4}`.repeat(5000)))
    await Promise.all(many.map((one) => objects().put(one)))
    for (const { digest, bytes } of many)
      expect(await objects().get(digest)).toEqual(Buffer.from(bytes))
  })

  it('that were altered or are gone are reported, never given', async () => {
    const one = object('hello')
    expect(await codeOf(objects().get(one.digest))).toBe('body.missing')
    await objects().put(one)
    writeFileSync(fileOf(one.digest), 'hullo')
    expect(await codeOf(objects().get(one.digest))).toBe('body.altered')
    writeFileSync(fileOf(one.digest), '')
    expect(await codeOf(objects().get(one.digest))).toBe('body.altered')
    await objects().put(one)
    expect(await objects().get(one.digest)).toEqual(Buffer.from('hello'))
  })

  it('can be dropped, once', async () => {
    const one = object('hello')
    await objects().put(one)
    expect(await objects().drop(one.digest)).toBe(true)
    expect(await objects().drop(one.digest)).toBe(false)
    expect(await objects().has(one.digest)).toBe(false)
  })
})

describe('keys', () => {
  it.each([
    ['removed', (file: string) => rmSync(file)],
    ['emptied', (file: string) => writeFileSync(file, '')],
    ['of another key', (file: string) => writeFileSync(file, `${PUBLIC_OF_OTHERS}\n`)],
  ])('a public key file that was %s is written again', async (_, damage) => {
    const folder = join(directory, 'keys')
    const file = join(folder, readdirSync(folder).find((name) => name.endsWith('.pub')) ?? '')
    const text = readFileSync(file, 'utf8')
    await ledger.close()
    damage(file)
    ledger = await openLedger({ directory })
    expect(readFileSync(file, 'utf8')).toBe(text)
  })

  it('are refused when others can read them, when they are none, and when they are gone', async () => {
    const folder = join(directory, 'keys')
    const file = join(folder, readdirSync(folder).find((name) => name.endsWith('.key')) ?? '')
    const opening = async () => openLedger({ directory })
    chmodSync(file, 0o640)
    expect(await codeOf(opening())).toBe('ledger.key_exposed')
    chmodSync(file, 0o600)
    const text = readFileSync(file, 'utf8')
    writeFileSync(file, text.replace(/\+[0-9a-f]{8}\+/, '+00000000+'))
    expect(await codeOf(opening())).toBe('ledger.key_malformed')
    writeFileSync(file, 'nothing')
    expect(await codeOf(opening())).toBe('ledger.key_malformed')
    writeFileSync(file, text)
    rmSync(file)
    expect(await codeOf(opening())).toBe('ledger.key_missing')
    writeFileSync(file, text, { mode: 0o600 })
    expect(await codeOf(opening())).toBe('no failure')
  })

  it('are rotated: both sign the checkpoint of the change, and every writer turns to the new one', async () => {
    const old = current()
    await ledger.record(entry('a'))
    await ledger.record(entry('b', { stream: 'tenant' }))
    // Another writer, which has the old key in its hands.
    const other = await openLedger({ directory })
    await other.record(entry('c'))
    const key = await ledger.rotateKey(ACTOR)
    expect(current().publicKey).toEqual(key.publicKey)

    for (const [stream, size] of [
      ['main', 3],
      ['tenant', 2],
      ['host', 4],
    ] as const) {
      const facts = await allFacts(ledger.store, stream)
      const last = facts[facts.length - 1] as Fact
      expect(last.record).toMatchObject({ type: 'key_rotated_v1', payload: { last_size: size } })
      const head = await ledger.store.head(stream)
      const [kept = ''] = await ledger.store.checkpoints(stream, 0, 10)
      expect(kept).toBe(head?.checkpoint)
      const verifiers = [old, key].map((one) => verifierOf(head?.origin ?? '', one))
      const opened = openCheckpoint(kept, verifiers)
      expect(opened).toMatchObject({ ok: true, checkpoint: { size } })
      expect(opened.ok && opened.verified.length).toBe(2)
    }

    await other.record(entry('d'))
    await ledger.record(entry('e'))
    await ledger.record(entry('f', { stream: 'new' }))
    for (const stream of ['main', 'new']) {
      const head = await ledger.store.head(stream)
      expect(parseNote(head?.checkpoint ?? '')?.signatures).toHaveLength(1)
      expect(openCheckpoint(head?.checkpoint ?? '', [verifierOf(head?.origin ?? '', key)]).ok).toBe(
        true,
      )
      expect(openCheckpoint(head?.checkpoint ?? '', [verifierOf(head?.origin ?? '', old)]).ok).toBe(
        false,
      )
      await checkStream(ledger.store, own(), stream)
    }
    await other.close()
  })

  it('are rotated while others write', async () => {
    const other = await openLedger({ directory })
    let isDone = false
    const writing = (async () => {
      let count = 0
      while (!isDone) {
        await other.record(entry(`w-${count++}`))
        await nextTurn()
      }
      return count
    })()
    await new Promise((resolve) => setTimeout(resolve, 30))
    await ledger.rotateKey(ACTOR)
    await ledger.rotateKey(ACTOR)
    isDone = true
    const count = await writing
    expect((await checkStream(ledger.store, own())).size).toBeGreaterThanOrEqual(count)
    await other.close()
  })
})

describe('a clock that jumps', () => {
  class SetClock {
    wall = Date.now()
    monotonic = 0
    nowMs = () => this.wall
    elapsedMs = () => this.monotonic
  }

  const jumps = async () =>
    (await allFacts(ledger.store, HOST_STREAM))
      .filter(({ record }) => record.type === 'clock_jump_v1')
      .map(({ principal, record }) => ({ who: principal.id, ...(record.payload as object) }))

  it('is a fact of the host’s stream, before the next one, once', async () => {
    const clock = new SetClock()
    const watched = await openLedger({ directory, clock })
    await watched.record(entry('a'))
    const expected_at = new Date(clock.wall + 1_000).toISOString()
    clock.monotonic += 1_000
    clock.wall += 1_000 + 7_200_000
    const found_at = new Date(clock.wall).toISOString()
    await watched.record(entry('b'))
    await watched.record(entry('c'))
    expect(await jumps()).toEqual([
      { who: 'writ', expected_at, found_at, jump_ms: 7_200_000, seen_by: 'process' },
    ])
    await watched.close()
  })

  it('is also seen when no process was there: the history lies ahead, reported once', async () => {
    const [first] = (await ledger.store.read(HOST_STREAM, 0, 1)).map(({ text }) => JSON.parse(text))
    const clock = new SetClock()
    clock.wall = Date.parse(first.occurred_at) - 3_600_000
    for (let round = 0; round < 3; round++) {
      const watched = await openLedger({ directory, clock })
      await watched.recordAll([entry(`r-${round}`)])
      await watched.close()
    }
    // The store reads the machine's clock, so each of the three facts has a time of its own.
    const seen = await jumps()
    expect(seen.length).toBeGreaterThan(0)
    for (const jump of seen) expect(jump).toMatchObject({ who: 'writ', seen_by: 'history' })
    expect(new Set(seen.map((jump) => JSON.stringify(jump))).size).toBe(seen.length)
  })

  it('of less than a minute is none', async () => {
    const clock = new SetClock()
    const watched = await openLedger({ directory, clock })
    clock.wall += 59_000
    await watched.record(entry('a'))
    await watched.close()
    expect(await jumps()).toEqual([])
  })
})

describe('closing a ledger that was changed meanwhile', () => {
  const CHANGES = [
    [`UPDATE facts SET fact = 'nothing'`, 'ledger.tampered'],
    ['DROP TABLE facts', 'ledger.unreachable'],
  ] as const

  it.each(CHANGES)('says so by its code: %s', async (change, code) => {
    const other = await openLedger({ directory })
    await ledger.record(entry('a'))
    await other.record(entry('b'))
    tamper(change)
    expect(await codeOf(ledger.close())).toBe(code)
    expect(await codeOf(other.close())).toBe(code)
  })

  it.each(CHANGES)('says so of facts that the index leaves for later: %s', async (change, code) => {
    await ledger.record(entry('a'))
    await ledger.close()
    const again = await openLedger({ directory })
    await again.record(entry('b'))
    tamper(change)
    expect(await codeOf(again.close())).toBe(code)
  })

  function tamper(change: string): void {
    const database = connect(join(directory, 'ledger.db'), 'write')
    const triggers = database
      .prepare(`SELECT name FROM sqlite_schema WHERE type = 'trigger'`)
      .pluck()
      .all()
    for (const name of triggers) database.exec(`DROP TRIGGER ${name}`)
    database.exec('DROP VIEW history')
    database.exec(change)
    database.close()
  }
})

it('a failure is an error with a fault, for people and programs', async () => {
  const failed = await openLedger({ directory: join(directory, 'none') }).catch(
    (error: unknown) => error,
  )
  expect(failed).toBeInstanceOf(FaultError)
  expect((failed as FaultError).message).toContain('ledger.')
})
