/**
 * What a law may speak of: descriptor, operation, result, context, and the functions over effects.
 * Types come from the contracts. A result is shown without its lists, which are cut for display, and
 * without its outputs: what a command prints is no argument.
 */
import {
  actionDescriptor,
  nodeOf,
  operationContract,
  type SandboxResult,
  sandboxResult,
} from '../contracts/index.ts'
import type { Environment, ObjectType, ValueType } from '../expression/index.ts'
import { EFFECT_ENVIRONMENT } from './effects.ts'
import { typeOfSchema } from './schema-type.ts'

const ACTOR_KINDS = ['human', 'ai', 'script', 'device'] as const

/** What a law knows besides the documents. */
export interface LawContext {
  /** ISO 8601, UTC, milliseconds: such texts compare as times do. */
  readonly now: string
  /** The id of the principal. */
  readonly actor: string
  readonly actor_kind: (typeof ACTOR_KINDS)[number]
  /** Real path. */
  readonly workspace: string
  /** The name of the machine. */
  readonly host: string
  /** Rollbacks of this actor's acts within the last 24 hours. */
  readonly recent_rollbacks: number
}

const CONTEXT: ObjectType = {
  fields: {
    now: 'string',
    actor: 'string',
    actor_kind: { words: ACTOR_KINDS },
    workspace: 'string',
    host: 'string',
    recent_rollbacks: 'int',
  },
}

const COUNTS: ObjectType = { fields: { added: 'int', modified: 'int', deleted: 'int' } }

/** The parts of a result that laws read as they stand in the document. */
const SHOWN = ['execution', 'resources', 'side_effects', 'findings', 'compliance'] as const

const WITHHELD: Readonly<Record<string, string>> = {
  diff: 'ask with `result.counts`, `result.bytes`, `touches()`, `creates()`, `modifies()`, `deletes()`',
  outputs: 'what a command prints is no argument for or against its effects',
}

function resultType(): ObjectType {
  // The schema of a result is an object, and has every field of `SHOWN`.
  const document = typeOfSchema(nodeOf(sandboxResult.schema)) as ObjectType
  const shown = SHOWN.map((name) => [name, document.fields[name] as ValueType])
  return {
    fields: { ...Object.fromEntries(shown), counts: COUNTS, bytes: 'int' },
    withheld: WITHHELD,
  }
}

export const GATE_ENVIRONMENT: Environment = {
  variables: {
    descriptor: typeOfSchema(nodeOf(actionDescriptor.schema)),
    operation: typeOfSchema(nodeOf(operationContract.schema)),
    result: resultType(),
    context: CONTEXT,
  },
  functions: EFFECT_ENVIRONMENT,
}

/** The names whose use makes a law one that reads the result. */
export const RESULT_NAMES: ReadonlySet<string> = new Set([
  'result',
  ...Object.keys(EFFECT_ENVIRONMENT),
])

/** The result as laws see it. */
export function shownResult(result: SandboxResult): Readonly<Record<string, unknown>> {
  return {
    ...Object.fromEntries(SHOWN.map((name) => [name, result[name]])),
    counts: result.diff.counts,
    bytes: result.diff.bytes,
  }
}
