/**
 * The ledger that is tampered with: several streams, more than one tile, two changes of keys, long
 * payloads, bodies, an original, a dropped body. Made once; each manipulation works on a copy.
 */
import {
  copyFileSync,
  cpSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  symlinkSync,
} from 'node:fs'
import { join } from 'node:path'
import { digestBytes, isDigest } from '../../src/base/index.ts'
import {
  BODY_RULES,
  type Fact,
  formatVerifierKey,
  type LedgerEntry,
  markedBodies,
} from '../../src/ledger/index.ts'
import {
  bodyDropName,
  createLedger,
  type Ledger,
  type NewStore,
  openKeys,
  openLedger,
  publicKeyOf,
} from '../../src/store/index.ts'
import { ANN, entry, task } from './entries.ts'
import { NAME } from './test-ledger.ts'

export const ACTOR = { principal: ANN, source: 'test' } as const
export const STREAMS = ['host', 'main', 'north'] as const

export interface Fixture {
  readonly directory: string
  /** A checkpoint of each stream from before the last facts, kept elsewhere. */
  readonly anchors: Readonly<Record<string, string>>
  /** The public keys, as they were handed out. */
  readonly pins: readonly string[]
  /** A copy from before the anchors. */
  readonly old: string
}

const FACTS = 300

/** A ledger in SQLite, unless a store is named; `keep` copies the state as it is now. */
export async function makeFixture(
  folder: string,
  store?: NewStore,
  keep: (from: string, to: string) => void | Promise<void> = copyState,
): Promise<Fixture> {
  const directory = join(folder, 'state')
  await createLedger({ directory }, NAME, ACTOR, store)
  const pins = [pinOf(directory)]
  const ledger = await openLedger({ directory })
  await ledger.objects.put({ digest: digestBytes(MANIFEST), bytes: MANIFEST })
  await record(ledger, 0, 40)
  await ledger.rotateKey(ACTOR)
  pins.push(pinOf(directory))
  await record(ledger, 40, 260)
  await ledger.record(entry('n', { stream: 'north', idempotencyKey: 'north-1' }))
  await ledger.rotateKey(ACTOR)
  pins.push(pinOf(directory))
  await dropBody(ledger)
  await ledger.close()
  const old = join(folder, 'old')
  await keep(directory, old)
  const anchors = await finish(directory)
  return { directory, anchors, pins, old }
}

/** More facts in every stream, then the anchors, then the last facts. */
async function finish(directory: string): Promise<Record<string, string>> {
  const ledger = await openLedger({ directory })
  await record(ledger, 260, FACTS - 5)
  await ledger.record(entry('n2', { stream: 'north' }))
  await ledger.rotateKey(ACTOR)
  const anchors: Record<string, string> = {}
  for (const stream of STREAMS) {
    anchors[stream] = (await ledger.store.head(stream))?.checkpoint ?? ''
  }
  await record(ledger, FACTS - 5, FACTS)
  await ledger.record(entry('n3', { stream: 'north' }))
  await ledger.rotateKey(ACTOR)
  await ledger.close()
  return anchors
}

async function record(ledger: Ledger, from: number, to: number): Promise<void> {
  for (let index = from; index < to; index++) {
    const recorded = await ledger.record(entryOf(index))
    if (!recorded.ok) throw new Error(JSON.stringify(recorded.violations))
  }
}

/** Bodies and payloads of each kind come again and again. */
function entryOf(index: number): LedgerEntry {
  const id = `task-${index}`
  const key = index % 3 === 0 ? { idempotencyKey: `key-${index}` } : {}
  const of = (type: string, payload: unknown) => entry(id, { ...key, record: { type, payload } })
  switch (index % 40) {
    case 7:
      return of('ao_act_task_v0', { ...task(id), meta: { plan: `${index} `.repeat(6_000) } })
    case 11:
      return of('proposal_v1', proposal(index))
    case 3:
    case 23:
      return of('sandbox_result_v1', sandboxResult(index, 1))
    case 31:
      return of('sandbox_result_v1', sandboxResult(index, 400))
    default:
      return of('ao_act_task_v0', task(id))
  }
}

const VECTORS = JSON.parse(readFileSync('spec/vectors/contracts/sandbox-result.json', 'utf8'))

const MANIFEST = Buffer.from('a list of changes')

/** With outputs that become bodies; with many findings it is kept by reference. */
function sandboxResult(index: number, findings: number): Record<string, unknown> {
  const { success } = VECTORS.bases
  const finding = { code: 'effect.not_observed', path: '/home/ann/shop/tmp/b.log' }
  return {
    ...success,
    diff: { ...success.diff, manifest: digestBytes(MANIFEST) },
    outputs: { stdout: `out ${index}`, stderr: `error ${index}`, truncated: false },
    findings: Array.from({ length: findings }, (_, at) => ({ ...finding, path: `/tmp/${at}` })),
  }
}

async function dropBody(ledger: Ledger): Promise<void> {
  const [row] = await ledger.store.read('main', 3, 1)
  const fact = JSON.parse(row?.text ?? '') as Fact
  const [body] = markedBodies(
    fact.record.payload,
    BODY_RULES.find(({ type }) => type === fact.record.type),
  )
  if (body === undefined || !isDigest(body.digest)) throw new Error('fact 3 has a body')
  const payload = {
    body: body.digest,
    bytes: body.bytes,
    rule: 'purge',
    dropped_at: '2026-11-15T08:00:00Z',
  }
  const idempotencyKey = bodyDropName(body.digest)
  const record = { type: 'body_dropped_v1', payload }
  const recorded = await ledger.record(entry('', { record, idempotencyKey }))
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

/** A copy to tamper with: the file is its own, keys and bodies are shared until `ownObjects`. */
export function copyState(from: string, to: string): void {
  rmSync(to, { recursive: true, force: true })
  mkdirSync(to, { recursive: true })
  copyFileSync(join(from, 'ledger.db'), join(to, 'ledger.db'))
  for (const shared of ['keys', 'objects']) symlinkSync(join(from, shared), join(to, shared))
}

/** Gives a copy bodies of its own. */
export function ownObjects(directory: string): void {
  const shared = join(directory, 'objects')
  const target = realpathSync(shared)
  rmSync(shared)
  cpSync(target, shared, { recursive: true })
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
