/**
 * Explains structural violations: walks a schema and a broken document together and reports every place
 * where the document breaks the schema, with the code that the schema names. It finds a violation
 * exactly if the compiled check does; a property test compares the two.
 */
import type { TSchema } from 'typebox'
import { at, count, invariant, isCode, show, showName } from '../../base/index.ts'
import { isObject, type JsonObject, type Prefix } from './contract.ts'
import { annotatedCode, foreignType, type Keyword, nodeOf, type SchemaNode } from './schema.ts'
import type { Report } from './violation.ts'

const LISTED_MAX = 14

/** Reports every structural violation of `document` against `schema`. */
export function explainStructure(
  schema: TSchema,
  document: unknown,
  prefix: Prefix,
  report: Report,
): void {
  const root = nodeOf(schema)
  new Explainer(root, prefix, report).walk(root, document, '')
}

class Explainer {
  readonly #root: SchemaNode
  readonly #prefix: string
  readonly #report: Listener

  constructor(root: SchemaNode, prefix: string, report: Listener) {
    this.#root = root
    this.#prefix = prefix
    this.#report = report
  }

  walk(schema: SchemaNode, value: unknown, path: string): void {
    const node = this.#resolve(schema)
    const prefix = node['x-prefix'] ?? this.#prefix
    if (prefix !== this.#prefix) {
      return new Explainer(this.#root, prefix, this.#report).walk(node, value, path)
    }
    if (node.anyOf !== undefined) return this.#union(node, node.anyOf, value, path)
    if (node.const !== undefined) return this.#constant(node, node.const, value, path)
    if (node.enum !== undefined) return this.#choice(node, node.enum, value, path)
    switch (node.type) {
      case undefined:
        return
      case 'object':
        return isObject(value)
          ? this.#object(node, value, path)
          : this.#wrongType(node, 'an object', value, path)
      case 'array':
        return Array.isArray(value)
          ? this.#array(node, value, path)
          : this.#wrongType(node, 'a list', value, path)
      case 'string':
        return typeof value === 'string'
          ? this.#string(node, value, path)
          : this.#wrongType(node, 'a string', value, path)
      case 'number':
        return typeof value === 'number'
          ? this.#number(node, value, path)
          : this.#wrongType(node, 'a number', value, path)
      case 'integer':
        return typeof value === 'number' && Number.isInteger(value)
          ? this.#number(node, value, path)
          : this.#wrongType(node, 'a whole number', value, path)
      case 'boolean':
        return typeof value === 'boolean'
          ? undefined
          : this.#wrongType(node, 'true or false', value, path)
      case 'null':
        return value === null ? undefined : this.#wrongType(node, 'null', value, path)
      default:
        throw foreignType(node.type satisfies never)
    }
  }

  #resolve(schema: SchemaNode): SchemaNode {
    if (schema.$ref === undefined) return schema
    const target = this.#root.$defs?.[schema.$ref.replace('#/$defs/', '')]
    invariant(target !== undefined, `schema reference ${schema.$ref} leads nowhere`)
    return target
  }

  #object(node: SchemaNode, object: JsonObject, path: string): void {
    const properties = node.properties ?? {}
    for (const name of node.required ?? []) {
      if (Object.hasOwn(object, name)) continue
      const code = annotatedCode(properties[name] ?? {}, 'required') ?? 'required'
      this.#add(code, at(path, name), `the field ${showName(name)} is missing`)
    }
    const names = Object.keys(object)
    if (names.length < (node.minProperties ?? 0)) {
      this.#broken(
        node,
        'minProperties',
        path,
        `expected at least ${count(node.minProperties ?? 0, 'key')}, found ${show(object, path)}`,
      )
    }
    for (const name of names) this.#member(node, properties, object, name, path)
  }

  #member(
    node: SchemaNode,
    properties: Readonly<Record<string, SchemaNode>>,
    object: JsonObject,
    name: string,
    path: string,
  ): void {
    const place = at(path, name)
    const property = Object.hasOwn(properties, name) ? properties[name] : undefined
    if (property !== undefined) return this.walk(property, object[name], place)
    for (const [pattern, schema] of Object.entries(node.patternProperties ?? {})) {
      if (new RegExp(pattern, 'u').test(name)) return this.walk(schema, object[name], place)
    }
    const rest = node.additionalProperties
    if (rest === undefined || rest === true) return
    if (rest !== false) return this.walk(rest, object[name], place)
    const code = annotatedCode(node, 'unknown') ?? 'unknown_key'
    this.#add(
      code,
      place,
      `the key ${showName(name)} is not part of the contract`,
      this.#report.guess(name, Object.keys(properties)),
    )
  }

  #array(node: SchemaNode, items: readonly unknown[], path: string): void {
    if (items.length < (node.minItems ?? 0)) {
      this.#broken(
        node,
        'minItems',
        path,
        `expected at least ${count(node.minItems ?? 0, 'item')}, found ${show(items, path)}`,
      )
    }
    if (items.length > (node.maxItems ?? Number.POSITIVE_INFINITY)) {
      this.#broken(
        node,
        'maxItems',
        path,
        `expected at most ${count(node.maxItems ?? 0, 'item')}, found ${show(items, path)}`,
      )
    }
    const schema = node.items
    if (schema === undefined) return
    for (let index = 0; index < items.length; index++)
      this.walk(schema, items[index], at(path, index))
  }

  #string(node: SchemaNode, text: string, path: string): void {
    if (node.minLength !== undefined && text.length === 0) {
      this.#broken(
        node,
        'minLength',
        path,
        `expected a string that is not empty, found ${show(text, path)}`,
      )
    } else if (node.pattern !== undefined && !new RegExp(node.pattern, 'u').test(text)) {
      const wanted = node['x-says'] ?? `a string of the form ${node.pattern}`
      this.#broken(node, 'pattern', path, `expected ${wanted}, found ${show(text, path)}`)
    }
  }

  #number(node: SchemaNode, value: number, path: string): void {
    if (node.minimum !== undefined && value < node.minimum) {
      this.#broken(
        node,
        'minimum',
        path,
        `expected at least ${node.minimum}, found ${show(value, path)}`,
      )
    }
    if (node.maximum !== undefined && value > node.maximum) {
      this.#broken(
        node,
        'maximum',
        path,
        `expected at most ${node.maximum}, found ${show(value, path)}`,
      )
    }
  }

  #constant(node: SchemaNode, wanted: unknown, value: unknown, path: string): void {
    if (value === wanted) return
    this.#broken(node, 'const', path, `expected ${show(wanted, '')}, found ${show(value, path)}`)
  }

  #choice(node: SchemaNode, legal: readonly unknown[], value: unknown, path: string): void {
    if (legal.includes(value)) return
    const hint = typeof value === 'string' ? this.#report.guess(value, legal.map(String)) : null
    const wanted = node['x-says'] ?? list(legal)
    this.#broken(node, 'enum', path, `expected ${wanted}, found ${show(value, path)}`, hint)
  }

  #union(node: SchemaNode, branches: readonly SchemaNode[], value: unknown, path: string): void {
    const chooser = node['x-choose']
    if (chooser !== undefined && isObject(value)) {
      return typeof chooser === 'string'
        ? this.#chosen(node, branches, chooser, value, path)
        : this.#present(node, branches, chooser, value, path)
    }
    if (branches.some((branch) => this.#fits(branch, value))) return
    const [only, ...others] = branches.filter((branch) => sameType(this.#resolve(branch), value))
    // A probe has its answer; walking on would double the work at every nested union.
    const explains = !(this.#report instanceof Probe)
    if (explains && only !== undefined && others.length === 0) return this.walk(only, value, path)
    const names = new Set(branches.map((branch) => typeName(this.#resolve(branch))))
    const wanted = [...names].join(' or ')
    this.#broken(node, 'anyOf', path, `expected ${wanted}, found ${show(value, path)}`)
  }

  /** Explains a union whose branches differ in one constant, by the branch that the value names. */
  #chosen(
    node: SchemaNode,
    branches: readonly SchemaNode[],
    chooser: string,
    value: JsonObject,
    path: string,
  ): void {
    const legal = new Map(
      branches.flatMap((branch) => this.#keysOf(branch, chooser).map((key) => [key, branch])),
    )
    const key = Object.hasOwn(value, chooser) ? value[chooser] : undefined
    const branch = legal.get(key)
    if (branch !== undefined) return this.walk(branch, value, path)
    this.#object(this.#shared(branches, chooser), value, path)
    if (key === undefined) {
      const code = annotatedCode(node, 'required') ?? 'required'
      return this.#add(code, at(path, chooser), `the field ${showName(chooser)} is missing`)
    }
    const words = [...legal.keys()].map(String)
    const place = at(path, chooser)
    this.#broken(
      node,
      'enum',
      place,
      `expected ${list(words)}, found ${show(key, place)}`,
      typeof key === 'string' ? this.#report.guess(key, words) : null,
    )
  }

  /**
   * What open branches ask alike is asked of a document that chose none of them; a closed branch
   * says which keys there are at all, and so nothing about a document that is not its own.
   */
  #shared(branches: readonly SchemaNode[], chooser: string): SchemaNode {
    const [first, ...others] = branches.map((branch) => this.#resolve(branch))
    if (first === undefined || first.additionalProperties !== undefined) return {}
    const alike = Object.entries(first.properties ?? {}).filter(
      ([name, schema]) =>
        name !== chooser && others.every((other) => other.properties?.[name] === schema),
    )
    const names = new Set(alike.map(([name]) => name))
    const required = (first.required ?? []).filter(
      (name) => names.has(name) && others.every((other) => other.required?.includes(name)),
    )
    return { properties: Object.fromEntries(alike), required }
  }

  /** Explains a union whose branches differ in which key of `choosers` they have. */
  #present(
    node: SchemaNode,
    branches: readonly SchemaNode[],
    choosers: readonly string[],
    value: JsonObject,
    path: string,
  ): void {
    const [key, ...others] = choosers.filter((name) => Object.hasOwn(value, name))
    const branch = branches.find(
      (one) => key !== undefined && Object.hasOwn(this.#resolve(one).properties ?? {}, key),
    )
    if (branch !== undefined && others.length === 0) return this.walk(branch, value, path)
    const found = key === undefined ? 'none' : [key, ...others].map(showName).join(' and ')
    const unknown = key === undefined ? this.#misspelt(branches, choosers, value) : null
    const hint = unknown === null ? null : this.#report.guess(unknown, choosers)
    const named = hint === null || unknown === null ? '' : `; there is ${showName(unknown)}`
    this.#broken(
      node,
      'anyOf',
      path,
      `expected exactly ${list(choosers)}, found ${found}${named}`,
      hint,
    )
  }

  /** Returns a key that no branch knows and that is near to one that chooses a branch; null if there is none. */
  #misspelt(
    branches: readonly SchemaNode[],
    choosers: readonly string[],
    value: JsonObject,
  ): string | null {
    const known = branches.map((branch) => this.#resolve(branch).properties ?? {})
    const isKnown = (name: string): boolean => known.some((one) => Object.hasOwn(one, name))
    const near = (name: string): boolean => this.#report.guess(name, choosers) !== null
    return Object.keys(value).find((name) => !isKnown(name) && near(name)) ?? null
  }

  /** The constants that choose a branch; a branch may itself be a union of objects. */
  #keysOf(branch: SchemaNode, chooser: string): readonly unknown[] {
    const node = this.#resolve(branch)
    if (node.anyOf !== undefined) return node.anyOf.flatMap((part) => this.#keysOf(part, chooser))
    const key = node.properties?.[chooser]
    return key?.enum ?? (key?.const === undefined ? [] : [key.const])
  }

  #fits(branch: SchemaNode, value: unknown): boolean {
    const probe = new Probe()
    new Explainer(this.#root, this.#prefix, probe).walk(branch, value, '')
    return probe.isEmpty
  }

  #wrongType(node: SchemaNode, wanted: string, value: unknown, path: string): void {
    this.#broken(node, 'type', path, `expected ${wanted}, found ${show(value, path)}`)
  }

  #broken(
    node: SchemaNode,
    keyword: Keyword,
    path: string,
    message: string,
    hint?: string | null,
  ): void {
    this.#add(annotatedCode(node, keyword) ?? defaultCode(keyword), path, message, hint)
  }

  #add(suffix: string, path: string, message: string, hint?: string | null): void {
    const code = `${this.#prefix}.${suffix}`
    invariant(isCode(code), `the schema names ${code}, which is not on the page of codes`)
    this.#report.add(code, path, message, hint)
  }
}

/** What the walk tells its findings to. */
type Listener = Pick<Report, 'add' | 'guess'>

/** A listener that only notes whether anything was reported. */
class Probe implements Listener {
  isEmpty = true

  add(): void {
    this.isEmpty = false
  }

  guess(): null {
    return null
  }
}

function defaultCode(keyword: Keyword): string {
  return keyword === 'enum' || keyword === 'const' ? 'enum' : 'field_type'
}

function sameType(node: SchemaNode, value: unknown): boolean {
  const legal = node.enum ?? (node.const === undefined ? null : [node.const])
  if (legal !== null) return value !== null && legal.some((word) => typeof word === typeof value)
  if (Array.isArray(value)) return node.type === 'array'
  if (value === null) return node.type === 'null'
  if (node.type === 'integer') return typeof value === 'number'
  return node.type === typeof value
}

function typeName(node: SchemaNode): string {
  if (node.enum !== undefined) return list(node.enum)
  if (node.const !== undefined) return show(node.const, '')
  if (node.anyOf !== undefined) return [...new Set(node.anyOf.map(typeName))].join(' or ')
  return node.type === undefined
    ? 'any value'
    : `${/^[aio]/.test(node.type) ? 'an' : 'a'} ${node.type}`.replace('a null', 'null')
}

function list(legal: readonly unknown[]): string {
  const shown = legal.slice(0, LISTED_MAX).map((value) => showName(String(value)))
  const more = legal.length - shown.length
  return `one of ${shown.join(', ')}${more > 0 ? ` and ${more} more` : ''}`
}
