/**
 * Reviewers that are programs, while others work in the same workspace: what other acts changed of what a
 * reviewer may load, right before it runs and once more when its review is taken.
 */
import type { Participant } from '../contracts/index.ts'
import type { RunCommand } from './participant-input.ts'
import { OthersChanges } from './programs/others-changes.ts'
import { commandOf } from './programs/participant-command.ts'
import type { FlowRun } from './run.ts'
import { begunFlow, seqOfFact } from './run-records.ts'

export class ReviewWatch {
  readonly #run: FlowRun
  readonly #others: OthersChanges
  /** By node: how many changes by others its reviewer began behind. */
  readonly #looked = new Map<string, number>()

  constructor(run: FlowRun) {
    this.#run = run
    const { runId, workspace, host } = run.options
    const { ledger, stream, attempts } = host
    this.#others = new OthersChanges({
      runId,
      workspace,
      artifacts: () => run.state.artifacts,
      rules: () => run.programs.othersRules(),
      begunAt: () => begunAt(run),
      promotedBehind: (seq) => attempts.promotedBehind(seq),
      flowOf: (other) => begunFlow(ledger, stream, other),
    })
  }

  /** What other acts left of what the reviewer of a command may load; it must not run then. */
  async before(
    { node_id, review }: RunCommand,
    participant: Participant,
    isAgain: boolean,
  ): Promise<readonly string[]> {
    if (review === null || commandOf(participant) === null) return []
    if (isAgain && this.#looked.has(node_id)) return []
    const changed = await this.#others.standing()
    if (changed.length === 0) this.#looked.set(node_id, this.#others.count)
    return changed
  }

  /** What changed while it ran, also if that was put back meanwhile. */
  async meanwhile({ node_id }: RunCommand): Promise<readonly string[]> {
    const looked = this.#looked.get(node_id)
    if (looked === undefined) return []
    this.#looked.delete(node_id)
    const touched = await this.#others.since(looked)
    return [...new Set([...touched, ...this.#run.programs.changed()])]
  }
}

async function begunAt({ facts, range, options }: FlowRun): Promise<number> {
  const migrated = facts.findLast(
    ({ type, payload }) =>
      type === 'flow_event_v1' && payload.kind === 'event' && payload.event.type === 'migrated',
  )
  if (migrated === undefined) return range.from
  const { ledger, stream } = options.host
  const seq = await seqOfFact(ledger, stream, options.runId, migrated.payload.seq)
  return seq ?? range.from
}
