/** Which codes that people meet on the command line have a next step of their own. */
import { expect, it } from 'vitest'
import { CODES } from '../../base/index.ts'
import { nextStep } from './next-step.ts'

/** Families of what the gate, the ledger and homes refuse. Others are about one document. */
const FAMILIES =
  /^(?:halted|cooldown|block|laws\.changed|effect|result|rehearsal|diff|promote|rollback|recovery|stage|request|sandbox|home|ledger|credential|principal|history|body|bundle|override|confirm|workspace|question|precondition|ui|config|rules|replay|standing)\b/

/**
 * Each has a hint of its own where it is made, is part of a question, or is a finding of
 * `writ ledger verify`, which lists what it found.
 */
const EXPLAINED_ELSEWHERE = `
  ledger.store_malformed ledger.filesystem ledger.no_sqlite ledger.closed ledger.cosignature ledger.forked
  ledger.key_missing ledger.key_exposed home.missing home.untrusted home.moved home.copied
  credential.required credential.code credential.last credential.unknown confirm.own_run ledger.assertion
  ledger.schema ledger.sequence ledger.chain ledger.tile
  ledger.root ledger.checkpoint_missing ledger.signers ledger.key_retired ledger.key_unfit
  ledger.key_unpinned ledger.stray ledger.stream_missing ledger.clock ledger.key_reused
  ledger.not_extended ledger.anchor_foreign ledger.id_unfit ledger.key_current ledger.index_wrong
  sandbox.unmapped_owner promote.ok confirm.descriptor confirm.law confirm.class confirm.intent
  confirm.scope confirm.blocked confirm.critical confirm.undo_quota confirm.denied confirm.superseded confirm.unlike confirm.part
  confirm.repeated confirm.own_credential confirm.few_humans confirm.not_given question.quota effect.writ_kept effect.home_kept effect.not_observed
  effect.left_out effect.not_taken effect.discarded effect.deferred_execution effect.build_execution
  effect.laws_file effect.ungranted effect.irreversible effect.upload result.failed diff.link_split
  diff.owner_lost
  cooldown promote.conflict promote.busy promote.inputs_changed promote.no_space
  promote.stage_altered promote.failed promote.unrecovered recovery.conflict rollback.conflict
  rollback.newer rollback.elsewhere rollback.expired rollback.altered workspace.busy
`

it('all of these families have one, or are explained elsewhere', () => {
  const without = Object.keys(CODES).filter(
    (code) => FAMILIES.test(code) && nextStep(code) === null,
  )
  expect(without.sort()).toEqual(EXPLAINED_ELSEWHERE.trim().split(/\s+/).sort())
})

it('a step names a command, an option or what to do, and is no code’s own sentence', () => {
  for (const [code, { says }] of Object.entries(CODES)) {
    const step = nextStep(code)
    if (step !== null) expect(step, code).not.toBe(says)
  }
  expect(nextStep('no.such_code')).toBe(null)
})
