/**
 * Several processes on one file (L-8): none loses, doubles or corrupts, and none starves. A few
 * processes here; `WRIT_LEDGER_PROCESSES=16` and `WRIT_LEDGER_FACTS` make the soak.
 */
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { createLedgerFile, InlineWriter, ringOf, SqliteStore } from '../../src/store/index.ts'
import type { AppendInput } from './append.program.ts'
import { taskDraft } from './entries.ts'
import { runProgram } from './program.ts'
import { allFacts, checkStream } from './store-suite.ts'
import { KEY, NAME, scratch, verifierOf } from './test-ledger.ts'

const PROCESSES = Number(process.env['WRIT_LEDGER_PROCESSES'] ?? 4)
const FACTS = Number(process.env['WRIT_LEDGER_FACTS'] ?? 75)
/** Only the soak asks for a time, 300 ms: here other tests share the machine. */
const WAIT_MS_MAX = Number(process.env['WRIT_LEDGER_WAIT_MS'] ?? Number.POSITIVE_INFINITY)

it(`${PROCESSES} processes append ${FACTS} facts each, one by one`, async () => {
  const { directory, remove } = scratch()
  const file = join(directory, 'ledger.db')
  createLedgerFile(file, NAME)
  // Starting node is much more work than appending a fact, and not what is measured.
  const startAtMs = Date.now() + 500 + PROCESSES * 150
  const outcomes = await Promise.all(
    Array.from({ length: PROCESSES }, (_, who) => {
      const input: AppendInput = {
        file,
        seed: Buffer.from(KEY.seed).toString('hex'),
        // All writers use every third key: one fact each, from the first writer.
        drafts: Array.from({ length: FACTS }, (_, index) => {
          const idempotencyKey = index % 3 === 0 ? `shared-${index}` : `${who}-${index}`
          return taskDraft(idempotencyKey, { idempotencyKey })
        }),
        perCall: 1,
        callsAtOnce: 1,
        startAtMs,
      }
      return runProgram('tests/ledger/append.program.ts', input)
    }),
  )
  const told = new Map<string, string>()
  let longestMs = 0
  for (const { lines, errors, status } of outcomes) {
    expect([errors, status]).toEqual(['', 0])
    for (const line of lines) {
      const [seq = '', factId = '', key = ''] = line.split(' ')
      if (seq === 'longest') longestMs = Math.max(longestMs, Number(factId))
      if (!/^\d+$/.test(seq)) continue
      expect(told.get(key) ?? `${seq} ${factId}`).toBe(`${seq} ${factId}`)
      told.set(key, `${seq} ${factId}`)
    }
  }
  const shared = Math.ceil(FACTS / 3)
  expect(told.size).toBe(shared + PROCESSES * (FACTS - shared))
  const store = new SqliteStore(file, new InlineWriter({ file, keys: ringOf(KEY) }))
  const ledger = { open: async () => store, verifier: verifierOf, remove: async () => undefined }
  expect((await checkStream(store, ledger)).size).toBe(told.size)
  for (const { seq, fact_id: id, record } of await allFacts(store)) {
    expect(told.get(record.idempotency_key ?? '')).toBe(`${seq} ${id}`)
  }
  await store.close()
  remove()
  if (Number.isFinite(WAIT_MS_MAX)) process.stdout.write(`the longest wait was ${longestMs} ms\n`)
  expect(longestMs).toBeLessThan(WAIT_MS_MAX)
}, 120_000)

it('two processes that never rest get their share each', async () => {
  const { directory, remove } = scratch()
  const file = join(directory, 'ledger.db')
  createLedgerFile(file, NAME)
  const input: AppendInput = {
    file,
    seed: Buffer.from(KEY.seed).toString('hex'),
    drafts: [taskDraft('t')],
    perCall: 1,
    callsAtOnce: 1,
    forMs: 1_500,
  }
  const outcomes = await Promise.all(
    [1, 2].map(() => runProgram('tests/ledger/append.program.ts', input)),
  )
  const counts = outcomes.map(({ lines }) => Number(lines[lines.length - 1]?.split(' ')[1]))
  // They do not start at the same moment; the one who comes late is still far from starving.
  expect(Math.min(...counts) / Math.max(...counts)).toBeGreaterThan(0.2)
  remove()
})
