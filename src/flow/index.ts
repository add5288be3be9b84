/**
 * Room: flow. Flows, compiled to be walked.
 * Pure: no clock, no chance, no machine. Sees base, contracts, expression and policy.
 */
export { compileFlow } from './compile/compile.ts'
export type {
  CompiledEdge,
  CompiledFlow,
  CompiledInvariant,
  CompiledNode,
  CompiledSpan,
  CompileFault,
  FlowCompilation,
} from './compile/compiled-flow.ts'
