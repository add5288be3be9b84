/**
 * Changes the text of a configuration: sets and unsets keys, and returns the new text or a failure.
 *
 * INVARIANT (checked edit): `checked` reads the changed text again and compares it with the value that
 *   the change means. If the two differ, the edit fails.
 */
import { parseKeyPath } from '../contracts/index.ts'
import { type ConfigurationFailure, Refused } from './failure.ts'
import { JSON_FORMAT } from './json-edit.ts'
import type { Format } from './value.ts'
import { isSame, type Keys, type Value, withoutEmpty, withoutKey, withSet } from './value.ts'

export type ConfigurationFormat = 'json' | 'yaml' | 'toml'

export interface ConfigurationChange {
  readonly format: ConfigurationFormat
  readonly set: Readonly<Record<string, unknown>>
  readonly unset: readonly string[]
}

type Edited =
  | { readonly ok: true; readonly text: string }
  | {
      readonly ok: false
      readonly code: ConfigurationFailure
      readonly message: string
      readonly keys: readonly string[]
    }

const BYTE_ORDER_MARK = '\ufeff'

/** Unsets first, then sets. The contract refuses a key path in both lists. */
export async function editConfiguration(
  text: string,
  change: ConfigurationChange,
): Promise<Edited> {
  const mark = text.startsWith(BYTE_ORDER_MARK) ? BYTE_ORDER_MARK : ''
  try {
    const format = await formatOf(change.format)
    let edited = text.slice(mark.length)
    for (const path of change.unset) edited = unsetOne(format, edited, keysOf(path))
    for (const [path, value] of Object.entries(change.set)) {
      edited = setOne(format, edited, keysOf(path), value)
    }
    return { ok: true, text: mark + edited }
  } catch (error) {
    if (error instanceof Refused) {
      return { ok: false, code: error.code, message: error.message, keys: error.keys }
    }
    if (error instanceof RangeError) {
      return { ok: false, code: 'config.syntax', message: 'the text nests too deeply', keys: [] }
    }
    throw error
  }
}

/** Returns the value of a text, or why it cannot be read. */
export async function readConfiguration(
  text: string,
  format: ConfigurationFormat,
): Promise<{ readonly ok: true; readonly value: unknown } | Exclude<Edited, { ok: true }>> {
  try {
    const { read } = await formatOf(format)
    return { ok: true, value: read(text.startsWith(BYTE_ORDER_MARK) ? text.slice(1) : text) }
  } catch (error) {
    if (!(error instanceof Refused)) throw error
    return { ok: false, code: error.code, message: error.message, keys: error.keys }
  }
}

/** Libraries are loaded for the format that needs them. */
async function formatOf(format: ConfigurationFormat): Promise<Format> {
  switch (format) {
    case 'json':
      return JSON_FORMAT
    case 'yaml':
      return (await import('./yaml-edit.ts')).YAML_FORMAT
    case 'toml':
      return (await import('./toml-edit.ts')).TOML_FORMAT
    default:
      return format satisfies never
  }
}

function keysOf(path: string): Keys {
  const keys = parseKeyPath(path)
  if (keys === null) throw new Refused('config.type', 'this is no key path', [path])
  return keys
}

function setOne(format: Format, text: string, keys: Keys, value: Value): string {
  const wanted = withSet(format.read(text), keys, value)
  const edited = format.set(text, keys, value)
  return checked(format, edited, [wanted], keys)
}

function unsetOne(format: Format, text: string, keys: Keys): string {
  const wanted = withoutKey(format.read(text), keys)
  const edited = format.unset(text, keys)
  const also = format.prunes ? [withoutEmpty(wanted, keys)] : []
  return checked(format, edited, [wanted, ...also], keys)
}

function checked(format: Format, text: string, wanted: readonly Value[], keys: Keys): string {
  let found: Value
  try {
    found = format.read(text)
  } catch (error) {
    if (!(error instanceof Refused)) throw error
    throw inexact(keys)
  }
  if (!wanted.some((value) => isSame(found, value))) throw inexact(keys)
  return text
}

function inexact(keys: Keys): Refused {
  const message = 'the text is written in a way that cannot be changed there without rewriting it'
  return new Refused('config.inexact', message, keys)
}
