/** `writ replay`: computes every recorded verdict and decision again, and says what differs (L-9). */
import { canonicalJson } from '../../base/index.ts'
import type { Decision, Evaluation, Flow, FlowStarted } from '../../contracts/index.ts'
import {
  compileFlow,
  FACT_TYPES,
  FLOW_EVALUATOR,
  type FlowFact,
  replayRun,
  rulesNamed,
} from '../../flow/index.ts'
import {
  EVALUATOR,
  REPLAYED_VERSIONS,
  type Recomputed,
  recompute,
  recorded,
  recordsGrounds,
} from '../../gate/index.ts'
import { eachFact } from '../../history/index.ts'
import {
  compareReplay,
  contentOf,
  type OpenedFact,
  parseBodyMarker,
  type Replay,
  type ReplayAnswer,
  type Replayer,
  type Replayers,
  type ReplayLookup,
  ReplayReport,
} from '../../ledger/index.ts'
import { type CommandCall, EXIT, type Exit } from '../call/command.ts'
import { type ReadSession, streamsToRead, withHistory } from '../call/home.ts'
import { progressBar } from '../call/terminal.ts'
import { DecisionWalk, NotedObjects, replayLookup } from '../history/decision-walk.ts'
import { DispatchReplay } from '../history/dispatch-replay.ts'
import { replayEvaluation } from '../history/evaluation.ts'
import { evaluationOf, gatherDecision, groundsOf, NotKept } from '../history/past-decision.ts'
import { replayPromotion } from '../history/promotion-replay.ts'
import { replayUndo } from '../history/undo-replay.ts'

export async function run(call: CommandCall): Promise<Exit> {
  return withHistory(call, async (session) => {
    const report = new ReplayReport()
    const objects = new NotedObjects(session.ledger.objects)
    const ledger = { ...session.ledger, objects, close: () => session.ledger.close() }
    for (const stream of await streamsToRead(session, call)) {
      await replayStream({ ...session, ledger }, call, stream, report)
    }
    const answer = report.finish(await objects.unexplained(session.ledger))
    await tell(call, answer)
    return answer.ok ? EXIT.yes : EXIT.no
  })
}

async function replayStream(
  { ledger, register }: ReadSession,
  call: CommandCall,
  stream: string,
  report: ReplayReport,
): Promise<void> {
  const total = (await ledger.store.head(stream))?.size ?? 0
  const bar = progressBar(call.terminal, `replaying ${stream}`)
  const lookup = new DecisionWalk(replayLookup(ledger))
  for (const [type, replayer] of REPLAYERS) {
    const facts =
      type === 'decision_v1' ? lookup.decisions(stream) : eachFact(ledger, { stream, type })
    for await (const fact of facts) {
      bar.tick(fact.seq, total)
      report.add(fact, isKept(fact) ? await replayer(fact, fact.payload, lookup) : GONE)
    }
  }
  for await (const fact of eachFact(ledger, { stream, type: 'promotion_v1' })) {
    const replay = isKept(fact) ? await replayPromotion(fact, lookup, register) : GONE
    if (replay !== null) report.add(fact, replay)
  }
  const dispatches = new DispatchReplay(ledger)
  for await (const fact of eachFact(ledger, { stream, type: 'dispatch_v1' })) {
    report.add(fact, isKept(fact) ? await dispatches.step(fact) : GONE)
  }
  bar.end()
}

const GONE = { kind: 'unreplayable', reason: 'the payload is no longer kept' } as const

function isKept({ payload }: OpenedFact): boolean {
  return payload !== null
}

async function tell({ options, terminal }: CommandCall, answer: ReplayAnswer): Promise<void> {
  if (options.isOn('json')) return terminal.out(`${JSON.stringify(answer)}\n`)
  const { paint } = terminal
  const { ok, checked, differences, not_replayed, missing } = answer
  const word = differences.length > 0 ? 'different' : missing.length > 0 ? 'incomplete' : 'same'
  const lines = [
    `${ok ? paint.good(word) : paint.bad(word)}  ${checked} computed again, ${differences.length} differ`,
  ]
  for (const { stream, seq, recorded, computed } of differences) {
    lines.push(
      `  ${stream}/${seq}  ${paint.dim('replay.different')}`,
      `    recorded  ${JSON.stringify(recorded)}`,
      `    computed  ${JSON.stringify(computed)}`,
    )
  }
  for (const { stream, seq, code, message } of not_replayed) {
    lines.push(`  ${stream}/${seq}  ${paint.dim(code)}  ${message}`)
  }
  for (const digest of missing) {
    lines.push(
      `  ${paint.accent('body.missing')}  ${digest} is not in the store of bodies, and no fact says that it was dropped`,
    )
  }
  return terminal.out(`${lines.join('\n')}\n`)
}

const replayFlow: Replayer = async (fact, payload, lookup) => {
  // The store judged the record by its contract before it was written.
  const started = payload as FlowStarted
  const made = started.origin?.evaluator
  const rules = rulesNamed(made)
  if (rules === null) {
    return { kind: 'engine_changed', recorded: versionOf(made), known: versionOf(FLOW_EVALUATOR) }
  }
  const bytes = await lookup.body(started.flow_digest)
  if (bytes === null) return { kind: 'unreplayable', reason: 'the flow is no longer kept' }
  // A run starts only with a flow that its contract admits, and the digest binds the bytes.
  const document = JSON.parse(new TextDecoder().decode(bytes)) as Flow
  const compilation = compileFlow(document, rules)
  if (!compilation.ok) return { kind: 'unreplayable', reason: 'the flow does not compile any more' }
  const facts: FlowFact[] = []
  for (const one of await lookup.ofRun(fact.stream, started.run_id)) {
    if (!FACT_TYPES.has(one.record.type)) continue
    const whole = await wholeFact(one, lookup)
    if (whole === null) return { kind: 'unreplayable', reason: 'an output is no longer kept' }
    facts.push(whole)
  }
  const difference = replayRun(compilation.flow, facts)
  if (difference === null) return { kind: 'equal' }
  const { seq, recorded: was, computed } = difference
  return { kind: 'different', recorded: { seq, fact: was }, computed: { seq, fact: computed } }
}

/** With the content of an artifact in its place; null when it is gone. */
async function wholeFact(one: OpenedFact, lookup: ReplayLookup): Promise<FlowFact | null> {
  if (one.payload === null) return null
  const fact = { type: one.record.type, payload: one.payload } as FlowFact
  if (fact.type !== 'participant_output_v1') return fact
  const { answer } = fact.payload
  if (answer?.kind !== 'action' || answer.document.result_type !== 'ARTIFACT') return fact
  const { artifact } = answer.document
  const marker = parseBodyMarker(artifact.content)
  if (marker === null) return fact
  const body = await lookup.body(marker.digest)
  if (body === null) return null
  const content = new TextDecoder().decode(contentOf(body))
  const document = { ...answer.document, artifact: { ...artifact, content } }
  return { ...fact, payload: { ...fact.payload, answer: { ...answer, document } } }
}

/**
 * Which records are computed again by whom. Each part of writ that decides adds a row.
 *
 * Replay of the gate's decisions: gathers what a decision rests on from the ledger and its bodies, and
 * has the gate decide again. A decision that rests on a dropped body is unreplayable, which is neither
 * equal nor different.
 *
 * Replay of runs of flows: the events that came in are stepped again, and every guard, policy,
 * invariant, command and state that follows has to be what is on the record. One run is one replay.
 */
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

function versionOf(evaluator: Evaluation['evaluator'] | undefined): string {
  return evaluator === undefined ? '' : `${evaluator.name}/${evaluator.version}`
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

const REPLAYERS: Replayers = new Map([
  ['control_evaluation_v0', replayEvaluation],
  ['decision_v1', replayDecision],
  ['flow_started_v1', replayFlow],
  ['undo_request_v1', replayUndo],
])
