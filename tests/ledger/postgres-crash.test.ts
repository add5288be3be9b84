/**
 * Crashes on PostgreSQL (L-8): several writer processes at once, on one stream and on two, are killed
 * at random and at each step of a turn, and the server is killed under them. In every case: no
 * acknowledged fact is lost, none is doubled by asking again, and every tree extends every earlier
 * checkpoint. `WRIT_POSTGRES_CRASH_ROUNDS` and `WRIT_SEED` make the soak out of the slice.
 */
import { afterAll, beforeAll, expect, it } from 'vitest'
import {
  assemble,
  type Checkpoint,
  nodesOf,
  planConsistency,
  type Store,
  verifyConsistency,
} from '../../src/ledger/index.ts'
import { POSTGRES_STEPS, type PostgresStep } from '../../src/store/index.ts'
import { type PostgresServer, startPostgres } from '../../tools/postgres.mjs'
import { taskDraft } from './entries.ts'
import type { PostgresAppendInput } from './postgres-append.program.ts'
import { createRoles, postgresLedger } from './postgres-ledger.ts'
import { programFile, runProgram } from './program.ts'
import { allFacts, checkStream } from './store-suite.ts'
import { KEY } from './test-ledger.ts'

const ROUNDS = Number(process.env['WRIT_POSTGRES_CRASH_ROUNDS'] ?? 5)
const SEED = Number(process.env['WRIT_SEED'] ?? Date.now() % 1_000_000)
const PROGRAM = 'tests/ledger/postgres-append.program.ts'
const STREAMS = ['main', 'tenant-2'] as const
const MANNERS = ['step', 'random', 'server crash', 'step', 'server immediate'] as const
const MOMENTS = ['before', 'after'] as const
const WRITERS = 3
const OPEN_KEYS = 120

let server: PostgresServer

beforeAll(async () => {
  server = await startPostgres()
  await createRoles(server)
  await programFile(PROGRAM)
})

afterAll(async () => {
  await server.stop()
})

/** A small generator, so that a seed names a run. */
function dice(seed: number): () => number {
  let state = seed >>> 0
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0
    return state / 2 ** 32
  }
}

async function expectExtends(store: Store, stream: string, old: Checkpoint, now: Checkpoint) {
  const plan = planConsistency(old.size, now.size)
  const path = assemble(plan, await store.nodes(stream, nodesOf(plan)))
  const claim = { oldSize: old.size, newSize: now.size, oldRoot: old.root, newRoot: now.root, path }
  expect(verifyConsistency(claim)).toBe(true)
}

/** One ledger that is written to by programs that die on a server that dies. */
class Ordeal {
  readonly #roll: () => number
  readonly #ledger: Awaited<ReturnType<typeof postgresLedger>>
  /** Idempotency key → `seq factId stream`, as some program heard it. */
  readonly #acknowledged = new Map<string, string>()
  readonly #checkpoints: { readonly stream: string; readonly checkpoint: Checkpoint }[] = []
  #open: string[] = []
  #made = 0
  killed = 0

  constructor(roll: () => number, ledger: Awaited<ReturnType<typeof postgresLedger>>) {
    this.#roll = roll
    this.#ledger = ledger
  }

  async round(manner: (typeof MANNERS)[number]): Promise<void> {
    while (this.#open.length < OPEN_KEYS) this.#open.push(`key-${this.#made++}`)
    let onOpen = (): void => undefined
    const opened = new Promise<void>((resolve) => {
      onOpen = resolve
    })
    const programs = Array.from({ length: WRITERS }, (_, who) => this.#run(manner, who, onOpen))
    if (manner === 'server crash' || manner === 'server immediate') {
      await opened
      await new Promise((resolve) => setTimeout(resolve, this.#roll() * 150))
      await server.kill(manner === 'server crash' ? 'crash' : 'immediate')
      await server.start()
      this.killed++
    }
    for (const { lines, errors, signal } of await Promise.all(programs)) {
      expect(errors).toBe('')
      if (signal === 'SIGKILL') this.killed++
      for (const line of lines.filter((one) => /^\d/.test(one))) this.#hear(line)
    }
    // What was not acknowledged is asked again, whether it is recorded or not.
    this.#open = this.#open.filter((name) => !this.#acknowledged.has(name))
    await this.#verify()
  }

  get acknowledged(): number {
    return this.#acknowledged.size
  }

  #run(manner: (typeof MANNERS)[number], who: number, onOpen: () => void) {
    const step = POSTGRES_STEPS[this.#pick(POSTGRES_STEPS.length)] as PostgresStep
    const moment = MOMENTS[this.#pick(2)] as (typeof MOMENTS)[number]
    const input: PostgresAppendInput = {
      place: this.#ledger.place,
      seed: Buffer.from(KEY.seed).toString('hex'),
      // All writers ask for the same facts, each in another order: the first one records them.
      drafts: rotated(this.#open, who * 7 + this.#pick(5)).map((idempotencyKey) =>
        taskDraft(idempotencyKey, { idempotencyKey, stream: streamOf(idempotencyKey) }),
      ),
      perCall: 1 + this.#pick(3),
      callsAtOnce: 1 + this.#pick(8),
      ...(manner === 'step' ? { killAt: { step, moment, turn: 1 + this.#pick(8) } } : {}),
    }
    const onLine = (line: string): void => (line === 'open' ? onOpen() : undefined)
    const killing = manner === 'random' ? { killAfterMs: this.#roll() * 120 } : {}
    return runProgram(PROGRAM, input, { onLine, ...killing })
  }

  #pick(count: number): number {
    return Math.floor(this.#roll() * count)
  }

  #hear(line: string): void {
    const [seq, factId, key = '', , stream] = line.split(' ')
    const fact = `${seq} ${factId} ${stream}`
    expect(this.#acknowledged.get(key) ?? fact).toBe(fact)
    this.#acknowledged.set(key, fact)
  }

  /** Reads everything again. */
  async #verify(): Promise<void> {
    const store = await this.#ledger.open()
    const kept = new Map<string | undefined, string>()
    let facts = 0
    for (const stream of await store.streams()) {
      const checkpoint = await checkStream(store, this.#ledger, stream)
      for (const old of this.#checkpoints.filter((one) => one.stream === stream)) {
        await expectExtends(store, stream, old.checkpoint, checkpoint)
      }
      this.#checkpoints.push({ stream, checkpoint })
      for (const { seq, fact_id: id, record } of await allFacts(store, stream)) {
        kept.set(record.idempotency_key, `${seq} ${id} ${stream}`)
        facts++
      }
    }
    await store.close()
    expect(kept.size).toBe(facts)
    for (const [key, fact] of this.#acknowledged) expect(kept.get(key)).toBe(fact)
  }
}

const streamOf = (key: string): string => STREAMS[Number(key.slice(4)) % 4 === 0 ? 1 : 0]

function rotated<T>(list: readonly T[], by: number): readonly T[] {
  const at = by % Math.max(1, list.length)
  return [...list.slice(at), ...list.slice(0, at)]
}

const ROUNDS_PER_LEDGER = 20

it(
  `${ROUNDS} rounds of ${WRITERS} writers, seed ${SEED}`,
  async () => {
    const roll = dice(SEED)
    let [killed, acknowledged] = [0, 0]
    for (let round = 0; round < ROUNDS; ) {
      const ordeal = new Ordeal(roll, await postgresLedger(server))
      const end = Math.min(ROUNDS, round + ROUNDS_PER_LEDGER)
      for (; round < end; round++) {
        await ordeal.round(MANNERS[round % MANNERS.length] as (typeof MANNERS)[number])
      }
      killed += ordeal.killed
      acknowledged += ordeal.acknowledged
    }
    expect(killed).toBeGreaterThan(ROUNDS)
    expect(acknowledged).toBeGreaterThan(ROUNDS * 10)
  },
  ROUNDS * 10_000 + 60_000,
)
