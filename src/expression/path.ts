/**
 * Reads along a path: a variable, then fields and indices. Reads own properties only. An absent value,
 * or one of another type than declared, is a failure that names the path as far as it was read.
 */
import { showName } from '../base/index.ts'
import {
  type Evaluator,
  type Frame,
  isNullable,
  type Kind,
  kindOf,
  sayType,
  type ValueType,
} from './environment.ts'
import type { Node } from './syntax.ts'
import { fail } from './value.ts'

export interface PathStep {
  readonly key: string | number
  readonly at: number
}

export interface PathChain {
  readonly root: string
  readonly at: number
  readonly steps: readonly PathStep[]
}

/** The node as a path; null when it is anything else, or an index is computed. */
export function chainOf(node: Node): PathChain | null {
  const steps: PathStep[] = []
  let current = node
  for (;;) {
    if (current.kind === 'name') {
      return { root: current.name, at: current.at, steps: steps.reverse() }
    }
    const key = current.kind === 'select' ? current.name : literalKey(current)
    if (key === null || (current.kind !== 'select' && current.kind !== 'index')) return null
    steps.push({ key, at: current.at })
    current = current.base
  }
}

function literalKey(node: Node): string | number | null {
  if (node.kind !== 'index' || node.index.kind !== 'literal') return null
  const { value } = node.index
  if (typeof value === 'string') return value
  return typeof value === 'number' && node.index.type === 'int' && value >= 0 ? value : null
}

const PLAIN_NAME = /^[A-Za-z_][A-Za-z0-9_]{0,127}$/

/** The path as a person would write it. */
export function sayPath(root: string, steps: readonly PathStep[]): string {
  let text = root
  for (const { key } of steps) text += sayStep(key)
  return text
}

export function sayStep(key: string | number): string {
  if (typeof key === 'number') return `[${key}]`
  return PLAIN_NAME.test(key) ? `.${key}` : `[${JSON.stringify(key)}]`
}

/** Reads a path; `isLocal` when its root is the element of a macro. */
export function readPath(chain: PathChain, type: ValueType, isLocal: boolean): Evaluator {
  const { root, at, steps } = chain
  const text = sayPath(root, steps)
  const suffix = sayPath('', steps)
  const kind = kindOf(type)
  const allowsNull = isNullable(type)
  const keys = isLocal ? steps.map(({ key }) => key) : [root, ...steps.map(({ key }) => key)]
  const read = (frame: Frame): unknown => {
    let current: unknown = isLocal ? frame.local : frame.values
    for (let index = 0; index < keys.length; index++) {
      const key = keys[index] as string | number // `index` is below the length.
      if (!holdsKey(current, key)) {
        return absent(chain, isLocal ? index + 1 : index, isLocal ? itemPath(frame) : root, current)
      }
      current = current[key]
    }
    if (!fits(kind, allowsNull, current)) {
      const path = isLocal ? itemPath(frame) + suffix : text
      return mistyped(path, steps.at(-1)?.at ?? at, type)
    }
    const { reads } = frame
    if (isLocal) reads.push({ path: suffix, value: current, isLocal })
    else reads.push({ path: text, value: current })
    return current
  }
  const [, field] = keys
  if (isLocal || keys.length !== 2 || typeof field !== 'string') return read
  return readField(root, field, text, (value) => fits(kind, allowsNull, value), read)
}

/**
 * Reads the most common paths, one field of a variable such as `state.score`, faster than `read` does.
 * Falls back to `read` for unusual values, such as absent or inherited ones.
 */
function readField(
  root: string,
  field: string,
  path: string,
  isFitting: (value: unknown) => boolean,
  read: Evaluator,
): Evaluator {
  if (root in Object.prototype || field in Object.prototype) return read
  return (frame) => {
    const { values } = frame
    const holder = values[root]
    if (!isPlain(values) || !isPlain(holder)) return read(frame)
    const value = holder[field]
    if (value === undefined || !isFitting(value)) return read(frame)
    frame.reads.push({ path, value })
    return value
  }
}

/** Has no fields but its own and those that every object has. */
function isPlain(value: unknown): value is Readonly<Record<string, unknown>> {
  if (typeof value !== 'object' || value === null) return false
  return Object.getPrototypeOf(value) === Object.prototype
}

/** Returns the path of the macro's current item. */
export function itemPath({ localList, localIndex }: Frame): string {
  return `${localList}[${localIndex}]`
}

/** Returns whether an object has a field, or a list an index. The length of a list is no field. */
export function holdsKey(
  value: unknown,
  key: string | number,
): value is Readonly<Record<string | number, unknown>> {
  if (typeof value !== 'object' || value === null) return false
  return Array.isArray(value) === (typeof key === 'number') && Object.hasOwn(value, key)
}

function absent(chain: PathChain, depth: number, root: string, holder: unknown): unknown {
  const path = sayPath(root, chain.steps.slice(0, depth))
  const at = depth === 0 ? chain.at : (chain.steps[depth - 1]?.at ?? chain.at)
  const parent = sayPath(root, chain.steps.slice(0, Math.max(0, depth - 1)))
  const why =
    depth > 0 && holder === null ? `${showName(parent)} is null` : `${showName(path)} is not there`
  return fail('expression.absent', at, why, path)
}

function mistyped(path: string, at: number, type: ValueType): unknown {
  return fail('expression.mistyped', at, `${showName(path)} is not ${sayType(type)}`, path)
}

export function fits(kind: Kind, allowsNull: boolean, value: unknown): boolean {
  if (value === null) return allowsNull
  switch (kind) {
    case 'bool':
      return typeof value === 'boolean'
    case 'int':
      return Number.isSafeInteger(value) || typeof value === 'bigint'
    case 'double':
      return typeof value === 'number'
    case 'string':
      return typeof value === 'string'
    case 'list':
      return Array.isArray(value)
    case 'object':
      return typeof value === 'object' && !Array.isArray(value)
    case 'any':
      return value !== undefined
    case 'null':
      return false
    default:
      return kind satisfies never
  }
}
