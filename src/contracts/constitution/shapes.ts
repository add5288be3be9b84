/**
 * Shapes that the three inputs and the verdict share. Times are milliseconds as whole numbers;
 * identities name a place and mean nothing else, and so they are closed.
 */
import type { TSchema } from 'typebox'
import * as Type from 'typebox'
import { show } from '../../base/index.ts'
import { elements, field, type Subject } from '../kernel/contract.ts'
import { sized } from '../kernel/schema.ts'
import type { Report } from '../kernel/violation.ts'
import { EVIDENCE_KINDS } from './vocabulary.ts'

export const closed = { additionalProperties: false } as const

/** A string that says something. */
export const Text = Type.String({ minLength: 1, 'x-code': { minLength: 'empty' } })

export const SchemaVersion = Type.String({
  pattern: '^[0-9]+\\.[0-9]+\\.[0-9]+$',
  'x-code': { pattern: 'version' },
  'x-says': 'a version MAJOR.MINOR.PATCH',
})

/** An id of at least eight characters. */
export const LongId = sized(8, null, { pattern: 'length' })

const NOTE_LENGTH_MAX = 280

/** A note for people, or null. */
export const Note = Type.Union([sized(0, NOTE_LENGTH_MAX, { pattern: 'length' }), Type.Null()])

const OptionalText = Type.Optional(Text)

export const SubjectRef = Type.Object(
  { projectId: Text, groupId: OptionalText, plotId: OptionalText, blockId: OptionalText },
  closed,
)

/** That it runs forwards is a semantic check. */
export const Window = Type.Object({ startTs: Type.Integer(), endTs: Type.Integer() }, closed)

export const EvidenceRefs = Type.Array(
  Type.Object(
    {
      kind: Type.Enum([...EVIDENCE_KINDS]),
      ref_id: Text,
      note: Type.Optional(Note),
      time_range: Type.Optional(nullable(Window)),
    },
    closed,
  ),
)

function nullable<S extends TSchema>(schema: S) {
  return Type.Union([schema, Type.Null()])
}

/** A window ends after it starts; the code is the contract's own. */
export function checkWindow(code: Parameters<Report['add']>[0]) {
  return ({ document, report }: Subject): void => {
    const start = field(document['window'], 'startTs')
    const end = field(document['window'], 'endTs')
    if (typeof start !== 'number' || typeof end !== 'number' || end > start) return
    report.add(
      code,
      '/window/endTs',
      `the window ends at ${show(end, '')}, not after its start at ${show(start, '')}`,
    )
  }
}

/** Reports every word of a list after its first use. `wordOf` reads an element; null is no word. */
export function reportRepeats(
  list: unknown,
  wordOf: (element: unknown) => { readonly word: unknown; readonly path: string },
  pointer: string,
  code: Parameters<Report['add']>[0],
  report: Report,
): void {
  const seen = new Set<string>()
  elements(list).forEach((element, index) => {
    const { word, path } = wordOf(element)
    if (typeof word !== 'string') return
    const place = `${pointer}/${index}${path}`
    if (seen.has(word)) report.add(code, place, `${show(word, place)} is named twice`)
    seen.add(word)
  })
}
