/**
 * What every kind of store must do: the promises above `Store`, one by one. A store's
 * own test file hands in how to make and open an empty ledger.
 */

import { setImmediate } from 'node:timers/promises'
import fc from 'fast-check'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { FaultError } from '../../src/base/index.ts'
import {
  type Appended,
  Audit,
  assemble,
  coveringNodes,
  encodeHex,
  type Fact,
  leafHash,
  matches,
  nodesOf,
  openCheckpoint,
  type ProofPlan,
  planConsistency,
  planInclusion,
  type Query,
  readFact,
  type Store,
  type Verifier,
  verifyConsistency,
  verifyInclusion,
} from '../../src/ledger/index.ts'
import { ANN, BOB, draft, entry, receipt, taskDraft } from './entries.ts'

/** An empty ledger somewhere, which the suite opens as often as it likes. */
export interface TestLedger {
  open(): Promise<Store>
  /** Knows the key that signs a stream of that origin. */
  verifier(origin: string): Verifier
  remove(): Promise<void>
}

export interface SuiteOptions {
  /** The clock of every store that is opened. */
  readonly nowMs: () => number
}

export interface SuiteTraits {
  /** A store that runs in a server reads the clock there; a test cannot set the time. */
  readonly clock: 'given' | 'system'
}

const PAST_ALL = 1_000_000
/** About half of them hit a reader of PostgreSQL between two statements. */
const BEGINNINGS = 12

export async function allFacts(store: Store, stream = 'main'): Promise<readonly Fact[]> {
  const rows = await store.read(stream, 0, PAST_ALL)
  return rows.map(({ text }) => JSON.parse(text) as Fact)
}

export async function codeOf(promise: Promise<unknown>): Promise<string> {
  return promise.then(
    () => 'no failure',
    (error: unknown) => {
      if (error instanceof FaultError) return error.fault.code
      throw error
    },
  )
}

/** Goes over a whole stream: places, chain, tree, nodes and the newest checkpoint. */
export async function checkStream(store: Store, ledger: TestLedger, stream = 'main') {
  const head = await store.head(stream)
  if (head === null) throw new Error(`there is no stream ${stream}`)
  const opened = openCheckpoint(head.checkpoint, [ledger.verifier(head.origin)])
  if (!opened.ok) throw new Error(opened.fault.message)
  const audit = new Audit()
  let before = ''
  for (const { seq, text, chain } of await store.read(stream, 0, PAST_ALL)) {
    const reading = readFact(text, stream, audit.size)
    if (!reading.ok) throw new Error(`${seq}: ${reading.fault.message}`)
    expect(reading.fact.occurred_at >= before).toBe(true)
    before = reading.fact.occurred_at
    expect(audit.take(text, chain)).toBe(true)
  }
  expect(opened.checkpoint).toMatchObject({ origin: head.origin, size: audit.size })
  expect(encodeHex(opened.checkpoint.root)).toBe(encodeHex(audit.root()))
  const edge = coveringNodes(0, audit.size)
  expect((await store.nodes(stream, edge)).map(encodeHex)).toHaveLength(edge.length)
  return opened.checkpoint
}

export function storeSuite(
  name: string,
  make: (options: SuiteOptions) => Promise<TestLedger>,
  { clock }: SuiteTraits = { clock: 'given' },
): void {
  describe(name, () => {
    let ledger: TestLedger
    let store: Store
    let nowMs = 1_800_000_000_000

    beforeEach(async () => {
      nowMs = 1_800_000_000_000
      ledger = await make({ nowMs: () => nowMs })
      store = await ledger.open()
    })

    afterEach(async () => {
      await store.close()
      await ledger.remove()
    })

    const tasks = (count: number, prefix = 't'): Promise<readonly Appended[]> =>
      store.append(Array.from({ length: count }, (_, index) => taskDraft(`${prefix}-${index}`)))

    it('is empty at first', async () => {
      expect(await store.streams()).toEqual([])
      expect(await store.head('main')).toBe(null)
      expect(await store.read('main', 0, 10)).toEqual([])
      expect(await store.checkpoints('main', 0, 10)).toEqual([])
      const query: Query = { stream: 'main', limit: 10, order: 'oldest_first' }
      expect(await store.find(query)).toEqual({ facts: [], next: null })
    })

    it('answers an append with the fact that is there', async () => {
      const [appended] = await store.append([taskDraft('one')])
      expect(appended).toMatchObject({ stream: 'main', seq: 0, size: 1, repeated: false })
      const [stored] = await store.read('main', 0, 10)
      const reading = readFact(stored?.text ?? '', 'main', 0)
      expect(reading).toMatchObject({
        ok: true,
        fact: {
          fact_id: appended?.factId,
          occurred_at: appended?.occurredAt,
          source: 'test',
          principal: ANN,
          record: { type: 'ao_act_task_v0', payload: { act_task_id: 'one' } },
        },
      })
      if (clock === 'given') expect(appended?.occurredAt).toBe(new Date(nowMs).toISOString())
      expect(appended?.factId).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-/)
      await checkStream(store, ledger)
    })

    it('keeps the order of a call, and counts without gaps', async () => {
      await tasks(3, 'a')
      await tasks(4, 'b')
      const facts = await allFacts(store)
      expect(facts.map(({ seq }) => seq)).toEqual([0, 1, 2, 3, 4, 5, 6])
      expect(
        facts.map(({ record }) => (record.payload as { act_task_id: string }).act_task_id),
      ).toEqual(['a-0', 'a-1', 'a-2', 'b-0', 'b-1', 'b-2', 'b-3'])
      expect(await store.read('main', 5, 1)).toHaveLength(1)
      await checkStream(store, ledger)
    })

    it('proves every fact and every earlier checkpoint, over the edge of a tile', async () => {
      const checkpoints = []
      for (const count of [1, 2, 61, 192, 1, 300]) {
        await tasks(count, `c${count}`)
        checkpoints.push(await checkStream(store, ledger))
      }
      const newest = checkpoints[checkpoints.length - 1] as (typeof checkpoints)[number]
      const proofOf = async (plan: ProofPlan): Promise<readonly Uint8Array[]> =>
        assemble(plan, await store.nodes('main', nodesOf(plan)))
      for (const { seq, text } of await store.read('main', 0, PAST_ALL)) {
        const path = await proofOf(planInclusion(seq, newest.size))
        const proof = {
          index: seq,
          size: newest.size,
          leaf: leafHash(text),
          path,
          root: newest.root,
        }
        expect(verifyInclusion(proof)).toBe(true)
      }
      for (const { size: oldSize, root: oldRoot } of checkpoints) {
        const path = await proofOf(planConsistency(oldSize, newest.size))
        const claim = { oldSize, newSize: newest.size, oldRoot, newRoot: newest.root, path }
        expect(verifyConsistency(claim)).toBe(true)
      }
    })

    describe('a call is whole', () => {
      it('nothing is recorded when one of its drafts expects another size', async () => {
        await tasks(2)
        const wrong = store.append([
          taskDraft('x'),
          draft(entry('y'), { expectedSize: 2 }),
          draft(entry('z', { stream: 'new' })),
        ])
        expect(await codeOf(wrong)).toBe('ledger.head_moved')
        expect(await allFacts(store)).toHaveLength(2)
        expect(await store.head('new')).toBe(null)
      })

      it('a right expectation counts what the call itself appends', async () => {
        await tasks(2)
        const appended = await store.append([
          draft(entry('x'), { expectedSize: 2 }),
          draft(entry('y'), { expectedSize: 3 }),
          draft(entry('z', { stream: 'new' }), { expectedSize: 0 }),
        ])
        expect(appended.map(({ stream, seq }) => `${stream}/${seq}`)).toEqual([
          'main/2',
          'main/3',
          'new/0',
        ])
      })

      it('one caller’s mistake does not touch the others of the same moment', async () => {
        const calls = [
          store.append([taskDraft('a')]),
          store.append([draft(entry('b'), { expectedSize: 77 })]),
          store.append([taskDraft('c')]),
        ]
        const settled = await Promise.allSettled(calls)
        expect(settled.map(({ status }) => status)).toEqual(['fulfilled', 'rejected', 'fulfilled'])
        expect(await allFacts(store)).toHaveLength(2)
        await checkStream(store, ledger)
      })
    })

    describe('an idempotency key makes one fact', () => {
      const keyed = (key: string, id: string, stream = 'main') =>
        taskDraft(id, { stream, idempotencyKey: key })

      it('over calls, and the first fact is returned', async () => {
        const [first] = await store.append([keyed('k', 'one')])
        await tasks(5)
        const [again] = await store.append([keyed('k', 'two')])
        expect(again).toEqual({ ...first, size: 6, repeated: true })
        expect(await allFacts(store)).toHaveLength(6)
      })

      it('within one call and at one moment', async () => {
        const [one, two] = await store.append([keyed('k', 'a'), keyed('k', 'b')])
        expect([one?.seq, two?.seq, two?.repeated]).toEqual([0, 0, true])
        const calls = await Promise.all(
          Array.from({ length: 20 }, () => store.append([keyed('m', 'c')])),
        )
        expect(new Set(calls.map(([appended]) => appended?.factId)).size).toBe(1)
        expect(calls.filter(([appended]) => appended?.repeated === false)).toHaveLength(1)
      })

      it('over stores, and after all of them were closed', async () => {
        const other = await ledger.open()
        const [first] = await store.append([keyed('k', 'a')])
        const [second] = await other.append([keyed('k', 'b'), keyed('l', 'c')])
        expect(second?.factId).toBe(first?.factId)
        await other.close()
        await store.close()
        store = await ledger.open()
        const [third] = await store.append([keyed('l', 'd')])
        expect(third).toMatchObject({ seq: 1, repeated: true })
      })

      it('within a stream, not beyond it', async () => {
        const [main, other] = await store.append([keyed('k', 'a'), keyed('k', 'a', 'other')])
        expect(main?.factId).not.toBe(other?.factId)
        expect(other?.repeated).toBe(false)
      })

      it('also when thousands of facts lie between', async () => {
        const count = 3000
        const many = Array.from({ length: count }, (_, index) => keyed(`k-${index}`, `t-${index}`))
        await store.append(many)
        const again = await store.append(many.slice().reverse())
        expect(again.every(({ repeated }) => repeated)).toBe(true)
        expect(again.map(({ seq }) => seq)).toEqual(many.map((_, index) => count - 1 - index))
        expect((await store.head('main'))?.size).toBe(count)
      })
    })

    it('lets many callers of two stores write at once, and loses and doubles nothing', async () => {
      const other = await ledger.open()
      const calls = Array.from({ length: 200 }, (_, index) =>
        (index % 2 === 0 ? store : other).append([taskDraft(`t-${index}`)]),
      )
      const seqs = (await Promise.all(calls)).map(([appended]) => appended?.seq ?? -1)
      expect([...seqs].sort((a, b) => a - b)).toEqual(seqs.map((_, index) => index))
      expect((await checkStream(other, ledger)).size).toBe(200)
      await other.close()
    })

    it('goes on where another store has just ended, and reads it', async () => {
      const other = await ledger.open()
      for (let index = 0; index < 20; index++) {
        const [writer, reader] = index % 3 === 0 ? [other, store] : [store, other]
        const [appended] = await writer.append([taskDraft(`t-${index}`)])
        expect(appended?.seq).toBe(index)
        expect(await reader.read('main', index, 1)).toHaveLength(1)
        const query: Query = { stream: 'main', task: `t-${index}`, limit: 5, order: 'oldest_first' }
        expect((await reader.find(query)).facts).toHaveLength(1)
      }
      await checkStream(store, ledger)
      await other.close()
    })

    it('never lets time run backwards', async () => {
      const times: string[] = []
      for (const step of [0, 5, -60_000, 1, -1, 70_000]) {
        nowMs += step
        times.push((await store.append([taskDraft('t')]))[0]?.occurredAt ?? '')
      }
      expect([...times].sort()).toEqual(times)
      await store.close()
      store = await ledger.open()
      nowMs -= 3_600_000
      const [late] = await store.append([taskDraft('t')])
      expect((late?.occurredAt ?? '') >= (times[5] ?? '')).toBe(true)
      if (clock === 'system') return
      expect(times[5]).toBe(new Date(nowMs + 3_600_000).toISOString())
      expect(late?.occurredAt).toBe(times[5])
    })

    it('keeps streams apart', async () => {
      await store.append([taskDraft('a'), taskDraft('b', { stream: 'tenant-2' }), taskDraft('c')])
      expect(await store.streams()).toEqual(['main', 'tenant-2'])
      const [main, tenant] = [await store.head('main'), await store.head('tenant-2')]
      expect([main?.size, tenant?.size]).toEqual([2, 1])
      expect(main?.origin).not.toBe(tenant?.origin)
      await checkStream(store, ledger, 'main')
      await checkStream(store, ledger, 'tenant-2')
    })

    describe('a stream that comes to be is named in the host’s', () => {
      const named = async () =>
        (await allFacts(store, 'host')).slice(1).map(({ principal, source, record }) => ({
          principal,
          source,
          type: record.type,
          ...(record.payload as { readonly stream: string; readonly new_key: string }),
        }))
      const task = (stream: string, given = {}) => taskDraft('t', { stream, ...given })

      it('once, in the order of their first facts, by the process that wrote those', async () => {
        await store.append([task('host')])
        const other = await ledger.open()
        await store.append([task('south', { principal: BOB }), task('alpha'), task('south')])
        await other.append([task('alpha'), task('north'), task('host')])
        await store.append([task('north'), task('south')])
        await other.close()
        const facts = (await named()).filter(({ type }) => type === 'key_rotated_v1')
        expect(facts.map(({ stream, principal }) => [stream, principal])).toEqual([
          ['south', BOB],
          ['alpha', ANN],
          ['north', ANN],
        ])
        for (const { stream, new_key: key, ...rest } of facts) {
          const origin = (await store.head(stream))?.origin ?? ''
          const { keyId } = ledger.verifier(origin)
          expect(key.startsWith(`${origin}+${keyId.toString(16).padStart(8, '0')}+`)).toBe(true)
          expect(rest).toMatchObject({ source: 'test', origin, old_key: null, last_size: 0 })
          await checkStream(store, ledger, stream)
        }
        expect((await checkStream(store, ledger, 'host')).size).toBe(5)
      })

      it('not when its first call was refused', async () => {
        await store.append([task('host')])
        const refused = store.append([task('south'), draft(entry('x'), { expectedSize: 9 })])
        expect(await codeOf(refused)).toBe('ledger.head_moved')
        expect(await named()).toEqual([])
        expect(await store.streams()).toEqual(['host'])
      })

      it('and is no lost one for readers that looked for it just before', async () => {
        await store.append([task('host')])
        const writer = await ledger.open()
        for (let round = 0; round < BEGINNINGS; round++) {
          const stream = `tenant-${round}`
          const query: Query = { stream, limit: 9, order: 'oldest_first' }
          let isWritten = false
          const keepReading = async (read: () => Promise<unknown>): Promise<void> => {
            for (; !isWritten; await setImmediate()) await read()
          }
          const writing = writer.append([task(stream)]).then(() => {
            isWritten = true
          })
          await Promise.all([
            writing,
            keepReading(() => store.head(stream)),
            keepReading(() => store.read(stream, 0, 9)),
            keepReading(() => store.find(query)),
          ])
        }
        await writer.close()
      })

      it('also when a thousand come at one moment', async () => {
        await store.append([task('host')])
        const names = Array.from({ length: 1000 }, (_, index) => `tenant-${index}`)
        await store.append(names.map((name) => task(name)))
        expect((await named()).map(({ stream }) => stream)).toEqual(names)
      })
    })

    it('keeps a checkpoint for good now and then', async () => {
      for (let round = 0; round < 3; round++) await tasks(4000, `r${round}`)
      const kept = await store.checkpoints('main', 0, 10)
      expect(kept).toHaveLength(1)
      const head = await store.head('main')
      const opened = openCheckpoint(kept[0] ?? '', [ledger.verifier(head?.origin ?? '')])
      expect(opened).toMatchObject({ ok: true, checkpoint: { size: 12_000 } })
      expect(await store.checkpoints('main', 12_001, 10)).toEqual([])
    })

    it('takes facts of any size up to the largest', async () => {
      const note = 'x'.repeat(15_000)
      const payload = { ...(entry('t').record.payload as object), meta: { note } }
      await store.append([draft(entry('t', { record: { type: 'ao_act_task_v0', payload } }))])
      await checkStream(store, ledger)
    })

    it('says so when it was closed', async () => {
      await store.close()
      await store.close()
      expect(await codeOf(store.append([taskDraft('x')]))).toBe('ledger.closed')
      expect(await codeOf(store.head('main'))).toBe('ledger.closed')
      store = await ledger.open()
    })

    describe('queries', () => {
      /** Eighty facts of several kinds, people and moments. */
      async function fill(): Promise<void> {
        for (let index = 0; index < 80; index++) {
          nowMs += index % 3
          // Closing brings the index on: what follows is the tail.
          if (index === 50) {
            await store.close()
            store = await ledger.open()
          }
          const id = `t-${index % 7}`
          const principal = index % 4 === 0 ? BOB : ANN
          const record =
            index % 5 === 0 ? { type: 'ao_act_receipt_v0', payload: receipt(id) } : entry(id).record
          const context = { task: entry(id).record.payload }
          const idempotencyKey = `k-${index}`
          const given = { principal, record, context }
          await store.append([
            taskDraft(id, index % 6 === 0 ? { ...given, idempotencyKey } : given),
          ])
        }
      }

      const queryArbitrary = (facts: readonly Fact[]): fc.Arbitrary<Query> =>
        fc.record(
          {
            stream: fc.constant('main'),
            limit: fc.integer({ min: 1, max: 30 }),
            order: fc.constantFrom('oldest_first', 'newest_first'),
            type: fc.constantFrom('ao_act_task_v0', 'ao_act_receipt_v0', 'nope'),
            task: fc.constantFrom('t-0', 't-3', 't-99'),
            principal: fc.constantFrom(ANN, BOB),
            idempotencyKey: fc.constantFrom('k-0', 'k-6', 'k-1'),
            factId: fc.constantFrom(...facts.slice(0, 5).map(({ fact_id: id }) => id), 'nope'),
            since: fc.constantFrom(...facts.map(({ occurred_at: at }) => at)),
            until: fc.constantFrom(...facts.map(({ occurred_at: at }) => at)),
          },
          { requiredKeys: ['stream', 'limit', 'order'] },
        )

      /** All pages of a query, by their cursors. */
      async function pages(query: Query): Promise<readonly number[]> {
        const seqs: number[] = []
        for (let cursor: number | null | undefined; cursor !== null; ) {
          const page = await store.find(cursor === undefined ? query : { ...query, cursor })
          expect(page.facts.length).toBeLessThanOrEqual(query.limit)
          seqs.push(...page.facts.map(({ seq }) => seq))
          cursor = page.next
        }
        return seqs
      }

      it('give what matches, in order, page by page, with any part indexed', async () => {
        await fill()
        const facts = await allFacts(store)
        await fc.assert(
          fc.asyncProperty(queryArbitrary(facts), async (query) => {
            const wanted = facts.filter((fact) => matches(query, fact)).map(({ seq }) => seq)
            if (query.order === 'newest_first') wanted.reverse()
            expect(await pages(query)).toEqual(wanted)
          }),
          { numRuns: 150 },
        )
      })
    })
  })
}
