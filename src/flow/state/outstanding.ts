/** Which commands of a run are not answered yet, and which of them only time or a signal answers. */
import type { FlowCommand } from './command.ts'
import type { NodeState, RunState } from './state.ts'
import { elementAt, vectorElements } from './vector.ts'

/** Commands that are not answered yet, oldest first. */
export function outstanding({
  nodes,
  phases,
  subphases,
  isRefused,
  ended,
}: RunState): readonly FlowCommand[] {
  if (isRefused || ended !== null) return []
  return [...vectorElements(nodes), ...vectorElements(phases), ...vectorElements(subphases)]
    .flatMap(({ pending }) => (pending === null ? [] : [pending]))
    .sort((one, other) => one.command - other.command)
}

/** Commands that only the clock, or a signal, answers. */
export function timersOf({
  nodes,
  isRefused,
  ended,
}: RunState): readonly Extract<FlowCommand, { type: 'wait' | 'deadline' }>[] {
  if (isRefused || ended !== null) return []
  return [...vectorElements(nodes)].flatMap(({ pending, deadline }) => [
    ...(pending?.type === 'wait' ? [pending] : []),
    ...(deadline?.type === 'deadline' ? [deadline] : []),
  ])
}

/** Returns whether a signal has come that a node has not taken yet. */
export function hasCome(
  { signals }: Pick<RunState, 'signals'>,
  { heard }: Pick<NodeState, 'heard'>,
  name: string,
): boolean {
  return (signals.get(name)?.count ?? 0) > (heard[name] ?? 0)
}

/** Timers whose moment has come, and whose signals have too: telling the run changes something. */
export function dueTimers(state: RunState, nowMs: number): ReturnType<typeof timersOf> {
  if (state.isRefused || state.ended !== null) return []
  const isPast = (until: string | null): boolean => until !== null && Date.parse(until) <= nowMs
  return [...vectorElements(state.nodes)].flatMap((node) => {
    const { pending, deadline } = node
    const isReady =
      pending?.type === 'wait' && pending.signals.every((name) => hasCome(state, node, name))
    return [
      ...(isReady && isPast(pending.until) ? [pending] : []),
      ...(deadline?.type === 'deadline' && isPast(deadline.until) ? [deadline] : []),
    ]
  })
}

/** Returns the commands of nodes that wait for a signal which only a person or a program outside sends. */
export function signalsAwaited(state: RunState): readonly number[] {
  return timersOf(state).flatMap((timer) => {
    if (timer.type === 'deadline') return []
    const node = elementAt(state.nodes, state.flow.nodeIndex.get(timer.node_id) ?? -1)
    return timer.signals.some((name) => !hasCome(state, node, name)) ? [timer.command] : []
  })
}
