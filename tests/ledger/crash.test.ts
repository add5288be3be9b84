/**
 * Crashes (L-4, I6): the writer is killed at random, and at each step of a commit before and after it
 * happened; every step also fails without a death. In every case: no acknowledged fact is lost, no
 * fact is doubled by asking again, and the tree extends every earlier checkpoint.
 *
 * `WRIT_CRASH_ROUNDS` and `WRIT_SEED` make the soak out of the slice; the seed is in the name.
 */
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import {
  assemble,
  type Checkpoint,
  nodesOf,
  planConsistency,
  type Store,
  verifyConsistency,
} from '../../src/ledger/index.ts'
import { SqliteError } from '../../src/store/database/sqlite-driver.ts'
import {
  type AppendStep,
  createKey,
  createLedgerFile,
  InlineWriter,
  makeCurrent,
  type OnStep,
  ringOf,
  SqliteStore,
  STEPS,
} from '../../src/store/index.ts'
import type { AppendInput } from './append.program.ts'
import { taskDraft } from './entries.ts'
import { runProgram } from './program.ts'
import { allFacts, checkStream, codeOf, type TestLedger } from './store-suite.ts'
import { KEY, NAME, scratch, verifierOf } from './test-ledger.ts'

const ROUNDS = Number(process.env['WRIT_CRASH_ROUNDS'] ?? 30)
const SEED = Number(process.env['WRIT_SEED'] ?? Date.now() % 1_000_000)
const MOMENTS = ['before', 'after'] as const

/** A small generator, so that a seed names a run. */
function dice(seed: number): () => number {
  let state = seed >>> 0
  return () => {
    state = (state + 0x6d2b79f5) >>> 0
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state)
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
  }
}

function ledgerIn(directory: string, key = KEY): TestLedger & { readonly file: string } {
  const file = join(directory, 'ledger.db')
  createLedgerFile(file, NAME)
  return {
    file,
    open: async () => new SqliteStore(file, new InlineWriter({ file, keys: ringOf(key) })),
    verifier: (origin) => verifierOf(origin, key),
    remove: async () => undefined,
  }
}

async function expectExtends(store: Store, old: Checkpoint, now: Checkpoint): Promise<void> {
  const plan = planConsistency(old.size, now.size)
  const path = assemble(plan, await store.nodes('main', nodesOf(plan)))
  const claim = { oldSize: old.size, newSize: now.size, oldRoot: old.root, newRoot: now.root, path }
  expect(verifyConsistency(claim)).toBe(true)
}

/** One ledger that is written to by programs that die, until it is verified and thrown away. */
class Ordeal {
  readonly #roll: () => number
  readonly #scratch = scratch()
  readonly #keysDirectory = join(this.#scratch.directory, 'keys')
  readonly #key = createKey(this.#keysDirectory, NAME)
  readonly #ledger = ledgerIn(this.#scratch.directory, this.#key)
  /** Idempotency key → `seq factId`, as some program heard it. */
  readonly #acknowledged = new Map<string, string>()
  readonly #checkpoints: Checkpoint[] = []
  #open: string[] = []
  #made = 0
  killed = 0

  constructor(roll: () => number) {
    this.#roll = roll
    makeCurrent(this.#keysDirectory, this.#key)
  }

  async round(manner: 'step' | 'random'): Promise<void> {
    while (this.#open.length < 120) this.#open.push(`key-${this.#made++}`)
    const options = manner === 'step' ? {} : { killAfterMs: this.#roll() * 12 }
    const input = this.#input(manner)
    const outcome = await runProgram('tests/ledger/append.program.ts', input, options)
    expect(outcome.errors).toBe('')
    if (outcome.signal === 'SIGKILL') this.killed++
    for (const line of outcome.lines.filter((one) => /^\d/.test(one))) this.#hear(line)
    // What was not acknowledged is asked again, whether it is recorded or not.
    this.#open = this.#open.filter((name) => !this.#acknowledged.has(name))
    await this.#verify()
  }

  remove(): void {
    this.#scratch.remove()
  }

  #input(manner: 'step' | 'random'): AppendInput {
    const { file } = this.#ledger
    const step = STEPS[this.#pick(STEPS.length)] as AppendStep
    const moment = MOMENTS[this.#pick(2)] as (typeof MOMENTS)[number]
    return {
      file,
      seed: Buffer.from(this.#key.seed).toString('hex'),
      drafts: this.#open.map((idempotencyKey) => taskDraft(idempotencyKey, { idempotencyKey })),
      perCall: 1 + this.#pick(3),
      callsAtOnce: 1 + this.#pick(8),
      ...(manner === 'step' ? { killAt: { step, moment, turn: 1 + this.#pick(6) } } : {}),
    }
  }

  #pick(below: number): number {
    return Math.floor(this.#roll() * below)
  }

  #hear(line: string): void {
    const [seq = '', factId = '', key = ''] = line.split(' ')
    expect(this.#acknowledged.get(key) ?? `${seq} ${factId}`).toBe(`${seq} ${factId}`)
    this.#acknowledged.set(key, `${seq} ${factId}`)
  }

  async #verify(): Promise<void> {
    const store = await this.#ledger.open()
    const facts = await allFacts(store)
    if (facts.length > 0) {
      const checkpoint = await checkStream(store, this.#ledger)
      for (const old of this.#checkpoints) await expectExtends(store, old, checkpoint)
      this.#checkpoints.push(checkpoint)
    }
    await store.close()
    const kept = new Map(
      facts.map(({ seq, fact_id: id, record }) => [record.idempotency_key, `${seq} ${id}`]),
    )
    expect(kept.size).toBe(facts.length)
    for (const [key, fact] of this.#acknowledged) expect(kept.get(key)).toBe(fact)
  }
}

const ROUNDS_PER_LEDGER = 20

describe('the writer is killed', () => {
  it(
    `${ROUNDS} rounds, seed ${SEED}`,
    async () => {
      const roll = dice(SEED)
      let killed = 0
      for (let round = 0; round < ROUNDS; ) {
        const ordeal = new Ordeal(roll)
        const end = Math.min(ROUNDS, round + ROUNDS_PER_LEDGER)
        for (; round < end; round++) await ordeal.round(round % 3 === 0 ? 'random' : 'step')
        killed += ordeal.killed
        ordeal.remove()
      }
      expect(killed).toBeGreaterThan(ROUNDS / 3)
    },
    ROUNDS * 3_000 + 30_000,
  )
})

/** What must be true after one step failed once. */
interface Row {
  readonly step: AppendStep
  readonly moment: (typeof MOMENTS)[number]
  /** The fact is in the ledger. */
  readonly isRecorded: boolean
  /** What the caller hears; null for the acknowledgement. */
  readonly code: string | null
}

const early = (step: AppendStep): readonly Row[] =>
  MOMENTS.map((moment) => ({ step, moment, isRecorded: false, code: 'ledger.unreachable' }))

const TABLE: readonly Row[] = [
  ...early('begin'),
  ...early('facts'),
  ...early('tiles'),
  ...early('head'),
  { step: 'commit', moment: 'before', isRecorded: false, code: 'ledger.unclear' },
  { step: 'commit', moment: 'after', isRecorded: true, code: null },
  { step: 'answer', moment: 'before', isRecorded: true, code: null },
  { step: 'answer', moment: 'after', isRecorded: true, code: null },
]

describe('a step fails, and the writer lives on', () => {
  it.each(TABLE)('$step, $moment it happened', async ({ step, moment, isRecorded, code }) => {
    const { directory, remove } = scratch()
    const { file, verifier } = ledgerIn(directory)
    let isArmed = false
    const onStep: OnStep = (nowStep, nowMoment) => {
      if (!isArmed || nowStep !== step || nowMoment !== moment) return
      isArmed = false
      throw new SqliteError('disk I/O error', 'SQLITE_IOERR_WRITE')
    }
    const store = new SqliteStore(file, new InlineWriter({ file, keys: ringOf(KEY), onStep }))
    const ledger = { open: async () => store, verifier, remove: async () => undefined }
    await store.append([taskDraft('first')])
    isArmed = true
    const draft = taskDraft('second', { idempotencyKey: 'k' })
    expect(await codeOf(store.append([draft]))).toBe(code ?? 'no failure')
    expect(isArmed).toBe(false)
    expect(await allFacts(store)).toHaveLength(isRecorded ? 2 : 1)
    await checkStream(store, ledger)
    // The place of a fact that was not recorded goes to another, and its key is free again.
    await store.append([taskDraft('between')])
    const [again] = await store.append([draft])
    expect(again).toMatchObject({ seq: isRecorded ? 1 : 2, repeated: isRecorded })
    expect(await allFacts(store)).toHaveLength(3)
    await checkStream(store, ledger)
    await store.close()
    remove()
  })

  it('names every step there is', () => {
    expect(TABLE.map(({ step, moment }) => `${step} ${moment}`)).toEqual(
      STEPS.flatMap((step) => MOMENTS.map((moment) => `${step} ${moment}`)),
    )
  })
})
