/**
 * The facts of runs, on the ledger. A fact of a run has the key `flow/<run>/<seq>`, so that a second
 * runner cannot write another fact in its place: a runner that finds its keys used by others stops.
 *
 * Contents of artifacts are bodies (L-5); reading a run puts them back in their places.
 *
 * `missingOutputs` finds what participants said in a run and is no longer kept. The status of a run does not need it; a
 * run that would have to pass it on to another participant is refused.
 */
import {
  canonicalJson,
  digestBytes,
  type FaultError,
  faultCode,
  faultError,
  invariant,
  isDigest,
  showName,
} from '../base/index.ts'
import type { Flow, Rollback } from '../contracts/index.ts'
import { FACT_TYPES, type FlowFact } from '../flow/index.ts'
import {
  type Appended,
  BODY_RULES,
  contentOf,
  type LedgerEntry,
  type Fact as LedgerFact,
  markedBodies,
  type Page,
  type Principal,
  parseBodyMarker,
  principalText,
  type Query,
} from '../ledger/index.ts'
import type { Ledger, LedgerReader } from '../store/index.ts'
import type { BegunFlow } from './programs/others-changes.ts'

interface RecordsPlace {
  readonly ledger: Ledger
  readonly stream: string
  readonly principal: Principal
}

/** Where the facts of a run stand in their stream. */
export interface FactRange {
  readonly from: number
  readonly to: number
}

const RULE = BODY_RULES.find(({ type }) => type === 'participant_output_v1')

/** As one commit, after which they are durable. */
export async function appendFacts(
  { ledger, stream, principal }: RecordsPlace,
  facts: readonly FlowFact[],
): Promise<FactRange> {
  const entries = facts.map((fact): LedgerEntry => {
    const { run_id, seq } = fact.payload
    const idempotencyKey = `flow/${run_id}/${seq}`
    return { stream, source: 'flow', principal, record: fact, idempotencyKey }
  })
  const appended = await appendOnce(ledger, entries)
  const first = appended[0]?.seq ?? 0
  return { from: first, to: appended.at(-1)?.seq ?? first }
}

async function appendOnce(
  ledger: Ledger,
  entries: readonly LedgerEntry[],
): Promise<readonly Appended[]> {
  try {
    const recorded = await ledger.recordAll(entries)
    const refused = recorded.ok ? '' : JSON.stringify(recorded.violations[0])
    invariant(recorded.ok, `a record that a run made follows its contract: ${refused}`)
    if (recorded.appended.some(({ repeated }) => repeated)) throw taken(entries)
    return recorded.appended
  } catch (error) {
    // It may have been written: the same keys find out, and are allowed to be there.
    if (faultCode(error) !== 'ledger.unclear') throw error
    const again = await ledger.recordAll(entries)
    invariant(again.ok, 'a record was accepted before')
    return again.appended
  }
}

function taken([first]: readonly LedgerEntry[]): FaultError {
  // Every payload of a run has its id.
  const { run_id = '' } = (first?.record.payload ?? {}) as { readonly run_id?: string }
  return faultError('flow.taken', run_id, `another process walks the run ${showName(run_id)}`)
}

const PAGE = 1_000

export interface RunHistory {
  readonly facts: readonly FlowFact[]
  readonly range: FactRange
}

/** Everything that is recorded of a run, in order; no facts when there is no such run. */
export async function readRun(
  ledger: LedgerReader,
  stream: string,
  runId: string,
): Promise<RunHistory> {
  const facts: FlowFact[] = []
  let [from, to] = [-1, -1]
  for await (const { seq, text } of rows(ledger, { stream, run: runId })) {
    const fact = await factOf(ledger, text)
    if (fact === null) continue
    facts.push(fact)
    if (from === -1) from = seq
    to = seq
  }
  return { facts, range: { from, to } }
}

type QueryFilter = Omit<Query, 'limit' | 'order' | 'cursor'>

async function* rows(
  ledger: LedgerReader,
  query: QueryFilter,
): AsyncIterable<Page['facts'][number]> {
  let cursor: number | null = -1
  while (cursor !== null) {
    const page: Page = await ledger.store.find({
      ...query,
      cursor,
      limit: PAGE,
      order: 'oldest_first',
    })
    yield* page.facts
    cursor = page.next
  }
}

/** What participants said in a run, as it is recorded: with markers in place of contents. */
function outputRows(
  ledger: LedgerReader,
  stream: string,
  run: string,
): AsyncIterable<Page['facts'][number]> {
  return rows(ledger, { stream, run, type: 'participant_output_v1' })
}

/** A fact of a run whole; null for a fact of something else that names the run. */
async function factOf(ledger: LedgerReader, text: string): Promise<FlowFact | null> {
  const { record } = JSON.parse(text) as LedgerFact
  if (!FACT_TYPES.has(record.type)) return null
  const payload = await payloadOf(ledger, record)
  // The store judged the record by its contract before it was written.
  const fact = { type: record.type, payload } as FlowFact
  return fact.type === 'participant_output_v1' ? withContent(ledger, fact) : fact
}

/** Returns the payload of a record, also of a long one, which is kept apart. */
export async function payloadOf(
  ledger: LedgerReader,
  { payload, payload_ref }: LedgerFact['record'],
): Promise<unknown> {
  return payload ?? (await referred(ledger, payload_ref))
}

async function referred(ledger: LedgerReader, reference: string | undefined): Promise<unknown> {
  invariant(reference !== undefined && isDigest(reference), 'a long payload is named by its digest')
  return JSON.parse(decoder.decode(await ledger.objects.get(reference)))
}

type OutputFact = Extract<FlowFact, { type: 'participant_output_v1' }>

async function withContent(ledger: LedgerReader, fact: OutputFact): Promise<OutputFact> {
  const { answer } = fact.payload
  if (answer?.kind !== 'action' || answer.document.result_type !== 'ARTIFACT') return fact
  const { artifact } = answer.document
  const marker = parseBodyMarker(artifact.content)
  if (marker === null) return fact
  const content = await bodyText(ledger, marker.digest)
  if (content === null) return fact
  const document = { ...answer.document, artifact: { ...artifact, content } }
  return { ...fact, payload: { ...fact.payload, answer: { ...answer, document } } }
}

const decoder = new TextDecoder()

/** What a body holds as text; null when it is not kept any more. */
async function bodyText(ledger: LedgerReader, digest: string): Promise<string | null> {
  try {
    return isDigest(digest) ? decoder.decode(contentOf(await ledger.objects.get(digest))) : null
  } catch (error) {
    if (faultCode(error) === 'body.missing') return null
    throw error
  }
}

/** Keeps a document under the digest by which facts name it. */
export async function keepDocument(ledger: Ledger, document: unknown): Promise<void> {
  const bytes = new TextEncoder().encode(canonicalJson(document))
  await ledger.objects.put({ digest: digestBytes(bytes), bytes })
}

/** A document that was kept; null when it is gone. */
export async function keptDocument(ledger: LedgerReader, digest: string): Promise<unknown> {
  try {
    return isDigest(digest) ? JSON.parse(decoder.decode(await ledger.objects.get(digest))) : null
  } catch (error) {
    if (faultCode(error) === 'body.missing') return null
    throw error
  }
}

/** The number that a fact of a run has in its stream; null when there is none. */
export async function seqOfFact(
  ledger: LedgerReader,
  stream: string,
  run: string,
  seq: number,
): Promise<number | null> {
  const idempotencyKey = `flow/${run}/${seq}`
  const one = { stream, idempotencyKey, limit: 1 }
  const { facts } = await ledger.store.find({ ...one, order: 'oldest_first' })
  return facts[0]?.seq ?? null
}

/** What a run was begun with; null when that is not kept. */
export async function begunFlow(
  ledger: LedgerReader,
  stream: string,
  run: string,
): Promise<BegunFlow | null> {
  for await (const { text } of rows(ledger, { stream, run, type: 'flow_started_v1' })) {
    const fact = await factOf(ledger, text)
    if (fact?.type !== 'flow_started_v1') continue
    const { flow_digest, origin } = fact.payload
    // A flow was checked before it was kept.
    const flow = (await keptDocument(ledger, flow_digest)) as Flow | null
    return flow === null ? null : { flow, artifacts: origin?.artifacts ?? 'artifacts' }
  }
  return null
}

export interface RunHead {
  readonly run_id: string
  readonly flow_id: string
  readonly flow_digest: string
  readonly workspace: string
  readonly started_at: string
  /** Who began it. */
  readonly by: Principal
  readonly seq: number
}

/** The runs of a stream, newest first. */
export async function* runHeads(ledger: LedgerReader, stream: string): AsyncIterable<RunHead> {
  let cursor: number | null = Number.MAX_SAFE_INTEGER
  while (cursor !== null) {
    const page: Page = await ledger.store.find({
      stream,
      type: 'flow_started_v1',
      cursor,
      limit: PAGE,
      order: 'newest_first',
    })
    for (const { seq, text } of page.facts) {
      const fact = await factOf(ledger, text)
      if (fact?.type !== 'flow_started_v1') continue
      const { run_id, flow_id, flow_digest, at, origin } = fact.payload
      const workspace = origin?.workspace ?? ''
      // A fact is of its contract.
      const { principal: by } = JSON.parse(text) as LedgerFact
      yield { run_id, flow_id, flow_digest, workspace, started_at: at, by, seq }
    }
    cursor = page.next
  }
}

/** One body that is gone. */
export interface MissingOutput {
  readonly node_id: string
  /** The fact in the run that names it. */
  readonly seq: number
  /** `raw`: all that was said. `artifact`: the contents of what was made. */
  readonly what: 'raw' | 'artifact'
  readonly body: string
  readonly bytes: number
}

export async function missingOutputs(
  ledger: LedgerReader,
  stream: string,
  runId: string,
): Promise<readonly MissingOutput[]> {
  const missing: MissingOutput[] = []
  for await (const { text } of outputRows(ledger, stream, runId)) {
    // The store returns texts of facts.
    const { record } = JSON.parse(text) as LedgerFact
    const payload = await payloadOf(ledger, record)
    // The store judged the record by its contract before it was written.
    const { node_id, seq, raw } = payload as Pick<MissingOutput, 'node_id' | 'seq'> & {
      readonly raw: string
    }
    for (const { digest, bytes } of markedBodies(payload, RULE)) {
      if (await ledger.objects.has(digest)) continue
      const what = raw.includes(digest) ? 'raw' : 'artifact'
      missing.push({ node_id, seq, what, body: digest, bytes })
    }
  }
  return missing
}

/** Others would be handed a name in place of the contents. */
export async function refuseMissing(
  ledger: LedgerReader,
  stream: string,
  runId: string,
  isLast: (output: MissingOutput) => boolean,
): Promise<void> {
  const missing = await missingOutputs(ledger, stream, runId)
  const lost = missing.find((output) => output.what === 'artifact' && isLast(output))
  if (lost === undefined) return
  const { node_id, body } = lost
  const message = `what ${showName(node_id)} made in the run ${showName(runId)} is no longer kept`
  throw faultError('flow.output_missing', body, message)
}

/** An act that a person took back: the run itself does not learn of it, its readers must. */
export interface TakenBack {
  readonly node_id: string
  readonly action_id: string
  readonly at: string
  readonly by: string
}

/** Returns the promoted acts of a run that were undone by another than the run, oldest first. */
export async function takenBack(
  ledger: LedgerReader,
  stream: string,
  runId: string,
  facts: readonly FlowFact[],
): Promise<readonly TakenBack[]> {
  const promoted = promotedIn(facts)
  if (promoted.size === 0) return []
  const found: TakenBack[] = []
  for await (const { text } of rows(ledger, { stream, type: 'rollback_v1' })) {
    // The store returns texts of facts.
    const { principal, record } = JSON.parse(text) as LedgerFact
    // The store judged the record by its contract before it was written.
    const { action_ids, rolled_back_at: at, run } = record.payload as Rollback
    if (run === runId) continue
    for (const action_id of action_ids) {
      const node_id = promoted.get(action_id)
      if (node_id !== undefined)
        found.push({ node_id, action_id, at, by: principalText(principal) })
    }
  }
  return found
}

/** Nodes by the acts that were promoted for them. */
function promotedIn(facts: readonly FlowFact[]): ReadonlyMap<string, string> {
  const promoted = new Map<string, string>()
  for (const { type, payload } of facts) {
    if (type !== 'flow_event_v1' || payload.kind !== 'event') continue
    const { event } = payload
    if (event.type === 'promoted' && event.action_id !== null)
      promoted.set(event.action_id, event.node_id)
  }
  return promoted
}
