/**
 * Which bodies of the past may go (L-5): what commands printed, unredacted proposals, whole lists of
 * changes, screenshots. Payloads that a fact keeps by reference are part of the fact and are never among them.
 *
 * INVARIANT (undo keeps its bodies): nothing is named that a question which waits, an attempt that is
 *   held, an act that can still be taken back, or a run of a flow that has not ended needs.
 */
import { type Digest, isDigest } from '../../base/index.ts'
import type { Evaluation, Proposal, SandboxResult } from '../../contracts/index.ts'
import type { StandingFold } from '../../gate/index.ts'
import {
  BODY_RULES,
  type Fact,
  markedBodies,
  type OpenedFact,
  type Query,
  termsOf,
} from '../../ledger/index.ts'
import { OpenRuns } from '../records/kept-bodies.ts'
import type { GateContext } from '../surface/context.ts'

export const BODY_KINDS = ['output', 'proposal', 'manifest', 'evidence'] as const
export type BodyKind = (typeof BODY_KINDS)[number]

export interface FoundBody {
  readonly body: Digest
  readonly bytes: number
  readonly kind: BodyKind
  readonly action_id: string | null
  /** The run of a flow in which it was said; absent for what belongs to an act. */
  readonly run_id?: string
}

export interface BodyHold {
  readonly action_id: string | null
  readonly run_id?: string
  readonly reason: string
}

export interface BodySearch {
  readonly kinds: ReadonlySet<BodyKind>
  /** ISO 8601; only facts before it. Null for every one. */
  readonly before: string | null
  /** Only facts about this action. */
  readonly action: string | null
  /** Only facts behind this one. */
  readonly behind: number
}

interface SearchAnswer {
  readonly found: readonly FoundBody[]
  readonly kept: readonly BodyHold[]
}

const PAGE = 500
const TYPES = ['proposal_v1', 'sandbox_result_v1', 'evaluation_v1', 'participant_output_v1']

export async function searchBodies(
  context: GateContext,
  standing: StandingFold,
  search: BodySearch,
  nowMs: number,
): Promise<SearchAnswer> {
  const found = new Map<string, FoundBody>()
  const kept = new Map<string, BodyHold>()
  const screens: Screens = new Map()
  const runs = new OpenRuns(context)
  for (const type of TYPES) {
    for await (const fact of factsOf(context, queryOf(context, type, search), search.behind)) {
      for (const body of bodiesOf(fact, screens)) {
        if (!search.kinds.has(body.kind)) continue
        const { action_id, run_id } = body
        const isOpen = run_id !== undefined && (await runs.has(run_id))
        const reason = isOpen ? 'its run has not ended' : neededBy(body, standing, nowMs)
        if (reason === null) found.set(body.body, body)
        else kept.set(run_id ?? action_id ?? '', { ...named(body), reason })
      }
    }
  }
  await leaveShared(context, standing, search, found, screens, nowMs)
  const there: FoundBody[] = []
  for (const body of found.values()) {
    const bytes = await context.ledger.objects.size(body.body)
    if (bytes !== null) there.push({ ...body, bytes })
  }
  return { found: there, kept: [...kept.values()] }
}

function named({ action_id, run_id }: FoundBody): Pick<BodyHold, 'action_id' | 'run_id'> {
  return run_id === undefined ? { action_id } : { action_id, run_id }
}

function queryOf({ stream }: GateContext, type: string, { before, action }: BodySearch) {
  return {
    stream,
    type,
    ...(before === null ? {} : { until: before }),
    ...(action === null ? {} : { action }),
  }
}

/** Bodies without a salt are named by their contents alone. */
const SHARED: ReadonlySet<BodyKind> = new Set(['manifest', 'evidence'])

/** What is named by its contents others may name as well, and need longer. */
async function leaveShared(
  context: GateContext,
  standing: StandingFold,
  search: BodySearch,
  found: Map<string, FoundBody>,
  screens: Screens,
  nowMs: number,
): Promise<void> {
  if (![...found.values()].some(({ kind }) => SHARED.has(kind))) return
  const isChosen = ({ occurred_at }: OpenedFact, action: string | null): boolean =>
    (search.before === null || occurred_at < search.before) &&
    (search.action === null || search.action === action)
  for (const type of ['sandbox_result_v1', 'evaluation_v1']) {
    const { stream } = context
    for await (const fact of factsOf(context, { stream, type }, -1)) {
      for (const body of bodiesOf(fact, screens)) {
        if (!SHARED.has(body.kind) || !found.has(body.body)) continue
        const isNeeded = neededBy(body, standing, nowMs) !== null
        if (isNeeded || !isChosen(fact, body.action_id)) found.delete(body.body)
      }
    }
  }
}

/** Returns why a body has to stay; null if it is not needed. */
function neededBy(
  { action_id, kind }: FoundBody,
  standing: StandingFold,
  nowMs: number,
): string | null {
  if (action_id === null) return null
  if (standing.question(action_id) !== null) return 'a question about it waits'
  if (standing.heldMark(action_id) !== null) return 'its effects are held'
  const promoted = standing.promotion(action_id)
  if (promoted === null || promoted.rolledBackBy !== null) return null
  const { undoUntil, promotion } = promoted
  // Only the unredacted proposal says how a request is undone.
  const isNeeded =
    (kind === 'manifest' && promotion.paths > 0) ||
    (kind === 'proposal' && standing.reachesBeyondFiles(action_id))
  return isNeeded && Date.parse(undoUntil) > nowMs
    ? `it can be taken back until ${undoUntil}`
    : null
}

/** By action: the paths at which an act was to leave screenshots, read off its proposal. */
type Screens = Map<string, ReadonlySet<string>>

/** What a fact names; a proposal tells of the screenshots that its result names. */
function bodiesOf(fact: OpenedFact, screens: Screens): readonly FoundBody[] {
  const { record, payload } = fact
  const { action: action_id = null, run } = termsOf(record)
  const whose = run === undefined ? { action_id } : { action_id, run_id: run }
  const made = (kind: BodyKind, body: unknown, bytes: number): readonly FoundBody[] =>
    typeof body === 'string' && isDigest(body) ? [{ body, bytes, kind, ...whose }] : []
  const { original } = record
  const own = original === undefined ? [] : made('proposal', original.body, original.bytes)
  if (record.type === 'proposal_v1') {
    const paths = screenshotPaths(payload)
    if (paths.length > 0 && action_id !== null) screens.set(action_id, new Set(paths))
  }
  const rule = BODY_RULES.find(({ type }) => type === record.type)
  const marked = markedBodies(payload, rule).flatMap(({ digest, bytes }) =>
    made('output', digest, bytes),
  )
  return [
    ...own,
    ...marked,
    ...manifestsOf(record.type, payload).flatMap((one) => made('manifest', one, 0)),
    ...evidenceOf(fact, screens.get(action_id ?? '')).flatMap((one) => made('evidence', one, 0)),
  ]
}

function evidenceOf(
  { record, payload }: OpenedFact,
  paths: ReadonlySet<string> | undefined,
): readonly unknown[] {
  if (record.type !== 'sandbox_result_v1' || paths === undefined) return []
  // The ledger has checked the payload against the contract of this type.
  const { added, modified } = (payload as SandboxResult).diff
  return [...added, ...modified].filter(({ path }) => paths.has(path)).map(({ after }) => after)
}

/** Of every step of a recorded proposal, however deep its children nest. */
function screenshotPaths(payload: unknown): readonly string[] {
  const open = [payload as Proposal]
  const paths: string[] = []
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    const { operation, children = [] } = next
    open.push(...children)
    if (operation?.type !== 'UI_AUTOMATION') continue
    for (const step of operation.steps) if (step.action === 'screenshot') paths.push(step.save_to)
  }
  return paths
}

function manifestsOf(type: string, payload: unknown): readonly string[] {
  // The ledger has checked each payload against the contract of its type.
  if (type === 'sandbox_result_v1') return [(payload as SandboxResult).diff.manifest]
  if (type !== 'evaluation_v1') return []
  return ((payload as Evaluation).comparison?.steps ?? []).map(({ manifest }) => manifest)
}

async function* factsOf(
  { ledger }: GateContext,
  query: Omit<Query, 'limit' | 'order' | 'cursor'>,
  behind: number,
): AsyncIterable<OpenedFact> {
  for (let cursor: number | null = behind; cursor !== null; ) {
    const page = await ledger.store.find({ ...query, cursor, limit: PAGE, order: 'oldest_first' })
    for (const { text } of page.facts) {
      const fact = JSON.parse(text) as Fact // The store returns the canonical text of a fact.
      const { payload, payload_ref: reference } = fact.record
      if (reference === undefined) yield { ...fact, payload }
      else
        yield {
          ...fact,
          // A recorded reference is a digest.
          payload: JSON.parse(decoder.decode(await ledger.objects.get(reference as Digest))),
        }
    }
    cursor = page.next
  }
}

const decoder = new TextDecoder()
