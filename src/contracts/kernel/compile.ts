/**
 * Compiles a schema to one JavaScript function that says yes or no, for the hot path; the walker
 * (`structure.ts`) tells what is wrong afterwards. The vocabulary is the closed one of `schema.ts`.
 *
 * Why not TypeBox's own compiler: on these documents it is 2.7 times slower than ajv, because it
 * lists and matches every key of a closed object. Here the known properties are read, and the keys
 * are only counted: as many keys as known properties present means that there is no other. It also
 * takes 10 ms to load. Tests hold the two, and the walker, to the same answers.
 *
 * INVARIANT (no foreign text becomes code): names, constants and patterns enter the program through
 * JSON.stringify or as values in a table; schemas come from this room, never from a document.
 */
import type { TSchema } from 'typebox'
import { invariant, isUuid } from '../../base/index.ts'
import { foreignType, nodeOf, type SchemaNode, UUID_PATTERN } from './schema.ts'

export type Accepts = (value: unknown) => boolean

export function compileStructure(schema: TSchema): Accepts {
  const root = nodeOf(schema)
  const program = new Program()
  for (const [name, definition] of Object.entries(root.$defs ?? {})) {
    program.define(functionName(name), definition)
  }
  program.define('root', root)
  return program.finish()
}

function functionName(definition: string): string {
  return `def_${[...definition].map((letter) => letter.codePointAt(0)?.toString(36)).join('_')}`
}

class Program {
  readonly #functions: string[] = []
  readonly #regexps: RegExp[] = []
  readonly #sets: ReadonlySet<unknown>[] = []
  #names = 0

  define(name: string, node: SchemaNode): void {
    this.#functions.push(`function ${name}(v) {\n${this.#refuseUnless(node, 'v')}return true\n}`)
  }

  finish(): Accepts {
    const body = `'use strict'\n${this.#functions.join('\n')}\nreturn root`
    const make = new Function('regexps', 'sets', 'isUuid', body)
    // The functions that make up `body` take a value and return a boolean.
    return make(this.#regexps, this.#sets, isUuid) as Accepts
  }

  #fresh(): string {
    return `v${this.#names++}`
  }

  /** Statements that return false from the enclosing function unless `value` fits `node`. */
  #refuseUnless(node: SchemaNode, value: string): string {
    if (node.$ref !== undefined) {
      return `if (!${functionName(node.$ref.replace('#/$defs/', ''))}(${value})) return false\n`
    }
    if (node.anyOf !== undefined) return this.#union(node.anyOf, value)
    if (node.const !== undefined)
      return `if (${value} !== ${JSON.stringify(node.const)}) return false\n`
    if (node.enum !== undefined) return this.#choice(node.enum, value)
    switch (node.type) {
      case undefined:
        return ''
      case 'object':
        return this.#object(node, value)
      case 'array':
        return this.#array(node, value)
      case 'string':
        return this.#string(node, value)
      case 'number':
        return `if (typeof ${value} !== 'number') return false\n${range(node, value)}`
      case 'integer':
        return `if (!Number.isInteger(${value})) return false\n${range(node, value)}`
      case 'boolean':
        return `if (typeof ${value} !== 'boolean') return false\n`
      case 'null':
        return `if (${value} !== null) return false\n`
      default:
        throw foreignType(node.type satisfies never)
    }
  }

  /** Beyond a handful of words, one look-up beats comparing with each. */
  #choice(words: readonly unknown[], value: string): string {
    if (words.length > 8) {
      return `if (!sets[${this.#sets.push(new Set(words)) - 1}].has(${value})) return false\n`
    }
    const others = words.map((word) => `${value} !== ${JSON.stringify(word)}`)
    return `if (${others.join(' && ')}) return false\n`
  }

  #string(node: SchemaNode, value: string): string {
    let code = `if (typeof ${value} !== 'string') return false\n`
    if (node.minLength !== undefined) code += `if (${value}.length === 0) return false\n`
    if (node.pattern !== undefined)
      code += `if (!${this.#matches(node.pattern, value)}) return false\n`
    return code
  }

  /** Three kinds of pattern have a cheaper form that says the same. */
  #matches(pattern: string, value: string): string {
    if (pattern === UUID_PATTERN) return `isUuid(${value})`
    const first = /^\^([\w/:-])$/.exec(pattern)?.[1]
    if (first !== undefined) return `(${value}.charCodeAt(0) === ${first.charCodeAt(0)})`
    const whole = `${this.#regexp(pattern)}.test(${value})`
    const [, excluded, max] = /^\^\[\^([^\]]+)\]\{1,(\d+)\}\$$/.exec(pattern) ?? []
    if (excluded === undefined) return whole
    // As many units as characters are allowed are never too many: only the class is left to ask.
    const short = `${value}.length > 0 && ${value}.length <= ${max}`
    return `(${short} ? !${this.#regexp(`[${excluded}]`)}.test(${value}) : ${whole})`
  }

  #regexp(pattern: string): string {
    return `regexps[${this.#regexps.push(new RegExp(pattern, 'u')) - 1}]`
  }

  #union(branches: readonly SchemaNode[], value: string): string {
    const calls = branches.map((branch) => {
      if (branch.$ref !== undefined)
        return `${functionName(branch.$ref.replace('#/$defs/', ''))}(${value})`
      const name = `union_${this.#fresh()}`
      this.define(name, branch)
      return `${name}(${value})`
    })
    return `if (!(${calls.join(' || ')})) return false\n`
  }

  #array(node: SchemaNode, value: string): string {
    let code = `if (!Array.isArray(${value})) return false\n`
    if (node.minItems !== undefined)
      code += `if (${value}.length < ${node.minItems}) return false\n`
    if (node.maxItems !== undefined)
      code += `if (${value}.length > ${node.maxItems}) return false\n`
    if (node.items === undefined) return code
    const item = this.#fresh()
    const inner = this.#refuseUnless(node.items, item)
    if (inner === '') return code
    return `${code}for (let i = 0; i < ${value}.length; i++) { const ${item} = ${value}[i]\n${inner}}\n`
  }

  #object(node: SchemaNode, value: string): string {
    let code = ''
    let refusesArrays = false
    const required = new Set(node.required ?? [])
    const optional: string[] = []
    for (const [name, schema] of Object.entries(node.properties ?? {})) {
      invariant(!(name in Object.prototype), `${name} is a name every object has`)
      const member = this.#fresh()
      code += `const ${member} = ${value}[${JSON.stringify(name)}]\n`
      const inner = this.#refuseUnless(schema, member)
      if (required.has(name)) {
        // A value of any type at all: only then does its own test not prove that it is there.
        code += inner === '' ? `if (${member} === undefined) return false\n` : inner
        // An array has none of our properties, so a required one tells it from an object.
        refusesArrays = true
      } else {
        optional.push(member)
        if (inner !== '') code += `if (${member} !== undefined) {\n${inner}}\n`
      }
    }
    const array = refusesArrays ? '' : ` || Array.isArray(${value})`
    const head = `if (typeof ${value} !== 'object' || ${value} === null${array}) return false\n`
    return head + code + this.#rest(node, value, required.size, optional)
  }

  /** Keys beyond the known properties: counted when closed, matched when they have a schema. */
  #rest(node: SchemaNode, value: string, required: number, optional: readonly string[]): string {
    let code = ''
    const rest = node.additionalProperties
    const patterns = Object.entries(node.patternProperties ?? {})
    const counts = rest === false && patterns.length === 0
    if (counts || node.minProperties !== undefined) {
      const count = this.#fresh()
      code += `let ${count} = 0\nfor (const key in ${value}) ${count}++\n`
      if (node.minProperties !== undefined)
        code += `if (${count} < ${node.minProperties}) return false\n`
      const known = [
        String(required),
        ...optional.map((member) => `(${member} === undefined ? 0 : 1)`),
      ].join(' + ')
      if (counts) code += `if (${count} !== ${known}) return false\n`
    }
    if (counts || (patterns.length === 0 && (rest === undefined || rest === true))) return code
    return code + this.#matched(node, value, patterns)
  }

  #matched(node: SchemaNode, value: string, patterns: readonly [string, SchemaNode][]): string {
    const known = `sets[${this.#sets.push(new Set(Object.keys(node.properties ?? {}))) - 1}]`
    const [key, member] = [this.#fresh(), this.#fresh()]
    let code = `for (const ${key} of Object.keys(${value})) {\nif (${known}.has(${key})) continue\nconst ${member} = ${value}[${key}]\n`
    for (const [pattern, schema] of patterns) {
      code += `if (${this.#regexp(pattern)}.test(${key})) {\n${this.#refuseUnless(schema, member)}continue\n}\n`
    }
    const rest = node.additionalProperties
    if (rest === false) code += 'return false\n'
    else if (rest !== undefined && rest !== true) code += this.#refuseUnless(rest, member)
    return `${code}}\n`
  }
}

function range(node: SchemaNode, value: string): string {
  let code = ''
  if (node.minimum !== undefined) code += `if (${value} < ${node.minimum}) return false\n`
  if (node.maximum !== undefined) code += `if (${value} > ${node.maximum}) return false\n`
  return code
}
