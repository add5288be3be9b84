/**
 * Reads the vector files under spec/vectors and makes the document of each case, refusing keys and
 * shapes that spec/vectors/README.md does not name.
 */
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'

export interface Vector {
  readonly file: string
  readonly id: string
  readonly note: string
  readonly run?: 'check' | 'normalise'
  readonly as?: string
  readonly context?: Readonly<Record<string, unknown>>
  readonly document?: unknown
  readonly text?: string
  readonly from?: string
  readonly remove?: readonly string[]
  readonly set?: Readonly<Record<string, unknown>>
  readonly want: Readonly<Record<string, unknown>>
}

const FILE_KEYS = ['spec', 'bases', 'cases']
const CASE_KEYS = [
  'id',
  'note',
  'run',
  'as',
  'context',
  'document',
  'text',
  'from',
  'remove',
  'set',
  'want',
]

export function loadVectors(folder: string, spec: string): readonly Vector[] {
  const vectors: Vector[] = []
  for (const name of readdirSync(folder).sort()) {
    if (!name.endsWith('.json')) continue
    const file = JSON.parse(readFileSync(join(folder, name), 'utf8'))
    refuseUnknown(name, file, FILE_KEYS)
    if (file.spec !== spec) throw new Error(`${name}: expected spec ${spec}, found ${file.spec}`)
    for (const row of file.cases) vectors.push(makeVector(name, file.bases ?? {}, row))
  }
  const ids = vectors.map((vector) => vector.id)
  const twice = ids.find((id, index) => ids.indexOf(id) !== index)
  if (twice !== undefined) throw new Error(`the id ${twice} is used twice`)
  return vectors
}

function makeVector(file: string, bases: Record<string, unknown>, row: Vector): Vector {
  const where = `${file}: ${row.id}`
  refuseUnknown(where, row, CASE_KEYS)
  const made = { ...row, file, want: makeWant(where, bases, row.want) }
  return row.from === undefined ? made : { ...made, document: makeDocument(where, bases, row) }
}

/** Makes the wanted normalised document if the vector gives it as a base and changes. */
function makeWant(where: string, bases: Record<string, unknown>, want: Vector['want']) {
  const { from, remove, set, ...rest } = want as Recipe
  if (from === undefined) return want
  return { ...rest, normalized: makeDocument(where, bases, want as Recipe) }
}

type Recipe = Pick<Vector, 'from' | 'remove' | 'set'>

function makeDocument(where: string, bases: Record<string, unknown>, recipe: Recipe): unknown {
  const { from = '', remove, set } = recipe
  if (!Object.hasOwn(bases, from)) throw new Error(`${where}: no base ${from}`)
  return changed(bases[from], remove, set)
}

/** A copy of `base` without what `remove` points at, in order, and then with what `set` says. */
export function changed(
  base: unknown,
  remove: readonly string[] = [],
  set: Readonly<Record<string, unknown>> = {},
): unknown {
  const document = structuredClone(base)
  for (const pointer of remove) edit(document, pointer, (parent, key) => removeKey(parent, key))
  for (const [pointer, value] of Object.entries(set)) {
    if (pointer === '') return value
    edit(document, pointer, (parent, key) => setKey(parent, key, structuredClone(value)))
  }
  return document
}

export function refuseUnknown(where: string, object: object, legal: readonly string[]): void {
  for (const key of Object.keys(object)) {
    if (!legal.includes(key)) throw new Error(`${where}: unknown key ${key}`)
  }
}

type Container = Record<string, unknown>

function edit(
  root: unknown,
  pointer: string,
  change: (parent: Container, key: string) => void,
): void {
  const steps = pointer
    .slice(1)
    .split('/')
    .map((step) => step.replaceAll('~1', '/').replaceAll('~0', '~'))
  const last = steps.pop() ?? ''
  let parent = root
  for (const step of steps) {
    if (typeof parent !== 'object' || parent === null || !Object.hasOwn(parent, step)) {
      throw new Error(`${pointer} leads nowhere`)
    }
    parent = (parent as Container)[step]
  }
  change(parent as Container, last)
}

function removeKey(parent: Container, key: string): void {
  if (!Object.hasOwn(parent, key)) throw new Error(`nothing to remove at ${key}`)
  if (Array.isArray(parent)) parent.splice(Number(key), 1)
  else delete parent[key]
}

function setKey(parent: Container, key: string, value: unknown): void {
  if (Array.isArray(parent) && key === '-') parent.push(value)
  // `__proto__` is an ordinary key of a document.
  else
    Object.defineProperty(parent, key, {
      value,
      enumerable: true,
      writable: true,
      configurable: true,
    })
}
