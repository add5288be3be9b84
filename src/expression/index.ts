/**
 * Room: expression. CEL with `->` (F-1c): a bounded subset, checked against declared types when it
 * is loaded, evaluated to true, false or undetermined with what decided. Pure. Sees base.
 */
export type { Needs } from './analysis.ts'
export type {
  Environment,
  HostAnswer,
  HostCalls,
  HostFunction,
  Prepared,
  Read,
} from './environment.ts'
export {
  type Compilation,
  compileExpression,
  type Evaluation,
  type Expression,
  evaluate,
  mayLack,
  type Truth,
} from './expression.ts'
export type { ExpressionCode, ExpressionFault, Place, Reason } from './fault.ts'
export type { Scene } from './foresight.ts'
export { DEPTH_MAX, NODES_MAX, SOURCE_BYTES_MAX } from './parse.ts'
export type { ListType, ObjectType, ScalarType, ValueType } from './type.ts'
