/** What the editor of a format offers. Texts come without a byte order mark. */
import type { Keys, Value } from './value.ts'

export interface Format {
  /** Returns the value of a text. */
  readonly read: (text: string) => Value
  readonly set: (text: string, keys: Keys, value: Value) => string
  readonly unset: (text: string, keys: Keys) => string
  /** A table that loses its last key may go with it. */
  readonly prunes: boolean
}
