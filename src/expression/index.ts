/**
 * Room: expression. CEL with `->` (F-1c): a bounded subset, checked against declared types when it
 * is loaded, evaluated to true, false or undetermined with what decided. Pure. Sees base.
 */
export type {
  Environment,
  HostAnswer,
  HostCalls,
  HostFunction,
  ObjectType,
  Read,
  ValueType,
} from './environment.ts'
export {
  type Compilation,
  compileExpression,
  type Expression,
  type ExpressionResult,
  evaluate,
  mayLack,
} from './expression.ts'
export type { ExpressionFault, UndeterminedReason } from './fault.ts'
export type { Scene } from './foresight.ts'
