/**
 * Turns a solution back into documents: inputs that a reader can save and evaluate. Whatever nobody
 * mentions is filled in so that the documents keep their contracts where the solution allows it.
 */
import { type GuardPath, pathRow, type ScalarPath, type SetPath } from '../../contracts/index.ts'
import type { Inputs } from '../projection.ts'
import type { Model } from './domain.ts'
import { SUBJECT_LEAVES, type World, type WorldPlan } from './world.ts'

const STATE_ID = 'ps-witness-1'
const START = 1_000
const END = 2_000

type Draft = Record<string, unknown>

export function witnessInputs(world: World, isTrue: Model, plan: WorldPlan): Inputs {
  const reader = new WitnessReader(world, isTrue, plan)
  const subject = reader.subject()
  const windows = reader.windows()
  const stateRef = reader.scalar('uncertainty_envelope.problem_state_ref', STATE_ID) ?? STATE_ID
  return {
    problem_state: defined({
      type: 'problem_state_v1',
      schema_version: '1.0.0',
      problem_state_id: stateRef,
      created_at_ts: START,
      subjectRef: subject,
      scale: 'plot',
      window: windows.state,
      problem_type: reader.word('problem_state.problem_type'),
      confidence: reader.word('problem_state.confidence'),
      uncertainty_sources: reader.set('problem_state.uncertainty_sources[]'),
      state_layer_hint: reader.word('problem_state.state_layer_hint'),
      rate_class_hint: reader.word('problem_state.rate_class_hint'),
      problem_scope: reader.word('problem_state.problem_scope'),
      supporting_evidence_refs: reader.evidence('problem_state.supporting_evidence_refs[]'),
    }),
    uncertainty_envelope: defined({
      type: 'uncertainty_envelope_v0',
      schema_version: '0.1.0',
      problem_state_ref: stateRef,
      uncertainty_sources: reader.set('uncertainty_envelope.uncertainty_sources[]'),
      supporting_evidence_refs: reader.evidence('uncertainty_envelope.supporting_evidence_refs[]'),
    }),
    permission_set: defined({
      type: 'permission_set_v0',
      schema_version: '0.1.0',
      permission_set_id: 'perm-witness-1',
      created_at_ts: START,
      subjectRef: subject,
      scale: reader.scalar('permission_set.scale', 'plot'),
      window: windows.permission,
      candidate_actions: reader.candidates(),
      action_taxonomy_ref: reader.exists('permission_set.action_taxonomy_ref')
        ? 'ao-taxonomy-0'
        : undefined,
      supporting_evidence_refs: reader.evidence('permission_set.supporting_evidence_refs[]'),
    }),
  }
}

class WitnessReader {
  readonly #world: World
  readonly #isTrue: Model
  readonly #plan: WorldPlan

  constructor(world: World, isTrue: Model, plan: WorldPlan) {
    this.#world = world
    this.#isTrue = isTrue
    this.#plan = plan
  }

  /** A field with a vocabulary: another word of it is preferred where the solution leaves the choice. */
  word(path: ScalarPath): string | undefined {
    const known = vocabularyOf(path)
    const mentioned = new Set(this.#world.scalar(path).values)
    return this.scalar(path, known.find((word) => !mentioned.has(word)) ?? 'unnamed')
  }

  /** The value the solution gives; `usual`, or a variation of it, stands for any other value. */
  scalar(path: ScalarPath, usual: string): string | undefined {
    const domain = this.#world.scalar(path)
    const read = domain.read(this.#isTrue)
    if (read === 'missing') return undefined
    return read === 'other' ? unmentioned(usual, new Set(domain.values)) : read.value
  }

  subject(): Draft {
    return defined(
      Object.fromEntries(
        SUBJECT_LEAVES.map((leaf) => [
          leaf,
          this.scalar(`permission_set.subjectRef.${leaf}`, `${leaf}-1`),
        ]),
      ),
    )
  }

  windows(): { state: Draft; permission: Draft } {
    const start = this.#moment('startTs')
    const end = this.#moment('endTs')
    const matches = this.#world.holds(this.#world.windowsMatch(), this.#isTrue)
    const free = forwards(start, end)
    const state = matches
      ? { startTs: start, endTs: end }
      : { startTs: free.start + 7, endTs: free.end + 7 }
    return {
      permission: defined({ startTs: start, endTs: end }),
      state: defined({
        startTs: this.exists('problem_state.window.startTs') ? state.startTs : undefined,
        endTs: this.exists('problem_state.window.endTs') ? state.endTs : undefined,
      }),
    }
  }

  /** An open start lies before the end, an open end behind the start. */
  #moment(leaf: 'startTs' | 'endTs'): number | undefined {
    const domain = this.#world.moment(leaf)
    const read = domain.read(this.#isTrue)
    if (read === 'missing') return undefined
    if (read !== 'other') return read.value
    const { starts, ends } = this.#plan.mentions
    const moments = [START, END, ...starts, ...ends]
    return leaf === 'startTs'
      ? moments.reduce((least, moment) => Math.min(least, moment)) - 1
      : moments.reduce((most, moment) => Math.max(most, moment)) + 1
  }

  set(path: SetPath): readonly string[] | undefined {
    const domain = this.#world.set(path)
    const read = domain.read(this.#isTrue)
    if (read === 'missing') return undefined
    const shared = this.#plan.mentions.pairs
      .filter((pair) => pair.includes(path))
      .filter(([left, right]) => this.#world.holds(this.#world.shared(left, right), this.#isTrue))
      .map(
        ([left, right]) =>
          `UNNAMED_IN_${[left, right]
            .sort()
            .join('_AND_')
            .replaceAll(/[^A-Za-z]+/g, '_')}`,
      )
    const words = [...new Set([...read, ...shared])]
    return words.length > 0 ? words : this.#filler(path, new Set(domain.words))
  }

  /** A problem state names at least one source: one that nobody asks about, if there is one. */
  #filler(path: SetPath, mentioned: ReadonlySet<string>): readonly string[] {
    if (this.#plan.mentions.pairs.some((pair) => pair.includes(path))) return []
    const word = vocabularyOf(path).find((one) => !mentioned.has(one))
    return word === undefined ? [] : [word]
  }

  candidates(): readonly Draft[] {
    const path = 'permission_set.candidate_actions[].action_code'
    return [...new Set([...this.#plan.actionCodes, ...(this.set(path) ?? [])])].map((code) => ({
      action_code: code,
    }))
  }

  evidence(path: GuardPath): readonly Draft[] | undefined {
    return this.exists(path) ? [{ kind: 'ledger_slice', ref_id: 'slice-1' }] : undefined
  }

  exists(path: GuardPath): boolean {
    return this.#world.holds(this.#world.present(path), this.#isTrue)
  }
}

/** The words of a path that has a closed list of them. */
export function vocabularyOf(path: GuardPath): readonly string[] {
  const { vocabulary } = pathRow(path)
  return vocabulary === null || vocabulary === 'registry' ? [] : vocabulary
}

function unmentioned(usual: string, values: ReadonlySet<string>): string {
  let word = usual
  for (let count = 1; values.has(word); count++) word = `${usual}-other-${count}`
  return word
}

function forwards(
  start: number | undefined,
  end: number | undefined,
): { start: number; end: number } {
  if (start !== undefined && end !== undefined && end > start) return { start, end }
  return { start: start ?? START, end: (start ?? START) + 1_000 }
}

function defined(draft: Draft): Draft {
  return Object.fromEntries(Object.entries(draft).filter(([, value]) => value !== undefined))
}
