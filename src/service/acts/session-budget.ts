/**
 * The act of giving a session more of a budget that it used up (S-7): a held request of which nothing is
 * sent. The process of the session sees that it was approved, and lets the agent go on.
 */
import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { digestBytes, digestDocument } from '../../base/index.ts'
import type { Proposal } from '../../contracts/index.ts'
import { readIfThere, writeWhole } from '../../machine/index.ts'
import type { Sent } from './send-request.ts'

export interface BudgetWish {
  /** Where the model is. */
  readonly url: string
  /** What was used up, and what a yes gives: one line each. */
  readonly lines: readonly string[]
}

/** The header of a held request that names what it gives. */
export const BUDGET_HEADER = 'x-writ-budget'

export function isBudget({ operation }: Proposal): boolean {
  return operation?.type === 'NETWORK_REQUEST' && operation.headers?.[BUDGET_HEADER] !== undefined
}

const BUDGETS = 'session-budgets'
const PRIVATE = 0o700
/** An id is a file name of our own. */
const BUDGET_ID = /^[0-9a-f-]{36}$/

/** Notes that writ itself asked; returns what a person approves. */
export function holdBudget(state: string, id: string, { lines }: BudgetWish): string {
  const body = `${lines.join('\n')}\n`
  mkdirSync(join(state, BUDGETS), { recursive: true, mode: PRIVATE })
  writeWhole(join(state, BUDGETS, id), digestDocument(body), 0o600)
  return body
}

/** Answers a held request of this kind; `body` is what was approved. */
export function grantBudget(state: string, id: string, body = ''): Sent {
  const noted = BUDGET_ID.test(id) ? readIfThere(join(state, BUDGETS, id)) : null
  if (noted !== digestDocument(body)) {
    const detail = 'no session asked for this'
    return { state: 'FAILED', code: 'request.altered', detail }
  }
  const bytes = Buffer.from('given\n')
  const answer = { status: 200, bytes: bytes.length, body: { digest: digestBytes(bytes), bytes } }
  return { state: 'ANSWERED', answer }
}
