/**
 * What is seen of a run while it is walked: on a terminal a few lines that are drawn again, with
 * phases, attempts, time against the floor and budget; with `--jsonl` each fact as it happens.
 */
import {
  type FlowFact,
  limitsOf,
  nodesOf,
  nodeTitle,
  phasesOf,
  type RunState,
  stopsOf,
} from '../../flow/index.ts'
import type { Confirm } from '../../service/index.ts'
import { counted } from '../../words/index.ts'
import type { CommandCall } from '../call/command.ts'
import { plain } from '../history/text.ts'
import { statusWord, stopsText } from './answer.ts'

const REDRAW_MS = 200
const NODES_SHOWN = 8

interface Watch {
  /** Asks with a still picture: what is shown to a person must not be drawn over. */
  readonly still: (confirm: Confirm) => Confirm
  readonly onFacts: (facts: readonly FlowFact[], state: RunState) => void
  /** Shows what people have to answer. */
  readonly onWaiting: (run: StoppedRun) => void
  readonly end: () => void
}

type StoppedRun = Parameters<typeof stopsOf>[0]

export function watchRun(call: CommandCall): Watch {
  if (call.options.isOn('jsonl')) return jsonLines(call)
  const { terminal, options } = call
  if (options.isOn('json')) return QUIET
  if (!terminal.isErrorTty)
    return {
      ...QUIET,
      onWaiting: (run) => terminal.err(stopsText(stopsOf(run), terminal.paintError)),
    }
  return new Drawing(call)
}

const QUIET: Watch = {
  onFacts: () => {},
  onWaiting: () => {},
  end: () => {},
  still: (confirm) => confirm,
}

function jsonLines({ terminal }: CommandCall): Watch {
  let line: Promise<void> = Promise.resolve()
  return {
    ...QUIET,
    onFacts(facts) {
      const text = facts.map((fact) => `${JSON.stringify(shown(fact))}\n`).join('')
      line = line.then(() => terminal.out(text))
    },
  }
}

/** What a participant wrote is kept in a body and not shown line by line. */
function shown(fact: FlowFact): unknown {
  if (fact.type !== 'participant_output_v1') return fact
  const { raw: _raw, ...payload } = fact.payload
  return { type: fact.type, payload }
}

class Drawing implements Watch {
  readonly #call: CommandCall
  #state: RunState | null = null
  #drawn = 0
  #isStill = false
  #activeSinceMs = 0
  readonly #timer: NodeJS.Timeout

  constructor(call: CommandCall) {
    this.#call = call
    this.#timer = setInterval(() => this.#draw(), REDRAW_MS)
    this.#timer.unref()
  }

  onFacts = (_facts: readonly FlowFact[], state: RunState): void => {
    this.#state = state
    this.#activeSinceMs = Date.now()
  }

  onWaiting = (run: StoppedRun): void => {
    const { terminal } = this.#call
    this.#erase()
    terminal.err(stopsText(stopsOf(run), terminal.paintError))
  }

  end = (): void => {
    clearInterval(this.#timer)
    this.#erase()
  }

  still =
    (confirm: Confirm): Confirm =>
    async (question) => {
      this.#erase()
      this.#isStill = true
      try {
        return await confirm(question)
      } finally {
        this.#isStill = false
      }
    }

  #erase(): void {
    if (this.#drawn > 0) this.#call.terminal.err(`\u001b[${this.#drawn}A\u001b[J`)
    this.#drawn = 0
  }

  #draw(): void {
    if (this.#state === null || this.#isStill) return
    const lines = this.#lines(this.#state)
    this.#erase()
    this.#call.terminal.err(`${lines.join('\n')}\n`)
    this.#drawn = lines.length
  }

  #lines(state: RunState): readonly string[] {
    const { flow } = state
    const paint = this.#call.terminal.paintError
    const budgets = limitsOf(flow, state)
    const phases = phasesOf(flow, state)
      .filter(({ status }) => status !== 'not_entered')
      .map((phase) => {
        const floor = phase.minimum_duration === 0 ? '' : ` of ${phase.minimum_duration} s`
        const time = `${phase.cumulative_duration.toFixed(1)} s${floor}`
        return `${statusWord(phase.status, paint)} ${plain(phase.phase_id)}  ${time}, ${counted(phase.attempts, 'attempt')}`
      })
    const nodes = nodesOf(flow, state)
      .filter(({ status }) => ['running', 'promoting', 'rolling_back', 'waiting'].includes(status))
      .slice(0, NODES_SHOWN)
      .map(
        ({ node_id, status, attempts }) =>
          `  ${paint.accent(status)} ${plain(nodeTitle(state.flow, node_id))}  attempt ${attempts}`,
      )
    const { seconds, attempts, tokens } = state.totals
    const since = ((Date.now() - this.#activeSinceMs) / 1000).toFixed(0)
    const limit = (value: number | undefined): string => (value === undefined ? '' : `/${value}`)
    const spent = `attempts ${attempts}${limit(budgets.attempts)}, time ${seconds.toFixed(1)}${limit(budgets.seconds)} s, tokens ${tokens}${limit(budgets.tokens)}`
    return [...phases, ...nodes, paint.dim(`${spent}; last change ${since} s ago`)]
  }
}
