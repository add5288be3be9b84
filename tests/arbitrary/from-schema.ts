/**
 * Documents for property tests: made from a schema of the closed vocabulary, so that most are sound,
 * and mutated, so that most are broken in one or two places.
 */
import fc from 'fast-check'
import type { SchemaNode } from '../../src/contracts/kernel/schema.ts'

type Json = fc.JsonValue

/** Keys that have tripped validators before. */
const ODD_KEYS = [
  '__proto__',
  'constructor',
  'toString',
  'hasOwnProperty',
  'length',
  '',
  'a/b',
  '~',
]
const ODD_STRINGS = ['', ' ', '\n', '0', '播种', '😀', 'null', '__proto__']

export const oddString: fc.Arbitrary<string> = fc.oneof(
  fc.constantFrom(...ODD_STRINGS),
  fc.string({ maxLength: 8 }),
)

export const oddKey: fc.Arbitrary<string> = fc.oneof(
  fc.constantFrom(...ODD_KEYS),
  fc.string({ maxLength: 5 }),
)

const scalar: fc.Arbitrary<Json> = fc.oneof(
  fc.constant(null),
  fc.boolean(),
  fc.constantFrom(0, 1, -1, 0.5, 101, 1e300, 2 ** 53 - 1),
  oddString,
)

/** Any small JSON value, odd keys included. */
export const anyJson: fc.Arbitrary<Json> = fc.letrec<{ value: Json }>((tie) => ({
  value: fc.oneof(
    { maxDepth: 3, withCrossShrink: true },
    scalar,
    fc.array(tie('value'), { maxLength: 3 }),
    fc.array(fc.tuple(oddKey, tie('value')), { maxLength: 3 }).map(objectOf),
  ),
})).value

/** `__proto__` is an ordinary key here, which Object.fromEntries respects and a literal does not. */
function objectOf(entries: readonly (readonly [string, Json])[]): Json {
  return Object.fromEntries(entries)
}

/** Documents that fit `schema`, as far as its patterns can be generated from. */
export function fromSchema(schema: SchemaNode): fc.Arbitrary<Json> {
  return fc.gen().map((draw) => new Maker(schema, draw).make(schema, 0))
}

/** Recursive schemas are followed this deep, and then by their simplest branch. */
const DEPTH_MAX = 8

/** Draws while it walks, so that a recursive schema is as large as one document of it. */
class Maker {
  readonly #root: SchemaNode
  readonly #draw: fc.GeneratorValue

  constructor(root: SchemaNode, draw: fc.GeneratorValue) {
    this.#root = root
    this.#draw = draw
  }

  make(schema: SchemaNode, depth: number): Json {
    const node = this.#resolve(schema)
    if (node.anyOf !== undefined) return this.#union(node.anyOf, depth)
    if (node.const !== undefined) return node.const
    if (node.enum !== undefined) return this.#one(node.enum)
    switch (node.type) {
      case undefined:
        return this.#draw(() => anyJson)
      case 'object':
        return this.#object(node, depth)
      case 'array':
        return this.#list(node, depth)
      case 'string':
        return this.#draw(text, node)
      case 'number':
        return this.#one([this.#draw(fc.integer, range(node)), (node.minimum ?? 0) + 0.5])
      case 'integer':
        return this.#draw(fc.integer, range(node))
      case 'boolean':
        return this.#one([true, false])
      case 'null':
        return null
      default:
        return node.type satisfies never
    }
  }

  #one<T>(choices: readonly T[]): T {
    return choices[this.#draw(fc.nat, choices.length - 1)] as T
  }

  #resolve(schema: SchemaNode): SchemaNode {
    if (schema.$ref === undefined) return schema
    return this.#resolve(this.#root.$defs?.[schema.$ref.replace('#/$defs/', '')] ?? {})
  }

  #union(branches: readonly SchemaNode[], depth: number): Json {
    const flat = branches.filter((branch) => !CONTAINERS.includes(this.#resolve(branch).type ?? ''))
    const open = depth > DEPTH_MAX && flat.length > 0 ? flat : branches
    return depth > 2 * DEPTH_MAX ? null : this.make(this.#one(open), depth + 1)
  }

  #object(node: SchemaNode, depth: number): Json {
    const required = new Set(node.required ?? [])
    const entries = this.#rest(node, depth)
    for (const [name, schema] of Object.entries(node.properties ?? {})) {
      const isIn = required.has(name) || (depth <= DEPTH_MAX && this.#one([true, false]))
      if (isIn) entries.push([name, this.make(schema, depth + 1)])
    }
    return objectOf(entries)
  }

  #rest(node: SchemaNode, depth: number): [string, Json][] {
    const kinds: [() => string, SchemaNode][] = Object.entries(node.patternProperties ?? {}).map(
      ([pattern, schema]) => [() => this.#draw(matching, pattern), schema],
    )
    const rest = node.additionalProperties
    if (rest !== false) {
      kinds.push([() => this.#draw(() => oddKey), rest === undefined || rest === true ? {} : rest])
    }
    const least = node.minProperties ?? 0
    const most = depth > DEPTH_MAX ? least : least + 2
    if (kinds.length === 0) return []
    return Array.from({ length: this.#draw(fc.integer, { min: least, max: most }) }, () => {
      const [key, schema] = this.#one(kinds)
      return [key(), this.make(schema, depth + 1)]
    })
  }

  #list(node: SchemaNode, depth: number): Json {
    const min = node.minItems ?? 0
    const max = depth > DEPTH_MAX ? min : Math.max(min, Math.min(node.maxItems ?? 3, 3))
    const length = this.#draw(fc.integer, { min, max })
    return Array.from({ length }, () => this.make(node.items ?? {}, depth + 1))
  }
}

const CONTAINERS = ['object', 'array']

function text(node: SchemaNode): fc.Arbitrary<string> {
  if (node.pattern !== undefined) return matching(node.pattern)
  return node.minLength === undefined ? oddString : oddString.filter((made) => made !== '')
}

const matchers = new Map<string, fc.Arbitrary<string>>()

/** A draw asks for the same few patterns again and again, and reading one takes a millisecond. */
function matching(pattern: string): fc.Arbitrary<string> {
  const known = matchers.get(pattern)
  if (known !== undefined) return known
  const made = makeMatcher(pattern)
  matchers.set(pattern, made)
  return made
}

/** fast-check cannot generate from every pattern; what it cannot do is tried with odd strings. */
function makeMatcher(pattern: string): fc.Arbitrary<string> {
  try {
    return fc.oneof(
      { weight: 9, arbitrary: fc.stringMatching(new RegExp(pattern, 'u'), { maxLength: 80 }) },
      { weight: 1, arbitrary: oddString },
    )
  } catch {
    return oddString
  }
}

function range(node: SchemaNode): { min: number; max: number } {
  const min = Math.ceil(node.minimum ?? -1000)
  return { min, max: Math.max(min, Math.floor(node.maximum ?? min + 100_000)) }
}

/** One change somewhere: a value replaced, a key added, renamed or removed, an item doubled. */
export type Mutation = {
  readonly where: number
  readonly how: 'replace' | 'remove' | 'add' | 'double' | 'rename'
  readonly key: string
  readonly value: Json
}

export const mutation: fc.Arbitrary<Mutation> = fc.record({
  where: fc.nat(),
  how: fc.constantFrom('replace', 'remove', 'add', 'double', 'rename'),
  key: oddKey,
  value: anyJson,
})

/** Applies a mutation to a copy. */
export function mutate(document: Json, { where, how, key, value }: Mutation): Json {
  const copy = { root: structuredClone(document) as unknown }
  const places = [...containers(copy as Record<string, unknown>)]
  const [parent, name] = places[where % places.length] ?? [copy, 'root']
  const held = (parent as Record<string, unknown>)[name]
  if (how === 'replace') set(parent, name, value)
  else if (how === 'add' && Array.isArray(held)) held.push(value)
  else if (how === 'add' && typeof held === 'object' && held !== null) set(held, key, value)
  else if (Array.isArray(parent)) {
    const items = how === 'double' ? [held, held] : []
    parent.splice(Number(name), 1, ...items)
  } else if (name !== 'root' || parent !== copy) {
    delete (parent as Record<string, unknown>)[name]
    if (how === 'rename') set(parent, key, held)
  }
  return copy.root as Json
}

function* containers(parent: object): Iterable<[object, string]> {
  for (const [name, value] of Object.entries(parent)) {
    yield [parent, name]
    if (typeof value === 'object' && value !== null) yield* containers(value)
  }
}

function set(target: object, name: string, value: unknown): void {
  Object.defineProperty(target, name, {
    value,
    enumerable: true,
    writable: true,
    configurable: true,
  })
}
