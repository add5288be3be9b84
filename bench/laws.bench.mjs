/**
 * Laws: a hundred of them against one, a whole decision under a hundred laws against a rehearsal of an
 * empty command, and a guard against @bufbuild/cel. Laws are of the kinds that people write; the
 * rehearsal that they judge changed 200 files.
 *
 * Needs Linux with user namespaces and bubblewrap for the rehearsal.
 */
import { randomUUID } from 'node:crypto'
import { mkdirSync, mkdtempSync, readFileSync, realpathSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DEFAULT_LISTS, decide, decideEarly } from '../dist/gate/index.js'
import { judgeLaws, judgeRecorded, loadLaws } from '../dist/policy/index.js'
import { createDriver } from '../dist/sandbox/index.js'
import { makeMarker, scanLayers } from '../dist/tree/index.js'
import { EXPRESSIONS, engines } from './expression.bench.mjs'
import { bestRates, row } from './measure.mjs'

export const title = 'laws (per second; more is better)'

const vectors = (file) =>
  JSON.parse(readFileSync(new URL(`../spec/vectors/${file}`, import.meta.url))).bases
const NONE = new Set()

export async function measure() {
  const [one, many] = [await load(1), await load(100)]
  return [...judging(one, many), await deciding(many), guard()]
}

function values() {
  const changes = Array.from({ length: 200 }, (_, index) => ({
    path: `/home/ann/shop/src/part${index % 20}/file${index}.ts`,
    lists: [index % 5 === 0 ? 'modified' : 'added'],
    discarded: false,
  }))
  return { ...vectors('policy/laws.json').simple, changes }
}

function judging(one, many) {
  const given = values()
  const rates = bestRates({
    one: () => judgeLaws(one, 'after', given, NONE),
    many: () => judgeLaws(many, 'after', given, NONE),
    'one early': () => judgeLaws(one, 'before', given, NONE),
    'many early': () => judgeLaws(many, 'before', given, NONE),
  })
  return [
    row('judge after a rehearsal of 200 changes', '100 laws', rates.many, '1 law', rates.one, 0.1),
    row('judge before it', '100 laws', rates['many early'], '1 law', rates['one early'], 0.1),
  ]
}

/** Laws before and after, and the decision; at most a twentieth of the rehearsal it is about. */
async function deciding(laws) {
  const { proposal, whole, result } = vectors('gate/decision.json')
  const given = values()
  const common = { proposal, lists: DEFAULT_LISTS, decidedAt: '2026-11-15T08:00:03Z' }
  const decision = () => {
    const before = judgeRecorded(laws, 'before', given, NONE)
    const early = { ...whole, law_outcomes: [...before] }
    if (decideEarly({ ...common, evaluation: early, result: null }) !== null) return null
    const after = judgeRecorded(laws, 'after', given, NONE)
    return decide({
      ...common,
      evaluation: { ...whole, law_outcomes: [...before, ...after] },
      result,
    })
  }
  if (decision() === null) throw new Error('the laws of the bench are broken too early')
  const { decided } = bestRates({ decided: decision })
  const rehearsal = 1000 / (await rehearsalMs())
  return row('decide under 100 laws', 'decision', decided, 'rehearsal', rehearsal, 20)
}

const REHEARSALS = 40

async function rehearsalMs() {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), 'writ-bench-laws-')))
  const scope = join(folder, 'scope')
  for (const name of ['scope', 'place']) mkdirSync(join(folder, name))
  const driver = createDriver()
  try {
    let best = Number.POSITIVE_INFINITY
    for (let turn = 0; turn < REHEARSALS; turn++) {
      const started = performance.now()
      await rehearse(driver, scope, join(folder, 'place'))
      best = Math.min(best, performance.now() - started)
    }
    return best
  } finally {
    await driver.close()
    rmSync(folder, { recursive: true, force: true })
  }
}

async function rehearse(driver, scope, place) {
  const sandboxId = randomUUID()
  const marker = makeMarker(place, sandboxId, [scope], Date.now)
  const caps = { cpuMs: 10_000, memoryMb: 256, diskMb: 64, durationMs: 10_000, processes: 128 }
  const sandbox = await driver.open({
    sandboxId,
    scopeRoots: [scope],
    watchedRoots: [],
    hidden: [],
    caps,
    sockets: 'inside',
    allOwners: false,
  })
  try {
    const { startedAtMs } = await sandbox.run({
      argv: ['true'],
      cwd: scope,
      env: { PATH: '/usr/bin:/bin' },
      stdin: 'empty',
      terminal: null,
      onOutput: () => {},
      abort: new AbortController().signal,
    })
    await scanLayers(sandbox.layers, {
      marker,
      commandStartedAtMs: startedAtMs,
      maxBytes: 1 << 26,
      pathBytesMax: 4095,
      scopeRoots: [scope],
      isRoot: process.getuid() === 0,
      exclude: [],
    })
  } finally {
    void sandbox.close()
  }
}

function guard() {
  const { ours, theirs } = engines('guard', EXPRESSIONS.guard)
  const rates = bestRates({ ours, theirs })
  return row(
    'evaluate a guard',
    'with deciding values',
    rates.ours,
    '@bufbuild/cel',
    rates.theirs,
    3,
  )
}

const ACTIONS = [
  'FILE_WRITE',
  'FILE_DELETE',
  'PACKAGE_INSTALL',
  'CONFIG_CHANGE',
  'COMMAND_EXECUTION',
]
const KINDS = [
  (index) => `touches('**/secret${index % 7}/**')`,
  (index) =>
    `operation.type == '${ACTIONS[index % 5]}' && descriptor.resources.max_cpu_ms > ${index * 1000}`,
  (index) => `descriptor.risk_level == 'CRITICAL' && context.host == 'box${index}'`,
  (index) => `operation.type == '${ACTIONS[index % 4]}' && deletes('db${index % 3}/**')`,
  (index) =>
    `descriptor.action_type == '${ACTIONS[index % 4]}' && result.counts.deleted > ${index}`,
  (index) => `context.actor_kind == 'device' && result.bytes > ${index}`,
  (index) => `descriptor.risk_level == 'HIGH' && context.recent_rollbacks > ${index}`,
  (index) => `operation.type == 'PACKAGE_INSTALL' && operation.manager == 'm${index}'`,
]

async function load(count) {
  const made = Array.from({ length: count }, (_, index) => ({
    policy_id: `L${index}`,
    tier: 1,
    policy_expr: KINDS[index % KINDS.length](index),
    priority: index,
    override_mode: 'merge',
    violation_action: 'block',
  }))
  const reading = await loadLaws(JSON.stringify({ laws: made }))
  if (!reading.ok) throw new Error(JSON.stringify(reading.faults))
  return reading.laws
}
