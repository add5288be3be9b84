/** What every step of the lifecycle works with: whose gate it is, its ledger, its laws, its tree. */

import type { LawBook } from '../laws/law-book.ts'
import type { Approvers } from '../questions/approvers.ts'
import type { Questions } from '../questions/questions.ts'
import type { LedgerView } from '../records/ledger-view.ts'
import type { GateContext } from '../surface/context.ts'
import type { Workspace } from '../workspace/workspace.ts'

export interface GateParts {
  readonly context: GateContext
  readonly view: LedgerView
  readonly book: LawBook
  readonly workspace: Workspace
  readonly questions: Questions
  readonly approvers: Approvers
}
