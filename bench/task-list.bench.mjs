/**
 * `writ task list --limit 50` as a whole process, on a history of 200,000 facts against one of 1,000, in
 * turns: tasks first, then a receipt for each. The goal, at most twice as long, is a ratio of 0.5.
 */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { task } from './contracts-documents.mjs'
import { placeOf, writ } from './long-history.mjs'
import { row } from './measure.mjs'

const LONG = Number(process.env.WRIT_BENCH_TASKS ?? 200_000)
const SHORT = 1_000
const TURNS = 7
const BATCH = 2_000
const PRINCIPAL = { kind: 'human', id: 'ann', namespace: 'local' }
const DEVICE = { kind: 'device', id: 'pump-3', namespace: 'farm' }

export const title = 'tasks'

export async function measure() {
  const folder = mkdtempSync(join(tmpdir(), 'writ-task-list-'))
  try {
    const [long, short] = [await history(folder, LONG), await history(folder, SHORT)]
    const rows = []
    for (const args of [[], ['--open'], ['--device', 'pump-3@farm']]) {
      const words = ['task', 'list', '--limit', '50', ...args, '--json']
      const times = { long: [], short: [] }
      for (let turn = 0; turn < TURNS; turn++) {
        times.short.push(timed(short, words))
        times.long.push(timed(long, words))
      }
      rows.push(
        row(
          words.slice(0, -1).join(' '),
          `a second, ${LONG} facts`,
          1000 / median(times.long),
          `the same, ${SHORT} facts`,
          1000 / median(times.short),
          0.5,
        ),
      )
    }
    return rows
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

function timed(place, words) {
  const started = performance.now()
  writ(place, words)
  return performance.now() - started
}

const median = (values) => values.sort((a, b) => a - b)[values.length >> 1]

/** Half of the facts are tasks, the other half their receipts; the first hundred stay open. */
async function history(folder, size) {
  const place = placeOf(join(folder, String(size)))
  writ(place, ['init', '--no-pass'])
  const { openHome } = await import(new URL('../dist/home/index.js', import.meta.url))
  const { openLedger } = await import(new URL('../dist/store/index.js', import.meta.url))
  const around = {
    cwd: place.project,
    env: place.env,
    userDirectory: place.env.HOME,
    userName: 'a',
  }
  const ledger = await openLedger({ directory: openHome(around, null).state })
  const tasks = Math.floor(size / 2)
  for (let from = 0; from < size; from += BATCH) {
    const entries = Array.from({ length: Math.min(BATCH, size - from) }, (_, index) => {
      const at = from + index
      return at < tasks ? taskEntry(at) : receiptEntry(Math.max(100, at - tasks))
    })
    const recorded = await ledger.recordAll(entries)
    if (!recorded.ok) throw new Error(JSON.stringify(recorded.violations))
  }
  await ledger.close()
  return place
}

function taskEntry(at) {
  const payload = { ...task, act_task_id: `act-${at}`, issuer: PRINCIPAL }
  return {
    stream: 'main',
    source: 'bench',
    principal: PRINCIPAL,
    record: { type: task.type, payload },
  }
}

function receiptEntry(at) {
  const payload = {
    type: 'ao_act_receipt_v0',
    act_task_id: `act-${at}`,
    executor_id: DEVICE,
    execution_time: { start_ts: 1, end_ts: 2 },
    execution_coverage: { kind: 'area', ref: 'field:1' },
    resource_usage: { fuel_l: null, electric_kwh: null, water_l: 1, chemical_ml: null },
    logs_refs: [{ kind: 'log', ref: 'log:1' }],
    constraint_check: { violated: false, violations: [] },
    observed_parameters: {},
    created_at_ts: 3,
    status: 'executed',
  }
  return {
    stream: 'main',
    source: 'bench',
    principal: DEVICE,
    record: { type: 'ao_act_receipt_v0', payload },
    context: { task },
  }
}
