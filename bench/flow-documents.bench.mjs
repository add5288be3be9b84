/**
 * Flows as documents: how the check of a flow, reading a table and writing it back grow from 10,000 to
 * 100,000 nodes, and what memory that takes; and the drawing of a table of the original's size.
 */
import {
  checkFlow,
  compileFlow,
  drawingOf,
  exportTable,
  importTable,
  toSvg,
} from '../dist/flow/index.js'
import { row } from './measure.mjs'
import { threadMs } from './thread-time.mjs'

export const title = 'flow documents'

const CLASSES = ['Progress', 'Gate', 'Progress', 'Gate', 'Loop', 'Exception', 'Rollback', 'Meta']

/** A chain with ways back, failures and remarks; every fourth edge has a guard of its own. */
function flowOf(count) {
  const nodes = Array.from({ length: count }, (_, index) => ({
    node_id: `n${index}`,
    kind: index === count - 1 ? 'GOAL' : 'WORK',
    title: `Node ${index}`,
    phase_id: `P${Math.floor(index / 50)}`,
    actor: 'worker',
    max_attempts: 3,
  }))
  const edges = Array.from({ length: count - 1 }, (_, index) => ({
    edge_id: `E${index}`,
    source: `n${index}`,
    target: `n${index + 1}`,
    class: 'Progress',
    ...(index % 4 === 0 ? { guard_expr: `state.tool_calls >= ${index % 1000}` } : {}),
  }))
  const back = Array.from({ length: Math.floor(count / 10) }, (_, index) => ({
    edge_id: `L${index}`,
    source: `n${index * 10 + 9}`,
    target: `n${index * 10}`,
    class: 'Loop',
    guard_expr: 'state.rejection_count > 0',
  }))
  return { type: 'flow_v1', flow_id: 'f', title: 't', nodes, edges: [...edges, ...back] }
}

function tableOf(count) {
  const rows = Array.from({ length: count }, (_, index) => {
    const kind = CLASSES[index % CLASSES.length]
    const back = kind === 'Loop' || kind === 'Rollback'
    const [source, target] = back ? [index, index - 1] : [index, index + 1]
    return `E${index},P${source}->P${target},P${source},P${target},"阶段 ${index}, 完成",solid,${kind}TransitionObject,note ${index}`
  })
  return `\uFEFFedge_id,edge_signature,source,target,label,style,v2_primary_class,rationale\r\n${rows.join('\r\n')}\r\n`
}

function once(run) {
  const before = threadMs()
  const result = run()
  return { ms: threadMs() - before, result }
}

/** The better of three: the first is paid for by warming up. */
function best(run) {
  return Math.min(...Array.from({ length: 3 }, () => once(run).ms))
}

/** Twelve times the time for ten times the nodes: five sixths of the rate. */
const GROWTH = 10 / 12

function growth(name, make, run) {
  const [small, large] = [make(10_000), make(100_000)]
  const [few, many] = [best(() => run(small)), best(() => run(large))]
  return row(name, '100,000 nodes: nodes/s', 1e8 / many, '10,000 nodes', 1e7 / few, GROWTH)
}

export async function measure() {
  const options = { flowId: 'f', title: 't' }
  const rows = [
    growth('check of a flow', flowOf, (flow) => {
      if (!checkFlow(flow).valid) throw new Error('the flow is sound')
    }),
    growth('check and compile', flowOf, (flow) => {
      checkFlow(flow)
      if (!compileFlow(flow).ok) throw new Error('the flow is sound')
    }),
    growth('import of a table', tableOf, (text) => {
      if (importTable(text, undefined, options).flow === null) throw new Error('the table is read')
    }),
  ]
  const text = tableOf(100_000)
  const { flow } = importTable(text, undefined, options)
  const { ms, result } = once(() => exportTable(flow))
  if (result !== text) throw new Error('the table came back otherwise')
  rows.push(row('export of a table, to the byte', 'rows/s', 1e8 / ms, '', null, null))
  const original = importTable(tableOf(146), undefined, options).flow
  await toSvg(drawingOf(original))
  const before = threadMs()
  await toSvg(drawingOf(original))
  rows.push(row('SVG of 146 edges', 'drawings/s', 1000 / (threadMs() - before), '', null, null))
  const peakMb = process.resourceUsage().maxRSS / 1024
  rows.push(row('memory, all of it together', 'of 1,024 MB: MB', peakMb, '', null, null))
  if (peakMb > 1_024) throw new Error(`the bench took ${Math.round(peakMb)} MB`)
  return rows
}
