/** Tests which laws `findUnguarded` reports: those that break on acts they do not mean. */
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { runs } from '../../tests/arbitrary/runs.ts'
import { OPERATION_TYPES } from '../contracts/index.ts'
import { compileExpression, evaluate } from '../expression/index.ts'
import { GATE_ENVIRONMENT } from './environments.ts'
import { findUnguarded } from './law-warnings.ts'

function unguarded(source: string) {
  const compiled = compileExpression(source, GATE_ENVIRONMENT)
  if (!compiled.ok) throw new Error(JSON.stringify(compiled.faults))
  return findUnguarded(compiled.expression)
}

const ALL_BUT_COMMANDS = OPERATION_TYPES.filter((type) => type !== 'COMMAND_EXECUTION')

describe('a law about the operation', () => {
  it('is warned what other operations lack', () => {
    expect(unguarded("operation.argv[0] == 'rm'")).toEqual({
      path: 'operation.argv',
      types: ALL_BUT_COMMANDS,
    })
  })

  it('is warned what the same operation may lack', () => {
    expect(unguarded("operation.type == 'COMMAND_EXECUTION' && 'CI' in operation.env")).toEqual({
      path: 'operation.env',
      types: ['COMMAND_EXECUTION'],
    })
  })

  it.each([
    "descriptor.scope.network.hosts.exists(h, h != 'x')",
    "!descriptor.scope.network.hosts.all(h, h == 'x')",
    "'x' in descriptor.scope.network.hosts",
    "descriptor.scope.network.required || 'x' in descriptor.scope.network.hosts",
  ])('is warned what an act without a network lacks: %s', (source) => {
    expect(unguarded(source)?.path).toBe('descriptor.scope.network.hosts')
  })

  it.each([
    "has(descriptor.scope.network.hosts) && descriptor.scope.network.hosts.exists(h, h != 'x')",
    "descriptor.scope.network.required && descriptor.scope.network.hosts.exists(h, h != 'x')",
    "descriptor.scope.network.required == true && 'x' in descriptor.scope.network.hosts",
    "operation.type == 'COMMAND_EXECUTION' && operation.argv[0] == 'rm'",
    "descriptor.action_type == 'COMMAND_EXECUTION' && operation.argv[0] == 'rm'",
    "operation.argv[0] == 'rm' && operation.type in ['COMMAND_EXECUTION']",
    "operation.type != 'COMMAND_EXECUTION' || operation.argv[0] == 'rm'",
    "operation.type == 'COMMAND_EXECUTION' -> operation.argv[0] == 'ls'",
    "operation.type == 'COMMAND_EXECUTION' ? operation.argv[0] == 'ls' : false",
    "has(operation.env) && 'CI' in operation.env",
    "has(operation.argv) && operation.argv.exists(a, a == '--force')",
    "has(operation.argv) -> !('--force' in operation.argv)",
    "operation.type in ['PACKAGE_INSTALL', 'PACKAGE_REMOVE'] && 'left-pad' in operation.packages",
    "!(operation.type == 'FILE_WRITE' && operation.path.endsWith('.sql'))",
    "operation.type == 'FILE_DELETE'",
    "descriptor.risk_level == 'HIGH'",
    "context.host == 'a' && touches('**')",
  ])('that asks first gets no warning: %s', (source) => {
    expect(unguarded(source)).toBe(null)
  })

  it.each([
    "descriptor.risk_level == 'HIGH' && operation.url == 'x'",
    "operation.type == 'FILE_WRITE' && operation.url == 'x'",
    "operation.type == 'FILE_WRITE' || operation.path == '/x'",
    "has(operation.env) || 'CI' in operation.env",
    'size(operation.packages) > 3',
  ])('that does not gets a warning: %s', (source) => {
    expect(unguarded(source)).not.toBe(null)
  })
})

/** Conditions that ask for types, ask for presence, and read. */
const ATOMS = [
  "operation.type == 'COMMAND_EXECUTION'",
  "operation.type in ['FILE_WRITE', 'FILE_READ']",
  "operation.type != 'FILE_WRITE'",
  'has(operation.argv)',
  'has(operation.content)',
  "operation.argv[0] == 'rm'",
  "operation.path == '/a'",
  "operation.content == 'x'",
  "context.host == 'box'",
]

const expression = fc.letrec<{ any: string; atom: string }>((tie) => ({
  atom: fc.constantFrom(...ATOMS),
  any: fc.oneof(
    { depthSize: 'small' },
    tie('atom'),
    fc.tuple(tie('any'), tie('any')).map(([one, other]) => `(${one} && ${other})`),
    fc.tuple(tie('any'), tie('any')).map(([one, other]) => `(${one} || ${other})`),
    fc.tuple(tie('any'), tie('any')).map(([one, other]) => `(${one} -> ${other})`),
    fc.tuple(tie('any'), tie('any'), tie('any')).map(([a, b, c]) => `(${a} ? ${b} : ${c})`),
    tie('any').map((one) => `!${one}`),
  ),
})).any

const OPERATIONS = [
  { type: 'COMMAND_EXECUTION', argv: ['rm'], cwd: '/' },
  { type: 'FILE_READ', path: '/a' },
  { type: 'FILE_WRITE', path: '/b' },
  { type: 'FILE_WRITE', path: '/a', content: 'x' },
  { type: 'UI_AUTOMATION', start_url: 'x', steps: [] },
]

describe('a law that gets no warning', () => {
  it('can be evaluated for every operation', () => {
    let silent = 0
    fc.assert(
      fc.property(expression, fc.constantFrom('box', 'other'), (source, host) => {
        const compiled = compileExpression(source, GATE_ENVIRONMENT)
        if (!compiled.ok || findUnguarded(compiled.expression) !== null) return
        silent++
        for (const operation of OPERATIONS) {
          const values = { operation, context: { host } }
          expect(evaluate(compiled.expression, values).value).not.toBe('undetermined')
        }
      }),
      { numRuns: runs(700) },
    )
    expect(silent).toBeGreaterThan(150)
  })
})
