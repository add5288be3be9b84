/** Shapes that the documents of the descriptor family share. */
import * as Type from 'typebox'
import { UUID_PATTERN } from '../kernel/schema.ts'

export const closed = { additionalProperties: false } as const

/** An action id: a UUID by shape, of any version. */
export const ActionId = Type.String({
  pattern: UUID_PATTERN,
  'x-code': { pattern: 'action_id' },
  'x-says': 'a UUID',
})

/** `sha256:` and 64 lower-case hex digits (C-5). */
export const DigestText = Type.String({
  pattern: '^sha256:[0-9a-f]{64}$',
  'x-code': { pattern: 'digest' },
  'x-says': '`sha256:` and 64 lower-case hex digits',
})

/** An absolute path; that it is in shortest form is a semantic check with a code of its own. */
export const AbsolutePath = Type.String({
  pattern: '^/',
  'x-code': { pattern: 'path_not_absolute' },
  'x-says': 'an absolute path',
})

/** RFC 4648 base64 with padding. A loop, because texts of many megabytes are ordinary here. */
export function isBase64(text: string): boolean {
  if (text.length % 4 !== 0) return false
  const padding = text.endsWith('==') ? 2 : text.endsWith('=') ? 1 : 0
  for (let index = 0; index < text.length - padding; index++) {
    if (!isBase64Unit(text.charCodeAt(index))) return false
  }
  return true
}

function isBase64Unit(unit: number): boolean {
  if (unit >= 0x61) return unit <= 0x7a
  if (unit >= 0x41) return unit <= 0x5a
  return (unit >= 0x30 && unit <= 0x39) || unit === 0x2b || unit === 0x2f
}
