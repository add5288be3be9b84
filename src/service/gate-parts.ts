/** What every step of the lifecycle works with: whose gate it is, its ledger, its laws, its tree. */
import type { Approvers } from './approvers.ts'
import type { GateContext } from './context.ts'
import type { LawBook } from './law-book.ts'
import type { LedgerView } from './ledger-view.ts'
import type { Questions } from './questions.ts'
import type { Workspace } from './workspace.ts'

export interface GateParts {
  readonly context: GateContext
  readonly view: LedgerView
  readonly book: LawBook
  readonly workspace: Workspace
  readonly questions: Questions
  readonly approvers: Approvers
}
