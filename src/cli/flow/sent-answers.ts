/**
 * What people have answered to a run that another machine walks, and no worker has taken there yet: a
 * question is answered once, also while its answer is under way.
 */

import { sentOrders } from '../../fleet/index.ts'
import type { LeftAnswer } from '../../flow/index.ts'
import {
  answeredBefore,
  givenAnswer,
  machineOf,
  type Order,
  orderOf,
  type WalkedRun,
} from '../../runs/index.ts'
import { type LedgerReader, machineName } from '../../store/index.ts'

async function sentAnswers(ledger: LedgerReader, run: string): Promise<readonly LeftAnswer[]> {
  if (ledger.server === null) return []
  const orders = await sentOrders(ledger.server, run)
  const answers = orders.flatMap(({ order, atMs }) => givenAnswer(orderOf(order), atMs) ?? [])
  const machine = answers.length === 0 ? null : await machineOf(ledger, run)
  if (machine === null) return answers
  const to = await machineName(ledger, machine)
  return answers.map((one) => ({ ...one, to }))
}

/** A run with the answers that are under way to its machine. */
export async function withSentAnswers(ledger: LedgerReader, run: WalkedRun): Promise<WalkedRun> {
  if (run.waiting.length === 0) return run
  return { ...run, given: [...run.given, ...(await sentAnswers(ledger, run.runId))] }
}

/** Fails if a person has answered the same question, and the answer is under way. */
export async function refuseAnsweredTwice(
  ledger: LedgerReader,
  run: string,
  order: Order,
): Promise<void> {
  const { command } = givenAnswer(order, 0) ?? {}
  if (command === undefined) return
  const first = (await sentAnswers(ledger, run)).find((one) => one.command === command)
  if (first !== undefined) throw answeredBefore(run, first)
}
