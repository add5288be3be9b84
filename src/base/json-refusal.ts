/**
 * Why a text or value was refused before any contract looked at it.
 */
import type { Code } from './codes.ts'

export type JsonRefusalCode = Extract<
  Code,
  | 'document.not_json'
  | 'document.too_deep'
  | 'document.too_large'
  | 'document.duplicate_key'
  | 'document.bad_number'
  | 'document.lone_surrogate'
>

export interface JsonRefusal {
  readonly code: JsonRefusalCode
  /** JSON Pointer to the place. */
  readonly path: string
  readonly message: string
  readonly hint?: string
}
