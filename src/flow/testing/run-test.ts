/**
 * Runs the cases of a test by the real engine, compares each with what it expects, and tells which
 * nodes and edges no case came to. Nothing is run, recorded or written.
 */
import type { FlowTest, FlowTestCase } from '../../contracts/index.ts'
import type { CompiledFlow } from '../compile/compiled-flow.ts'
import type { RunStatus } from '../state/state.ts'
import { differencesOf, type TestDifference, walkOf } from './compare.ts'
import { absentItems, ItemNames } from './names.ts'
import { ScriptedRun } from './scripted-run.ts'
import { walkLines } from './walk-text.ts'

export interface TestCaseResult {
  readonly name: string
  readonly passed: boolean
  readonly status: RunStatus
  /** Nodes and edges in the order in which the run came to them. */
  readonly nodes: readonly string[]
  readonly edges: readonly string[]
  readonly differences: readonly TestDifference[]
  /** The walk in lines for people. */
  readonly walk: readonly string[]
}

/** Nodes and edges that no case came to; Meta edges are never taken and do not count. */
export interface TestCoverage {
  readonly nodes: { readonly taken: number; readonly all: number }
  readonly edges: { readonly taken: number; readonly all: number }
  readonly untaken_nodes: readonly string[]
  readonly untaken_edges: readonly string[]
}

export function runTestCase(flow: CompiledFlow, test: FlowTest, one: FlowTestCase): TestCaseResult {
  const run = new ScriptedRun(flow, test.files ?? {}, one).walk()
  const absent = absentItems(run.flow, one).map((name) => {
    const says = `the case says what ${name} does, and its list has no such item`
    return { at: 'nodes', says, because: [] }
  })
  const differences = [...differencesOf(run, one.expect), ...absent]
  const { nodes, edges } = walkOf(run.facts)
  return {
    name: one.name,
    passed: differences.length === 0,
    status: run.status,
    nodes,
    edges,
    differences,
    walk: walkLines(run),
  }
}

export function coverageOf(
  flow: CompiledFlow,
  results: readonly Pick<TestCaseResult, 'nodes' | 'edges'>[],
): TestCoverage {
  const { document } = flow
  const entered = new Set(results.flatMap(({ nodes }) => nodes))
  const fired = new Set(results.flatMap(({ edges }) => edges))
  const items = new ItemNames(flow)
  // A template is no node that a run comes to: its items are.
  for (const name of [...entered]) for (const one of items.templatesOf(name)) entered.add(one)
  for (const name of [...fired]) for (const one of items.edgeTemplatesOf(name)) fired.add(one)
  const nodes = document.nodes.map(({ node_id }) => node_id)
  const edges = document.edges.filter((one) => one.class !== 'Meta').map(({ edge_id }) => edge_id)
  const untaken_nodes = nodes.filter((id) => !entered.has(id))
  const untaken_edges = edges.filter((id) => !fired.has(id))
  return {
    nodes: { taken: nodes.length - untaken_nodes.length, all: nodes.length },
    edges: { taken: edges.length - untaken_edges.length, all: edges.length },
    untaken_nodes,
    untaken_edges,
  }
}
