/**
 * What expressions may speak of. A law: descriptor, operation, result, context, and the functions over effects.
 * Types come from the contracts. A result is shown without its lists, which are cut for display, and
 * without its outputs: what a command prints is no argument.
 */
import {
  actionDescriptor,
  type Flow,
  flowContract,
  type HostField,
  nodeOf,
  operationContract,
  type SandboxResult,
  type SchemaNode,
  type StateField,
  sandboxResult,
  VALIDATOR_VERDICTS,
} from '../contracts/index.ts'
import type { Environment, ObjectType, ValueType } from '../expression/index.ts'
import { EFFECT_ENVIRONMENT } from './effects.ts'

type Definitions = Readonly<Record<string, SchemaNode>>

/**
 * The type of a document, for expressions, read off its contract: one source says what a document
 * may hold and what may be asked about it. A union of objects has the fields of all of them; where
 * two of them disagree about a field, its type is known only when it is read.
 */
function typeOfSchema(root: SchemaNode): ValueType {
  return typeOf(root, root.$defs ?? {}, new Set())
}

function typeOf(node: SchemaNode, definitions: Definitions, open: ReadonlySet<string>): ValueType {
  if (node.$ref !== undefined) {
    const name = node.$ref.replace('#/$defs/', '')
    const target = definitions[name]
    // A document that holds its own kind is described one level deep.
    if (target === undefined || open.has(name)) return 'any'
    return typeOf(target, definitions, new Set([...open, name]))
  }
  if (node.anyOf !== undefined) {
    return node.anyOf.map((branch) => typeOf(branch, definitions, open)).reduce(either)
  }
  if (node.const !== undefined) return ofConstants([node.const])
  if (node.enum !== undefined) return ofConstants(node.enum)
  switch (node.type) {
    case undefined:
      return 'any'
    case 'object':
      return ofObject(node, definitions, open)
    case 'array':
      return { list: node.items === undefined ? 'any' : typeOf(node.items, definitions, open) }
    case 'number':
      return 'double'
    case 'integer':
      return 'int'
    case 'boolean':
      return 'bool'
    case 'string':
    case 'null':
      return node.type
    default:
      return node.type satisfies never
  }
}

function ofObject(
  node: SchemaNode,
  definitions: Definitions,
  open: ReadonlySet<string>,
): ObjectType {
  const fields = Object.fromEntries(
    Object.entries(node.properties ?? {}).map(([name, schema]) => [
      name,
      typeOf(schema, definitions, open),
    ]),
  )
  const rest = node.additionalProperties
  if (rest === false) return { fields }
  const others = rest === undefined || rest === true ? 'any' : typeOf(rest, definitions, open)
  return { fields, others }
}

function ofConstants(constants: readonly (string | number | boolean | null)[]): ValueType {
  const texts = constants.filter((one) => typeof one === 'string')
  if (texts.length === constants.length) return { words: texts }
  if (constants.every((one) => typeof one === 'boolean')) return 'bool'
  return constants.every((one) => Number.isInteger(one)) ? 'int' : 'any'
}

/** What holds whichever of the two a value is of. */
function either(one: ValueType, other: ValueType): ValueType {
  if (one === 'null') return other === 'null' ? 'null' : { nullable: other }
  if (other === 'null') return { nullable: one }
  if (typeof one === 'string' || typeof other === 'string') return one === other ? one : 'any'
  if ('words' in one && 'words' in other) {
    return { words: [...new Set([...one.words, ...other.words])] }
  }
  if ('list' in one && 'list' in other) return { list: either(one.list, other.list) }
  return 'fields' in one && 'fields' in other ? merged(one, other) : 'any'
}

function merged(one: ObjectType, other: ObjectType): ObjectType {
  const fields: Record<string, ValueType> = { ...one.fields }
  for (const [name, type] of Object.entries(other.fields)) {
    const known = Object.hasOwn(fields, name) ? fields[name] : undefined
    fields[name] = known === undefined ? type : either(known, type)
  }
  const others = one.others ?? other.others
  return others === undefined ? { fields } : { fields, others }
}

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

const HOST_TYPES: Readonly<Record<HostField, ValueType>> = {
  phase_id: 'string',
  subphase_id: { nullable: 'string' },
  attempt_count: 'int',
  cumulative_duration: 'double',
  minimum_duration: 'double',
  validator_verdict: { words: VALIDATOR_VERDICTS },
  gate_passed: 'bool',
  required_files_exist: 'bool',
  tool_calls: 'int',
  rejection_count: 'int',
  score: { nullable: 'double' },
  previous_output_path: { nullable: 'string' },
  log_updated_after_phase: 'bool',
  non_time_issue: 'bool',
  phase_completed: 'bool',
}

const EVENT: ObjectType = {
  fields: {
    type: 'string',
    phase_start: 'bool',
    phase_end: 'bool',
    subphase_end: 'bool',
    transition: 'bool',
    attempt_end: 'bool',
    edge_id: { nullable: 'string' },
    node_id: { nullable: 'string' },
    /** ISO 8601. */
    at: 'string',
    /** The node that called this one. */
    caller: { nullable: 'string' },
  },
}

/**
 * What guards, policies and invariants of a flow may speak of: `state`, `event`, `node`, `edge`. The
 * host's state fields have the types of seed 004 §3.2; the flow's own fields those it declares.
 */
export function flowEnvironment(flow: Pick<Flow, 'state'>): Environment {
  const own = Object.entries(flow.state?.fields ?? {}).map(
    ([name, { type }]: [string, StateField]): [string, ValueType] => [name, type],
  )
  // The schema of a flow is an object.
  const document = typeOfSchema(nodeOf(flowContract.schema)) as ObjectType
  return {
    variables: {
      // The contract refuses a field of the flow that has the name of one of the host's.
      state: { fields: { ...Object.fromEntries(own), ...HOST_TYPES } },
      event: EVENT,
      node: itemOf(document, 'nodes'),
      edge: itemOf(document, 'edges'),
    },
  }
}

function itemOf(document: ObjectType, list: 'nodes' | 'edges'): ValueType {
  const type = document.fields[list]
  return typeof type === 'object' && 'list' in type ? type.list : 'any'
}
