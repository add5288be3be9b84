/**
 * Recorded evaluations of rules: how one becomes a fact, and how it is computed again. Here and not in
 * the ledger, because the ledger may not see the constitution (K-6).
 */
import { FaultError, fault } from '../../base/index.ts'
import {
  establish,
  type Inputs,
  KERNEL_VERSION,
  KERNEL_VERSIONS,
} from '../../constitution/index.ts'
import {
  type ControlEvaluation,
  type ControlVerdict,
  isObject,
  type JsonObject,
} from '../../contracts/index.ts'
import { compareReplay, type Replayer } from '../../ledger/index.ts'
import type { CommandCall } from '../call/command.ts'
import { actorOf, streamToWrite, withHome } from '../call/home.ts'
import type { RuleFile } from '../rules/files.ts'

export const EVALUATOR = { name: 'control-kernel', version: KERNEL_VERSION } as const

export interface RulesEvaluation {
  readonly files: readonly RuleFile[]
  readonly inputs: Inputs
  readonly atMs: number
  readonly verdicts: readonly ControlVerdict[]
}

export interface RecordedEvaluation {
  readonly stream: string
  readonly seq: number
  readonly fact_id: string
}

/** One fact with all that the verdicts rest on. It triggers nothing. */
export async function recordEvaluation(
  call: CommandCall,
  evaluation: RulesEvaluation,
): Promise<RecordedEvaluation> {
  return withHome(call, async (session) => {
    const stream = streamToWrite(session, call)
    const payload = evaluationPayload(evaluation)
    const entry = { ...actorOf(session), stream, record: { type: TYPE, payload } }
    const recorded = await session.ledger.record(entry)
    if (!recorded.ok) throw new FaultError(notRecorded(recorded.violations[0]))
    const { seq, factId: fact_id } = recorded.appended
    return { stream, seq, fact_id }
  })
}

const TYPE = 'control_evaluation_v0'

/** What is no object cannot speak of any action code, and takes no part in a verdict. */
function evaluationPayload({ files, inputs, atMs, verdicts }: RulesEvaluation): JsonObject {
  const rulesets = files.flatMap(({ ref, document }) =>
    isObject(document) ? [{ ref, document }] : [],
  )
  return { evaluator: EVALUATOR, rulesets, inputs, at: atMs, verdicts }
}

function notRecorded(violation: { readonly message: string } | undefined) {
  const message = `the evaluation cannot be recorded: ${violation?.message ?? ''}`
  return fault('document.envelope', '', null, { message })
}

export const replayEvaluation: Replayer = (_fact, payload) => {
  // The store judged the record by its contract before it was written.
  const { evaluator, rulesets, inputs, at, verdicts } = payload as ControlEvaluation
  const version = KERNEL_VERSIONS.find((one) => one === evaluator.version)
  if (evaluator.name !== EVALUATOR.name || version === undefined) {
    const recorded = `${evaluator.name}/${evaluator.version}`
    return { kind: 'engine_changed', recorded, known: `${EVALUATOR.name}/${EVALUATOR.version}` }
  }
  return compareReplay(verdicts, establish(rulesets, {}, version).evaluate(inputs, at))
}
