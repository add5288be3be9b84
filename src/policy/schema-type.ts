/**
 * The type of a document, for expressions, read off its contract: one source says what a document
 * may hold and what may be asked about it. A union of objects has the fields of all of them; where
 * two of them disagree about a field, its type is known only when it is read.
 */
import type { SchemaNode } from '../contracts/index.ts'
import type { ObjectType, ValueType } from '../expression/index.ts'

type Definitions = Readonly<Record<string, SchemaNode>>

export function typeOfSchema(root: SchemaNode): ValueType {
  return typeOf(root, root.$defs ?? {}, new Set())
}

function typeOf(node: SchemaNode, definitions: Definitions, open: ReadonlySet<string>): ValueType {
  if (node.$ref !== undefined) {
    const name = node.$ref.replace('#/$defs/', '')
    const target = definitions[name]
    // A document that holds its own kind is described one level deep.
    if (target === undefined || open.has(name)) return 'any'
    return typeOf(target, definitions, new Set([...open, name]))
  }
  if (node.anyOf !== undefined) {
    return node.anyOf.map((branch) => typeOf(branch, definitions, open)).reduce(either)
  }
  if (node.const !== undefined) return ofConstants([node.const])
  if (node.enum !== undefined) return ofConstants(node.enum)
  switch (node.type) {
    case undefined:
      return 'any'
    case 'object':
      return ofObject(node, definitions, open)
    case 'array':
      return { list: node.items === undefined ? 'any' : typeOf(node.items, definitions, open) }
    case 'number':
      return 'double'
    case 'integer':
      return 'int'
    case 'boolean':
      return 'bool'
    case 'string':
    case 'null':
      return node.type
    default:
      return node.type satisfies never
  }
}

function ofObject(
  node: SchemaNode,
  definitions: Definitions,
  open: ReadonlySet<string>,
): ObjectType {
  const fields = Object.fromEntries(
    Object.entries(node.properties ?? {}).map(([name, schema]) => [
      name,
      typeOf(schema, definitions, open),
    ]),
  )
  const rest = node.additionalProperties
  if (rest === false) return { fields }
  const others = rest === undefined || rest === true ? 'any' : typeOf(rest, definitions, open)
  return { fields, others }
}

function ofConstants(constants: readonly (string | number | boolean | null)[]): ValueType {
  const texts = constants.filter((one) => typeof one === 'string')
  if (texts.length === constants.length) return { words: texts }
  if (constants.every((one) => typeof one === 'boolean')) return 'bool'
  return constants.every((one) => Number.isInteger(one)) ? 'int' : 'any'
}

/** What holds whichever of the two a value is of. */
function either(one: ValueType, other: ValueType): ValueType {
  if (one === 'null') return other === 'null' ? 'null' : { nullable: other }
  if (other === 'null') return { nullable: one }
  if (typeof one === 'string' || typeof other === 'string') return one === other ? one : 'any'
  if ('words' in one && 'words' in other) {
    return { words: [...new Set([...one.words, ...other.words])] }
  }
  if ('list' in one && 'list' in other) return { list: either(one.list, other.list) }
  return 'fields' in one && 'fields' in other ? merged(one, other) : 'any'
}

function merged(one: ObjectType, other: ObjectType): ObjectType {
  const fields: Record<string, ValueType> = { ...one.fields }
  for (const [name, type] of Object.entries(other.fields)) {
    const known = Object.hasOwn(fields, name) ? fields[name] : undefined
    fields[name] = known === undefined ? type : either(known, type)
  }
  const others = one.others ?? other.others
  return others === undefined ? { fields } : { fields, others }
}
