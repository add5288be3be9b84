/**
 * `action_descriptor` 1.0: what an AI intends, bounded and complete before anything happens
 * (seed 003 §3, G-1 to G-6). Closed, every field mandatory but `scope.network.hosts`, which is
 * mandatory once a network is required. The document alone is judged: its age, the reuse of its id,
 * ceilings, real paths, mounts and homes are the host's.
 *
 * Which code a place gives, where the specification leaves a choice (missing / wrong JSON type /
 * wrong value):
 * - constants and enums with a code of their own (descriptor_version, created_by, action_type,
 *   risk_level, max_runs, supported, rollback_scope, log, log_level): `required` / own / own
 * - sandbox_type and rollback_type, which have none: `required` / `field_type` / `field_type`
 * - action_id, created_at, intent_summary, retain_days: `required` / `field_type` / own, which is
 *   `audit` for retain_days
 * - anything in scope: `scope_implicit` / `field_type` / by kind of path or host
 * - anything in effects: `effects_omitted` / `field_type` / by kind of path
 * - resources and anything in it: `resources` in all three cases
 * - every other field: `required` / `field_type`
 *
 * A path gives `path_not_absolute`, else `path_not_normal`, and then nothing more; a well-formed
 * one gives all of `wildcard`, `host_access` and (effects) `effect_outside_scope` that apply.
 * Effects and preconditions are held against the scope only if all of its paths can be read. A
 * precondition outside the scope is `scope_implicit`: it would be looked at without being named.
 */
import * as Type from 'typebox'
import { DOCUMENT_LIMITS } from '../../base/index.ts'
import type { Contract } from '../kernel/contract.ts'
import { DESCRIPTOR_CHECKS } from './descriptor-checks.ts'
import { AbsolutePath, ActionId, closed } from './shapes.ts'

export const ACTION_KINDS = [
  'FILE_READ',
  'FILE_WRITE',
  'FILE_DELETE',
  'FILE_MOVE',
  'DIRECTORY_CREATE',
  'DIRECTORY_DELETE',
  'COMMAND_EXECUTION',
  'PACKAGE_INSTALL',
  'PACKAGE_REMOVE',
  'NETWORK_REQUEST',
  'UI_AUTOMATION',
  'CONFIG_CHANGE',
  'MULTI_STEP_COMPOSITE',
] as const

export const RISK_LEVELS = ['LOW', 'MEDIUM', 'HIGH', 'CRITICAL'] as const

const inScope = { 'x-code': { required: 'scope_implicit' } } as const
const inEffects = { 'x-code': { required: 'effects_omitted' } } as const

const LINE_BREAKS = '\\n\\r\\u000b\\u000c\\u0085\\u2028\\u2029'

/** One paragraph: no line break, 1 to 500 characters; that it is not blank is a check. */
const IntentSummary = Type.String({
  pattern: `^[^${LINE_BREAKS}]{1,500}$`,
  'x-code': { pattern: 'intent' },
  'x-says': 'one paragraph of 1 to 500 characters',
})

const Scope = Type.Object(
  {
    filesystem: Type.Object(
      {
        paths: Type.Array(AbsolutePath, inScope),
        recursive: Type.Boolean(inScope),
      },
      { ...closed, ...inScope },
    ),
    network: Type.Object(
      { required: Type.Boolean(inScope), hosts: Type.Optional(Type.Array(Type.String())) },
      { ...closed, ...inScope },
    ),
    ui: Type.Object({ required: Type.Boolean(inScope) }, { ...closed, ...inScope }),
  },
  { ...closed, ...inScope },
)

const resourceCode = { 'x-code': { '*': 'resources', required: 'resources' } } as const
const Cap = Type.Integer({ minimum: 1, ...resourceCode })

const Effects = Type.Object(
  {
    filesystem: Type.Object(
      {
        create: Type.Array(AbsolutePath, inEffects),
        modify: Type.Array(AbsolutePath, inEffects),
        delete: Type.Array(AbsolutePath, inEffects),
      },
      { ...closed, ...inEffects },
    ),
    network: Type.Boolean(inEffects),
    system_state_change: Type.Boolean(inEffects),
  },
  { ...closed, ...inEffects },
)

export const ActionDescriptorSchema = Type.Object(
  {
    descriptor_version: Type.Literal('1.0', { 'x-code': 'version' }),
    action_id: ActionId,
    created_at: Type.String(),
    created_by: Type.Literal('ai', { 'x-code': 'created_by' }),
    intent_summary: IntentSummary,
    action_type: Type.Enum([...ACTION_KINDS], { 'x-code': 'action_type' }),
    risk_level: Type.Enum([...RISK_LEVELS], { 'x-code': 'risk_level' }),
    scope: Scope,
    resources: Type.Object(
      { max_cpu_ms: Cap, max_memory_mb: Cap, max_disk_mb: Cap, max_duration_ms: Cap },
      { ...closed, ...resourceCode },
    ),
    preconditions: Type.Object(
      {
        paths_exist: Type.Array(AbsolutePath),
        network_available: Type.Boolean(),
        user_idle: Type.Boolean(),
      },
      closed,
    ),
    effects: Effects,
    sandbox: Type.Object(
      {
        required: Type.Boolean(),
        sandbox_type: Type.Literal('container', { 'x-code': 'field_type' }),
        allow_network: Type.Boolean(),
        max_runs: Type.Literal(1, { 'x-code': 'sandbox_runs' }),
      },
      closed,
    ),
    rollback: Type.Object(
      {
        supported: Type.Literal(true, { 'x-code': 'rollback_disabled' }),
        rollback_type: Type.Enum(['filesystem_snapshot', 'compensation'], {
          'x-code': 'field_type',
        }),
        rollback_scope: Type.Enum(['declared_effects_only', 'scope'], {
          'x-code': 'rollback_scope',
        }),
      },
      closed,
    ),
    confirmation: Type.Object(
      { required: Type.Boolean(), reason: Type.String(), cooldown_on_repeat: Type.Boolean() },
      closed,
    ),
    audit: Type.Object(
      {
        log: Type.Literal(true, { 'x-code': 'audit' }),
        // FORENSIC exists, but only the host writes at that level.
        log_level: Type.Enum(['SUMMARY', 'DETAILED'], { 'x-code': 'log_level' }),
        retain_days: Type.Integer({ minimum: 0, 'x-code': { minimum: 'audit' } }),
      },
      closed,
    ),
  },
  { ...closed, 'x-prefix': 'descriptor' },
)

export type ActionDescriptor = Type.Static<typeof ActionDescriptorSchema>
export type ActionKind = ActionDescriptor['action_type']
export type RiskLevel = ActionDescriptor['risk_level']

export const actionDescriptor: Contract = {
  name: 'action_descriptor',
  title: 'What an AI intends to do: bounded, complete and reversible, before anything happens.',
  prefix: 'descriptor',
  schema: ActionDescriptorSchema,
  checks: DESCRIPTOR_CHECKS,
  limits: DOCUMENT_LIMITS,
  isRecord: false,
}
