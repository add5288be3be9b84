/** Every registered schema keeps to the closed vocabulary, and its codes are on the page. */
import type { TSchema } from 'typebox'
import { describe, expect, it } from 'vitest'
import { isCode } from '../../base/index.ts'
import { CONTRACTS } from '../registry.ts'
import { annotatedCode, nodeOf, type SchemaNode, sized } from './schema.ts'

/** What `SchemaNode` lists, written out once more so that widening it is a decision. */
const VOCABULARY = [
  ...['type', 'properties', 'required', 'additionalProperties', 'patternProperties'],
  ...['minProperties', 'items', 'minItems', 'maxItems', 'enum', 'const', 'pattern', 'minLength'],
  ...['minimum', 'maximum', 'anyOf', '$defs', '$ref', '$id', 'x-code', 'x-says', 'x-choose'],
  ...['x-prefix', 'description', 'title'],
]
const TYPES = ['object', 'array', 'string', 'number', 'integer', 'boolean', 'null']
const KEYWORDS = [
  ...['type', 'enum', 'const', 'pattern', 'minLength', 'minItems', 'maxItems', 'minProperties'],
  ...['minimum', 'maximum', 'anyOf', 'required', 'unknown', '*'],
]

interface Place {
  readonly node: SchemaNode
  readonly path: string
  readonly prefix: string
}

/** Every node of a schema with the prefix that holds there. */
function* nodes(node: SchemaNode, path: string, outer: string): Iterable<Place> {
  const prefix = node['x-prefix'] ?? outer
  yield { node, path, prefix }
  const named = { ...node.properties, ...node.patternProperties, ...node.$defs }
  const children: [string, SchemaNode][] = Object.entries(named)
  if (node.items !== undefined) children.push(['items', node.items])
  if (typeof node.additionalProperties === 'object') {
    children.push(['additionalProperties', node.additionalProperties])
  }
  children.push(
    ...(node.anyOf ?? []).map((branch, i): [string, SchemaNode] => [`anyOf${i}`, branch]),
  )
  for (const [name, child] of children) yield* nodes(child, `${path}/${name}`, prefix)
}

function codesOf(node: SchemaNode): readonly string[] {
  const annotation = node['x-code'] ?? {}
  return typeof annotation === 'string' ? [annotation] : Object.values(annotation)
}

describe.each(CONTRACTS.map((contract) => [contract.name, contract] as const))(
  '%s',
  (_, contract) => {
    const root = nodeOf(contract.schema)
    const all = [...nodes(root, '', contract.prefix)]

    it('uses the closed vocabulary only', () => {
      expect(all.length).toBeGreaterThan(2)
      const foreign = all.flatMap(({ node, path }) =>
        Object.keys(node)
          .filter((key) => !VOCABULARY.includes(key) && !key.startsWith('~'))
          .map((key) => `${path}: ${key}`),
      )
      expect(foreign).toEqual([])
      for (const { node, path } of all) {
        if (node.type !== undefined) expect(TYPES, path).toContain(node.type)
        expect([undefined, 1], `${path}: minLength`).toContain(node.minLength)
        if (node.pattern !== undefined)
          expect(() => new RegExp(node.pattern ?? '', 'u')).not.toThrow()
        if (node.$ref !== undefined) {
          expect(root.$defs, path).toHaveProperty(node.$ref.replace('#/$defs/', ''))
        }
      }
    })

    it('names codes that are on the page, for keywords that exist', () => {
      for (const { node, path, prefix } of all) {
        for (const code of codesOf(node)) {
          expect(isCode(`${prefix}.${code}`), `${path}: ${prefix}.${code}`).toBe(true)
        }
        const annotation = node['x-code']
        if (typeof annotation === 'object') {
          for (const keyword of Object.keys(annotation)) expect(KEYWORDS, path).toContain(keyword)
        }
      }
    })

    it('falls back to codes that are on the page', () => {
      for (const { node, path, prefix } of all) {
        for (const code of fallbacks(node)) {
          expect(isCode(`${prefix}.${code}`), `${path}: ${prefix}.${code}`).toBe(true)
        }
      }
    })

    it('has no field that every object or list has', () => {
      for (const { node, path } of all) {
        for (const [name, schema] of Object.entries(node.properties ?? {})) {
          expect(name in Object.prototype, `${path}/${name}`).toBe(false)
          // The compiled check reads a field before it knows an object from a list.
          const isAnything = schema.type === undefined && schema.anyOf === undefined
          if (name in Array.prototype && isAnything) {
            expect(schema.enum ?? schema.const ?? schema.$ref, `${path}/${name}`).toBeDefined()
          }
          expect(name, path).not.toBe('length')
        }
      }
    })
  },
)

/** The codes that the walker gives at this node where nothing else is annotated. */
function fallbacks(node: SchemaNode): readonly string[] {
  const codes: string[] = []
  const choice = node.enum !== undefined || node.const !== undefined
  if (choice && annotatedCode(node, node.enum ? 'enum' : 'const') === null) codes.push('enum')
  if (!choice && node.type !== undefined && annotatedCode(node, 'type') === null) {
    codes.push('field_type')
  }
  if (node.anyOf !== undefined && annotatedCode(node, 'anyOf') === null) codes.push('field_type')
  for (const name of node.required ?? []) {
    const field = node.properties?.[name] ?? {}
    if (annotatedCode(field, 'required') === null) codes.push('required')
  }
  if (node.additionalProperties === false && annotatedCode(node, 'unknown') === null) {
    codes.push('unknown_key')
  }
  return codes
}

describe('annotatedCode', () => {
  it('takes one code for every keyword but the two that speak of keys', () => {
    const node: SchemaNode = { 'x-code': 'a' }
    expect(annotatedCode(node, 'type')).toBe('a')
    expect(annotatedCode(node, 'required')).toBeNull()
    expect(annotatedCode(node, 'unknown')).toBeNull()
  })

  it('takes a code per keyword, and a star for the others', () => {
    const node: SchemaNode = { 'x-code': { pattern: 'p', required: 'r', '*': 's' } }
    expect(annotatedCode(node, 'pattern')).toBe('p')
    expect(annotatedCode(node, 'required')).toBe('r')
    expect(annotatedCode(node, 'unknown')).toBeNull()
    expect(annotatedCode(node, 'minimum')).toBe('s')
    expect(annotatedCode({ 'x-code': { pattern: 'p' } }, 'type')).toBeNull()
    expect(annotatedCode({}, 'type')).toBeNull()
  })
})

describe('sized', () => {
  const fits = (schema: TSchema, text: string): boolean =>
    new RegExp(nodeOf(schema).pattern ?? '', 'u').test(text)

  it('counts code points, line breaks included', () => {
    expect(fits(sized(1, 3), '😀😀😀')).toBe(true)
    expect(fits(sized(1, 3), '😀😀😀😀')).toBe(false)
    expect(fits(sized(2, 3), 'a\n')).toBe(true)
    expect(fits(sized(1, 3), '')).toBe(false)
    expect(fits(sized(2, null), 'a'.repeat(10_000))).toBe(true)
  })
})
