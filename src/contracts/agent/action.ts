/**
 * `xiaobo_action_v1`: what an executor answers when it is given a task (seed 001 §1, C-6b). The
 * answer is an artifact, a request for input, nothing to do, or an error; `result_type` says which,
 * and only that part is judged. Open: unknown keys are kept and not judged.
 */
import * as Type from 'typebox'
import { DOCUMENT_LIMITS } from '../../base/index.ts'
import type { Contract } from '../kernel/contract.ts'

export const ACTION_VERSION = 'xiaobo_action_v1'
export const RESULT_TYPES = ['ARTIFACT', 'NEEDS_INPUT', 'NOOP', 'ERROR'] as const
export const ARTIFACT_FORMATS = ['md', 'txt', 'json', 'html', 'css', 'js'] as const

const Filled = Type.String({ minLength: 1 })

/** The fields that every answer has. */
const shared = {
  schema_version: Type.Literal(ACTION_VERSION, { 'x-code': 'version' }),
  task_id: Filled,
}

const Artifact = Type.Object({
  name: Filled,
  format: Type.Enum([...ARTIFACT_FORMATS]),
  content: Filled,
})

const RequiredDoc = Type.Object({
  name: Type.String(),
  description: Type.String(),
  accepted_types: Type.Optional(Type.Array(Type.String())),
  suggested_path: Type.Optional(Type.String()),
})

const NeedsInput = Type.Object({ required_docs: Type.Array(RequiredDoc, { minItems: 1 }) })

const Failure = Type.Object({ code: Type.String(), message: Type.String() })

function result<const R extends (typeof RESULT_TYPES)[number]>(name: R) {
  return { ...shared, result_type: Type.Literal(name) }
}

const XiaoboActionSchema = Type.Union(
  [
    Type.Object({ ...result('ARTIFACT'), artifact: Artifact }),
    Type.Object({ ...result('NEEDS_INPUT'), needs_input: NeedsInput }),
    Type.Object(result('NOOP')),
    Type.Object({ ...result('ERROR'), error: Failure }),
  ],
  { 'x-choose': 'result_type' },
)

export type XiaoboAction = Type.Static<typeof XiaoboActionSchema>

export const xiaoboAction: Contract = {
  name: ACTION_VERSION,
  title: 'What an executor answers when it is given a task.',
  prefix: 'action',
  schema: XiaoboActionSchema,
  checks: [],
  limits: DOCUMENT_LIMITS,
  isRecord: false,
}
