/** Actions: proposed through the gate, and read from their facts. */
import { setTimeout as pause } from 'node:timers/promises'
import type { ActDocument } from '../../api/index.ts'
import {
  type Code,
  digestDocument,
  FaultError,
  faultError,
  isCode,
  showName,
} from '../../base/index.ts'
import { isObject } from '../../contracts/index.ts'
import { type ActHistory, actsOf, readAct, rollbacksOf } from '../../history/index.ts'
import {
  type Caller,
  defaultStream,
  HOST_STREAM,
  mayKnow,
  principalText,
  unknownStream,
} from '../../ledger/index.ts'
import type { GateAnswer } from '../../service/index.ts'
import { operationTitle } from '../../words/index.ts'
import type { Handler, Reply, RouteCall } from './route-call.ts'

type ReadCall = Pick<RouteCall, 'home' | 'caller'>

export const proposeAction: Handler<'proposeAction'> = async (call) => {
  const { home, caller, body, query, rehearsals, stop } = call
  const stream = writableStream(call, query.stream)
  const id = idOf(body)
  const isOver = query.dry_run === true || id === NO_ID ? () => undefined : claimId(call, id)
  const deciding = rehearsals.pass(() =>
    home.withGate(
      caller,
      stream,
      (gate) =>
        gate.propose(body, {
          door: 'propose',
          declaredByApproval: false,
          dryRun: query.dry_run === true,
          // The proposer does not answer: the question goes to the inbox.
          confirm: async () => ({ kind: 'wait' }),
          abort: stop,
        }),
      call.reserve?.(id),
    ),
  )
  deciding.then(isOver, isOver)
  // A failure is the answer below.
  if (query.dry_run !== true)
    deciding.then(({ action_id }) => call.acted(stream, action_id)).catch(() => undefined)
  const answer = await within(deciding, call.waitSeconds)
  if (answer !== null) return decidedReply(call, stream, answer)
  // What failed after this answer is on the record, or was never begun.
  deciding.catch(() => undefined)
  return underWay(body)
}

/**
 * Takes an id while its action is decided, also after its request was answered: the first fact may not be
 * there yet. Returns how to give it back. The same request again is under way; another one uses the id
 * of an action that is not its own.
 */
function claimId({ deciding, caller, body }: RouteCall<'proposeAction'>, id: string): () => void {
  const own = ownerOf(caller.principal, digestDocument(body))
  const [name, owner] = [id.toLowerCase(), deciding.get(id.toLowerCase())]
  if (owner !== undefined) throw owner === own ? faultError('api.in_progress', '') : idReused(id)
  deciding.set(name, own)
  return () => void deciding.delete(name)
}

function ownerOf(principal: Caller['principal'], proposalDigest: string): string {
  return `${principalText(principal)} ${proposalDigest}`
}

function idReused(id: string): FaultError {
  const message = `the action id ${showName(id)} was used before`
  return faultError(REUSED, id, message, FRESH_ID)
}

const FRESH_ID = 'make a fresh UUID for every proposal'

/** Returns the answer if it comes in time; null if it does not. */
async function within<T>(work: Promise<T>, seconds: number): Promise<T | null> {
  const late = new AbortController()
  const timer = pause(seconds * 1_000, null, { signal: late.signal }).catch(() => null)
  try {
    return await Promise.race([work, timer])
  } finally {
    late.abort()
  }
}

const REUSED = 'descriptor.action_id_reused'

async function decidedReply(call: ReadCall, stream: string, answer: GateAnswer): Promise<Reply> {
  const { violations = [] } = answer
  if (violations.length > 0) {
    throw new RefusedDocument(answer.decision.code, violations)
  }
  // The act that has the id is the first one's, and no answer to this proposal.
  if (answer.decision.codes.includes(REUSED)) throw idReused(answer.action_id)
  const act = await actDocument(call, stream, answer.action_id)
  if (act === null) {
    const { action_id, decision, result } = answer
    return { value: { action_id, decision, result } }
  }
  const status = answer.pending === undefined ? 200 : 202
  return { status, value: act, headers: { location: `/v1/actions/${answer.action_id}` } }
}

/** A document that breaks its contract. */
export class RefusedDocument extends Error {
  readonly code: Code
  readonly violations: NonNullable<GateAnswer['violations']>

  constructor(code: string, violations: NonNullable<GateAnswer['violations']>) {
    const [first] = violations
    super(first === undefined ? 'the document is refused' : `${first.path}: ${first.message}`)
    this.code = isCode(code) ? code : 'document.envelope'
    this.violations = violations
  }
}

const NO_ID = 'none'

/** The id of a proposed action; a document without one is refused and leaves no fact. */
function idOf(body: unknown): string {
  const descriptor = isObject(body) ? body['descriptor'] : null
  const id = isObject(descriptor) ? descriptor['action_id'] : null
  return typeof id === 'string' && id !== '' ? id : NO_ID
}

function underWay(body: unknown): Reply {
  const at = idOf(body)
  return { status: 202, value: { action_id: at }, headers: { location: `/v1/actions/${at}` } }
}

/** Whether an act is of this proposal of this caller; one without a decision yet is of its caller. */
function isOwn({ principal }: Caller, proposed: unknown, { by, decision }: ActDocument): boolean {
  const digest = digestDocument(proposed)
  const decided = decision?.payload.proposal_digest ?? digest
  return ownerOf(principal, digest) === ownerOf(by, decided)
}

/** An action as it is now, for a request that was made before, with what that proposed. */
export async function actReply(
  call: ReadCall & Pick<RouteCall, 'deciding'>,
  id: string,
  proposed?: unknown,
): Promise<Reply> {
  for (const stream of await knownStreams(call)) {
    let act = await actDocument(call, stream, id)
    if (act === null) continue
    if (proposed !== undefined && !isOwn(call.caller, proposed, act)) throw idReused(id)
    if (!call.deciding.has(id.toLowerCase())) {
      if (act.status === 'unknown') throw neverDecided(id)
      if (act.status === 'unfinished') {
        // A crash came between decision and promotion: the repeated request carries it out.
        await call.home.withGate(call.caller, stream, (gate) => gate.recoveries())
        act = (await actDocument(call, stream, id)) ?? act
      }
    }
    const headers = { location: `/v1/actions/${id}` }
    return { status: OPEN.has(act.status) ? 202 : 200, value: act, headers }
  }
  throw faultError('history.unknown', id, `no action has the id ${showName(id)}`)
}

const OPEN: ReadonlySet<ActDocument['status']> = new Set([
  'waiting',
  'unknown',
  'unfinished',
  'approved',
])

/** Nothing is promoted without a decision on the record, so nothing of such an action is real. */
function neverDecided(id: string): FaultError {
  const message = 'the service stopped before it decided this action; nothing was changed'
  const hint = 'propose it again with a new `action_id`, under another `Idempotency-Key`'
  return faultError('api.outcome_unknown', id, message, hint)
}

const ACTS = 30

export const listActions: Handler<'listActions'> = async (call) => {
  const { limit = ACTS, since, until, stream: named } = call.query
  const streams = named === undefined ? await knownStreams(call) : [readableStream(call, named)]
  const acts: ActDocument[] = []
  for (const stream of streams) {
    const query = { stream, limit, order: 'newest_first', ...given({ since, until }) } as const
    for (const act of await actsOf(call.home.ledger, query, limit)) acts.push(shownAct(act, stream))
  }
  acts.sort((left, right) => (left.at < right.at ? 1 : -1))
  return { value: { actions: acts.slice(0, limit) } }
}

export const showAction: Handler<'showAction'> = async (call) => {
  const { id } = call.params
  for (const stream of await knownStreams(call)) {
    const act = await actDocument(call, stream, id)
    if (act !== null) return { value: act }
  }
  throw faultError('history.unknown', id, `no action has the id ${showName(id)}`)
}

async function actDocument(
  { home }: ReadCall,
  stream: string,
  id: string,
): Promise<ActDocument | null> {
  const act = await readAct(home.ledger, stream, id, await rollbacksOf(home.ledger, stream))
  return act === null ? null : shownAct(act, stream)
}

function shownAct(act: ActHistory, stream: string): ActDocument {
  const { id, outcome, at, by, proposal, result, decision, answers } = act
  const { promotion, requests, rollback } = act
  const what = proposal === null ? null : operationTitle(proposal.payload)
  const parts = { what, proposal, result, decision, answers: [...answers], promotion, rollback }
  return { action_id: id, stream, status: outcome, at, by, ...parts, requests: [...requests] }
}

/** Streams of acts that the caller may know of, its own first. */
export async function knownStreams({ home, caller }: ReadCall): Promise<readonly string[]> {
  const own = defaultStream(caller)
  const known = (await home.ledger.store.streams()).filter(
    (stream) => stream !== HOST_STREAM && stream !== own && mayKnow(caller, stream),
  )
  return [own, ...known]
}

function readableStream({ caller }: ReadCall, stream: string): string {
  if (!mayKnow(caller, stream)) throw new FaultError(unknownStream(stream))
  return stream
}

export function writableStream(call: ReadCall, named: string | undefined): string {
  const stream = readableStream(call, named ?? defaultStream(call.caller))
  if (stream !== HOST_STREAM) return stream
  throw faultError('api.malformed', stream, 'the stream `host` holds facts about the host only')
}

/** The fields that have a value. */
function given<T extends Readonly<Record<string, unknown>>>(fields: T) {
  // What is left has the types that it had.
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined)) as {
    readonly [Key in keyof T]?: Exclude<T[Key], undefined>
  }
}
