/**
 * Takes promoted acts back: selects them, finds newer acts that depend on them, compensates requests
 * first, then restores the files.
 *
 * INVARIANT (newest first): no act is rolled back under a newer one that changed the same paths. So
 *   every promoted act can be taken back, at the latest when all newer ones are.
 */
import { FaultError, fault, faultError, showName } from '../../base/index.ts'
import type { Evaluation, Promotion, Proposal } from '../../contracts/index.ts'
import type { PromotedAction, StandingFold } from '../../gate/index.ts'
import { occurredAtText } from '../../ledger/index.ts'
import type { LaterAct } from '../../promotion/index.ts'
import type { GateParts } from '../lifecycle/act.ts'
import type { LedgerView } from '../records/ledger-view.ts'
import { actWords } from '../records/proposal-record.ts'
import { type GateContext, workspaceOf } from '../surface/context.ts'
import type { RollbackAnswer, RollbackOptions, RollbackTarget } from '../surface/surface.ts'
import { refusal } from '../workspace/stopped-promotion.ts'
import { type ActElsewhere, ActsElsewhere, takenBackElsewhere } from './acts-elsewhere.ts'
import { Compensations } from './compensations.ts'

export class Rollbacks {
  readonly #gate: GateParts
  readonly #context: GateContext
  readonly #view: LedgerView
  readonly #compensations: Compensations
  readonly #elsewhere: ActsElsewhere

  constructor(gate: GateParts) {
    this.#gate = gate
    this.#context = gate.context
    this.#view = gate.view
    this.#compensations = new Compensations(gate)
    this.#elsewhere = new ActsElsewhere(gate.context, gate.view)
  }

  async rollback(target: RollbackTarget, options: RollbackOptions): Promise<RollbackAnswer> {
    const { workspace } = this.#gate
    const { chosen, left } = await this.#doneHere(target)
    const actions = await this.#withLater(chosen, options)
    await this.#elsewhere.refuseMoved(actions)
    const action_id = actions.at(-1)?.actionId ?? ''
    const also = {
      ...(actions.length > 1 ? { action_ids: actions.map(({ actionId }) => actionId) } : {}),
      ...(left.length > 0 ? { elsewhere: left } : {}),
    }
    const undoings = await this.#compensations.needed(actions)
    const { run } = options
    const order = { actions, asIs: options.asIs === true, ...(run === undefined ? {} : { run }) }
    // What is in the way of restoring is found before anything is compensated.
    if (options.dryRun || undoings.length > 0) {
      const { paths } = await workspace.rollback({ ...order, dryRun: true })
      if (options.dryRun) return { action_id, ...also, restored: paths, verified: false }
    }
    const { confirm = async () => ({ kind: 'wait' }) } = options
    const compensated = await this.#compensations.carryOut(undoings, confirm)
    if (!compensated.done) {
      const { answer: compensation } = compensated
      return { action_id, ...also, restored: [], verified: false, compensation }
    }
    const { by: compensatedBy } = compensated
    const done = await workspace.rollback({ ...order, dryRun: false, compensatedBy })
    const by = compensatedBy.length === 0 ? {} : { compensated_by: compensatedBy }
    const { paths: restored, verified, added } = done
    return { action_id, ...also, restored, verified, ...by, ...(added.length > 0 && { added }) }
  }

  /** Of everything since a moment this machine takes its own acts back, and names those of others. */
  async #doneHere(target: RollbackTarget): Promise<{
    readonly chosen: readonly PromotedAction[]
    readonly left: readonly ActElsewhere[]
  }> {
    const all = await this.#chosen(target)
    const left = await this.#elsewhere.among(all)
    const others = new Set(left.map(({ action_id }) => action_id))
    const chosen = all.filter(({ actionId }) => !others.has(actionId))
    if (left.length > 0 && (chosen.length === 0 || !('since' in target)))
      throw takenBackElsewhere(target, left)
    return { chosen, left }
  }

  /** Newest first. */
  async #chosen(target: RollbackTarget): Promise<readonly PromotedAction[]> {
    if ('actionId' in target) {
      return [await this.#view.ask((standing) => named(standing, target.actionId))]
    }
    const chosen = 'since' in target ? await this.#since(target.since) : await this.#last()
    if (chosen.length > 0) return chosen
    throw refusal('rollback.nothing', workspaceOf(this.#context))
  }

  async #since(moment: string): Promise<readonly PromotedAction[]> {
    const found = await this.#view.ask((standing) =>
      [...undoable(standing)].filter(({ promotedAt }) => promotedAt >= moment),
    )
    const isCompensation = await Promise.all(
      found.map(({ actionId }) => this.#isCompensation(actionId)),
    )
    return found.filter((_, index) => isCompensation[index] !== true)
  }

  async #last(): Promise<readonly PromotedAction[]> {
    const passed = new Set<string>()
    for (;;) {
      const last = await this.#view.ask((standing) => {
        for (const action of undoable(standing)) if (!passed.has(action.actionId)) return action
        return null
      })
      if (last === null) return []
      if (!(await this.#isCompensation(last.actionId))) return [last]
      passed.add(last.actionId)
    }
  }

  /** An act that undid another one belongs to that one: nothing takes it back by itself. */
  async #isCompensation(actionId: string): Promise<boolean> {
    const found = await this.#view.factOf('evaluation_v1', actionId)
    // A fact is of its contract.
    return (found?.payload as Evaluation | undefined)?.compensates !== undefined
  }

  /** The same with the newer acts that stand on them, if they are wanted; else fails with their list. */
  async #withLater(
    chosen: readonly PromotedAction[],
    { withLater = false }: RollbackOptions,
  ): Promise<readonly PromotedAction[]> {
    const found = await this.#gate.workspace.laterThan(chosen)
    if (found.length === 0) return chosen
    const standing = await this.#view.standing()
    // Another undo has taken it back and is about to remove what it kept.
    const isGone = (id: string): boolean => (standing.promotion(id)?.rolledBackBy ?? null) !== null
    const later = found.filter(({ id }) => !isGone(id))
    if (later.length === 0) return chosen
    const own = later.map(({ id }) => standing.promotion(id))
    if (!withLater || own.includes(null)) throw await this.#newer(chosen, later, standing)
    const all = [...chosen, ...own.flatMap((action) => action ?? [])]
    return all.sort((one, other) => (one.promotedAt < other.promotedAt ? 1 : -1))
  }

  async #newer(
    chosen: readonly PromotedAction[],
    later: readonly LaterAct[],
    standing: StandingFold,
  ): Promise<FaultError> {
    const newestFirst = [...later].reverse()
    const acts = await Promise.all(
      newestFirst.map(async ({ id, beganAtMs }) => ({
        id,
        at: standing.promotion(id)?.promotedAt ?? occurredAtText(beganAtMs),
        what: await this.#words(id),
      })),
    )
    const [oldest] = chosen.slice(-1)
    const id = oldest?.actionId ?? ''
    const lines = acts.map((act) => `  ${act.id}  ${act.at}  ${act.what}`)
    const count = acts.length === 1 ? 'one newer act' : `${acts.length} newer acts`
    const message = `${count} changed the same paths after ${showName(id)}:\n${lines.join('\n')}`
    const isOthers = later.some((act) => standing.promotion(act.id) === null)
    const hint = isOthers
      ? `take these back first, in this order: ${acts.map((act) => `\`writ rollback ${act.id}\``).join(', ')}`
      : `take all of them back together: \`writ rollback ${id} --with-later\``
    return new FaultError(fault('rollback.newer', id, { acts }, { message, hint }))
  }

  /** What an act was; nothing where another stream has it, or its words are not kept. */
  async #words(id: string): Promise<string> {
    const found = await this.#view.factOf('proposal_v1', id)
    const proposal = found === null ? null : await this.#view.originalOf(found)
    // The original has the digest of a proposal that was checked.
    return proposal === null ? '' : actWords(proposal as Proposal)
  }
}

function named(standing: StandingFold, id: string): PromotedAction {
  const action = standing.promotion(id)
  if (action?.rolledBackBy === null && isUndoable(standing, action.promotion)) return action
  const message =
    action === null
      ? `no promoted action has the id ${showName(id)}`
      : action.rolledBackBy === null
        ? `the action ${showName(id)} changed nothing`
        : `the action ${showName(id)} was rolled back before, at ${action.rolledBackAt}`
  throw faultError('rollback.nothing', id, message, '`writ log` lists the acts and their ids')
}

/** Yields the promoted acts that can be taken back, newest first. */
function* undoable(standing: StandingFold): Generator<PromotedAction> {
  for (const action of standing.promotedNewestFirst()) {
    if (action.rolledBackBy === null && isUndoable(standing, action.promotion)) yield action
  }
}

/** Something is there to be restored, or to be compensated. */
function isUndoable(standing: StandingFold, { action_id, paths }: Promotion): boolean {
  return paths > 0 || standing.reachesBeyondFiles(action_id)
}
