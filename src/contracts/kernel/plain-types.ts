/**
 * The few builders of TypeBox that contracts use, as they appear in the bundled program: plain JSON
 * Schema objects and nothing else. TypeBox hides its own marks in every object it makes, which took a
 * tenth of the start of each command; nothing here reads them, since the structure is compiled by
 * `compile.ts`. Types always come from TypeBox, and sources run with it: only the build puts this in
 * its place. A test holds the schemas of both to the same bytes.
 */

type Schema = Readonly<Record<string, unknown>>
type Options = Readonly<Record<string, unknown>>

/** Optional is said about a property, and is no word of JSON Schema. */
const optional = new WeakSet<Schema>()

export function Optional(schema: Schema): Schema {
  const copy = { ...schema }
  optional.add(copy)
  return copy
}

// biome-ignore lint/suspicious/noShadowRestrictedNames: the name is TypeBox's
export function Object(
  properties: Readonly<Record<string, Schema>>,
  options: Options = {},
): Schema {
  const required = keysOf(properties).filter((key) => !optional.has(properties[key] as Schema))
  return {
    type: 'object',
    ...(required.length === 0 ? {} : { required }),
    properties,
    ...options,
  }
}

export function Partial({ properties }: { readonly properties: Record<string, Schema> }): Schema {
  const loose = keysOf(properties).map((key) => [key, Optional(properties[key] as Schema)])
  return Object(globalThis.Object.fromEntries(loose))
}

// biome-ignore lint/suspicious/noShadowRestrictedNames: the name is TypeBox's
export function Array(items: Schema, options: Options = {}): Schema {
  return { type: 'array', items, ...options }
}

// biome-ignore lint/suspicious/noShadowRestrictedNames: the name is TypeBox's
export function String(options: Options = {}): Schema {
  return { type: 'string', ...options }
}

// biome-ignore lint/suspicious/noShadowRestrictedNames: the name is TypeBox's
export function Number(options: Options = {}): Schema {
  return { type: 'number', ...options }
}

// biome-ignore lint/suspicious/noShadowRestrictedNames: the name is TypeBox's
export function Boolean(options: Options = {}): Schema {
  return { type: 'boolean', ...options }
}

export function Integer(options: Options = {}): Schema {
  return { type: 'integer', ...options }
}

export function Null(options: Options = {}): Schema {
  return { type: 'null', ...options }
}

export function Literal(value: string | number | boolean, options: Options = {}): Schema {
  return { type: typeof value, const: value, ...options }
}

export function Enum(values: readonly unknown[], options: Options = {}): Schema {
  return { enum: [...values], ...options }
}

export function Union(variants: readonly Schema[], options: Options = {}): Schema {
  return { anyOf: variants, ...options }
}

export function Ref(name: string, options: Options = {}): Schema {
  return { $ref: name, ...options }
}

export function Unsafe(schema: Schema): Schema {
  return { ...schema }
}

function keysOf(properties: Readonly<Record<string, unknown>>): readonly string[] {
  return globalThis.Object.keys(properties)
}
