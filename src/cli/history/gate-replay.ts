/**
 * Replay of the gate's decisions: gathers what a decision rests on from the ledger and its bodies, and
 * has the gate decide again. A decision that rests on a dropped body is unreplayable, which is neither
 * equal nor different.
 */
import { canonicalJson } from '../../base/index.ts'
import type { Decision, Evaluation } from '../../contracts/index.ts'
import {
  EVALUATOR,
  REPLAYED_VERSIONS,
  type Recomputed,
  recompute,
  recorded,
  recordsGrounds,
} from '../../gate/index.ts'
import { compareReplay, type Replay, type Replayer } from '../../ledger/index.ts'
import { evaluationOf, gatherDecision, groundsOf, NotKept } from './past-decision.ts'

export const replayDecision: Replayer = async (fact, payload, lookup) => {
  try {
    // The store judged the record by its contract before it was written.
    const decision = payload as Decision
    const past = await evaluationOf(fact, decision, lookup)
    const { evaluation } = past
    if (!isReplayed(evaluation.evaluator)) {
      const [made, known] = [evaluation.evaluator, EVALUATOR].map(versionOf)
      return { kind: 'engine_changed', recorded: made ?? '', known: known ?? '' }
    }
    if (recordsGrounds(evaluation) && evaluation.basis === undefined) {
      return { kind: 'unreplayable', reason: 'the record does not tell what it was judged with' }
    }
    const gathered = await gatherDecision(fact, decision, evaluation, lookup)
    const record = { ...gathered, grounds: await groundsOf(fact, past, lookup) }
    return compareParts(recorded(record), recompute(record))
  } catch (error) {
    if (error instanceof NotKept) return { kind: 'unreplayable', reason: error.message }
    throw error
  }
}

function isReplayed({ name, version }: Evaluation['evaluator']): boolean {
  return name === EVALUATOR.name && REPLAYED_VERSIONS.has(version)
}

function versionOf({ name, version }: Evaluation['evaluator']): string {
  return `${name}/${version}`
}

/** In the order in which they follow from one another: the first that differs is the cause. */
const PARTS = ['comparison', 'risk', 'standing', 'overrides', 'laws', 'decision'] as const

/** Reports only the first part that differs: a comparison can be long. */
function compareParts(before: Recomputed, now: Recomputed): Replay {
  for (const part of PARTS) {
    if (canonicalJson(before[part]) === canonicalJson(now[part])) continue
    return compareReplay({ [part]: before[part] }, { [part]: now[part] })
  }
  return { kind: 'equal' }
}
