/**
 * What protects a ledger in PostgreSQL: guards in the database, an appender without the right to
 * change anything, the fence against a sequencer that slept, and what callers hear when connections
 * break at each step of a turn.
 */
import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { chmodSync } from 'node:fs'
import { createConnection, createServer, type Socket } from 'node:net'
import { join } from 'node:path'
import type pg from 'pg'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { formatVerifierKey, type Store } from '../../src/ledger/index.ts'
import {
  createPostgresLedger,
  keyFromSeed,
  type OnPostgresStep,
  openPostgresStore,
  POSTGRES_STEPS,
  type PostgresStep,
  postgresDifferences,
  publicKeyOf,
  ringOf,
} from '../../src/store/index.ts'
import { type PostgresServer, startPostgres } from '../../tools/postgres.mjs'
import { draft, entry, task, taskDraft } from './entries.ts'
import { APPENDER, asOwner, createRoles, postgresLedger, WRITER } from './postgres-ledger.ts'
import { runProgram } from './program.ts'
import { allFacts, checkStream, codeOf } from './store-suite.ts'
import { KEY, NAME, scratch } from './test-ledger.ts'

let server: PostgresServer
let ledger: Awaited<ReturnType<typeof postgresLedger>>

beforeAll(async () => {
  server = await startPostgres()
  await createRoles(server)
})

afterAll(async () => {
  await server.stop()
})

const freshLedger = async (): Promise<void> => {
  ledger = await postgresLedger(server)
}

/** Replaces `@` by the ledger's schema. */
const sql = (text: string): string => text.replaceAll('@', ledger.place.schema)

async function refusal(work: Promise<unknown>): Promise<string> {
  return work.then(
    () => 'accepted',
    (error: pg.DatabaseError) => String(error.code),
  )
}

async function filled(): Promise<void> {
  const store = await ledger.open()
  await store.append([taskDraft('a', { idempotencyKey: 'a' }), taskDraft('b'), taskDraft('c')])
  await store.append([taskDraft('d'), taskDraft('e', { stream: 'other' })])
  await store.close()
}

const CHANGES: readonly string[] = [
  `UPDATE @.facts SET fact = '{}' WHERE seq = 1`,
  'UPDATE @.facts SET seq = seq WHERE false',
  'DELETE FROM @.facts WHERE seq = 3',
  'TRUNCATE @.facts',
  `INSERT INTO @.facts VALUES (1, 9, '{}', '')`,
  `INSERT INTO @.facts VALUES (1, -1, '{}', '')`,
  `INSERT INTO @.facts VALUES (1, 4, '{}', ''), (1, 6, '{}', '')`,
  `INSERT INTO @.facts VALUES (7, 1, '{}', '')`,
  `INSERT INTO @.facts VALUES (1, 3, '{}', '') ON CONFLICT (stream, seq) DO UPDATE SET fact = '{}'`,
  'DELETE FROM @.keys',
  'UPDATE @.keys SET seq = 2',
  'TRUNCATE @.keys',
  'UPDATE @.streams SET origin = name',
  'DELETE FROM @.streams',
  'UPDATE @.ledger SET name = name',
  `UPDATE @.tiles SET hashes = ''`,
  'DELETE FROM @.tiles',
  `INSERT INTO @.tiles VALUES (1, 0, 0, 3, repeat('x', 32)::bytea, '')`,
  'DELETE FROM @.heads',
  'TRUNCATE @.heads',
  'UPDATE @.heads SET size = size',
  'UPDATE @.heads SET size = size - 1',
  'UPDATE @.heads SET size = size + 1, epoch = epoch - 1',
  'UPDATE @.checkpoints SET size = 1',
  'TRUNCATE @.checkpoints',
]

describe('the database refuses', () => {
  // Nothing that is refused leaves a trace: one ledger serves all of them.
  beforeAll(async () => {
    await freshLedger()
    await filled()
  })

  it.each(CHANGES)('%s, also from its owner', async (change) => {
    await asOwner(server, async (client) => {
      expect(await refusal(client.query(sql(change)))).toMatch(/^(?:WR002|23505)$/)
      // Triggers are off in sessions that replicate; these are not.
      await client.query('SET session_replication_role = replica')
      expect(await refusal(client.query(sql(change)))).toMatch(/^(?:WR002|23505)$/)
    })
  })

  it('a checkpoint that is not behind the last one', async () => {
    await asOwner(server, async (client) => {
      await client.query(sql(`INSERT INTO @.checkpoints VALUES (1, 20, '')`))
      const earlier = client.query(sql(`INSERT INTO @.checkpoints VALUES (1, 10, '')`))
      expect(await refusal(earlier)).toBe('WR002')
    })
  })

  it('the appender everything but reading and appending', async () => {
    await asOwner(
      server,
      async (client) => {
        const tables = ['ledger', 'streams', 'facts', 'keys', 'tiles', 'heads', 'checkpoints']
        for (const table of tables) {
          const { rows } = await client.query(sql(`SELECT count(*) AS count FROM @.${table}`))
          expect(rows).toHaveLength(1)
          for (const change of [
            `INSERT INTO @.${table} SELECT * FROM @.${table}`,
            `UPDATE @.${table} SET ${table === 'ledger' ? 'one = one' : 'stream = stream'}`,
            `DELETE FROM @.${table}`,
            `TRUNCATE @.${table}`,
            `ALTER TABLE @.${table} DISABLE TRIGGER ALL`,
            `DROP TABLE @.${table}`,
          ]) {
            expect(await refusal(client.query(sql(change)))).toBe('42501')
          }
        }
        expect(await refusal(client.query(sql('CREATE TABLE @.mine (one int)')))).toBe('42501')
        expect(await refusal(client.query(`SET ROLE postgres`))).toBe('42501')
      },
      WRITER,
    )
  })
})

describe('a missing guard is found', () => {
  beforeEach(freshLedger)

  const DAMAGES: readonly [string, string][] = [
    ['DROP TRIGGER facts_refuse ON @.facts', 'facts_refuse'],
    ['ALTER TABLE @.facts DISABLE TRIGGER facts_behind', 'facts_behind'],
    ['ALTER TABLE @.heads ENABLE TRIGGER heads_forward', 'heads_forward'],
    [
      'CREATE OR REPLACE FUNCTION @.refuse() RETURNS trigger LANGUAGE plpgsql AS $$BEGIN RETURN NEW; END$$',
      'refuse()',
    ],
    ['ALTER TABLE @.facts DROP CONSTRAINT facts_pkey', 'facts_pkey'],
    ['CREATE RULE hide AS ON INSERT TO @.facts DO INSTEAD NOTHING', 'facts_rules'],
    ['CREATE TABLE @.extra (one int)', 'extra'],
  ]

  it.each(DAMAGES)('%s', async (damage, name) => {
    await asOwner(server, async (client) => {
      expect(await postgresDifferences(client, ledger.place.schema)).toEqual([])
      await client.query(sql(damage))
      expect(await postgresDifferences(client, ledger.place.schema)).toContain(name)
    })
    expect(await codeOf(ledger.open())).toBe('ledger.tampered')
  })
})

describe('a ledger is opened or refused', () => {
  beforeEach(freshLedger)

  it('with the code that says why', async () => {
    const keys = ringOf(KEY)
    const missing = openPostgresStore({ ...ledger.place, schema: 'nothing', keys })
    expect(await codeOf(missing)).toBe('ledger.missing')
    const nowhere = { connection: { host: '/nonexistent', user: WRITER }, schema: 'ledger_0' }
    expect(await codeOf(openPostgresStore({ ...nowhere, keys }))).toBe('ledger.unreachable')
    expect(await codeOf(createPostgresLedger(ledger.owner, NAME, APPENDER))).toBe('ledger.exists')
    await filled()
    const stranger = ringOf(keyFromSeed(new Uint8Array(32).fill(7)))
    const store = await openPostgresStore({ ...ledger.place, keys: stranger })
    expect(await codeOf(store.append([taskDraft('x')]))).toBe('ledger.key_missing')
    await store.close()
  })

  it('but never on a server that does not sync', async () => {
    const careless = await startPostgres({ fsync: 'off' })
    try {
      await createRoles(careless)
      const { open } = await postgresLedger(careless)
      expect(await codeOf(open())).toBe('ledger.unreachable')
    } finally {
      await careless.stop()
    }
  })

  it('and says what was done around it', async () => {
    await filled()
    const damages: readonly [string, string][] = [
      ['DELETE FROM @.facts WHERE stream = 1 AND seq = 3', 'ledger.truncated'],
      [`INSERT INTO @.facts VALUES (1, 3, '{}', ''), (1, 4, '{}', '')`, 'ledger.unsigned_tail'],
      ['DELETE FROM @.facts WHERE stream = 1 AND seq = 4', 'ledger.tampered'],
    ]
    for (const [damage, code] of damages) {
      await pastGuards(damage)
      const store = await ledger.open()
      expect(await codeOf(store.append([taskDraft('x')]))).toBe(code)
      // Other streams are none of it.
      expect(await store.append([taskDraft('y', { stream: 'other' })])).toHaveLength(1)
      await store.close()
    }
  })
})

/** Makes a change as the owner of the database, with the guards off; puts them back. */
async function pastGuards(change: string): Promise<void> {
  await asOwner(server, async (client) => {
    await client.query(sql('ALTER TABLE @.facts DISABLE TRIGGER ALL'))
    await client.query(sql(change))
    await client.query(
      sql(`ALTER TABLE @.facts ENABLE ALWAYS TRIGGER facts_refuse,
        ENABLE ALWAYS TRIGGER facts_behind`),
    )
  })
}

describe('turns', () => {
  beforeEach(freshLedger)

  it('a sequencer that sleeps inside its turn loses it, and cannot fork the log', async () => {
    await filled()
    let isAsleep = false
    const onStep: OnPostgresStep = async (step, moment) => {
      if (step !== 'append' || moment !== 'before' || isAsleep) return
      isAsleep = true
      await new Promise((resolve) => setTimeout(resolve, 900))
    }
    const keys = ringOf(KEY)
    const sleeper = await openPostgresStore({ ...ledger.place, keys, onStep, stallMsMax: 300 })
    const other = await ledger.open()
    const late = sleeper.append([taskDraft('late', { idempotencyKey: 'late' })])
    await new Promise((resolve) => setTimeout(resolve, 100))
    const [first] = await other.append([taskDraft('first')])
    expect(first?.seq).toBe(4)
    const [second] = await late
    expect(second).toMatchObject({ seq: 5, repeated: false })
    expect((await checkStream(other, ledger)).size).toBe(6)
    await sleeper.close()
    await other.close()
  })

  it('the fence alone refuses an old size and an old epoch', async () => {
    await filled()
    await asOwner(server, async (client) => {
      const head = sql('SELECT size, epoch FROM @.heads WHERE stream = 1')
      const [{ size, epoch }] = (await client.query(head)).rows
      const append = (wrongSize: number, wrongEpoch: number) =>
        client.query(
          sql(`SELECT @.append('main', '', $1, $2, gen_random_uuid(), '{}', ''::bytea, '',
            '{}', '{}', '{}', '{}', '{}', '', false)`),
          [Number(size) + wrongSize, Number(epoch) + wrongEpoch],
        )
      expect(await refusal(append(-1, 0))).toBe('WR001')
      expect(await refusal(append(1, 0))).toBe('WR001')
      expect(await refusal(append(0, -1))).toBe('WR001')
      expect(await refusal(append(0, 1))).toBe('WR001')
      await client.query('BEGIN')
      expect(await refusal(append(0, 0))).toBe('accepted')
      await client.query('ROLLBACK')
    })
  })

  it('an epoch counts the sequencers', async () => {
    const [one, two] = [await ledger.open(), await ledger.open()]
    const epoch = () =>
      asOwner(server, async (client) => {
        const { rows } = await client.query(sql('SELECT epoch::int AS epoch FROM @.heads'))
        return rows[0].epoch as number
      })
    const epochs: number[] = []
    for (const store of [one, one, two, two, one]) {
      await store.append([taskDraft('t')])
      epochs.push(await epoch())
    }
    expect(epochs).toEqual([1, 1, 2, 2, 3])
    await one.close()
    await two.close()
  })

  it('a caller that waits too long hears that the ledger is busy, and nothing was recorded', async () => {
    await filled()
    const store = await openPostgresStore({ ...ledger.place, keys: ringOf(KEY), waitMsMax: 200 })
    await asOwner(server, async (client) => {
      await client.query('BEGIN')
      await client.query(sql(`SELECT @.take_turn('{main}', NULL, '{}', '{}', NULL)`))
      expect(await codeOf(store.append([taskDraft('x')]))).toBe('ledger.busy')
      // Another stream has another turn.
      expect(await store.append([taskDraft('y', { stream: 'other' })])).toHaveLength(1)
      await client.query('ROLLBACK')
    })
    expect(await store.append([taskDraft('x')])).toMatchObject([{ seq: 4 }])
    await store.close()
  })

  it('a rotation turns every stream to the new key, and speaks for all of them', async () => {
    await filled()
    const next = keyFromSeed(new Uint8Array(32).fill(9))
    const keys = ringOf(KEY, next)
    const store = await openPostgresStore({ ...ledger.place, keys })
    const rotation = (stream: string, size: number) => {
      const origin = `${NAME}/${stream}`
      const text = (key: typeof KEY) => formatVerifierKey(publicKeyOf(key, origin))
      const payload = {
        stream,
        origin,
        old_key: text(KEY),
        new_key: text(next),
        last_size: size + 1,
      }
      const record = { type: 'key_rotated_v1', payload }
      return draft(entry('', { stream, record }), { expectedSize: size })
    }
    expect(await codeOf(store.rotate([rotation('main', 4)], next))).toBe('ledger.head_moved')
    await store.rotate([rotation('main', 4), rotation('other', 1)], next)
    await store.append([taskDraft('x'), taskDraft('y', { stream: 'other' })])
    const other = await openPostgresStore({ ...ledger.place, keys: ringOf(next) })
    await other.append([taskDraft('z')])
    expect(await other.checkpoints('main', 0, 9)).toHaveLength(1)
    await store.close()
    await other.close()
  })
})

/** Each step of a turn, with the connection broken once before or after it. */
const BREAKS = POSTGRES_STEPS.flatMap((step) =>
  (['before', 'after'] as const).map((moment): [PostgresStep, 'before' | 'after'] => [
    step,
    moment,
  ]),
)

describe('the connection breaks', () => {
  beforeEach(freshLedger)

  const breakAll = (): Promise<unknown> =>
    asOwner(server, (client) =>
      client.query(
        `SELECT pg_terminate_backend(pid, 5000) FROM pg_stat_activity WHERE usename = $1`,
        [WRITER],
      ),
    )

  async function breaking(
    step: PostgresStep,
    moment: 'before' | 'after',
    then: () => Promise<unknown>,
  ): Promise<Store> {
    let isArmed = true
    const onStep: OnPostgresStep = async (nowStep, nowMoment) => {
      if (!isArmed || nowStep !== step || nowMoment !== moment) return
      isArmed = false
      await then()
    }
    return openPostgresStore({ ...ledger.place, keys: ringOf(KEY), onStep, waitMsMax: 3_000 })
  }

  it.each(BREAKS)('at %s, %s it happened: the fact is there once', async (step, moment) => {
    await filled()
    const store = await breaking(step, moment, breakAll)
    const keyed = taskDraft('k', { idempotencyKey: 'k' })
    expect(await store.append([keyed])).toMatchObject([{ seq: 4, repeated: false }])
    expect(await store.append([keyed])).toMatchObject([{ seq: 4, repeated: true }])
    expect(await allFacts(store)).toHaveLength(5)
    await checkStream(store, ledger)
    await store.close()
  })

  it.each([
    { part: 'reply', so: 'it is found out that the facts are there' },
    { part: 'request', so: 'it is found out that they are not, and asked again' },
  ] as const)('the $part of a commit is lost: $so', async ({ part }) => {
    await filled()
    const line = await faultyLine(server)
    let isArmed = true
    const onStep: OnPostgresStep = (step, moment) => {
      if (!isArmed || step !== 'commit' || moment !== 'before') return
      isArmed = false
      line.lose(part)
    }
    const connection = { ...ledger.place.connection, host: line.directory }
    const place = { ...ledger.place, connection }
    const store = await openPostgresStore({ ...place, keys: ringOf(KEY), onStep })
    // Without a key: only the store itself can keep it from being recorded twice.
    expect(await store.append([taskDraft('k')])).toMatchObject([{ seq: 4, repeated: false }])
    expect(await store.append([taskDraft('l')])).toMatchObject([{ seq: 5 }])
    expect(await allFacts(store)).toHaveLength(6)
    await checkStream(store, ledger)
    await store.close()
    line.remove()
  })

  it('the statement of a short turn begins when its connection is gone: the fact is there once', async () => {
    await filled()
    const line = await faultyLine(server)
    let course: 'idle' | 'hold' | 'held' = 'idle'
    const onStep: OnPostgresStep = async (step, moment) => {
      if (moment !== 'before') return
      if (course === 'held') {
        // It was asked for once and found not to be recorded, or is asked for now.
        course = 'idle'
        await line.deliver()
      }
      if (course !== 'hold' || step !== 'commit') return
      course = 'held'
      line.lose('late request')
    }
    const connection = { ...ledger.place.connection, host: line.directory }
    const place = { ...ledger.place, connection }
    const store = await openPostgresStore({ ...place, keys: ringOf(KEY), onStep })
    await store.append([taskDraft('k')])
    course = 'hold'
    // Without a key: only the store itself can keep it from being recorded twice.
    expect(await store.append([taskDraft('l')])).toMatchObject([{ seq: 5, repeated: false }])
    expect(course).toBe('idle')
    expect(await store.append([taskDraft('m')])).toMatchObject([{ seq: 6 }])
    expect(await allFacts(store)).toHaveLength(7)
    await checkStream(store, ledger)
    await store.close()
    line.remove()
  })

  it('and what is thrown before a short turn sends anything is no success', async () => {
    let isBroken = false
    const nowMs = () => {
      if (isBroken) throw new Error('no clock')
      return Date.now()
    }
    const store = await openPostgresStore({ ...ledger.place, keys: ringOf(KEY), nowMs })
    await store.append([taskDraft('a')])
    isBroken = true
    await expect(store.append([taskDraft('b')])).rejects.toThrow('no clock')
    isBroken = false
    expect(await store.append([taskDraft('c')])).toMatchObject([{ seq: 1 }])
    await store.close()
  })

  it.each([
    ['commit', 'before'],
    ['commit', 'after'],
    ['answer', 'before'],
  ] as const)(
    'at the only statement of a short turn, %s %s: the fact is there once',
    async (...at) => {
      let isArmed = false
      let seen = 0
      const onStep: OnPostgresStep = async (step, moment) => {
        if (!isArmed) return
        seen++
        if (step !== at[0] || moment !== at[1]) return
        isArmed = false
        await breakAll()
      }
      const store = await openPostgresStore({ ...ledger.place, keys: ringOf(KEY), onStep })
      await store.append([taskDraft('a')])
      isArmed = true
      const keyed = taskDraft('k', { idempotencyKey: 'k' })
      expect(await store.append([keyed])).toMatchObject([{ seq: 1, repeated: false }])
      // A whole turn begins with other steps.
      expect(seen).toBeLessThanOrEqual(3)
      expect(await store.append([keyed])).toMatchObject([{ seq: 1, repeated: true }])
      await checkStream(store, ledger)
      await store.close()
    },
  )

  it('before a short turn, and the server stays away: nothing is unclear', async () => {
    const store = await ledger.open()
    await store.append([taskDraft('a')])
    await server.kill('immediate')
    expect(await codeOf(store.append([taskDraft('b')]))).toBe('ledger.unreachable')
    await server.start()
    expect(await store.append([taskDraft('c')])).toMatchObject([{ seq: 1 }])
    await checkStream(store, ledger)
    await store.close()
  }, 60_000)

  it('and the server stays away: unclear only if the commit was under way', async () => {
    const store = await ledger.open()
    await store.append([taskDraft('a')])
    await store.close()
    for (const [step, code, recorded] of [
      ['append', 'ledger.unreachable', 1],
      ['commit', 'ledger.unclear', 1],
    ] as const) {
      const broken = await breaking(step, 'before', () => server.kill('immediate'))
      expect(await codeOf(broken.append([taskDraft('b')]))).toBe(code)
      await server.start()
      // The store finds out by itself, and goes on.
      expect(await allFacts(broken)).toHaveLength(recorded)
      await checkStream(broken, ledger)
      await broken.close()
    }
  }, 60_000)
})

/** A line to the server that loses or delays what goes one way, and breaks soon after; then it works again. */
async function faultyLine(to: PostgresServer) {
  const { directory, remove } = scratch()
  const socket = `.s.PGSQL.${to.connection.port}`
  const pairs = new Set<readonly [Socket, Socket]>()
  let lost: 'reply' | 'request' | 'late request' | null = null
  let late: readonly { readonly far: Socket; readonly bytes: Buffer }[] = []
  const lineServer = createServer((near) => {
    const far = createConnection(join(to.connection.host, socket))
    const pair = [near, far] as const
    pairs.add(pair)
    near.on('data', (bytes) => {
      if (lost === 'late request') late = [...late, { far, bytes }]
      else if (lost !== 'request') far.write(bytes)
    })
    far.on('data', (bytes) => lost !== 'reply' && near.write(bytes))
    for (const end of pair) {
      end.on('error', () => undefined)
      end.on('close', () => {
        pairs.delete(pair)
        for (const other of pair) if (!late.some(({ far }) => far === other)) other.destroy()
      })
    }
  })
  await new Promise<void>((resolve) => lineServer.listen(join(directory, socket), resolve))
  return {
    directory,
    /** Hands over what was held back, and waits for the answer that goes nowhere. */
    async deliver(): Promise<void> {
      const held = late
      for (const { far, bytes } of held) far.write(bytes)
      await Promise.all([...new Set(held.map(({ far }) => far))].map((far) => once(far, 'data')))
      late = []
      for (const { far } of held) far.destroy()
    },
    lose(part: 'reply' | 'request' | 'late request'): void {
      lost = part
      setTimeout(() => {
        for (const [near] of pairs) near.destroy()
        lost = null
      }, 300)
    },
    remove(): void {
      lineServer.close()
      remove()
    },
  }
}

it('a full disk under the tables is reported, after which the ledger goes on and opens again', async () => {
  const { directory, remove } = scratch()
  const folder = join(directory, 'small')
  // The server may run as another user, who has to reach the directory.
  chmodSync(directory, 0o755)
  const apart =
    process.getuid?.() === 0
      ? ['--mount']
      : ['--mount', '--user', '--map-current-user', '--keep-caps']
  const script =
    'mkdir -p "$1" && mount -t tmpfs -o size=6m,mode=755 tmpfs "$1" && shift && exec "$@"'
  const wrapper = ['unshare', ...apart, 'sh', '-c', script, 'sh', folder]
  const note = randomBytes(5_000).toString('hex')
  const payload = { ...task('t'), meta: { note } }
  const given = draft(entry('t', { record: { type: 'ao_act_task_v0', payload } }))
  const { lines, errors } = await runProgram(
    'tests/ledger/postgres-full-disk.program.ts',
    { directory: folder, draft: given },
    { wrapper },
  )
  remove()
  expect(errors).toBe('')
  const [full, after, again] = lines.map((line) => JSON.parse(line))
  expect(full).toMatchObject({ code: 'ledger.disk_full' })
  expect(full.acknowledged).toBeGreaterThan(5)
  expect(full.size).toBe(full.acknowledged)
  expect(after.size).toBe(full.size + 1)
  expect(again).toMatchObject({ size: after.size + 1, isSound: true })
}, 60_000)
