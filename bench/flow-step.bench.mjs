/**
 * The step of a flow against XState: guarded transitions around a ring, ours with every fact object
 * built in memory. And compiling and walking a flow of 100,000 nodes against one of 10,000.
 */
import { createActor, setup } from 'xstate'
import { compileFlow, emptyState, runStatus, step } from '../dist/flow/index.js'
import { bestRates, row } from './measure.mjs'
import { threadMs } from './thread-time.mjs'

export const title = 'flow step'

const RING = 16
const AT = '2026-01-01T00:00:00.000Z'

/** A ring that is guarded at every edge. */
function ring() {
  const nodes = Array.from({ length: RING }, (_, index) => nodeOf(index))
  const edges = nodes.map(({ node_id }, index) => ({
    edge_id: `E${index}`,
    source: node_id,
    target: `n${(index + 1) % RING}`,
    class: index === RING - 1 ? 'Loop' : 'Progress',
    guard_expr: 'state.tool_calls >= 0 && state.attempt_count > 0',
  }))
  return compiled({ nodes, edges })
}

/** Each call is one transition. */
function ourRing() {
  const flow = ring()
  let { state, commands } = step(emptyState(flow), started())
  return () => {
    const [{ node_id, command }] = commands
    const next = step(state, { type: 'passed', node_id, command, at: AT, nonce: 'n' })
    state = next.state
    commands = next.commands
    return next
  }
}

/** The same ring as a machine; the guard reads two fields of the context. */
function theirRing() {
  const states = Object.fromEntries(
    Array.from({ length: RING }, (_, index) => [
      `n${index}`,
      { on: { PASSED: { target: `n${(index + 1) % RING}`, guard: 'isOpen' } } },
    ]),
  )
  const machine = setup({
    guards: { isOpen: ({ context }) => context.tool_calls >= 0 && context.attempt_count > 0 },
  }).createMachine({ initial: 'n0', context: { tool_calls: 0, attempt_count: 1 }, states })
  const actor = createActor(machine).start()
  const event = { type: 'PASSED' }
  return { send: () => actor.send(event), place: () => actor.getSnapshot().value }
}

export async function measure() {
  const grown = growth()
  const [ours, theirs] = [ourRing(), theirRing()]
  for (let turn = 1; turn <= 3 * RING; turn++) {
    const [command] = ours().commands
    theirs.send()
    if (command.node_id !== theirs.place()) throw new Error('the two are not at the same place')
  }
  const rates = bestRates({ ours, theirs: theirs.send })
  return [
    row('guarded transition', 'step, with its facts', rates.ours, 'xstate 5 send', rates.theirs, 1),
    grown,
  ]
}

/** Nodes per second, compiled and walked; ten times the nodes may take twelve times as long. */
function growth() {
  const [small, large] = [10_000, 100_000].map(walkRate)
  return row(
    'compile and walk, nodes per second',
    '100,000 nodes',
    large,
    '10,000 nodes',
    small,
    10 / 12,
  )
}

function walkRate(count) {
  const nodes = Array.from({ length: count }, (_, index) => nodeOf(index))
  const edges = nodes.slice(1).map(({ node_id: target }, index) => {
    const source = nodes[index >> 1].node_id
    return { edge_id: `E${index}`, source, target, class: 'Progress' }
  })
  // The median of as many nodes in all: the best of the small ones would be one in which the engine
  // collected nothing, which no large one is.
  const times = Array.from({ length: 1_600_000 / count }, () => {
    const start = threadMs()
    walk(compiled({ nodes, edges }))
    return threadMs() - start
  })
  times.sort((one, other) => one - other)
  return (count / times[times.length >> 1]) * 1000
}

function walk(flow) {
  let { state, commands } = step(emptyState(flow), started())
  const open = [...commands]
  for (let next = 0; next < open.length; next++) {
    const { type, node_id, phase_id, command } = open[next]
    const event =
      type === 'pass'
        ? { type: 'passed', node_id, command, at: AT, nonce: 'n' }
        : { type: 'log_written', phase_id, command, digest: 'd', at: AT, nonce: 'n' }
    ;({ state, commands } = step(state, event))
    open.push(...commands)
  }
  if (runStatus(state) !== 'DONE') throw new Error('the walk did not come to its end')
}

function nodeOf(index) {
  const node_id = `n${index}`
  const max_attempts = Number.MAX_SAFE_INTEGER
  return { node_id, kind: 'WORK', title: node_id, phase_id: 'P', actor: 'a', max_attempts }
}

function compiled(parts) {
  const compilation = compileFlow({ type: 'flow_v1', flow_id: 'f', title: '', ...parts })
  if (!compilation.ok) throw new Error(JSON.stringify(compilation.faults))
  return compilation.flow
}

function started() {
  return { type: 'started', run_id: 'r', at: AT, nonce: 'n' }
}
