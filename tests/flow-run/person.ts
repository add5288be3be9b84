/**
 * The human of `everyEdge`: looks what a run asks for, answers by the command line, and says it once
 * more when the answering was cut off. Also tries, once, to let a node go on that still lacks evidence.
 */
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { elementAt, type FlowCommand, type FlowFact } from '../../src/flow/index.ts'
import { lookAtRun, type WalkedRun } from '../../src/runs/runs.ts'
import { CLAIM, CLAIMING, NEEDED } from './every-edge.ts'
import type { RunPlace } from './place.ts'

/** Calls `writ flow …`; null when it was cut off, else its exit and what it printed. */
export type Say = (
  words: readonly string[],
) => Promise<{ readonly status: number | null; readonly out: string } | null>

export class Person {
  readonly #place: RunPlace
  readonly #say: Say
  /** What was said for certain. */
  readonly #said = new Set<string>()

  constructor(place: RunPlace, say: Say) {
    this.#place = place
    this.#say = say
  }

  /** Answers everything that is asked now. */
  async answer(runId: string): Promise<void> {
    const run = await lookAtRun({ ...this.#place, stream: 'main' }, runId)
    for (const command of run.waiting) {
      await this.#once(`${command.command}`, () => this.#wordsFor(runId, command))
    }
    if (!isHeld(run, CLAIMING)) return
    if (unblockings(run.facts) === 0) {
      await this.#once('unblock', () => ['answer', runId, CLAIMING, 'unblock'])
    } else {
      const evidence = ['evidence', runId, CLAIM, '--id', 'seen', '--file', 'flow.json']
      await this.#once('evidence', () => evidence)
    }
  }

  async #once(key: string, words: () => readonly string[]): Promise<void> {
    if (this.#said.has(key)) return
    const ended = await this.#say([...words(), '--json'])
    if (ended === null) return
    // A killed command may have recorded the answer before.
    const isSaid = ended.status === 0 || ended.out.includes('"flow.not_waiting"')
    if (!isSaid) throw new Error(`${words().join(' ')}: ${ended.status} ${ended.out}`)
    this.#said.add(key)
  }

  #wordsFor(runId: string, command: FlowCommand): readonly string[] {
    if (command.type === 'ask_human') {
      if (command.why === 'input') this.#place.write(NEEDED, 'as asked\n')
      const word = command.why === 'input' ? 'provided' : 'retry'
      return ['answer', runId, command.node_id, word]
    }
    if (command.type !== 'run_participant') throw new Error(`nobody answers ${command.type}`)
    const file = join(this.#place.folder, `answer-${command.command}.json`)
    writeFileSync(file, JSON.stringify(documentFor(command)))
    return ['answer', runId, command.node_id, '--file', file]
  }
}

/** Signs; and is content with the second version of what was signed. */
function documentFor({
  review,
  attempt,
}: Extract<FlowCommand, { type: 'run_participant' }>): unknown {
  if (review === null) {
    const artifact = { name: 'out', format: 'md', content: `signed ${attempt}` }
    return { result_type: 'ARTIFACT', artifact }
  }
  const { review_id, artifact_digest } = review
  const is_good = attempt > 1
  return {
    review_id,
    artifact_digest,
    total_score: is_good ? 95 : 40,
    action_required: is_good ? 'APPROVE' : 'MODIFY',
    summary: 's',
    breakdown: [],
    suggestions: [],
  }
}

function isHeld({ flow, state }: WalkedRun, nodeId: string): boolean {
  return elementAt(state.nodes, flow.nodeIndex.get(nodeId) ?? -1).isHeld
}

function unblockings(facts: readonly FlowFact[]): number {
  return facts.filter(
    ({ type, payload }) =>
      type === 'flow_event_v1' && payload.kind === 'event' && payload.event.type === 'unblocked',
  ).length
}
