/**
 * Reads the vectors of confirmations (`gate-confirmation/1` in spec/vectors/README.md). Keys that the
 * format does not name are refused.
 */
import { readFileSync } from 'node:fs'
import type { Proposal } from '../../src/contracts/index.ts'
import type { AskedAct, Circumstances, Need } from '../../src/gate/index.ts'
import { refuseUnknown } from './vector.ts'

// biome-ignore lint/suspicious/noExplicitAny: a file is checked key by key below
type Row = any

export interface ConfirmationVector {
  readonly id: string
  readonly note: string
  readonly act: AskedAct
  readonly circumstances: Circumstances
  readonly want: { readonly need: Need; readonly counts_ahead: boolean }
}

const CASE_KEYS = ['id', 'note', 'operations', 'risk', 'defers', 'undo_kept', 'set', 'want']
const CIRCUMSTANCES = [
  'actor_kind',
  'started_by_person',
  'agent',
  'plain_yes',
  'has_passkey',
  'has_credential',
  'asks_here',
  'approvals',
]

export function loadConfirmations(file: string): readonly ConfirmationVector[] {
  const { spec, circumstances, cases, ...rest } = JSON.parse(readFileSync(file, 'utf8')) as Row
  refuseUnknown(file, rest, [])
  if (spec !== 'gate-confirmation/1') throw new Error(`${file}: ${spec}`)
  return cases.map((row: Row) => {
    refuseUnknown(row.id, row, CASE_KEYS)
    const around = { ...circumstances, ...row.set }
    refuseUnknown(row.id, around, CIRCUMSTANCES)
    refuseUnknown(row.id, row.want, ['need', 'counts_ahead'])
    const { id, note, want } = row
    return { id, note, act: actOf(row), circumstances: circumstancesOf(around), want }
  })
}

function actOf({ operations, risk, defers = false, undo_kept = true }: Row): AskedAct {
  const children = operations.map((type: string) => ({ operation: { type } }))
  // Only the operations of a proposal are read.
  const proposal = (children.length === 1 ? children[0] : { children }) as Proposal
  return { proposal, risk, defers, isUndoKept: undo_kept }
}

function circumstancesOf(row: Row): Circumstances {
  return {
    actorKind: row.actor_kind,
    startedByPerson: row.started_by_person,
    agent: row.agent,
    plainYesAllowed: row.plain_yes,
    hasPasskey: row.has_passkey,
    hasCredential: row.has_credential,
    asksHere: row.asks_here,
    approvals: row.approvals,
  }
}
