/**
 * Questions that are asked again and again: the server plans one once for each connection and knows it by
 * its name from then on. A pooler in front has to know prepared statements.
 */
import type { QueryConfig } from 'pg'
import { digestBytes } from '../../base/index.ts'

const NAME_LENGTH = 40
const encoder = new TextEncoder()
const names = new Map<string, string>()

/** `text` is one of few: what differs from question to question is in `values`. */
export function prepared(text: string, values: unknown[]): QueryConfig {
  const known = names.get(text)
  if (known !== undefined) return { name: known, text, values }
  const name = `writ_${digestBytes(encoder.encode(text)).slice(-NAME_LENGTH)}`
  names.set(text, name)
  return { name, text, values }
}
