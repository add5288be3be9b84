/** Judging is total and pure. */
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { anyJson, fromSchema, mutate, mutation } from '../../../tests/arbitrary/from-schema.ts'
import { runs } from '../../../tests/arbitrary/runs.ts'
import { canonicalJson } from '../../base/index.ts'
import { CONTRACTS } from '../registry.ts'
import { nodeOf } from './schema.ts'
import { validate } from './validate.ts'

describe.each(CONTRACTS.map((contract) => [contract.name, contract] as const))(
  '%s',
  (_, contract) => {
    const document = fromSchema(nodeOf(contract.schema))
    const judgeTwice = (value: unknown, context: Record<string, unknown>): void => {
      const before = canonicalJson(value)
      const validation = validate(contract, value, context)
      expect(validate(contract, value, context)).toEqual(validation)
      // A contract that was never used is judged by the walker alone.
      expect(validate({ ...contract }, value, context)).toEqual(validation)
      expect(validation.valid).toBe(validation.violations.length === 0)
      expect(canonicalJson(value)).toBe(before)
      for (const { path, message } of validation.violations) {
        expect(path === '' || path.startsWith('/')).toBe(true)
        expect(message).toMatch(/^[^A-Z\n][^\n]*[^.\n]$/)
      }
    }

    it('never throws, never mutates, and answers the same twice', () => {
      fc.assert(
        fc.property(
          document,
          fc.array(mutation, { maxLength: 2 }),
          anyJson,
          (made, mutations, task) => {
            judgeTwice(mutations.reduce(mutate, made), { task })
          },
        ),
        { numRuns: runs(30) },
      )
    })

    it('takes anything', () => {
      fc.assert(
        fc.property(anyJson, (value) => {
          judgeTwice(value, {})
        }),
        { numRuns: runs(20) },
      )
    })

    it('refuses what is no JSON document with one code', () => {
      for (const value of [undefined, () => 1, Number.NaN, '\ud800', new Map(), 1n]) {
        const { valid, violations } = validate(contract, value)
        expect(valid).toBe(false)
        expect(violations).toHaveLength(1)
        expect(violations[0]?.code).toMatch(/^document\./)
      }
    })
  },
)
