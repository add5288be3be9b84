/**
 * Held requests at their promotion (G-22, I3): after the files are applied and before anything is
 * called done. That a request is about to leave is on the ledger before it leaves; what became of it
 * is on the ledger before anything else happens.
 *
 * INVARIANT (never twice): a request with a fact of its own is never sent again, on no machine. After a
 *   crash in between its outcome is UNKNOWN, recorded so, and left to a human.
 *
 * The answer to a request becomes a file by a promotion of its own: the body is in the objects, is
 * staged, journalled, and put in place like rehearsed bytes, with the same pre-image for undoing. It is
 * its own step because the answer is unknown when the act is rehearsed.
 */
import { randomUUID } from 'node:crypto'
import { chmodSync, closeSync, fsyncSync, lstatSync, mkdirSync, openSync, writeSync } from 'node:fs'
import { dirname, join } from 'node:path'
import {
  canonicalJson,
  type Digest,
  type FaultError,
  faultError,
  showName,
} from '../../base/index.ts'
import {
  type ActionDescriptor,
  declaresEffect,
  type Proposal,
  type RequestFact,
  readEffects,
  type SandboxResult,
} from '../../contracts/index.ts'
import {
  type Change,
  type ComposedRequest,
  composeRequests,
  type EntryState,
  leavesOf,
  type RawPath,
  type RequestMemory,
  rawOfText,
} from '../../gate/index.ts'
import { occurredAtText } from '../../ledger/index.ts'
import { makeDurable } from '../../machine/index.ts'
import { hashFile, lookAt } from '../../promotion/index.ts'
import { isForThisMachine } from '../../store/index.ts'
import { writeStage } from '../../tree/index.ts'
import { PUSH_HEADER, sendPush } from '../acts/git-push.ts'
import { COMMAND_HEADER, runHeldCommand } from '../acts/held-command.ts'
import {
  addressRules,
  type HttpResponse,
  loadProtocols,
  type Sent,
  sendRequest,
} from '../acts/send-request.ts'
import { BUDGET_HEADER, grantBudget } from '../acts/session-budget.ts'
import { realPathOf } from '../readings/host-facts.ts'
import type { GateRecord, LedgerView } from '../records/ledger-view.ts'
import type { GateContext } from '../surface/context.ts'
import { refusal } from './stopped-promotion.ts'

const SECOND_MS = 1_000
const MEBIBYTE = 1024 * 1024
const TIMEOUT_MAX_MS = 120 * SECOND_MS
const ANSWER_MAX_BYTES = 64 * MEBIBYTE
const MODE = 0o644

export interface DispatchOrder {
  readonly actionId: string
  readonly proposal: Proposal
  readonly proposalDigest: string
  readonly resultDigest: string
  readonly result: SandboxResult
}

export class Dispatcher {
  readonly #context: GateContext
  readonly #view: LedgerView

  constructor(context: GateContext, view: LedgerView) {
    this.#context = context
    this.#view = view
  }

  /** Sends all of them in their order; throws at the first that is known to have failed. */
  async send(order: DispatchOrder): Promise<void> {
    const requests = composeRequests(order.proposal)
    refuseAltered(requests, order.result)
    const known = (await this.#view.standing()).requests.of(order.actionId)
    for (const { begun } of known) {
      const { machine } = begun
      if (machine !== undefined && !(await isForThisMachine(this.#context.ledger, machine)))
        throw refusal('confirm.used', order.actionId)
    }
    if (known.length > 0) throw alreadySent(order.actionId)
    const descriptors = descriptorsOf(order.proposal)
    for (const { operation, stepId } of requests)
      checkTarget(operation.save_to, descriptors.get(stepId))
    for (const request of requests) {
      const sent = await this.#sendOne(order, request, descriptors.get(request.stepId))
      if (sent.state === 'FAILED') throw failed(request, sent)
      // Later requests may depend on one whose outcome is unknown.
      if (sent.state === 'UNKNOWN') return
    }
  }

  async #sendOne(
    order: DispatchOrder,
    request: ComposedRequest,
    descriptor: ActionDescriptor | undefined,
  ): Promise<Sent> {
    const { save_to } = request.operation
    const { signer } = this.#context.ledger
    const begun: RequestFact = {
      action_id: order.actionId,
      step_id: request.stepId,
      proposal_digest: order.proposalDigest,
      result_digest: order.resultDigest,
      request_digest: request.held.digest,
      state: 'SENDING',
      ...(signer === null ? {} : { machine: signer }),
      method: request.operation.method,
      host: request.address.host,
      port: request.address.port,
      ...(save_to === undefined ? {} : { save: { path: save_to, save_id: randomUUID() } }),
      at: occurredAtText(this.#context.nowMs()),
    }
    // Loads Node's http and tls, which no other promotion needs, before the fact says that it sends.
    const protocols = await loadProtocols()
    await this.#begin(begun)
    const sent = await this.#pass(request, descriptor, protocols)
    await this.#recordEnd(begun, sent)
    return sent
  }

  /** Fails if another machine sends it: locks of the workspace end at this one, and facts do not. */
  async #begin(begun: RequestFact): Promise<void> {
    const record = recordOf(begun)
    if (await this.#view.recordFirst(record)) return
    // The store tells of a repeated key also when it appended this very record and tried again.
    const first = await this.#view.factAt(record.key)
    if (canonicalJson(first?.payload ?? null) !== canonicalJson(begun))
      throw refusal('confirm.used', begun.action_id)
  }

  /** A push is sent by git, a command by its program; of a budget nothing is sent, and all else as it is. */
  #pass(
    request: ComposedRequest,
    descriptor: ActionDescriptor | undefined,
    protocols: Awaited<ReturnType<typeof loadProtocols>>,
  ): Promise<Sent> {
    const { headers = {}, body } = request.operation
    const push = headers[PUSH_HEADER]
    const { home, environment } = this.#context
    if (push !== undefined) return sendPush(home.state, push, body, environment)
    const command = headers[COMMAND_HEADER]
    if (command !== undefined) return runHeldCommand(home.state, command, body, environment)
    const budget = headers[BUDGET_HEADER]
    if (budget !== undefined) return Promise.resolve(grantBudget(home.state, budget, body))
    const { max_duration_ms, max_disk_mb } = descriptor?.resources ?? NO_ROOM
    return sendRequest(request, {
      protocols,
      ...(this.#context.resolve === undefined ? {} : { resolve: this.#context.resolve }),
      rules: addressRules(descriptor?.scope.network.hosts ?? []),
      timeoutMs: Math.min(max_duration_ms, TIMEOUT_MAX_MS),
      answerBytesMax: Math.min(max_disk_mb * MEBIBYTE, ANSWER_MAX_BYTES),
    })
  }

  /** The body of an answer is durable before the fact that names it. */
  async #recordEnd(begun: RequestFact, sent: Sent): Promise<void> {
    const answer = 'answer' in sent ? sent.answer : undefined
    if (answer?.body != null) await this.#context.ledger.objects.put(answer.body)
    await this.#record({
      ...begun,
      state: sent.state,
      ...('code' in sent ? { code: sent.code, detail: sent.detail } : {}),
      ...(answer === undefined ? {} : { answer: answerFact(answer) }),
      at: occurredAtText(this.#context.nowMs()),
    })
  }

  /**
   * Records begun requests of this machine as UNKNOWN. The caller holds the workspace's lock, so none is being
   * sent.
   */
  async settleInterrupted(memories: readonly RequestMemory[]): Promise<void> {
    for (const { begun } of memories) {
      await this.#record({
        ...begun,
        state: 'UNKNOWN',
        code: 'request.unknown',
        detail: 'interrupted while it was sent',
        at: occurredAtText(this.#context.nowMs()),
      })
    }
  }

  async recordKept(
    memory: RequestMemory,
    outcome: { readonly ok: true } | { readonly ok: false; readonly detail: string },
  ): Promise<void> {
    const { begun } = memory
    await this.#record({
      ...begun,
      ...(outcome.ok
        ? { state: 'SAVED' }
        : { state: 'NOT_SAVED', code: 'request.save_to', detail: outcome.detail }),
      at: occurredAtText(this.#context.nowMs()),
    })
  }

  async #record(payload: RequestFact): Promise<void> {
    await this.#view.record([recordOf(payload)])
  }
}

function recordOf(payload: RequestFact): GateRecord {
  const key = `request/${payload.step_id}/${PHASES[payload.state]}`
  return { type: 'request_v1', payload, key }
}

const PHASES: Readonly<Record<RequestFact['state'], string>> = {
  SENDING: 'begun',
  ANSWERED: 'ended',
  FAILED: 'ended',
  UNKNOWN: 'ended',
  SAVED: 'kept',
  NOT_SAVED: 'kept',
}

const NO_ROOM = { max_duration_ms: SECOND_MS, max_disk_mb: 1 }

function descriptorsOf(proposal: Proposal): ReadonlyMap<string, ActionDescriptor> {
  return new Map(
    leavesOf(proposal).map(({ proposal: { descriptor } }) => [descriptor.action_id, descriptor]),
  )
}

/** Fails if the requests differ from the approved ones. */
function refuseAltered(
  requests: readonly ComposedRequest[],
  { side_effects }: SandboxResult,
): void {
  const approved = side_effects.held ?? []
  const isSame =
    approved.length === requests.length &&
    requests.every(({ held }, index) => held.digest === approved[index]?.digest)
  if (isSame) return
  throw faultError('request.altered', '')
}

function alreadySent(actionId: string): FaultError {
  const message = `requests of ${showName(actionId)} were sent before`
  return faultError('request.altered', actionId, message)
}

function failed(
  { operation, address }: ComposedRequest,
  { code, detail }: Extract<Sent, { state: 'FAILED' }>,
): FaultError {
  const message = `${operation.method} ${address.host}: ${code}, ${detail}`
  return faultError('request.failed', address.host, message)
}

function answerFact({ status, bytes, body }: HttpResponse): NonNullable<RequestFact['answer']> {
  return { status, bytes, ...(body === null ? {} : { digest: body.digest }) }
}

/** What is there now, for a place that an answer can be kept in; throws when it cannot. */
function targetState(path: string): {
  readonly real: string
  readonly before: EntryState | null
} {
  const real = realPathOf(path)
  const parent = lstatSync(dirname(real), { throwIfNoEntry: false })
  if (parent?.isDirectory() !== true) throw notKept(path, 'there is no directory to keep it in')
  const entry = lookAt(real)
  if (entry === null) return { real, before: null }
  if (entry.kind !== 'file') throw notKept(path, 'something else than a file is there')
  return { real, before: stateOf(real) }
}

/** Before anything is sent: that the answer can be kept there, and that it was declared so. */
function checkTarget(path: string | undefined, descriptor: ActionDescriptor | undefined): void {
  if (path === undefined) return
  const kind = targetState(path).before === null ? 'create' : 'modify'
  if (declaresEffect(readEffects(descriptor?.effects), kind, path)) return
  throw notKept(
    path,
    kind === 'create' ? 'to be created, not declared so' : 'to be changed, not declared so',
  )
}

/** Makes a stage that holds one file, durable; the change that puts it in place is the answer. */
export async function stageAnswer(
  stage: string,
  path: string,
  body: { readonly digest: Digest; readonly bytes: Uint8Array },
): Promise<Change> {
  const { real, before } = targetState(path)
  mkdirSync(stage, { recursive: true, mode: 0o700 })
  const place = 'answer'
  const file = join(stage, place)
  const handle = openSync(file, 'wx', 0o600)
  try {
    writeSync(handle, body.bytes)
    chmodSync(file, before?.mode ?? MODE)
    fsyncSync(handle)
  } finally {
    closeSync(handle)
  }
  const raw = rawOfText(real)
  // An ASCII name is the same as a raw path.
  const entries = [{ path: raw, place: place as RawPath, isUnit: true }]
  const list = writeStage({ stage, entries, emptied: [] })
  await makeDurable([list, rawOfText(stage), rawOfText(dirname(stage))], stage)
  return { path: raw, before, after: { ...stateOf(file), owner: before?.owner ?? ownOwner() } }
}

function stateOf(path: string): EntryState {
  const entry = lookAt(path)
  if (entry === null) throw notKept(path, 'it is not there any more')
  return {
    kind: 'file',
    mode: entry.mode,
    size: entry.size,
    digest: hashFile(path),
    target: null,
    attributes: [],
    owner: process.getuid?.() === 0 ? { uid: entry.uid, gid: entry.gid } : null,
    mtimeNs: entry.mtimeNs,
    linkGroup: null,
  }
}

function ownOwner(): EntryState['owner'] {
  return process.getuid?.() === 0 ? { uid: 0, gid: process.getgid?.() ?? 0 } : null
}

function notKept(path: string, reason: string): FaultError {
  return faultError('request.save_to', path, `${showName(path)}: ${reason}`)
}
