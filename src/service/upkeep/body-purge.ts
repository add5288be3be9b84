/**
 * Bodies are dropped: by a human's word (`purge`), or because their time is over as the laws say. The
 * facts stay, and new ones say what went, when, and by which rule (L-5).
 *
 * INVARIANT (told before it goes): the fact that a body was dropped is durable before the body is
 *   gone, so that no crash leaves a body missing without a fact.
 */

import { statSync, utimesSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { FaultError } from '../../base/index.ts'
import type { BodyDropped } from '../../contracts/index.ts'
import { occurredAtText, type Principal } from '../../ledger/index.ts'
import type { GateSettings } from '../../policy/index.ts'
import { bodyDropName } from '../../store/index.ts'
import type { LedgerView } from '../records/ledger-view.ts'
import type { GateContext } from '../surface/context.ts'
import {
  BODY_KINDS,
  type BodyHold,
  type BodyKind,
  type FoundBody,
  searchBodies,
} from './body-search.ts'

/** What a human orders: one action, or everything before a moment. */
export interface PurgeOrder {
  readonly action: string | null
  /** ISO 8601. */
  readonly before: string | null
  readonly kinds: readonly BodyKind[]
  readonly reason: string | null
}

export interface PurgeAnswer {
  readonly dropped: readonly FoundBody[]
  readonly bytes: number
  /** What stays although it was asked for, and why. */
  readonly kept: readonly BodyHold[]
  readonly dry_run: boolean
}

const BATCH = 200
const DAY_MS = 24 * 60 * 60 * 1000
/** Which setting lets a kind of body go. */
const RULES: Readonly<Record<BodyKind, string>> = {
  output: 'retention.outputs_days',
  proposal: 'retention.proposals_days',
  manifest: 'retention.manifests_days',
  evidence: 'retention.manifests_days',
}
/** writ itself: an actor whose act happened to be the occasion drops nothing. */
const WRIT: Principal = { kind: 'script', id: 'writ', namespace: 'host' }

export class BodyPurge {
  readonly #context: GateContext
  readonly #view: LedgerView

  constructor(context: GateContext, view: LedgerView) {
    this.#context = context
    this.#view = view
  }

  async purge(order: PurgeOrder, dryRun: boolean): Promise<PurgeAnswer> {
    const search = { ...order, kinds: new Set(order.kinds), behind: -1 }
    const nowMs = this.#context.nowMs()
    const standing = await this.#view.standing()
    const { found, kept } = await searchBodies(this.#context, standing, search, nowMs)
    if (!dryRun) {
      await this.#drop(found, 'purge', order.reason, this.#context.caller.principal)
    }
    const bytes = found.reduce((sum, body) => sum + body.bytes, 0)
    return { dropped: found, bytes, kept, dry_run: dryRun }
  }

  /** Drops what is over its time; looks at most once a day. */
  async keepTime(settings: GateSettings): Promise<void> {
    if (!this.#isDue()) return
    try {
      await this.dropOld(settings, false)
      this.#stamp()
    } catch (error) {
      // The act that was the occasion is done and recorded; the next one tries again.
      if (!(error instanceof FaultError)) throw error
    }
  }

  /** Drops the bodies whose time is over as the laws say, and returns them. */
  async dropOld(
    { auditLevel, retention }: Pick<GateSettings, 'auditLevel' | 'retention'>,
    dryRun: boolean,
  ): Promise<readonly FoundBody[]> {
    if (auditLevel === 'FORENSIC') return []
    const outputs =
      auditLevel === 'SUMMARY' ? Math.min(1, retention.outputsDays) : retention.outputsDays
    const days: Readonly<Record<BodyKind, number>> = {
      output: outputs,
      proposal: retention.proposalsDays,
      manifest: retention.manifestsDays,
      evidence: retention.manifestsDays,
    }
    const nowMs = this.#context.nowMs()
    const standing = await this.#view.standing()
    const dropped: FoundBody[] = []
    for (const kind of BODY_KINDS) {
      const before = occurredAtText(nowMs - days[kind] * DAY_MS)
      const search = { kinds: new Set([kind]), before, action: null, behind: -1 }
      const { found } = await searchBodies(this.#context, standing, search, nowMs)
      if (!dryRun) await this.#drop(found, RULES[kind], null, WRIT)
      for (const body of found) dropped.push(body)
    }
    return dropped
  }

  #isDue(): boolean {
    const { home, nowMs, stream } = this.#context
    const stamp = join(home.state, `.bodies-swept-${stream}`)
    const swept = statSync(stamp, { throwIfNoEntry: false })
    return swept === undefined || nowMs() - swept.mtimeMs >= DAY_MS
  }

  #stamp(): void {
    const { home, nowMs, stream } = this.#context
    const stamp = join(home.state, `.bodies-swept-${stream}`)
    writeFileSync(stamp, '', { mode: 0o600 })
    utimesSync(stamp, nowMs() / 1000, nowMs() / 1000)
  }

  async #drop(
    bodies: readonly FoundBody[],
    rule: string,
    reason: string | null,
    principal: Principal,
  ): Promise<void> {
    const { ledger, stream, nowMs } = this.#context
    for (let from = 0; from < bodies.length; from += BATCH) {
      const batch = bodies.slice(from, from + BATCH)
      const dropped_at = occurredAtText(nowMs())
      await this.#view.recordAs(
        batch.map(({ body, bytes }) => ({
          type: 'body_dropped_v1',
          payload: {
            body,
            bytes,
            rule,
            dropped_at,
            ...(reason === null ? {} : { reason }),
          } satisfies BodyDropped,
          key: bodyDropName(body),
        })),
        principal,
        stream,
      )
      for (const { body } of batch) await ledger.objects.drop(body)
    }
  }
}
