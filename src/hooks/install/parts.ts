/**
 * Puts parts into the text of a configuration, and takes exactly these parts out again. Lists are
 * appended to; a value that was there before is remembered.
 */

import { digestDocument, faultError, showName } from '../../base/index.ts'
import {
  type ConfigurationFormat,
  editConfiguration,
  readConfiguration,
} from '../../configuration/index.ts'
import type { ConfigurationPart } from '../../hosts/index.ts'

/** A part that was put in, with what is needed to take it out. */
export interface PlacedPart {
  readonly part: ConfigurationPart
  /** The value before; absent if there was none. */
  readonly before?: unknown
  /** How many keys of the path were there before. */
  readonly depth: number
}

interface PlacedParts {
  readonly text: string
  readonly placed: readonly PlacedPart[]
}

const EMPTY: Readonly<Record<ConfigurationFormat, string>> = {
  json: '{}\n',
  toml: '',
  yaml: '{}\n',
}

/** A part that is there already is not placed. */
export async function placeParts(
  file: string,
  before: string | null,
  format: ConfigurationFormat,
  parts: readonly ConfigurationPart[],
): Promise<PlacedParts> {
  let text = before === null || before.trim() === '' ? EMPTY[format] : before
  const placed: PlacedPart[] = []
  for (const part of parts) {
    const value = await configurationValue(file, text, format)
    const found = at(value, part.at)
    if (isPresent(part, found)) continue
    const depth = depthOf(value, part.at)
    if (part.kind === 'item' && found !== undefined && !Array.isArray(found)) {
      throw refusal(file, `${part.at.join('.')} is no list`)
    }
    const isAppended = part.kind === 'item' && found !== undefined
    const path = pointer(isAppended ? [...part.at, '-'] : part.at)
    const wanted = part.kind === 'item' && !isAppended ? [part.value] : part.value
    text = await edited(file, text, format, { set: { [path]: wanted }, unset: [] })
    const kept = part.kind === 'value' && found !== undefined ? { before: found } : {}
    placed.push({ part, depth, ...kept })
  }
  return { text, placed }
}

/** Leaves a part alone that has another value by now. */
export async function removeParts(
  file: string,
  before: string,
  format: ConfigurationFormat,
  placed: readonly PlacedPart[],
): Promise<string> {
  let text = before
  for (const one of [...placed].reverse()) {
    const value = await configurationValue(file, text, format)
    const { part } = one
    const found = at(value, part.at)
    if (!isPresent(part, found)) continue
    if (one.before !== undefined) {
      text = await edited(file, text, format, {
        set: { [pointer(part.at)]: one.before },
        unset: [],
      })
      continue
    }
    const path = part.kind === 'item' ? [...part.at, String(placeIn(found, part.value))] : part.at
    text = await edited(file, text, format, { set: {}, unset: [pointer(path)] })
    text = await withoutEmptyOnes(file, text, format, one)
  }
  return text
}

/** Objects and lists that the placing made go when they hold nothing. */
async function withoutEmptyOnes(
  file: string,
  before: string,
  format: ConfigurationFormat,
  { part, depth }: PlacedPart,
): Promise<string> {
  let text = before
  for (let length = part.at.length; length > depth; length--) {
    const path = part.at.slice(0, length)
    const found = at(await configurationValue(file, text, format), path)
    if (typeof found !== 'object' || found === null || Object.keys(found).length > 0) continue
    text = await edited(file, text, format, { set: {}, unset: [pointer(path)] })
  }
  return text
}

function isPresent(part: ConfigurationPart, found: unknown): boolean {
  return part.kind === 'item' ? placeIn(found, part.value) !== -1 : isSame(found, part.value)
}

function placeIn(list: unknown, value: unknown): number {
  return Array.isArray(list) ? list.findIndex((item) => isSame(item, value)) : -1
}

function isSame(one: unknown, other: unknown): boolean {
  return one !== undefined && digestDocument(one) === digestDocument(other)
}

function at(value: unknown, keys: readonly string[]): unknown {
  return keys.reduce<unknown>(
    (held, key) =>
      typeof held === 'object' && held !== null && Object.hasOwn(held, key)
        ? // An object has values by key.
          (held as Readonly<Record<string, unknown>>)[key]
        : undefined,
    value,
  )
}

function depthOf(value: unknown, keys: readonly string[]): number {
  let depth = 0
  while (depth < keys.length && at(value, keys.slice(0, depth + 1)) !== undefined) depth++
  return depth
}

function pointer(keys: readonly string[]): string {
  return keys.map((key) => `/${key.replaceAll('~', '~0').replaceAll('/', '~1')}`).join('')
}

/** The value of a configuration. A file that cannot be read is not changed. */
export async function configurationValue(
  file: string,
  text: string,
  format: ConfigurationFormat,
): Promise<unknown> {
  const read = await readConfiguration(text, format)
  if (!read.ok) throw refusal(file, read.message)
  return read.value
}

async function edited(
  file: string,
  text: string,
  format: ConfigurationFormat,
  change: { readonly set: Readonly<Record<string, unknown>>; readonly unset: readonly string[] },
): Promise<string> {
  const answer = await editConfiguration(text, { format, ...change })
  if (!answer.ok) throw refusal(file, answer.message)
  return answer.text
}

export function refusal(file: string, why: string): Error {
  const message = `${showName(file)} was not changed: ${why}`
  return faultError('hook.config', file, message, 'mend the file, or install at another level')
}
