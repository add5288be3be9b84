/**
 * Promotes, rolls back or recovers in a process of its own, and can kill itself at a point:
 * before it, after it, or after the record was written and before anybody learned of it. Facts go to a
 * file, synced; every point it passes is said on standard output.
 */
import { closeSync, fsyncSync, openSync, readFileSync, writeFileSync, writeSync } from 'node:fs'
import { join } from 'node:path'
import type { AppliedPromotion, AppliedRollback, OnPoint } from '../../src/promotion/index.ts'
import { readInput } from '../ledger/program-input.ts'
import { openRig, promoteIn, type Rehearsed, type Rig, recoverIn, rollbackIn } from './rig.ts'

export interface ActInput {
  readonly base: string
  readonly act: 'promote' | 'rollback' | 'recover'
  /** The file with the rehearsed changes, for a promotion. */
  readonly rehearsed?: string
  readonly actionIds?: readonly string[]
  readonly rollbackId?: string
  /** The number of the point to die at, counted from 0 over `before` and `after` alike. */
  readonly dieAt?: number
  /** Dies when the record is written and not acknowledged. */
  readonly dieUnacknowledged?: boolean
  /** Another process makes this file right before the path is taken away. */
  readonly intrude?: { readonly path: string; readonly file: string }
  /** Says `ready` and none of the points, so that a kill can be timed. */
  readonly quiet?: boolean
}

const input = readInput<ActInput>()
let passed = 0

function die(): void {
  process.kill(process.pid, 'SIGKILL')
}

const onPoint: OnPoint = (point, moment, path) => {
  const { intrude } = input
  if (intrude !== undefined && point === 'take' && moment === 'before' && path === intrude.path) {
    writeFileSync(intrude.file, 'theirs')
  }
  if (input.quiet !== true) writeSync(1, `${point} ${moment}\n`)
  if (passed++ === input.dieAt) die()
}

function append(rig: Rig, key: string, fact: AppliedPromotion | AppliedRollback): void {
  const handle = openSync(join(rig.base, 'facts.jsonl'), 'a')
  writeSync(handle, `${JSON.stringify({ key, fact })}\n`)
  fsyncSync(handle)
  closeSync(handle)
  if (input.dieUnacknowledged === true) die()
}

const rig = openRig(input.base)
const recordPromotion = async (fact: AppliedPromotion): Promise<void> =>
  append(rig, `promotion/${fact.actionId}`, fact)
const recordRollback = async (fact: AppliedRollback): Promise<void> =>
  append(rig, `rollback/${fact.rollbackId}`, fact)

async function main(): Promise<void> {
  if (input.act === 'promote') {
    const rehearsed = JSON.parse(readFileSync(input.rehearsed ?? '', 'utf8')) as Rehearsed
    await promoteIn(rig, rehearsed, { record: recordPromotion, onPoint })
  } else if (input.act === 'rollback') {
    const { actionIds = [], rollbackId = '' } = input
    await rollbackIn(rig, actionIds, { rollbackId, record: recordRollback, onPoint })
  } else {
    const ended = await recoverIn(rig, { recordPromotion, recordRollback, onPoint })
    for (const { outcome } of ended) writeSync(1, `ended ${outcome}\n`)
  }
  writeSync(1, 'done\n')
}

if (input.quiet === true) writeSync(1, 'ready\n')
try {
  await main()
} catch (error) {
  const { fault } = error as { readonly fault?: { readonly code: string } }
  if (fault === undefined) throw error
  writeSync(1, `failed ${fault.code}\n`)
}
