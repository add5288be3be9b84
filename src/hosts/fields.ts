/** Reads fields of values of unknown shape: a field of another type is absent. */

export type JsonFields = Readonly<Record<string, unknown>>

export function asObject(value: unknown): JsonFields | null {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return null
  // An object that is no array has keys and values.
  return value as JsonFields
}

export function objectIn(value: JsonFields, key: string): JsonFields | null {
  return Object.hasOwn(value, key) ? asObject(value[key]) : null
}

/** A text that is not empty. */
export function textIn(value: JsonFields, key: string): string | null {
  const found = Object.hasOwn(value, key) ? value[key] : null
  return typeof found === 'string' && found !== '' ? found : null
}

/** An object, or the JSON text of one. */
export function objectOrText(value: unknown): JsonFields | null {
  if (typeof value !== 'string') return asObject(value)
  try {
    return asObject(JSON.parse(value))
  } catch {
    return null
  }
}
