/**
 * Expressions against @bufbuild/cel: the same guards over the same values, every answer compared
 * before anything is timed. Ours is the whole evaluation, with the values that decided.
 */
import { celEnv, parse, plan } from '@bufbuild/cel'
import { compileExpression, evaluate } from '../dist/expression/index.js'
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
export const EXPRESSIONS = {
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
  ]
}

export function engines(name, [ours, plain = ours]) {
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
