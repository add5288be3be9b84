/** The solver against brute force on small clause sets, and on assumptions. */
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { runs } from '../../../tests/arbitrary/runs.ts'
import { Solver, type SolverLiteral } from './solver.ts'

const BUDGET = 1_000_000

function solverFor(variables: number, clauses: readonly (readonly SolverLiteral[])[]): Solver {
  const solver = new Solver()
  for (let index = 0; index < variables; index++) solver.newVariable()
  for (const clause of clauses) solver.add(clause)
  return solver
}

function bruteForce(variables: number, clauses: readonly (readonly SolverLiteral[])[]): boolean {
  for (let bits = 0; bits < 1 << variables; bits++) {
    if (clauses.every((clause) => clause.some((literal) => holds(bits, literal)))) return true
  }
  return false
}

function holds(bits: number, literal: SolverLiteral): boolean {
  const bit = ((bits >> (Math.abs(literal) - 1)) & 1) === 1
  return literal > 0 ? bit : !bit
}

const literal = (variables: number) =>
  fc
    .tuple(fc.integer({ min: 1, max: variables }), fc.boolean())
    .map(([variable, sign]) => (sign ? variable : -variable))

describe('the solver', () => {
  it('agrees with brute force, and its models keep every clause', () => {
    const variables = 9
    fc.assert(
      fc.property(
        fc.array(fc.array(literal(variables), { minLength: 1, maxLength: 4 }), { maxLength: 60 }),
        fc.array(fc.array(literal(variables), { maxLength: 4 }), { minLength: 1, maxLength: 6 }),
        (clauses, questions) => {
          const solver = solverFor(variables, clauses)
          for (const assumptions of questions) {
            const units = assumptions.map((one) => [one])
            const solution = solver.solve(assumptions, BUDGET)
            const wanted = bruteForce(variables, [...clauses, ...units])
            expect(solution.kind).toBe(wanted ? 'satisfiable' : 'unsatisfiable')
            if (solution.kind === 'unsatisfiable') {
              for (const one of solution.core) expect(assumptions).toContain(one)
              const core = solution.core.map((one) => [one])
              expect(bruteForce(variables, [...clauses, ...core])).toBe(false)
            }
            if (solution.kind !== 'satisfiable') continue
            for (const clause of [...clauses, ...units]) {
              expect(clause.some((one) => solution.isTrue(Math.abs(one)) === one > 0)).toBe(true)
            }
          }
        },
      ),
      { numRuns: runs(700) },
    )
  })

  it('keeps its answers when clauses are added between questions', () => {
    const variables = 7
    fc.assert(
      fc.property(
        fc.array(fc.array(literal(variables), { minLength: 1, maxLength: 3 }), { maxLength: 40 }),
        (clauses) => {
          const solver = solverFor(variables, [])
          const added: (readonly SolverLiteral[])[] = []
          for (const clause of clauses) {
            solver.add(clause)
            added.push(clause)
            expect(solver.solve([], BUDGET).kind).toBe(
              bruteForce(variables, added) ? 'satisfiable' : 'unsatisfiable',
            )
          }
        },
      ),
      { numRuns: runs(200) },
    )
  })

  it('says so when the budget is used up', () => {
    // Eight pigeons, seven holes: no short refutation exists.
    const solver = new Solver()
    const at = Array.from({ length: 8 }, () =>
      Array.from({ length: 7 }, () => solver.newVariable()),
    )
    for (const pigeon of at) solver.add(pigeon)
    for (let hole = 0; hole < 7; hole++) {
      for (let one = 0; one < 8; one++) {
        for (let two = 0; two < one; two++) {
          solver.add([-(at[one]?.[hole] as number), -(at[two]?.[hole] as number)])
        }
      }
    }
    expect(solver.solve([], 1000).kind).toBe('budget')
    expect(solver.solve([], 100_000_000).kind).toBe('unsatisfiable')
  })
})
