/**
 * Turns a solution back into documents: inputs that a reader can save and evaluate. Fills in the
 * values that no rule mentions, so that the documents keep their contracts where the solution
 * allows it.
 */
import {
  type GuardPath,
  pathRow,
  type ScalarPath,
  type SetPath,
  WINDOW_LEAVES,
} from '../../contracts/index.ts'
import type { Inputs } from '../kernel/projection.ts'
import type { Look } from './domain.ts'
import { CANDIDATES, SUBJECT_LEAVES, type World, type WorldPlan } from './world.ts'

const SOURCES = 'problem_state.uncertainty_sources[]'
const STATE_ID = 'ps-witness-1'
const START = 1_000
const END = 2_000
const SHIFT = 7

type Draft = Record<string, unknown>

/**
 * Writes the inputs of `world`. The second world is the other one in the question, or the same one.
 */
export function witnessInputs(world: World, beside: World, look: Look, plan: WorldPlan): Inputs {
  const reader = new WitnessReader(world, beside, look, plan)
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
      uncertainty_sources: reader.set(SOURCES),
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
  readonly #beside: World
  readonly #look: Look
  readonly #plan: WorldPlan

  constructor(world: World, beside: World, look: Look, plan: WorldPlan) {
    this.#world = world
    this.#beside = beside
    this.#look = look
    this.#plan = plan
  }

  /** Reads a field with a vocabulary. For any other value, prefers an unmentioned word of it. */
  word(path: ScalarPath): string | undefined {
    const known = vocabularyOf(path)
    const mentioned = new Set(this.#world.scalar(path).values)
    return this.scalar(path, known.find((word) => !mentioned.has(word)) ?? 'unnamed')
  }

  /**
   * Returns the value in the solution. For "any other value", returns `usual` or a variation of it.
   */
  scalar(path: ScalarPath, usual: string): string | undefined {
    const domain = this.#world.scalar(path)
    const read = domain.read(this.#look)
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

  /**
   * Writes two equal windows, unless both are complete and must differ in the first world. If they
   * are incomplete there, the second world decides: adding the missing leaf then shows its effect.
   */
  windows(): { state: Draft; permission: Draft } {
    const { start, end } = this.#permissionWindow()
    const isWhole = (world: World) =>
      WINDOW_LEAVES.every((leaf) => this.#look.holds(world.present(leaf)))
    const world = isWhole(this.#world) ? this.#world : this.#beside
    const differs = isWhole(world) && !this.#look.holds(world.windowsMatch())
    const shift = differs ? SHIFT : 0
    const startTs = (start ?? this.#filled('startTs')) + shift
    const endTs = (end ?? this.#filled('endTs')) + shift
    return {
      permission: defined({ startTs: start, endTs: end }),
      state: defined({
        startTs: this.exists('problem_state.window.startTs') ? startTs : undefined,
        endTs: this.exists('problem_state.window.endTs') ? endTs : undefined,
      }),
    }
  }

  /** Replaces a start that is not before the end: the two may come from different scopes. */
  #permissionWindow(): { start: number | undefined; end: number | undefined } {
    const start = this.#moment(this.#world, 'startTs')
    const end = this.#moment(this.#world, 'endTs')
    const runsBackwards = start !== undefined && end !== undefined && end <= start
    return { start: runsBackwards ? this.#openMoment('startTs') : start, end }
  }

  /** Returns a value for a missing leaf, so that the window runs forwards. */
  #filled(leaf: 'startTs' | 'endTs'): number {
    const start = this.#moment(this.#beside, 'startTs')
    const end = this.#moment(this.#beside, 'endTs')
    const runsBackwards = start !== undefined && end !== undefined && end <= start
    const beside = leaf === 'startTs' ? start : end
    return beside === undefined || runsBackwards ? this.#openMoment(leaf) : beside
  }

  #moment(world: World, leaf: 'startTs' | 'endTs'): number | undefined {
    const read = world.moment(leaf).read(this.#look)
    if (read === 'missing') return undefined
    return read === 'other' ? this.#openMoment(leaf) : read.value
  }

  /** Returns a start before all mentioned moments, or an end after them. */
  #openMoment(leaf: 'startTs' | 'endTs'): number {
    const { starts, ends } = this.#plan.mentions
    const moments = [START, END, ...starts, ...ends]
    return leaf === 'startTs'
      ? moments.reduce((least, moment) => Math.min(least, moment)) - 1
      : moments.reduce((most, moment) => Math.max(most, moment)) + 1
  }

  set(path: SetPath): readonly string[] | undefined {
    const read = this.#world.set(path).read(this.#look)
    if (read === 'missing') return undefined
    const pairs = this.#plan.mentions.pairs.filter((pair) => pair.includes(path))
    const shared = pairs
      .filter(([left, right]) => left !== right && this.#holdsShared(left, right))
      .map(unnamedIn)
    // Adds a word of its own: another set might share it.
    const own = pairs.length > 0 && this.#holdsShared(path, path) ? [this.#ownWord(path)] : []
    const words = [...new Set([...read, ...shared, ...own])]
    return words.length > 0 ? words : this.#filler(path)
  }

  #holdsShared(left: SetPath, right: SetPath): boolean {
    return this.#look.holds(this.#world.shared(left, right))
  }

  #ownWord(path: SetPath): string {
    return this.#spareWord(path) ?? unnamedIn([path, path])
  }

  /** Returns one source for a problem state, unless a guard tests whether there is one. */
  #filler(path: SetPath): readonly string[] {
    const { pairs } = this.#plan.mentions
    if (path !== SOURCES || pairs.some(([left, right]) => left === path && right === path))
      return []
    const word = this.#spareWord(path)
    return word === undefined ? [] : [word]
  }

  /** Returns a word that no rule mentions and no compared set can hold. */
  #spareWord(path: SetPath): string | undefined {
    const others = this.#plan.mentions.pairs
      .filter((pair) => pair.includes(path))
      .flatMap((pair) => pair.filter((one) => one !== path))
    const taken = new Set([...this.#world.set(path).words, ...others.flatMap(vocabularyOf)])
    return vocabularyOf(path).find((word) => !taken.has(word))
  }

  candidates(): readonly Draft[] {
    return [...new Set([...this.#plan.actionCodes, ...(this.set(CANDIDATES) ?? [])])].map(
      (code) => ({
        action_code: code,
      }),
    )
  }

  evidence(path: GuardPath): readonly Draft[] | undefined {
    return this.exists(path) ? [{ kind: 'ledger_slice', ref_id: 'slice-1' }] : undefined
  }

  exists(path: GuardPath): boolean {
    return this.#look.holds(this.#world.present(path))
  }
}

/** Returns the closed vocabulary of a path; empty if it has none. */
export function vocabularyOf(path: GuardPath): readonly string[] {
  const { vocabulary } = pathRow(path)
  return vocabulary === null || vocabulary === 'registry' ? [] : vocabulary
}

/** Returns a word that no rule mentions, for these two sets only. */
function unnamedIn(pair: readonly [SetPath, SetPath]): string {
  const names = [...new Set(pair)].sort().map((path) => path.replaceAll(/[^A-Za-z]+/g, '_'))
  return `UNNAMED_IN_${names.join('_AND_')}`
}

function unmentioned(usual: string, values: ReadonlySet<string>): string {
  let word = usual
  for (let count = 1; values.has(word); count++) word = `${usual}-other-${count}`
  return word
}

function defined(draft: Draft): Draft {
  return Object.fromEntries(Object.entries(draft).filter(([, value]) => value !== undefined))
}
