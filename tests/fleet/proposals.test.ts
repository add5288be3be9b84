/** Proposals as jobs: made on one machine, carried out by a worker, once. */
import { spawn } from 'node:child_process'
import { existsSync, readFileSync, realpathSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import pg from 'pg'
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { withWorkspaceLock } from '../../src/promotion/index.ts'
import { Fleet, FleetMachine } from './fleet-rig.ts'
import { numbers, WorkerProcess } from './worker-rig.ts'

const KILLS = Number(process.env['WRIT_KILLS'] ?? 6)
const TIMEOUT = { timeout: 180_000 }
let fleet: Fleet
let first: FleetMachine
let client: pg.Client
let jobs = ''
const workers: WorkerProcess[] = []

beforeAll(async () => {
  fleet = await Fleet.start()
  first = fleet.first('alpha')
  client = new pg.Client(fleet.server.connection)
  await client.connect()
}, 180_000)

afterEach(async () => {
  for (const worker of workers.splice(0)) await worker.kill()
})

afterAll(async () => {
  await client.end()
  await fleet.stop()
})

async function work(machine: FleetMachine, ...args: readonly string[]): Promise<WorkerProcess> {
  const worker = new WorkerProcess(machine, args)
  workers.push(worker)
  await worker.until((news) => news.kind === 'ready')
  return worker
}

// biome-ignore lint/suspicious/noExplicitAny: parts of a document, changed at will
type Loose = any

/** A proposal of a command that appends a line to a file of its own. */
function proposal(machine: FleetMachine, name: string, script = `echo done >> ${name}.txt`) {
  const text = machine.spawn(['propose', '--example', 'COMMAND_EXECUTION']).stdout
  const document: Loose = JSON.parse(text)
  const path = join(realpathSync(machine.project), `${name}.txt`)
  document.descriptor.effects.filesystem = { create: [path], modify: [path], delete: [] }
  document.operation.argv = ['sh', '-c', script]
  return { document, path, id: document.descriptor.action_id as string }
}

/** The same, of which a person is asked. */
function asking(machine: FleetMachine, name: string) {
  const given = proposal(machine, name)
  given.document.descriptor.confirmation = {
    required: true,
    reason: 'a person looks',
    cooldown_on_repeat: false,
  }
  return given
}

/** The question about an action, once it is in the inbox. */
async function questionOf(id: string): Promise<Loose> {
  for (;;) {
    const asked = first.writ(['inbox']).json.pending.find((one: Loose) => one.action_id === id)
    if (asked !== undefined) return asked
    await pause(200)
  }
}

function queue(machine: FleetMachine, document: Loose, ...args: readonly string[]): Loose {
  return machine.must(['propose', '-', '--queue', ...args], JSON.stringify(document))
}

function asAgent(machine: FleetMachine, token: string): FleetMachine {
  const env = { ...machine.env, WRIT_TOKEN: token }
  return Object.assign(Object.create(machine) as FleetMachine, { env })
}

function tokenOf(machine: FleetMachine, name: string): { token: string; id: string } {
  machine.must(['principal', 'add', name])
  const made = machine.must(['token', 'create', name])
  return { token: made.token, id: made.id ?? made.token_id }
}

function shown(machine: FleetMachine, id: string): Loose {
  return machine.writ(['show', id]).json
}

function jobOf(action: string): Loose {
  const { jobs: seen } = first.writ(['worker', 'list']).json
  return seen.find((job: Loose) => job.action === action)
}

/** How many facts of a type there are about an action. */
function countOf(id: string, type: string): number {
  const { facts } = first.must(['log', '--facts', '--type', type, '--limit', '500'])
  return facts.filter((fact: Loose) => JSON.stringify(fact).includes(id)).length
}

async function sql(text: string, values: readonly unknown[] = []): Promise<readonly Loose[]> {
  return (await client.query(text.replaceAll('@', jobs), [...values])).rows
}

async function done(worker: WorkerProcess, id: string): Promise<string> {
  const news = await worker.until((one) => one.action === id && one.kind === 'done')
  return news.status
}

it('is refused in words where no tables were made, and where there is no server', async () => {
  const { document } = proposal(first, 'early')
  const early = first.writ(['propose', '-', '--queue'], JSON.stringify(document))
  expect([early.status, early.json.error.hint]).toEqual([
    4,
    expect.stringContaining('writ worker prepare'),
  ])
  first.must(['worker', 'prepare', '--store-owner', 'keeper'])
  const [row] = await sql("SELECT nspname FROM pg_namespace WHERE nspname LIKE 'wj\\_%'")
  jobs = row.nspname
  const alone = new FleetMachine(fleet.folder, 'alone')
  alone.must(['init', '--no-pass'])
  const refused = alone.writ(['propose', '-', '--queue'], JSON.stringify(document))
  expect([refused.status, refused.json.error.code]).toEqual([1, 'machine.alone'])
})

/** What was decided about an action, in whose name, and what became of it. */
function endOf(machine: FleetMachine, id: string): Loose {
  const { facts, act } = shown(machine, id)
  const decided = facts.find((fact: Loose) => fact.record.type === 'decision_v1')
  const { decision, code, codes } = decided.record.payload
  return { by: decided.principal, decision, code, codes, status: act?.outcome }
}

describe('a queued proposal', () => {
  it(
    'of a person ends as `writ propose` ends it, and is undone like any act',
    TIMEOUT,
    async () => {
      const direct = proposal(first, 'direct')
      first.must(['propose', '-'], JSON.stringify(direct.document))
      const queued = proposal(first, 'queued')
      expect(queue(first, queued.document).action_id).toBe(queued.id)
      expect(jobOf(queued.id)).toMatchObject({ state: 'due', finding: 'no worker runs' })
      const worker = await work(first)
      expect(await done(worker, queued.id)).toBe('promoted')
      expect(readFileSync(queued.path, 'utf8')).toBe('done\n')
      expect(endOf(first, queued.id)).toEqual(endOf(first, direct.id))
      first.must(['undo'])
      expect([existsSync(queued.path), existsSync(direct.path)]).toEqual([false, true])
      const again = first.writ(['propose', '-', '--queue'], JSON.stringify(queued.document))
      expect(again.json.error.code).toBe('descriptor.action_id_reused')
    },
  )

  it('of an agent is judged as the agent’s, and asks like one', TIMEOUT, async () => {
    const agent = asAgent(first, tokenOf(first, 'ai:bot@local').token)
    const direct = asking(first, 'asked-direct')
    agent.writ(['propose', '-'], JSON.stringify(direct.document))
    const queued = asking(first, 'asked')
    queue(agent, queued.document)
    const worker = await work(first)
    expect(await done(worker, queued.id)).toBe('waiting')
    const end = endOf(first, queued.id)
    expect(end).toEqual(endOf(first, direct.id))
    expect(end).toMatchObject({ by: { kind: 'ai', id: 'bot' }, decision: 'CONFIRM' })
    expect(existsSync(queued.path)).toBe(false)
  })

  it('of an agent is for the workspace of its home alone', TIMEOUT, () => {
    const agent = asAgent(first, tokenOf(first, 'ai:mover@local').token)
    const text = JSON.stringify(proposal(first, 'moved').document)
    const refused = agent.writ(['propose', '-', '--queue', '--workspace', '/srv/other'], text)
    expect([refused.status, refused.json.error.code]).toEqual([1, 'descriptor.scope_outside'])
    expect(refused.json.error.hint).toBe('leave `--workspace` out')
  })

  it('below a coding agent is that agent’s on the worker, too', TIMEOUT, async () => {
    const env = { ...first.env, CLAUDECODE: '1' }
    const below = Object.assign(Object.create(first) as FleetMachine, { env })
    const queued = proposal(first, 'below')
    queue(below, queued.document)
    await done(await work(first), queued.id)
    const { facts } = shown(first, queued.id)
    const found = facts.find((fact: Loose) => fact.record.type === 'evaluation_v1')
    expect(JSON.stringify(found)).toContain('"agent":"claude')
  })

  it('is followed to a person’s answer with `--wait`', TIMEOUT, async () => {
    const queued = asking(first, 'waited')
    await work(first)
    const words = [
      join(process.cwd(), 'bin', 'writ.cjs'),
      'propose',
      '-',
      '--queue',
      '--wait',
      '--json',
    ]
    const child = spawn(process.execPath, words, { cwd: first.project, env: first.env })
    let out = ''
    child.stdout.on('data', (chunk: Buffer) => {
      out += chunk.toString()
    })
    const ended = new Promise((resolve) => child.once('exit', resolve))
    child.stdin.end(JSON.stringify(queued.document))
    const { id } = await questionOf(queued.id)
    // The answer is given where the rehearsed files lie.
    const elsewhere = fleet.joined(first, 'epsilon').writ(['approve', id, '--yes'])
    expect(elsewhere.json.error.code).toBe('machine.elsewhere')
    first.must(['approve', id, '--yes'])
    expect(await ended).toBe(0)
    expect(JSON.parse(out)).toMatchObject({ action_id: queued.id, promoted: true })
  })

  it('ends its `--wait` when a person removes its job', TIMEOUT, async () => {
    const queued = proposal(first, 'unwaited')
    const words = [
      join(process.cwd(), 'bin', 'writ.cjs'),
      'propose',
      '-',
      '--queue',
      '--wait',
      '--json',
    ]
    const child = spawn(process.execPath, words, { cwd: first.project, env: first.env })
    let out = ''
    child.stdout.on('data', (chunk: Buffer) => {
      out += chunk.toString()
    })
    const ended = new Promise((resolve) => child.once('exit', resolve))
    child.stdin.end(JSON.stringify(queued.document))
    await until(() => jobOf(queued.id) !== undefined)
    first.must(['worker', 'drop', jobOf(queued.id).id])
    const timer = setTimeout(() => child.kill(), 20_000)
    expect(await ended).toBe(1)
    clearTimeout(timer)
    const { code, message } = JSON.parse(out).error
    expect([code, message]).toEqual([
      'machine.job',
      expect.stringContaining('a person removed its job'),
    ])
    expect(existsSync(queued.path)).toBe(false)
  })

  it('is refused when the token was revoked meanwhile', TIMEOUT, async () => {
    const { token, id } = tokenOf(first, 'ai:gone@local')
    const queued = proposal(first, 'revoked')
    queue(asAgent(first, token), queued.document)
    first.must(['token', 'revoke', id])
    const worker = await work(first)
    const failed = await worker.until((one) => one.action === queued.id && one.kind === 'failed')
    expect(failed.code).toBe('principal.token')
    while (jobOf(queued.id).state === 'taken') await pause(100)
    expect(jobOf(queued.id)).toMatchObject({
      state: 'stuck',
      finding: expect.stringMatching(/^refused: .*was revoked/),
    })
    expect([existsSync(queued.path), shown(first, queued.id).status]).toEqual([false, 'QUEUED'])
    first.must(['worker', 'drop', jobOf(queued.id).id])
    expect(jobOf(queued.id)).toBeUndefined()
  })

  it('waits for a worker with its labels, with a finding', TIMEOUT, async () => {
    const plain = await work(first)
    const queued = proposal(first, 'labelled')
    queue(first, queued.document, '--label', 'gpu')
    await pause(2_500)
    const seen = first.writ(['worker', 'list'])
    expect(seen.status).toBe(3)
    expect(jobOf(queued.id)).toMatchObject({ state: 'due', finding: 'no worker has gpu' })
    // Also where its row, which is not signed, names no labels.
    await sql("UPDATE @._private_jobs SET flags = NULL WHERE payload->>'action' = $1", [queued.id])
    await plain.until((one) => one.action === queued.id && one.kind === 'passed_on')
    await until(() => jobOf(queued.id).labels.includes('gpu'))
    expect(await done(await work(first, '--labels', 'gpu'), queued.id)).toBe('promoted')
  })

  it('that a human removed is not made, also not as a copy that was kept', TIMEOUT, async () => {
    const queued = proposal(first, 'removed')
    queue(first, queued.document)
    const [kept] = await sql("SELECT payload FROM @._private_jobs WHERE payload->>'action' = $1", [
      queued.id,
    ])
    first.must(['worker', 'drop', jobOf(queued.id).id])
    await sql("SELECT @.add_job('propose', $1::json)", [JSON.stringify(kept?.['payload'])])
    const failed = await (await work(first)).until(
      (one) => one.action === queued.id && one.kind === 'failed',
    )
    expect([failed.code, existsSync(queued.path)]).toEqual(['machine.job', false])
    expect(failed.message).toContain('a human removed this job')
    first.must(['worker', 'drop', jobOf(queued.id).id])
  })

  it('is made on the machine that has the workspace', TIMEOUT, async () => {
    const second = fleet.joined(first, 'beta')
    const there = await work(second)
    const queued = proposal(first, 'placed')
    queue(second, queued.document, '--workspace', realpathSync(first.project))
    await pause(2_500)
    expect(jobOf(queued.id).finding).toContain('no worker has workspace:')
    expect(await done(await work(first), queued.id)).toBe('promoted')
    expect(there.news.some((one) => one.action === queued.id && one.kind === 'done')).toBe(false)
    expect(readFileSync(queued.path, 'utf8')).toBe('done\n')
  })

  it('has no second effect as a copy, before and after it was done', TIMEOUT, async () => {
    const queued = proposal(first, 'copied', 'echo done >> copied.txt; sleep 1')
    queue(first, queued.document)
    const [{ payload }] = await sql(
      "SELECT payload FROM @._private_jobs WHERE payload->>'action' = $1",
      [queued.id],
    )
    await addCopy(payload)
    const [one, other] = [await work(first), await work(first)]
    await Promise.all([one.until(() => true), other.until(() => true)])
    await until(() => jobOf(queued.id) === undefined)
    await addCopy(payload)
    await until(() => jobOf(queued.id) === undefined)
    expect(readFileSync(queued.path, 'utf8')).toBe('done\n')
    for (const type of ['proposal_v1', 'decision_v1', 'promotion_v1'])
      expect([type, countOf(queued.id, type)]).toEqual([type, 1])
  })

  it(
    'is refused with other words than were signed, or of a machine that was removed',
    TIMEOUT,
    async () => {
      const changed = proposal(first, 'changed')
      queue(first, changed.document)
      await sql(
        "UPDATE @._private_jobs SET payload = replace(payload::text, 'echo done', 'echo evil')::json WHERE payload->>'action' = $1",
        [changed.id],
      )
      const renamed = proposal(first, 'renamed')
      queue(asAgent(first, tokenOf(first, 'ai:climber@local').token), renamed.document)
      await sql(
        'UPDATE @._private_jobs SET payload = jsonb_set(payload::jsonb, \'{by}\', \'{"principal":"human:root@local","token":null,"agent":null}\')::json WHERE payload->>\'action\' = $1',
        [renamed.id],
      )
      const third = fleet.joined(first, 'gamma')
      const orphan = proposal(first, 'orphan')
      queue(third, orphan.document, '--workspace', realpathSync(first.project))
      first.must(['machine', 'remove', 'gamma'])
      const worker = await work(first)
      for (const { id, path } of [changed, renamed, orphan]) {
        const failed = await worker.until((one) => one.action === id && one.kind === 'failed')
        expect(failed.code).toBe('machine.unknown')
        expect(existsSync(path)).toBe(false)
        await forget(id)
      }
    },
  )
})

/** Adds the job once more, as every role of the server can. */
async function addCopy(payload: Loose): Promise<void> {
  await sql("SELECT @.add_job('propose', $1::json)", [JSON.stringify(payload)])
}

async function forget(action: string): Promise<void> {
  await sql("DELETE FROM @._private_jobs WHERE payload->>'action' = $1", [action])
}

async function until(isSo: () => boolean): Promise<void> {
  const end = performance.now() + 60_000
  while (!isSo()) {
    if (performance.now() > end) throw new Error(isSo.toString())
    await pause(250)
  }
}

describe('a worker that dies', () => {
  it('leaves one outcome, whenever it is killed', { timeout: 300_000 }, async () => {
    const seed = Number(process.env['WRIT_SEED'] ?? Date.now() % 1_000_000)
    process.stderr.write(`proposals: seed ${seed}\n`)
    const next = numbers(seed)
    for (let round = 0; round < KILLS; round++) {
      const name = `killed-${round}`
      const queued = proposal(first, name, `echo done >> ${name}.txt; sleep 0.3`)
      queue(first, queued.document)
      const worker = await work(first)
      await worker.until((one) => one.action === queued.id)
      const ms = Math.round(next() * 1_200)
      await pause(ms)
      await worker.kill()
      const other = await work(first)
      await until(() => jobOf(queued.id) === undefined)
      await other.kill()
      const found = [readFileSync(queued.path, 'utf8'), endOf(first, queued.id).decision]
      expect([ms, ...found]).toEqual([ms, 'done\n', 'PROMOTE'])
      for (const type of ['proposal_v1', 'decision_v1', 'promotion_v1'])
        expect([ms, type, countOf(queued.id, type)]).toEqual([ms, type, 1])
    }
    expect(first.must(['ledger', 'verify']).ok).toBe(true)
    expect(first.must(['replay']).differences).toEqual([])
  })

  it('before the promotion leaves it to the next one on its machine', TIMEOUT, async () => {
    // The machine has the same directory, and not the rehearsed files.
    const twin = fleet.joined(first, 'delta', first.project)
    const queued = proposal(first, 'decided')
    const worker = await work(first)
    await withWorkspaceLock(realpathSync(first.project), { waitMs: 5_000 }, async () => {
      queue(first, queued.document)
      await until(() => countOf(queued.id, 'decision_v1') === 1)
      await worker.kill()
    })
    const there = await work(twin)
    await there.until((one) => one.action === queued.id && one.kind === 'passed_on')
    expect(jobOf(queued.id).finding).toContain('waits for a worker on the machine')
    expect(existsSync(queued.path)).toBe(false)
    const here = await work(first)
    expect(await done(here, queued.id)).toBe('promoted')
    expect(readFileSync(queued.path, 'utf8')).toBe('done\n')
    expect([countOf(queued.id, 'decision_v1'), countOf(queued.id, 'promotion_v1')]).toEqual([1, 1])
  })

  it('that is stopped gives its proposal back, and nothing is decided', TIMEOUT, async () => {
    const queued = proposal(first, 'stopped', 'echo done >> stopped.txt; sleep 2')
    const worker = await work(first)
    queue(first, queued.document)
    await until(() => countOf(queued.id, 'proposal_v1') === 1)
    await worker.kill('SIGTERM')
    expect(worker.news.some((one) => one.action === queued.id && one.kind === 'passed_on')).toBe(
      true,
    )
    expect(jobOf(queued.id)).toMatchObject({ tries: 0, error: null })
    expect(countOf(queued.id, 'decision_v1')).toBe(0)
    expect(await done(await work(first), queued.id)).toBe('promoted')
    expect(readFileSync(queued.path, 'utf8')).toBe('done\n')
    expect(countOf(queued.id, 'decision_v1')).toBe(1)
  })
})
