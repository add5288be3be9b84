/**
 * The kept state over real ledgers in both stores: it saves reading old facts, and a damaged one is never
 * used for an answer.
 */
import {
  cpSync,
  existsSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  utimesSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { STANDING_VERSION, StandingFold } from '../../src/gate/index.ts'
import { LedgerView } from '../../src/service/records/ledger-view.ts'
import type { GateContext } from '../../src/service/surface/context.ts'
import {
  type Actor,
  createLedger,
  type Ledger,
  type NewStore,
  openLedger,
  type VerifyOptions,
  verifyLedger,
} from '../../src/store/index.ts'
import { SQLITE } from '../../src/store/ledger/store-setting.ts'
import { keptFile, type Positions, writeKept } from '../../src/store/standing/kept-standing.ts'
import { StandingKeeper } from '../../src/store/standing/standing-keeper.ts'
import { writeTables } from '../../src/store/standing/table-writer.ts'
import { type PostgresServer, startPostgres } from '../../tools/postgres.mjs'

const ANN = { kind: 'human', id: 'ann', namespace: 'local' } as const
const ACTOR: Actor = { principal: ANN, source: 'cli' }
const NAME = 'example.org/writ/test'
const NOW_MS = Date.parse('2026-11-15T09:00:00Z')
const { bases } = JSON.parse(readFileSync('spec/vectors/gate/decision.json', 'utf8'))

function idOf(number: number): string {
  return `00000000-0000-7000-8000-${String(number).padStart(12, '0')}`
}

function digestOf(word: string, number: number): string {
  return `sha256:${Buffer.from(`${word}${number}`).toString('hex').padEnd(64, '0')}`
}

function intentOf(number: number): string {
  return digestOf('intent', number)
}

/** An act that is blocked for good. */
async function recordBlocked(ledger: Ledger, from: number, to: number): Promise<void> {
  const entries = Array.from({ length: to - from }, (_, index) => index + from).flatMap(
    (number) => {
      const action_id = idOf(number)
      const proposal_digest = digestOf('proposal', number)
      const evaluation = {
        ...bases.whole,
        action_id,
        proposal_digest,
        intent: intentOf(number),
        operation_digest: digestOf('operation', number % 7),
      }
      const decision = {
        action_id,
        proposal_digest,
        result_digest: bases.whole.result_digest,
        decision: 'BLOCK',
        code: 'effect.undeclared',
        codes: ['effect.undeclared'],
        permanent: true,
        law_refs: [],
        decided_at: '2026-11-15T08:00:04Z',
      }
      return [
        { type: 'evaluation_v1', payload: evaluation },
        { type: 'decision_v1', payload: decision },
      ]
    },
  )
  const recorded = await ledger.recordAll(
    entries.map((record) => ({ stream: 'main', source: 'gate', principal: ANN, record })),
  )
  expect(recorded.ok).toBe(true)
}

let server: PostgresServer

beforeAll(async () => {
  server = await startPostgres()
}, 120_000)

afterAll(async () => {
  await server.stop()
})

let made = 0

const STORES: readonly (readonly [string, () => NewStore])[] = [
  ['SQLite', () => SQLITE],
  [
    'PostgreSQL',
    () => {
      const { host, user } = server.connection
      const url = `postgresql://${user}@/postgres?host=${host}`
      return { kind: 'postgres', url, schema: `writ_kept_${made++}` }
    },
  ],
]

describe.each(STORES)('in %s', (_name, store) => {
  let folder = ''
  let ledger: Ledger
  /** Facts that were read since it was last set to zero. */
  let read = 0

  beforeEach(async () => {
    folder = mkdtempSync(join(tmpdir(), 'writ-kept-'))
    await createLedger({ directory: folder }, NAME, ACTOR, store())
    await reopen()
  })

  afterEach(async () => {
    await ledger.close()
    rmSync(folder, { recursive: true, force: true })
  })

  async function reopen(): Promise<void> {
    ledger = await openLedger({ directory: folder })
    const plain = ledger.store.read.bind(ledger.store)
    ledger.store.read = async (...question) => {
      const facts = await plain(...question)
      read += facts.length
      return facts
    }
  }

  function keeper(every = 1, long = 20_000): StandingKeeper {
    const bounds = { every, long }
    return new StandingKeeper({ state: folder, stream: 'main', ledger, nowMs: Date.now, ...bounds })
  }

  /** As a command of its own would see it. */
  function view(every = 1, long?: number): LedgerView {
    const caller = { principal: ANN, streams: null, proof: 'none' }
    // A view reads these alone.
    const context = { ledger, caller, stream: 'main' } as unknown as GateContext
    return new LedgerView(context, { confirmationMs: 1, cooldownMs: 1 }, keeper(every, long))
  }

  const file = (): string => keptFile(folder, 'main')

  /** Blocks that stand, of the first so many acts. */
  async function blocks(count: number, of: LedgerView = view()): Promise<readonly number[]> {
    return of.ask((standing) =>
      Array.from({ length: count }, (_, number) => number).filter(
        (number) =>
          standing.against(intentOf(number), false, NOW_MS).permanent &&
          standing.hasSeen(idOf(number)) &&
          standing.intentOf(idOf(number)) === intentOf(number),
      ),
    )
  }

  async function keep(count: number): Promise<void> {
    await recordBlocked(ledger, 0, count)
    const one = view()
    await one.standing()
    one.close()
    expect(existsSync(file())).toBe(true)
  }

  const verified = (more: Partial<VerifyOptions> = {}) =>
    verifyLedger({ directory: folder }, { contracts: false, kept: true, ...more })

  const all = (count: number) => Array.from({ length: count }, (_, number) => number)

  it('old facts are not read again, and new ones are', async () => {
    await keep(120)
    read = 0
    expect(await blocks(121)).toEqual(all(120))
    // The last fact of either stream, to see that it is still there.
    expect(read).toBe(2)
    await recordBlocked(ledger, 120, 125)
    read = 0
    expect(await blocks(126)).toEqual(all(125))
    expect(read).toBe(2 + 10)
  })

  it('it is kept again when enough facts have come, one upon the other', async () => {
    await keep(40)
    const first = readFileSync(file())
    await recordBlocked(ledger, 40, 44)
    const hasty = view(9)
    await hasty.standing()
    hasty.close()
    expect(readFileSync(file()).equals(first)).toBe(true)
    for (const to of [45, 90, 91]) {
      await recordBlocked(ledger, to === 45 ? 44 : to === 90 ? 45 : 90, to)
      const next = view(1)
      await next.standing()
      next.close()
    }
    read = 0
    expect(await blocks(100)).toEqual(all(91))
    expect(read).toBe(2)
    expect(await verified()).toMatchObject({ ok: true, problems: [] })
  })

  it('a long fold is kept on its way, no matter who asks meanwhile', async () => {
    await recordBlocked(ledger, 0, 700)
    const one = view(1, 500)
    const asked = await Promise.all([blocks(701, one), blocks(701, one), blocks(701, one)])
    expect(asked).toEqual([all(700), all(700), all(700)])
    expect(existsSync(file())).toBe(true)
    expect(one.extent.kept).toBeGreaterThan(500)
    await recordBlocked(ledger, 700, 701)
    expect(await blocks(702, one)).toEqual(all(701))
    one.close()
    expect(await blocks(702)).toEqual(all(701))
    expect(await verified()).toMatchObject({ ok: true, problems: [] })
  })

  it('a halt and its end are seen through it', async () => {
    const halt = (state: string, at: string) =>
      ledger.record({
        ...ACTOR,
        stream: 'host',
        record: { type: 'halt_v1', payload: { state, at } },
      })
    await halt('HALTED', '2026-11-15T08:00:00Z')
    await keep(3)
    expect((await view().standing()).halted).toBe(true)
    await halt('RESUMED', '2026-11-15T08:01:00Z')
    expect((await view().standing()).halted).toBe(false)
  })

  /** Expects that all facts are folded, that the reason is reported, and that a new state is kept. */
  async function expectDropped(code: string, count: number): Promise<void> {
    read = 0
    const one = view()
    expect(await blocks(count + 1, one)).toEqual(all(count))
    expect(read).toBeGreaterThanOrEqual(2 * count)
    expect(keeper().dropped()).toMatchObject({ code })
    one.close()
    read = 0
    expect(await blocks(count + 1)).toEqual(all(count))
    expect(read).toBe(2)
  }

  it.each(['its end', 'its index', 'its length', 'nothing left'])(
    'is thrown away when damaged: %s',
    async (what) => {
      await keep(20)
      const bytes = readFileSync(file())
      const at = what === 'its end' ? bytes.length - 140 : bytes.length - 400
      if (what.startsWith('its e') || what.startsWith('its i')) bytes[at] = (bytes[at] ?? 0) ^ 1
      const size =
        what === 'its length' ? bytes.length - 7 : what === 'nothing left' ? 0 : undefined
      writeFileSync(file(), bytes.subarray(0, size))
      await expectDropped('standing.damaged', 20)
    },
  )

  it('a damaged block is found when it is read: everything is folded, and asked again', async () => {
    await keep(200)
    const bytes = readFileSync(file())
    bytes[40] = (bytes[40] ?? 0) ^ 1
    writeFileSync(file(), bytes)
    await expectDropped('standing.damaged', 200)
  })

  it('a damaged block is no answer to a caller that cannot ask again', async () => {
    await keep(200)
    const bytes = readFileSync(file())
    // The intents lie in the middle, wherever that is.
    for (let at = 0; at < bytes.length - 40_000; at += 1_000) bytes[at] = (bytes[at] ?? 0) ^ 1
    writeFileSync(file(), bytes)
    const standing = await view().standing()
    const fault = { code: 'standing.damaged' }
    const answers = all(200).map((number) => {
      try {
        return standing.against(intentOf(number), false, NOW_MS).permanent
      } catch (error) {
        expect(error).toMatchObject({ fault })
        return true
      }
    })
    expect(answers).not.toContain(false)
    expect(existsSync(file())).toBe(false)
  })

  it('is thrown away when another version wrote it', async () => {
    await keep(5)
    const { host, main: stream } = await places()
    const head = { version: STANDING_VERSION + 1, name: 'main', host, stream, briefs: {} }
    writeTables(file(), { head, tables: {}, before: null }, await ledger.seal())
    await expectDropped('standing.version', 5)
  })

  /** Signed with the right key, and not what the facts say. */
  async function rewrite(positions: Partial<Positions> = {}): Promise<void> {
    const { host, main: stream } = await places()
    const fold = new StandingFold({ confirmationMs: 1, cooldownMs: 1 })
    const order = { stream: 'main', fold, before: null }
    const all = { host, stream, ...positions }
    writeKept(file(), { ...order, positions: all }, await ledger.seal())
  }

  async function places() {
    const of = async (stream: string) => {
      const size = (await ledger.store.head(stream))?.size ?? 0
      const [last] = await ledger.store.read(stream, size - 1, 1)
      return { size, chain: Buffer.from(last?.chain ?? []).toString('hex') }
    }
    return { host: await of('host'), main: await of('main') }
  }

  it('is thrown away when it knows more facts than there are', async () => {
    await keep(5)
    const { main } = await places()
    await rewrite({ stream: { ...main, size: main.size + 1 } })
    await expectDropped('standing.ahead', 5)
  })

  it('is thrown away when it is of another history', async () => {
    await keep(5)
    await rewrite({ stream: { size: 7, chain: 'ab'.repeat(32) } })
    await expectDropped('standing.forked', 5)
  })

  it('verification folds again, and names one that was bent and signed', async () => {
    await keep(5)
    expect(await verified()).toMatchObject({ ok: true })
    // An attacker with the key, who wants the blocks gone without a fact.
    await rewrite()
    expect(await blocks(5)).toEqual([])
    const report = await verified()
    expect(report).toMatchObject({ ok: false, problems: [{ code: 'standing.different' }] })
    expect(report.problems[0]?.message).toContain('`standing/main.kept`')
    expect((await verified({ stream: 'host' })).ok).toBe(true)
    expect((await verified({ kept: false })).ok).toBe(true)
  })

  it('verification names one that is damaged where no command looked', async () => {
    await keep(200)
    const bytes = readFileSync(file())
    bytes[40] = (bytes[40] ?? 0) ^ 1
    writeFileSync(file(), bytes)
    expect(await verified()).toMatchObject({ ok: false, problems: [{ code: 'standing.damaged' }] })
  })

  it('a key that was rotated away is not believed, and nothing is lost by it', async () => {
    await keep(5)
    await ledger.rotateKey(ACTOR)
    expect(await verified()).toMatchObject({ ok: true, problems: [] })
    await expectDropped('standing.damaged', 5)
  })

  it('what a killed writer left goes', async () => {
    await keep(5)
    const left = join(folder, 'standing', 'main.kept.0123.tmp')
    writeFileSync(left, 'half')
    utimesSync(left, 1, 1)
    await recordBlocked(ledger, 5, 6)
    const one = view()
    await one.standing()
    one.close()
    expect(readdirSync(join(folder, 'standing'))).toEqual(['main.kept'])
  })

  it('a place that cannot be written keeps nothing, and stops no command', async () => {
    await recordBlocked(ledger, 0, 5)
    writeFileSync(join(folder, 'standing'), 'in the way')
    const one = view(1, 3)
    expect(await blocks(6, one)).toEqual(all(5))
    one.close()
    expect(await blocks(6)).toEqual(all(5))
  })
})

describe('a ledger that was put back', () => {
  it('is not answered from what is newer than it, nor from another one of its size', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'writ-kept-'))
    const copy = mkdtempSync(join(tmpdir(), 'writ-kept-'))
    const at = async (directory: string, work: (ledger: Ledger) => Promise<void>) => {
      const ledger = await openLedger({ directory })
      try {
        await work(ledger)
      } finally {
        await ledger.close()
      }
    }
    const stands = async (ledger: Ledger, directory: string, numbers: readonly number[]) => {
      const nowMs = Date.now
      const place = { state: directory, stream: 'main', ledger, nowMs, every: 1 }
      const context = { ledger, stream: 'main' } as unknown as GateContext // It reads these alone.
      const options = { confirmationMs: 1, cooldownMs: 1 }
      const view = new LedgerView(context, options, new StandingKeeper(place))
      const answers = await view.ask((standing) =>
        numbers.map((number) => standing.against(intentOf(number), false, NOW_MS).permanent),
      )
      view.close()
      return { answers, dropped: new StandingKeeper(place).dropped()?.code }
    }
    try {
      await createLedger({ directory: folder }, NAME, ACTOR)
      await at(folder, (ledger) => recordBlocked(ledger, 0, 3))
      cpSync(folder, copy, { recursive: true })
      await at(folder, async (ledger) => {
        await recordBlocked(ledger, 3, 5)
        expect(await stands(ledger, folder, [0, 4])).toEqual({ answers: [true, true] })
      })
      // The backup of the facts comes back; what was kept stays.
      for (const name of readdirSync(folder)) {
        if (name.startsWith('ledger')) rmSync(join(folder, name), { recursive: true })
      }
      for (const name of readdirSync(copy)) {
        if (name.startsWith('ledger')) cpSync(join(copy, name), join(folder, name))
      }
      cpSync(join(folder, 'standing'), join(copy, 'standing'), { recursive: true })
      await at(folder, async (ledger) => {
        const found = await stands(ledger, folder, [0, 4])
        expect(found).toEqual({ answers: [true, false], dropped: 'standing.ahead' })
      })
      await at(copy, async (ledger) => {
        await recordBlocked(ledger, 10, 12)
        const found = await stands(ledger, copy, [0, 4, 11])
        expect(found).toEqual({ answers: [true, false, true], dropped: 'standing.forked' })
      })
    } finally {
      rmSync(folder, { recursive: true, force: true })
      rmSync(copy, { recursive: true, force: true })
    }
  })
})
