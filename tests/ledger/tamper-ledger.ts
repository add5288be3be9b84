/**
 * The ledger that is tampered with: several streams, more than one tile, two changes of keys, long
 * payloads, bodies, an original, a dropped body. Made once; each manipulation works on a copy.
 */
import { cpSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { isDigest } from '../../src/base/index.ts'
import {
  createLedger,
  type Ledger,
  openKeys,
  openLedger,
  publicKeyOf,
} from '../../src/host/index.ts'
import {
  type BodyRule,
  type Fact,
  formatVerifierKey,
  markedBodies,
} from '../../src/ledger/index.ts'
import { ANN, entry, task } from './entries.ts'
import { NAME } from './test-ledger.ts'

export const ACTOR = { principal: ANN, source: 'test' } as const
export const RULES: readonly BodyRule[] = [
  { type: 'ao_act_task_v0', keep: 'places', places: ['/meta/note'] },
  { type: 'proposal_v1', keep: 'whole', places: ['/**/env/*'] },
]
export const STREAMS = ['host', 'main', 'north'] as const

export interface Fixture {
  readonly directory: string
  /** A checkpoint of each stream, as somebody kept it elsewhere, before the last facts. */
  readonly anchors: Readonly<Record<string, string>>
  /** The public keys, as they were handed out. */
  readonly pins: readonly string[]
  /** The state before the last facts: an old copy. */
  readonly old: string
}

const FACTS = 300

export async function makeFixture(folder: string): Promise<Fixture> {
  const directory = join(folder, 'state')
  await createLedger({ directory }, NAME, ACTOR)
  const pins = [pinOf(directory)]
  const ledger = await openLedger({ directory, writer: 'inline', bodyRules: RULES })
  await record(ledger, 0, 40)
  await ledger.rotateKey(ACTOR)
  pins.push(pinOf(directory))
  await record(ledger, 40, 260)
  await ledger.record(entry('n', { stream: 'north', idempotencyKey: 'north-1' }))
  await ledger.rotateKey(ACTOR)
  pins.push(pinOf(directory))
  await dropBody(ledger)
  await record(ledger, 260, FACTS - 5)
  const anchors: Record<string, string> = {}
  for (const stream of STREAMS) {
    anchors[stream] = (await ledger.store.head(stream))?.checkpoint ?? ''
  }
  await ledger.close()
  const old = join(folder, 'old')
  copyState(directory, old)
  await finish(directory)
  return { directory, anchors, pins, old }
}

/** The last facts of every stream, behind the anchors. */
async function finish(directory: string): Promise<void> {
  const ledger = await openLedger({ directory, writer: 'inline', bodyRules: RULES })
  await record(ledger, FACTS - 5, FACTS)
  await ledger.record(entry('n2', { stream: 'north' }))
  await ledger.rotateKey(ACTOR)
  await ledger.close()
}

async function record(ledger: Ledger, from: number, to: number): Promise<void> {
  for (let index = from; index < to; index++) {
    const recorded = await ledger.record(entryOf(index))
    if (!recorded.ok) throw new Error(JSON.stringify(recorded.violations))
  }
}

function entryOf(index: number) {
  const id = `task-${index}`
  const key = index % 3 === 0 ? { idempotencyKey: `key-${index}` } : {}
  if (index % 50 === 7) {
    const long = { ...task(id), meta: { plan: `${index} `.repeat(6_000) } }
    return entry(id, { ...key, record: { type: 'ao_act_task_v0', payload: long } })
  }
  if (index % 40 === 11)
    return entry(id, { record: { type: 'proposal_v1', payload: proposal(index) } })
  const payload = index % 25 === 3 ? task(id, `a secret of ${index}`) : task(id)
  return entry(id, { ...key, record: { type: 'ao_act_task_v0', payload } })
}

async function dropBody(ledger: Ledger): Promise<void> {
  const [row] = await ledger.store.read('main', 3, 1)
  const fact = JSON.parse(row?.text ?? '') as Fact
  const [body] = markedBodies(fact.record.payload, RULES[0])
  if (body === undefined || !isDigest(body.digest)) throw new Error('fact 3 has a body')
  const payload = {
    body: body.digest,
    bytes: body.bytes,
    rule: 'purge',
    dropped_at: '2026-11-15T08:00:00Z',
  }
  const recorded = await ledger.record(entry('', { record: { type: 'body_dropped_v1', payload } }))
  if (!recorded.ok) throw new Error(JSON.stringify(recorded.violations))
  await ledger.objects.drop(body.digest)
}

function proposal(index: number): Record<string, unknown> {
  const cwd = '/home/ann/shop/tmp'
  return {
    descriptor: {
      descriptor_version: '1.0',
      action_id: `8f4d0c9e-6f0e-4b43-9f0a-${String(index).padStart(12, '0')}`,
      created_at: '2026-11-15T08:00:00Z',
      created_by: 'ai',
      intent_summary: 'Remove old log files.',
      action_type: 'COMMAND_EXECUTION',
      risk_level: 'MEDIUM',
      scope: {
        filesystem: { paths: [cwd], recursive: true },
        network: { required: false },
        ui: { required: false },
      },
      resources: { max_cpu_ms: 2000, max_memory_mb: 256, max_disk_mb: 50, max_duration_ms: 5000 },
      preconditions: { paths_exist: [cwd], network_available: false, user_idle: false },
      effects: {
        filesystem: { create: [], modify: [], delete: [`${cwd}/*.log`] },
        network: false,
        system_state_change: false,
      },
      sandbox: { required: true, sandbox_type: 'container', allow_network: false, max_runs: 1 },
      rollback: {
        supported: true,
        rollback_type: 'filesystem_snapshot',
        rollback_scope: 'declared_effects_only',
      },
      confirmation: { required: true, reason: 'Deletes files', cooldown_on_repeat: true },
      audit: { log: true, log_level: 'SUMMARY', retain_days: 30 },
    },
    operation: {
      type: 'COMMAND_EXECUTION',
      argv: ['sh', '-c', 'rm -f *.log'],
      cwd,
      env: { TOKEN: `secret ${index}` },
    },
  }
}

/** The key that signs now, as a text to pin. */
export function pinOf(directory: string): string {
  return formatVerifierKey(publicKeyOf(openKeys(join(directory, 'keys')).current(), NAME))
}

export function copyState(from: string, to: string): void {
  rmSync(to, { recursive: true, force: true })
  cpSync(from, to, { recursive: true })
}

/** Every body and payload that is kept. */
export function objectFiles(directory: string): readonly string[] {
  return readdirSync(join(directory, 'objects'), { recursive: true, withFileTypes: true })
    .filter((found) => found.isFile())
    .map((found) => join(found.parentPath, found.name))
    .sort()
}

export function readText(file: string): string {
  return readFileSync(file, 'utf8')
}
