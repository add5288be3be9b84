/**
 * Requests of actors that one of their promoted acts is taken back (M-1). Asking opens a question; only
 * a human's recorded yes lets the host roll the act back. Requests live on the ledger alone, so any
 * process lists and answers them.
 *
 * INVARIANT (I1): an actor asks for its own acts only, and no actor answers.
 */
import { randomUUID } from 'node:crypto'
import { FaultError, faultError, showName } from '../../base/index.ts'
import type { Proposal, UndoRequest } from '../../contracts/index.ts'
import { humanFault, occurredAtText, principalText } from '../../ledger/index.ts'
import { retryWhileMoved } from '../../store/index.ts'
import type { GateParts } from '../lifecycle/act.ts'
import { actWords } from '../records/proposal-record.ts'
import type { RollbackAnswer, UndoAnswer, UndoQuestion } from '../surface/surface.ts'
import type { Rollbacks } from './rollbacks.ts'

const SHORT_MIN = 4
const ID_DIGITS = 12
const PAGE = 200

interface KnownRequest {
  readonly asked: UndoRequest
  readonly by: string
  /** Null while it waits. */
  readonly answer: UndoRequest | null
}

export class UndoRequests {
  readonly #gate: GateParts
  readonly #rollbacks: Rollbacks
  readonly #questionMs: number

  constructor(gate: GateParts, rollbacks: Rollbacks, questionMs: number) {
    this.#gate = gate
    this.#rollbacks = rollbacks
    this.#questionMs = questionMs
  }

  /**
   * Asks that an act is taken back. Returns the open request if there is one. Fails if the act is not
   * the caller's, or cannot be taken back now.
   */
  async ask(actionId: string, reason: string): Promise<UndoQuestion> {
    const { view, context } = this.#gate
    await this.#refuseForeign(actionId)
    await this.#rollbacks.rollback({ actionId }, { dryRun: true })
    return retryWhileMoved(async () => {
      await view.standing()
      const size = view.seen.stream
      const open = (await this.#open()).find(({ asked }) => asked.action_id === actionId)
      if (open !== undefined) return this.#shown(open)
      const nowMs = context.nowMs()
      const asked: UndoRequest = {
        request_id: randomUUID(),
        event: 'ASKED',
        action_id: actionId,
        at: occurredAtText(nowMs),
        reason,
        expires_at: occurredAtText(nowMs + this.#questionMs),
      }
      await view.recordAt([recordOf(asked)], size)
      return this.#shown({ asked, by: principalText(context.caller.principal), answer: null })
    })
  }

  /** Requests that wait; records that others expired. */
  async pending(): Promise<readonly UndoQuestion[]> {
    const shown: UndoQuestion[] = []
    for (const one of await this.#open()) shown.push(await this.#shown(one))
    return shown
  }

  /** Null if no request that waits has this id or a beginning of it. */
  async find(id: string): Promise<UndoQuestion | null> {
    const found = await this.#named(id)
    return found === null ? null : this.#shown(found)
  }

  /** Records a human's answer; after a yes the act is rolled back. */
  async answer(id: string, given: UndoAnswer): Promise<RollbackAnswer | null> {
    const { view, context } = this.#gate
    const refused = humanFault(context.caller, 'answering')
    if (refused !== null) throw new FaultError(refused)
    const found = await this.#named(id)
    if (found === null) throw unknown(id)
    const { request_id, action_id } = found.asked
    const isYes = given.kind === 'yes'
    // What is in the way of restoring is found before the answer is recorded.
    if (isYes) await this.#rollbacks.rollback({ actionId: action_id }, { dryRun: true })
    const answer: UndoRequest = {
      request_id,
      event: isYes ? 'APPROVED' : 'DENIED',
      action_id,
      at: occurredAtText(context.nowMs()),
      assurance: given.assurance,
      ...(given.kind === 'no' && given.reason !== undefined ? { reason: given.reason } : {}),
    }
    await retryWhileMoved(async () => {
      await view.standing()
      const size = view.seen.stream
      if ((await this.#named(request_id)) === null) throw unknown(id)
      await view.recordAt([recordOf(answer)], size)
    })
    return isYes ? this.#rollbacks.rollback({ actionId: action_id }, { dryRun: false }) : null
  }

  async #refuseForeign(actionId: string): Promise<void> {
    const { view, context } = this.#gate
    const proposed = await view.factOf('proposal_v1', actionId)
    const own = principalText(context.caller.principal)
    if (proposed !== null && principalText(proposed.fact.principal) === own) return
    throw faultError('history.unknown', actionId, `no action has the id ${showName(actionId)}`)
  }

  async #named(id: string): Promise<KnownRequest | null> {
    const wanted = id.toLowerCase()
    if (wanted.length < SHORT_MIN) return null
    const found = (await this.#open()).filter(({ asked }) =>
      [asked.request_id, asked.action_id, questionId(asked)].some((one) => one.startsWith(wanted)),
    )
    return found.length === 1 ? (found[0] ?? null) : null
  }

  async #open(): Promise<readonly KnownRequest[]> {
    const nowMs = this.#gate.context.nowMs()
    const waiting = (await this.#all()).filter(({ answer }) => answer === null)
    const isOver = ({ asked }: KnownRequest): boolean =>
      Date.parse(asked.expires_at ?? asked.at) <= nowMs
    for (const { asked } of waiting.filter(isOver)) {
      const { request_id, action_id } = asked
      const at = occurredAtText(nowMs)
      await this.#gate.view.record([recordOf({ request_id, event: 'EXPIRED', action_id, at })])
    }
    return waiting.filter((one) => !isOver(one))
  }

  async #all(): Promise<readonly KnownRequest[]> {
    const { ledger, stream } = this.#gate.context
    const known = new Map<string, KnownRequest>()
    for (let cursor: number | null = -1; cursor !== null; ) {
      const query = { stream, type: 'undo_request_v1', cursor, limit: PAGE } as const
      const page = await ledger.store.find({ ...query, order: 'oldest_first' })
      for (const { text } of page.facts) {
        // The query asked for facts of this type, and the store checked them when they were recorded.
        const { record, principal } = JSON.parse(text) as RequestFact
        const { payload } = record
        const earlier = known.get(payload.request_id)
        if (payload.event === 'ASKED') {
          const by = principalText(principal)
          known.set(payload.request_id, { asked: payload, by, answer: null })
        } else if (earlier?.answer === null) {
          known.set(payload.request_id, { ...earlier, answer: payload })
        }
      }
      cursor = page.next
    }
    return [...known.values()]
  }

  async #shown({ asked, by }: KnownRequest): Promise<UndoQuestion> {
    const { request_id, action_id, at, reason = '', expires_at = at } = asked
    const found = await this.#gate.view.factOf('proposal_v1', action_id)
    const proposal = found === null ? null : await this.#gate.view.originalOf(found)
    // The original has the digest of a proposal that was checked.
    const what = proposal === null ? '' : actWords(proposal as Proposal)
    return {
      id: questionId(asked),
      request_id,
      action_id,
      asked_by: by,
      what,
      reason,
      at,
      expires_at,
    }
  }
}

interface RequestFact {
  readonly principal: Parameters<typeof principalText>[0]
  readonly record: { readonly payload: UndoRequest }
}

/** As short as the ids of other questions; `undo` keeps the two kinds apart. */
function questionId({ request_id }: UndoRequest): string {
  return `undo-${request_id.replaceAll('-', '').slice(0, ID_DIGITS)}`
}

function recordOf(payload: UndoRequest) {
  const { request_id, event } = payload
  const part = event === 'ASKED' ? 'asked' : 'answer'
  return { type: 'undo_request_v1', payload, key: `undo/${request_id}/${part}` }
}

function unknown(id: string): FaultError {
  const message = `no request to take an act back waits under ${showName(id)}`
  return faultError('history.unknown', id, message, '`writ inbox` lists what waits')
}
