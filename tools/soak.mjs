/**
 * `npm run soak [NAME…]`: the long forms of the tests, more than an hour, with seeds printed. Each
 * entry is a test that reads its size from the environment; CI runs a slice of the same tests.
 */
import { prepare, run } from './setup.mjs'

const PURE_ROOMS = [
  'base',
  'configuration',
  'constitution',
  'contracts',
  'expression',
  'flow',
  'gate',
  'ledger',
  'policy',
]

const SOAKS = [
  {
    name: 'properties',
    files: [
      ...PURE_ROOMS.map((room) => `src/${room}`),
      'tests/flow-runtime',
      'tests/flow-documents',
    ],
    env: { WRIT_RUNS_FACTOR: '100' },
  },
  {
    name: 'rules',
    files: ['scale', 'witness', 'kernel'].map((name) => `tests/constitution/${name}.test.ts`),
    env: { WRIT_RUNS_FACTOR: '20' },
  },
  {
    name: 'large',
    files: [...PURE_ROOMS.map((room) => `src/${room}`), 'tests/cli-gate/rename.test.ts'],
    env: { WRIT_SIZES: 'whole' },
  },
  { name: 'documents', files: ['tests/hostile.test.ts'], env: { WRIT_HOSTILE_RUNS: '1000000' } },
  {
    name: 'kernel',
    files: ['tests/constitution/kernel.test.ts'],
    env: { WRIT_ORACLE_RUNS: '100000' },
  },
  {
    name: 'analysis',
    files: ['tests/constitution/analysis.test.ts'],
    env: { WRIT_ANALYSIS_RUNS: '400' },
  },
  {
    name: 'expression',
    files: ['tests/expression/difference.test.ts'],
    env: { WRIT_EXPRESSION_RUNS: '200000' },
  },
  {
    name: 'field',
    files: ['tests/field/many.test.ts'],
    env: { WRIT_FIELD_DEVICES: '1000', WRIT_FIELD_TASKS: '10000' },
  },
  { name: 'fleet', files: ['tests/fleet/kills.test.ts'], env: { WRIT_FLEET_RUNS: '2000' } },
  { name: 'tamper', files: ['tests/ledger/tamper.test.ts'], env: { WRIT_TAMPER_RUNS: '2500' } },
  {
    name: 'postgres-tamper',
    files: ['tests/ledger/postgres-tamper.test.ts'],
    env: { WRIT_POSTGRES_TAMPER_RUNS: '1000' },
  },
  {
    name: 'sqlite-crash',
    files: ['tests/ledger/crash.test.ts'],
    env: { WRIT_CRASH_ROUNDS: '1000' },
  },
  {
    name: 'sqlite-processes',
    files: ['tests/ledger/processes.test.ts'],
    env: { WRIT_LEDGER_PROCESSES: '16', WRIT_LEDGER_FACTS: '300', WRIT_LEDGER_WAIT_MS: '300' },
  },
  {
    name: 'postgres-crash',
    files: ['tests/ledger/postgres-crash.test.ts'],
    env: { WRIT_POSTGRES_CRASH_ROUNDS: '200' },
  },
  {
    name: 'escapes',
    files: ['tests/escapes/escapes.test.ts'],
    env: { WRIT_ESCAPE_ROUNDS: '5' },
  },
  { name: 'corpus', files: ['tests/corpus'], env: { WRIT_CORPUS: 'whole' } },
  {
    name: 'faithful',
    files: ['tests/cli-gate/faithful.test.ts'],
    env: { WRIT_FAITHFUL_ROUNDS: '600' },
  },
  {
    name: 'memory',
    files: ['tests/cli-gate/memory.test.ts'],
    env: { WRIT_MEMORY_FILES: '200000' },
  },
  {
    name: 'renames',
    files: ['tests/tree/rename-fuzz.test.ts'],
    env: { WRIT_RENAME_ROUNDS: '2000' },
  },
  {
    name: 'z3',
    files: ['tests/constitution/z3.test.ts'],
    env: { WRIT_Z3_RUNS: '400', WRIT_Z3_SECONDS: '600' },
  },
  { name: 'view', files: ['tests/view/rounds.test.ts'], env: { WRIT_VIEW_ROUNDS: '1000' } },
  {
    name: 'sessions',
    files: ['tests/sessions/rounds.test.ts'],
    env: { WRIT_SESSION_ROUNDS: '200' },
  },
  { name: 'scan', files: ['tests/tree/scan-fuzz.test.ts'], env: { WRIT_SCAN_ROUNDS: '4000' } },
  {
    name: 'promotion-trees',
    files: ['tests/promotion/trees.test.ts'],
    env: { WRIT_PROMOTION_TREES: '10000' },
  },
  {
    name: 'promotion-crash',
    files: [
      'tests/promotion/crash.test.ts',
      'tests/promotion/crash-matrix.test.ts',
      'tests/promotion/shared-directories.test.ts',
    ],
    env: { WRIT_PROMOTION_ROUNDS: '1000', WRIT_PROMOTION_MATRIX: 'whole' },
  },
  {
    name: 'promotion-hammer',
    files: ['tests/promotion/hammer.test.ts'],
    env: { WRIT_HAMMER_PROMOTIONS: '2000' },
  },
  {
    name: 'promotion-order',
    files: ['tests/promotion/order.test.ts'],
    env: { WRIT_ORDER_RUNS: '400' },
  },
  {
    name: 'died-early',
    files: ['tests/cli-gate/died-early.test.ts'],
    env: { WRIT_DIED_EARLY: 'whole' },
  },
  {
    name: 'attempt-kills',
    files: ['tests/attempts/crash.test.ts'],
    env: { WRIT_ATTEMPT_KILLS: '8', WRIT_ATTEMPT_MATRIX: 'whole' },
  },
  {
    name: 'yes-kills',
    files: ['tests/cli-gate/interrupted-yes.test.ts'],
    env: { WRIT_YES_KILLS: '100' },
  },
  {
    name: 'service',
    files: ['tests/server/faults.test.ts', 'tests/server/load.test.ts'],
    env: {
      WRIT_SERVICE_SECONDS: process.env.WRIT_SERVICE_SECONDS ?? '600',
      WRIT_SERVICE_PROPOSALS: '200',
    },
  },
  {
    name: 'flow-gate-kills',
    files: ['tests/flow-run/kills-gate.test.ts'],
    env: { WRIT_FLOW_GATE_KILLS: '60' },
  },
  {
    name: 'flow-kills',
    files: ['tests/flow-run/kills.test.ts'],
    env: { WRIT_FLOW_KILLS: '500', WRIT_FLOW_KILLS_AT_ONCE: '2' },
  },
]

await prepare()
const wanted = process.argv.slice(2)
const seed = process.env.WRIT_SEED ?? String(Date.now() % 2 ** 31)
const results = []
for (const { name, files, env } of SOAKS) {
  if (wanted.length > 0 && !wanted.includes(name)) continue
  console.log(`soak ${name}: seed ${seed}`)
  const started = performance.now()
  const { status } = run(
    process.execPath,
    ['node_modules/vitest/vitest.mjs', 'run', '--testTimeout=3600000', ...files],
    {
      env: { ...process.env, ...env, WRIT_SEED: seed },
    },
  )
  results.push({
    name,
    passed: status === 0,
    seconds: Math.round((performance.now() - started) / 1000),
  })
}
for (const { name, passed, seconds } of results)
  console.log(`${passed ? 'ok  ' : 'FAIL'} ${name} (${seconds} s, seed ${seed})`)
process.exit(results.every(({ passed }) => passed) ? 0 : 1)
