/**
 * Our evaluator against @bufbuild/cel on the language that both have: the same answer to every
 * expression, or a difference of a class that docs/expressions.md lists. A slice here; the long form
 * is `npm run soak expression`.
 */
import { readFileSync } from 'node:fs'
import { celEnv, parse, plan } from '@bufbuild/cel'
import { describe, expect, it } from 'vitest'
import { compileExpression, evaluate } from '../../src/expression/index.ts'
import { Chance } from './chance.ts'
import { EXPLAINED_ANSWERS, EXPLAINED_SOURCES } from './explained.ts'
import { asCel, ENVIRONMENT, Generator, makeValues, tokenSoup } from './generated.ts'

const RUNS = Number(process.env['WRIT_EXPRESSION_RUNS'] ?? 1000)
const SEED = Number(process.env['WRIT_SEED'] ?? 20261115)

const cel = celEnv({})

/** How often each answer and each explained class came up. */
class Tally {
  readonly counts: Record<string, number> = {}

  add(name: string): void {
    this.counts[name] = (this.counts[name] ?? 0) + 1
  }

  of(name: string): number {
    return this.counts[name] ?? 0
  }
}

/** What the other engine says: true, false, or undetermined for errors and for anything else. */
function theirs(source: string, values: Readonly<Record<string, unknown>>): unknown {
  try {
    const answer: unknown = plan(cel, parse(source))(asCel(values) as never)
    return typeof answer === 'boolean' ? answer : 'undetermined'
  } catch (thrown) {
    return `refused: ${String(thrown)}`
  }
}

const LIMITS: ReadonlySet<string> = new Set([
  ...['expression.too_deep', 'expression.too_large', 'expression.too_long'],
])
const SYNTAX: ReadonlySet<string> = new Set([
  ...['expression.syntax', 'expression.character', 'expression.string', 'expression.number'],
])

describe(`seed ${SEED}`, () => {
  it(`gives the answers of CEL (${RUNS} expressions)`, { timeout: 3_600_000 }, () => {
    const chance = new Chance(SEED)
    const generator = new Generator(chance)
    const tally = new Tally()
    const differences: string[] = []
    for (let run = 0; run < RUNS; run++) {
      const [ours, plain] = generator.condition(1 + chance.below(3))
      const compiled = compileExpression(ours, ENVIRONMENT)
      const values = makeValues(chance)
      if (!compiled.ok) {
        const [fault] = compiled.faults
        tally.add('refused')
        if (!LIMITS.has(fault?.code ?? '')) differences.push(JSON.stringify({ ours, fault }))
        continue
      }
      const { value } = evaluate(compiled.expression, values)
      tally.add(String(value))
      const other = theirs(plain, values)
      if (value === other) continue
      const state = values['state'] as Readonly<Record<string, unknown>>
      const known = EXPLAINED_ANSWERS.find(({ applies }) => applies(ours, state))
      if (known === undefined) differences.push(JSON.stringify({ ours, state, value, other }))
      else tally.add('explained')
    }
    expect(differences.slice(0, 5)).toEqual([])
    // The generator brings out every answer often, and explanations are rare.
    for (const answer of ['true', 'false', 'undetermined']) {
      expect(tally.of(answer)).toBeGreaterThan(RUNS / 20)
    }
    expect(tally.of('explained') + tally.of('refused')).toBeLessThan(RUNS / 20)
  })

  it(`reads what CEL reads (${RUNS} rows of tokens)`, { timeout: 3_600_000 }, () => {
    const chance = new Chance(SEED + 1)
    const differences: string[] = []
    let read = 0
    for (let run = 0; run < RUNS; run++) {
      const source = tokenSoup(chance)
      const compiled = compileExpression(source, ENVIRONMENT)
      const code = compiled.ok ? '' : (compiled.faults[0]?.code ?? '')
      const isRead = !SYNTAX.has(code)
      if (isRead) read++
      if (code === 'expression.unsupported' || isRead === canParse(source)) continue
      if (EXPLAINED_SOURCES.some(({ applies }) => applies(source))) continue
      differences.push(JSON.stringify({ source, code }))
    }
    expect(differences.slice(0, 5)).toEqual([])
    expect(read).toBeGreaterThan(RUNS / 100)
  })

  it('explains in docs/expressions.md what differs', () => {
    const page = readFileSync('docs/expressions.md', 'utf8')
    for (const { name } of [...EXPLAINED_ANSWERS, ...EXPLAINED_SOURCES]) {
      expect(page).toContain(`\`${name}\``)
    }
  })
})

function canParse(source: string): boolean {
  try {
    parse(source)
    return true
  } catch {
    return false
  }
}
