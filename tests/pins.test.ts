/**
 * What others rely on, frozen as literals. A red pin is a question: is this meant? A new code, contract
 * or export is added here; changing or removing one breaks users and needs a new version instead.
 */
import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { CODES } from '../src/base/index.ts'
import { EXIT } from '../src/cli/call/command.ts'
import { COMMANDS } from '../src/cli/commands/table.ts'
import * as constitution from '../src/constitution/index.ts'
import { CONTRACTS } from '../src/contracts/index.ts'

const PINNED_CODES = JSON.parse(readFileSync('tests/pinned-codes.json', 'utf8')) as Record<
  string,
  [number, number]
>

describe('pins', () => {
  it('codes, with their HTTP and exit status', () => {
    expect(
      Object.fromEntries(
        Object.entries(CODES).map(([code, { http, exit }]) => [code, [http, exit]]),
      ),
    ).toEqual(PINNED_CODES)
  })

  it('what codes say is lower-case and without a full stop', () => {
    for (const [code, { says }] of Object.entries(CODES)) {
      // The specification names two without a point: `halted` and `cooldown`.
      expect(code).toMatch(/^(?:[a-z_]+\.[a-z0-9_]+|halted|cooldown)$/)
      expect(says).toMatch(/^[a-z`0-9]/)
      expect(says.endsWith('.')).toBe(false)
    }
  })

  it('exit states', () => {
    expect(EXIT).toEqual({ yes: 0, no: 1, usage: 2, waiting: 3, fault: 4 })
  })

  it('contracts', () => {
    expect(CONTRACTS.map(({ name }) => name)).toEqual([
      'ao_act_task_v0',
      'ao_act_receipt_v0',
      'xiaobo_action_v1',
      'xiaojing_review_v1',
      'plan_json_v1',
      'problem_state_v1',
      'uncertainty_envelope_v0',
      'permission_set_v0',
      'ruleset_v0',
      'control_ruleset_v0',
      'control_verdict_v0',
      'control_evaluation_v0',
      'action_descriptor',
      'operation_v1',
      'proposal_v1',
      'sandbox_result_v1',
      'decision_v1',
      'evaluation_v1',
      'confirmation_v1',
      'promotion_v1',
      'request_v1',
      'rollback_v1',
      'override_v1',
      'grant_v1',
      'notification_v1',
      'dispatch_v1',
      'device_key_v1',
      'session_v1',
      'halt_v1',
      'laws_v1',
      'law_file_v1',
      'flow_v1',
      'flow_side_v1',
      'participants_v1',
      'flow_test_v1',
      'flow_started_v1',
      'flow_event_v1',
      'flow_finding_v1',
      'flow_claim_v1',
      'flow_evidence_v1',
      'participant_output_v1',
      'schedule_v1',
      'schedule_slot_v1',
      'key_rotated_v1',
      'tail_cut_v1',
      'body_dropped_v1',
      'clock_jump_v1',
      'principal_v1',
      'passkey_proof_v1',
      'endorsement_v1',
      'request_key_v1',
      'undo_request_v1',
      'witness_v1',
      'anchor_v1',
      'machine_v1',
      'record',
    ])
  })

  it('the doors of the package', () => {
    const { exports } = JSON.parse(readFileSync('package.json', 'utf8'))
    expect(Object.keys(exports)).toEqual([
      '.',
      './contracts',
      './constitution',
      './ledger',
      './gate',
      './flow',
      './client',
      './package.json',
    ])
  })

  it('commands', () => {
    expect(COMMANDS.map(({ name }) => name)).toEqual([
      'init',
      'trust',
      'home list',
      'home remove',
      'run',
      'session list',
      'session show',
      'session diff',
      'session settle',
      'session discard',
      'session extend',
      'session stop',
      'secret set',
      'secret list',
      'secret remove',
      'exec',
      'propose',
      'inbox',
      'approve',
      'deny',
      'rollback',
      'undo',
      'halt',
      'resume',
      'grant list',
      'grant revoke',
      'override',
      'recover',
      'purge',
      'du',
      'gc',
      'laws check',
      'laws test',
      'laws learn',
      'laws explain',
      'laws accept',
      'hook install',
      'hook uninstall',
      'hook list',
      'hook doctor',
      'hook event',
      'serve',
      'mcp',
      'notify run',
      'notify test',
      'remote add',
      'remote list',
      'remote remove',
      'dispatch run',
      'dispatch check',
      'device run',
      'device key',
      'device enroll',
      'device list',
      'task withdraw',
      'check',
      'normalize',
      'schema',
      'rules check',
      'rules eval',
      'rules test',
      'rules prove',
      'rules diff',
      'rules import',
      'rules fmt',
      'flow check',
      'flow test',
      'flow reference',
      'flow import',
      'flow export',
      'flow plan',
      'flow run',
      'flow resume',
      'flow status',
      'flow list',
      'flow answer',
      'flow budget',
      'flow show',
      'flow approve',
      'flow reject',
      'flow signal',
      'flow skip',
      'flow migrate',
      'flow cancel',
      'flow evidence',
      'flow report',
      'schedule add',
      'schedule update',
      'schedule list',
      'schedule show',
      'schedule pause',
      'schedule resume',
      'schedule remove',
      'schedule run',
      'task issue',
      'task list',
      'task show',
      'receipt submit',
      'log',
      'show',
      'ledger verify',
      'ledger prove',
      'ledger checkpoint',
      'ledger key',
      'ledger export',
      'ledger anchor',
      'ledger compare',
      'ledger reindex',
      'ledger rotate',
      'witness init',
      'witness add-log',
      'witness logs',
      'witness serve',
      'witness pin',
      'witness unpin',
      'witness list',
      'machine join',
      'machine key',
      'machine admit',
      'machine remove',
      'machine list',
      'worker prepare',
      'worker list',
      'worker retry',
      'worker drop',
      'worker',
      'export',
      'replay',
      'principal add',
      'principal pass',
      'principal endorse',
      'principal list',
      'token create',
      'token revoke',
      'token list',
      'passkey list',
      'passkey remove',
      'passkey code',
      'doctor',
      'demo',
      'config show',
      'config reference',
      'completion',
      'man',
    ])
  })

  it('nothing that the constitution exports takes a verdict (K-6)', () => {
    // Every door of the room, by name: rules and inputs in, words and proofs out.
    expect(Object.keys(constitution).sort()).toEqual([
      'BudgetSpent',
      'CONFLICTS_MAX',
      'KERNEL_VERSION',
      'KERNEL_VERSIONS',
      'difference',
      'establish',
      'inputsAreBound',
      'pathsOfRule',
      'prove',
      'rewriteGuards',
      'seenAt',
      'surveyRuleset',
      'surveyRulesets',
      'uncovered',
    ])
  })
})
