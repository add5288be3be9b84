/**
 * `permission_set_v0`: which actions may be considered at a place and in a window. It bounds what a
 * verdict can speak of and is no verdict itself, so its notes may not sound like one.
 */
import * as Type from 'typebox'
import { DOCUMENT_LIMITS, show, showName } from '../../base/index.ts'
import { type Contract, elements, isObject, type Subject } from '../kernel/contract.ts'
import {
  checkWindow,
  closed,
  EvidenceRefs,
  LongId,
  Note,
  reportRepeats,
  SchemaVersion,
  SubjectRef,
  Text,
  Window,
} from './shapes.ts'
import { actionCodesOf } from './vocabulary.ts'

const Candidate = Type.Union([Text, Type.Object({ action_code: Text }, closed)])

const PermissionSetSchema = Type.Object(
  {
    type: Type.Literal('permission_set_v0', { 'x-code': 'type_const' }),
    schema_version: SchemaVersion,
    permission_set_id: LongId,
    created_at_ts: Type.Integer(),
    subjectRef: SubjectRef,
    scale: Text,
    window: Window,
    candidate_actions: Type.Array(Candidate),
    action_taxonomy_ref: Type.Optional(Text),
    supporting_evidence_refs: Type.Optional(EvidenceRefs),
    notes: Type.Optional(Note),
  },
  closed,
)

export type PermissionSet = Type.Static<typeof PermissionSetSchema>

/** Returns the code of a candidate in either form, and its pointer inside the candidate. */
function codeOf(candidate: unknown): { readonly word: unknown; readonly path: string } {
  if (!isObject(candidate)) return { word: candidate, path: '' }
  const code = Object.hasOwn(candidate, 'action_code') ? candidate['action_code'] : undefined
  return { word: code, path: '/action_code' }
}

/** Reads `action_codes` of the context: another registry than AO. */
function checkCodes({ document, context, report }: Subject): void {
  const legal = actionCodesOf(context)
  elements(document['candidate_actions']).forEach((candidate, index) => {
    const { word, path } = codeOf(candidate)
    if (typeof word !== 'string' || word === '' || legal.has(word)) return
    const place = `/candidate_actions/${index}${path}`
    report.add(
      'permission_set.action_code',
      place,
      `${show(word, place)} is not an action code of the registry`,
      report.guess(word, legal),
    )
  })
}

function checkUnique({ document, report }: Subject): void {
  reportRepeats(
    document['candidate_actions'],
    codeOf,
    '/candidate_actions',
    'permission_set.duplicate',
    report,
  )
}

function checkNotes({ document, report }: Subject): void {
  const notes = document['notes']
  if (typeof notes !== 'string') return
  const found = /(?<![\p{L}\p{N}_])(?:ALLOW|DENY|UNDETERMINED)(?![\p{L}\p{N}_])/iu.exec(notes)
  if (found === null) return
  report.add(
    'permission_set.verdict_word',
    '/notes',
    `the notes say ${showName(found[0])}, which is a verdict's word`,
  )
}

export const permissionSet: Contract = {
  name: 'permission_set_v0',
  title: 'Which actions may be considered at a place and in a window.',
  prefix: 'permission_set',
  schema: PermissionSetSchema,
  checks: [checkWindow('permission_set.window_order'), checkCodes, checkUnique, checkNotes],
  limits: DOCUMENT_LIMITS,
  isRecord: false,
}
