/**
 * Verification against the one thing it cannot do without: hashing the same bytes once. Each
 * verification runs in a process of its own, whole (file, facts, tree, chain, tiles, signatures, and
 * with contracts also form, record and idempotency key of every fact), so that its memory can be measured.
 * Rates are per second that the thread had a processor: a busy machine slows both sides, not alike.
 */
import { spawnSync } from 'node:child_process'
import { hash } from 'node:crypto'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { task } from './contracts-documents.mjs'
import { row } from './measure.mjs'
import { threadMs } from './thread-time.mjs'

const DIST = new URL(process.env.WRIT_DIST ?? '../dist/', import.meta.url)

export const title = 'ledger verification'

const PRINCIPAL = { kind: 'human', id: 'ann', namespace: 'farm' }
const FACTS = Number(process.env.WRIT_BENCH_FACTS ?? 1_000_000)
const SAMPLE = 20_000
const REPEATS = 5
const MEMORY_MB_MAX = 300

export async function measure() {
  const folder = mkdtempSync(join(process.env.WRIT_BENCH_FOLDER ?? tmpdir(), 'writ-verify-'))
  try {
    const directory = join(folder, 'state')
    await fill(directory)
    const before = await bareRate(directory)
    const plain = verify(directory, false)
    const judged = verify(directory, true)
    const bare = (before + (await bareRate(directory))) / 2
    const beside = 'bare SHA-256 of the same bytes'
    const shown = FACTS.toLocaleString('en')
    return [
      row('tree, chain, tiles, signatures', 'facts/s', plain.rate, beside, bare, 0.25),
      row('the same with contracts', 'facts/s', judged.rate, beside, bare, 0.08),
      row(
        `room left under ${MEMORY_MB_MAX} MB, ${shown} facts`,
        'MB',
        MEMORY_MB_MAX,
        'peak of the process',
        judged.peakMb,
        1,
      ),
    ]
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

async function fill(directory) {
  const { createLedger, Engine, openKeys } = await import(new URL('store/index.js', DIST))
  const { prepareFact } = await import(new URL('ledger/index.js', DIST))
  await createLedger({ directory }, 'example.org/writ/bench', {
    principal: PRINCIPAL,
    source: 'bench',
  })
  const engine = new Engine({
    file: join(directory, 'ledger.db'),
    keys: openKeys(join(directory, 'keys')),
  })
  const salt = () => new Uint8Array(32)
  const draft = (index) => {
    const id = `task-${index.toString(16).padStart(12, '0')}`
    const record = { type: 'ao_act_task_v0', payload: { ...task, act_task_id: id } }
    const entry = {
      stream: 'main',
      source: 'bench',
      principal: PRINCIPAL,
      record,
      idempotencyKey: id,
    }
    return prepareFact(entry, { salt }).draft
  }
  for (let from = 0; from < FACTS; from += 1_000) {
    const length = Math.min(1_000, FACTS - from)
    engine.commit([{ drafts: Array.from({ length }, (_, at) => draft(from + at)) }])
    engine.followUp()
  }
  engine.close()
}

/** Facts per second that are only hashed, the median of several goes over a sample. */
async function bareRate(directory) {
  const { connect } = await import(new URL('store/index.js', DIST))
  const database = connect(join(directory, 'ledger.db'), 'read')
  const sample = database
    .prepare('SELECT CAST(fact AS BLOB) FROM facts LIMIT ?')
    .pluck()
    .all(SAMPLE)
  database.close()
  const rates = Array.from({ length: REPEATS }, () => {
    const started = threadMs()
    for (const bytes of sample) hash('sha256', bytes, 'buffer')
    return (sample.length / (threadMs() - started)) * 1000
  })
  return rates.sort((a, b) => a - b)[REPEATS >> 1]
}

/** One verification in a process of its own: its rate and the most memory it held. */
function verify(directory, contracts) {
  const program = `
    const { verifyLedger } = await import(${JSON.stringify(new URL('store/index.js', DIST).href)})
    const { threadMs } = await import(${JSON.stringify(new URL('thread-time.mjs', import.meta.url).href)})
    const started = threadMs()
    const report = await verifyLedger({ directory: ${JSON.stringify(directory)} }, { contracts: ${contracts} })
    if (!report.ok) throw new Error(JSON.stringify(report.problems))
    const rate = (report.checked / (threadMs() - started)) * 1000
    console.log(JSON.stringify({ rate, peakMb: process.resourceUsage().maxRSS / 1024 }))
  `
  const { stdout, stderr } = spawnSync(process.execPath, ['--input-type=module', '-e', program], {
    encoding: 'utf8',
  })
  if (stdout === '') throw new Error(stderr)
  return JSON.parse(stdout)
}
