/**
 * Several humans about one act, where a law wants them: whose yes counts, which were given, and that
 * nothing is promoted before there are enough. What the fold counted is counted once more here, with
 * every signature checked against the credentials that the facts name.
 */
import { FaultError, fault, showName } from '../../base/index.ts'
import type { Confirmation, Decision, Evaluation } from '../../contracts/index.ts'
import {
  type Approvals,
  approvalQuestion,
  countApprovals,
  isComplete,
  type PendingQuestion as Pending,
  type RecordedAnswer,
  startersOf,
} from '../../gate/index.ts'
import { isProvenApproval, readRegister } from '../../home/index.ts'
import {
  humansWithCredential,
  ownCredential,
  principalText,
  type Register,
} from '../../ledger/index.ts'
import type { LedgerView } from '../records/ledger-view.ts'
import type { GateContext } from '../surface/context.ts'

export class Approvers {
  readonly #context: GateContext
  readonly #view: LedgerView

  constructor(context: GateContext, view: LedgerView) {
    this.#context = context
    this.#view = view
  }

  /** Throws why a yes of the caller is not one of several; a single one needs nothing of this. */
  async check(pending: Pending, yes: Confirmation): Promise<void> {
    const { approvals, actionId } = pending
    if (approvals === undefined) return
    const { principal } = this.#context.caller
    const name = showName(principalText(principal))
    const register = await this.#register()
    if ((await this.#starters(actionId)).has(principalText(principal))) {
      const message = `${approvals.needed} humans have to approve this, and ${name} started the run or session that it is of`
      throw refused('confirm.own_run', actionId, message, 'other humans have to approve it')
    }
    const own = ownCredential(register.credentials, principal)
    if (!isProvenApproval(register, { confirmation: yes, principal })) {
      const message = `${approvals.needed} humans have to approve this, each with a credential of their own; ${name} has not shown one`
      const hint = own === null ? 'set a passphrase of your own: `writ principal pass`' : undefined
      throw refused('confirm.own_credential', actionId, message, hint)
    }
    const used = yes.proof?.key ?? yes.assertion?.credential_id
    const isRepeated = approvals.given.some(
      ({ by, key }) => by === principalText(principal) || key === used,
    )
    if (!isRepeated) return
    const { needed, given } = approvals
    const message = `${name} approved this before; ${given.length} of ${needed} have`
    throw refused('confirm.repeated', actionId, message, 'another human has to approve it')
  }

  /** Every yes about a decision that counts; null where one human is enough. */
  async count(decision: Decision): Promise<Approvals | null> {
    const question = approvalQuestion(decision)
    if (question === null) return null
    const [facts, register] = await Promise.all([
      this.#view.factsOf('confirmation_v1', question.actionId),
      this.#register(),
    ])
    const answers = facts.map(({ fact: { principal }, payload }) => ({
      principal,
      // A fact is of its contract.
      confirmation: payload as Confirmation,
    }))
    const starters = await this.#starters(question.actionId)
    const isProven = (answer: RecordedAnswer) => isProvenApproval(register, answer)
    return countApprovals(question, answers, starters, isProven)
  }

  async #starters(actionId: string): Promise<ReadonlySet<string>> {
    const facts = await this.#view.factsOf('evaluation_v1', actionId)
    return startersOf(
      facts.map(({ fact: { principal }, payload }) => ({
        principal,
        // A fact is of its contract.
        evaluation: payload as Evaluation,
      })),
    )
  }

  /** Nothing that several humans were asked about goes on without all of them. */
  async require(decision: Decision): Promise<void> {
    const approvals = await this.count(decision)
    if (approvals === null || isComplete(approvals)) return
    const { needed, given } = approvals
    const message = `${needed} humans have to approve this, and ${given.length} proven approvals are on the record`
    throw refused('confirm.unproven', decision.action_id, message)
  }

  /** Returns whether the caller gave the last missing approval: their process carries the act out. */
  async isLast(decision: Decision): Promise<boolean> {
    const approvals = await this.count(decision)
    if (approvals === null) return true
    const by = principalText(this.#context.caller.principal)
    return isComplete(approvals) && approvals.given.at(-1)?.by === by
  }

  /** How many humans could approve: those with a credential of their own. */
  async humans(): Promise<number> {
    return humansWithCredential(await this.#register())
  }

  #register(): Promise<Register> {
    const { ledger, home } = this.#context
    return readRegister({ ledger, state: home.state })
  }
}

type RefusedApproval =
  | 'confirm.own_credential'
  | 'confirm.own_run'
  | 'confirm.repeated'
  | 'confirm.unproven'

function refused(code: RefusedApproval, at: string, message: string, hint?: string): FaultError {
  const words = hint === undefined ? { message } : { message, hint }
  return new FaultError(fault(code, at, null, words))
}
