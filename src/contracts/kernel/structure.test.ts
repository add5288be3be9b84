/** The compiled check, TypeBox's own and the walker give one answer; and how the walker explains. */
import fc from 'fast-check'
import * as Type from 'typebox'
import { Compile } from 'typebox/compile'
import { describe, expect, it } from 'vitest'
import { anyJson, fromSchema, mutate, mutation } from '../../../tests/arbitrary/from-schema.ts'
import { runs } from '../../../tests/arbitrary/runs.ts'
import { CONTRACTS } from '../registry.ts'
import { compileStructure } from './compile.ts'
import { nodeOf } from './schema.ts'
import { explainStructure } from './structure.ts'
import { Report, type Violation } from './violation.ts'

function explain(schema: Type.TSchema, document: unknown): readonly Violation[] {
  const report = new Report()
  explainStructure(schema, document, 'task', report)
  return report.finish().violations
}

function codes(schema: Type.TSchema, document: unknown): readonly string[] {
  return explain(schema, document).map(({ code, path }) => `${code} at ${path}`)
}

describe.each(CONTRACTS.map((contract) => [contract.name, contract] as const))(
  '%s',
  (_, contract) => {
    const { schema, prefix } = contract
    const own = compileStructure(schema)
    const foreign = Compile(schema)
    const agree = (document: unknown): boolean => {
      const report = new Report()
      explainStructure(schema, document, prefix, report)
      const accepted = own(document)
      expect(report.isEmpty).toBe(accepted)
      expect(foreign.Check(document)).toBe(accepted)
      return accepted
    }

    it('is judged alike by all three on sound and on mutated documents', () => {
      let sound = 0
      const document = fromSchema(nodeOf(schema))
      fc.assert(
        fc.property(document, fc.array(mutation, { maxLength: 2 }), (made, mutations) => {
          if (agree(mutations.reduce(mutate, made))) sound++
        }),
        { numRuns: runs(150) },
      )
      expect(sound).toBeGreaterThan(2)
    })

    it('is judged alike by all three on anything', () => {
      fc.assert(
        fc.property(anyJson, (document) => {
          agree(document)
        }),
        { numRuns: runs(20) },
      )
    })
  },
)

describe('the walker', () => {
  const Part = Type.Object(
    { a: Type.String(), b: Type.Optional(Type.Number()) },
    { additionalProperties: false },
  )

  it('places a missing field, an unknown key and a wrong value at their own pointers', () => {
    const schema = Type.Object({ part: Part, 'x/y': Type.Boolean() })
    expect(codes(schema, { part: { b: '1', 'c~': 2 }, 'x/y': null })).toEqual([
      'task.required at /part/a',
      'task.field_type at /part/b',
      'task.unknown_key at /part/c~0',
      'task.field_type at /x~1y',
    ])
  })

  it('reports every item of a list', () => {
    expect(codes(Type.Array(Part), [{ a: 'x' }, {}, 3])).toEqual([
      'task.required at /1/a',
      'task.field_type at /2',
    ])
  })

  it('explains the branch of a union that was meant, by a constant', () => {
    const schema = Type.Union(
      [
        Type.Object(
          { kind: Type.Literal('n'), value: Type.Number() },
          { additionalProperties: false },
        ),
        Type.Object(
          { kind: Type.Literal('s'), value: Type.String() },
          { additionalProperties: false },
        ),
      ],
      { 'x-choose': 'kind', 'x-code': { enum: 'schema_key_type' } },
    )
    expect(codes(schema, { kind: 's', value: 1 })).toEqual(['task.field_type at /value'])
    expect(codes(schema, { kind: 'x', value: 1 })).toEqual(['task.schema_key_type at /kind'])
    expect(codes(schema, { value: 1 })).toEqual(['task.required at /kind'])
    expect(codes(schema, 3)).toEqual(['task.field_type at '])
    expect(codes(schema, { kind: 's', value: 'x' })).toEqual([])
  })

  it('explains the branch of a union that was meant, by the key that is there', () => {
    const schema = Type.Union(
      [
        Type.Object(
          { url: Type.String(), port: Type.Optional(Type.Number()) },
          { additionalProperties: false },
        ),
        Type.Object({ file: Type.String(), line: Type.Number() }, { additionalProperties: false }),
      ],
      { 'x-choose': ['url', 'file'], 'x-code': { anyOf: 'target_kind' } },
    )
    expect(codes(schema, { url: 'x' })).toEqual([])
    expect(codes(schema, { file: 1 })).toEqual([
      'task.field_type at /file',
      'task.required at /line',
    ])
    expect(codes(schema, { url: 'x', line: 1 })).toEqual(['task.unknown_key at /line'])
    expect(codes(schema, { url: 'x', file: 'y' })).toEqual(['task.target_kind at '])
    expect(codes(schema, { port: 1 })).toEqual(['task.target_kind at '])
    expect(codes(schema, [])).toEqual(['task.target_kind at '])
    expect(explain(schema, { port: 1 })[0]?.message).toBe(
      'expected exactly one of `url`, `file`, found none',
    )
    expect(explain(schema, { port: 1, flie: 'x' })[0]).toMatchObject({
      message: 'expected exactly one of `url`, `file`, found none; there is `flie`',
      hint: 'did you mean `file`?',
    })
  })

  it('hints at the nearest key and the nearest word', () => {
    const [unknown] = explain(Part, { a: 'x', bb: 1 })
    expect(unknown?.hint).toBe('did you mean `b`?')
    const [word] = explain(Type.Enum(['PLOW', 'SEED'], { 'x-code': 'action_type' }), 'plow')
    expect(word).toMatchObject({ code: 'task.action_type', hint: 'did you mean `PLOW`?' })
  })

  it('is not slowed down by unions nested in unions', () => {
    const schema = Type.Cyclic(
      {
        Tree: Type.Union([Type.Number(), Type.Array(Type.Union([Type.Null(), Type.Ref('Tree')]))]),
      },
      'Tree',
    )
    let document: unknown = 'leaf'
    for (let level = 0; level < 60; level++) document = [document]
    expect(codes(schema, document)).toHaveLength(1)
  })
})
