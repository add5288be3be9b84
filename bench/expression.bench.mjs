/**
 * Expressions beside @bufbuild/cel: the same guards over the same values, every answer compared
 * before anything is timed. Ours is the whole evaluation, with the values that decided. And laws: a
 * hundred of them beside one.
 */
import { readFileSync } from 'node:fs'
import { celEnv, parse, plan } from '@bufbuild/cel'
import { compileExpression, evaluate } from '../dist/expression/index.js'
import { judgeLaws, loadLaws } from '../dist/policy/index.js'
import { bestRates, row } from './measure.mjs'

export const title = 'expression'

const ENVIRONMENT = {
  variables: {
    state: {
      fields: {
        phase_completed: 'bool',
        cumulative_duration: 'double',
        minimum_duration: 'double',
        tool_calls: 'int',
        verdict: 'string',
        names: { list: 'string' },
        log_updated: 'bool',
      },
    },
    event: { fields: { phase_end: 'bool' } },
  },
}

/** Ours, and the same in plain CEL where the spelling differs. */
const EXPRESSIONS = {
  guard: ['state.phase_completed && state.cumulative_duration >= state.minimum_duration'],
  implication: [
    'event.phase_end -> state.log_updated == true',
    '!(event.phase_end) || (state.log_updated == true)',
  ],
  'word in a list': ["state.verdict in ['APPROVE', 'PENDING', 'REJECT']"],
  'exists over a list': ["state.names.exists(n, n == 'delta')"],
  'missing field': ['state.gone > 1 || state.tool_calls > 0'],
}

const STATES = Array.from({ length: 64 }, (_, index) => ({
  phase_completed: index % 3 !== 0,
  cumulative_duration: index * 7.5,
  minimum_duration: 120,
  tool_calls: index % 4,
  verdict: ['APPROVE', 'REJECT', 'NONE'][index % 3],
  names: ['alpha', 'beta', 'gamma', ...(index % 2 === 0 ? ['delta'] : [])],
  log_updated: index % 5 !== 0,
}))

export async function measure() {
  const expressions = Object.entries(EXPRESSIONS).map(([name, spellings]) =>
    engines(name, spellings),
  )
  const rates = bestRates(
    Object.fromEntries(
      expressions.flatMap(({ name, ours, theirs }) => [
        [`${name} ours`, ours],
        [`${name} theirs`, theirs],
      ]),
    ),
  )
  return [
    ...expressions.map(({ name }) =>
      row(
        `evaluate: ${name}`,
        'with deciding values',
        rates[`${name} ours`],
        '@bufbuild/cel',
        rates[`${name} theirs`],
        3,
      ),
    ),
    ...loading(),
    ...(await laws()),
  ]
}

function engines(name, [ours, plain = ours]) {
  const environment = name === 'missing field' ? open() : ENVIRONMENT
  const compiled = compileExpression(ours, environment)
  if (!compiled.ok) throw new Error(JSON.stringify(compiled.faults))
  const planned = plan(celEnv({}), parse(plain))
  const values = STATES.map((state, index) => ({ state, event: { phase_end: index % 2 === 0 } }))
  const foreign = values.map(({ state, event }) => ({
    state: { ...state, tool_calls: BigInt(state.tool_calls) },
    event,
  }))
  for (const [index, value] of values.entries()) {
    const answer = evaluate(compiled.expression, value).value
    const other = planned(foreign[index])
    if (answer !== (typeof other === 'boolean' ? other : 'undetermined')) {
      throw new Error(`${name}: ${answer} and ${other}`)
    }
  }
  return {
    name,
    ours: inTurn(values, (value) => evaluate(compiled.expression, value)),
    theirs: inTurn(foreign, planned),
  }
}

function open() {
  const { fields } = ENVIRONMENT.variables.state
  return { variables: { ...ENVIRONMENT.variables, state: { fields: { ...fields, gone: 'int' } } } }
}

function inTurn(values, call) {
  let turn = 0
  let last
  return () => {
    turn = (turn + 1) % values.length
    last = call(values[turn])
    return last
  }
}

function loading() {
  const [source] = EXPRESSIONS.guard
  const environment = celEnv({})
  const rates = bestRates({
    ours: () => compileExpression(source, ENVIRONMENT),
    theirs: () => plan(environment, parse(source)),
  })
  return [
    row(
      'load a guard, names and types checked',
      'compile',
      rates.ours,
      '@bufbuild/cel, unchecked',
      rates.theirs,
      null,
    ),
  ]
}

/** A rehearsal that changed 200 files, judged by laws of the kinds that people write. */
async function laws() {
  const { bases } = JSON.parse(
    readFileSync(new URL('../spec/vectors/policy/laws.json', import.meta.url)),
  )
  const changes = Array.from({ length: 200 }, (_, index) => ({
    path: `/home/ann/shop/src/part${index % 20}/file${index}.ts`,
    lists: [index % 5 === 0 ? 'modified' : 'added'],
    discarded: false,
  }))
  const values = { ...bases.simple, changes }
  const [one, many] = [await load(1), await load(100)]
  const none = new Set()
  const rates = bestRates({
    one: () => judgeLaws(one, 'after', values, none),
    many: () => judgeLaws(many, 'after', values, none),
  })
  const early = bestRates({
    one: () => judgeLaws(one, 'before', values, none),
    many: () => judgeLaws(many, 'before', values, none),
  })
  return [
    row('judge after a rehearsal of 200 changes', '100 laws', rates.many, '1 law', rates.one, 0.1),
    row('judge before it', '100 laws', early.many, '1 law', early.one, 0.1),
  ]
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
