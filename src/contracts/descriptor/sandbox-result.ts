/**
 * `sandbox_result_v1`: what a rehearsal did, written by the host only. Closed; the full diff is in
 * the manifest that `diff.manifest` names, the inline lists hold at most 200 entries in all.
 *
 * Its violations say that the document is malformed or contradicts itself. What the gate thinks of
 * a well-formed result (`result.failed` and the like) has codes of its own.
 */
import * as Type from 'typebox'
import { DOCUMENT_LIMITS } from '../../base/index.ts'
import type { Contract } from '../kernel/contract.ts'
import { RUN_CAPS } from './run-caps.ts'
import { SANDBOX_RESULT_CHECKS } from './sandbox-result-checks.ts'
import { ActionId, closed, DigestText } from './shapes.ts'

export const RUN_STATUSES = [
  'SUCCESS',
  'FAILURE',
  'TIMEOUT',
  'RESOURCE_KILLED',
  'POLICY_ABORTED',
  'SANDBOX_ERROR',
] as const

export const EFFECT_CLASSES = ['staged', 'held', 'compensable', 'irreversible'] as const

const Amount = Type.Number({ minimum: 0 })
const Count = Type.Integer({ minimum: 0 })
const Name = Type.String({ minLength: 1 })

const DiffEntry = Type.Object(
  {
    /** Absolute; a form for people when `path_base64` holds the bytes. */
    path: Type.String(),
    path_base64: Type.Optional(Type.String()),
    kind: Type.Enum(['file', 'directory', 'symlink', 'fifo', 'socket', 'device']),
    mode: Type.String({
      pattern: '^[0-7]{4}$',
      'x-code': { pattern: 'mode' },
      'x-says': 'four octal digits',
    }),
    size: Count,
    before: Type.Optional(DigestText),
    after: Type.Optional(DigestText),
    /** Where a symbolic link leads. */
    target: Type.Optional(Type.String()),
    class: Type.Enum([...EFFECT_CLASSES]),
  },
  closed,
)

const Diff = Type.Object(
  {
    counts: Type.Object({ added: Count, modified: Count, deleted: Count }, closed),
    bytes: Count,
    manifest: DigestText,
    added: Type.Array(DiffEntry),
    modified: Type.Array(DiffEntry),
    deleted: Type.Array(DiffEntry),
  },
  closed,
)

const Enforcement = Type.Optional(Type.Enum(['kernel', 'polled']))

/**
 * One connection, as the proxy saw it (G-16). `failed`: the rules let it pass, but the server did not
 * answer and nothing was sent. Beyond a limit, equal connections are one entry without addresses.
 */
const Connection = Type.Object(
  {
    /** `-` and port 0 where the request named none that could be read. */
    host: Name,
    port: Type.Integer({ minimum: 0, maximum: 65_535 }),
    outcome: Type.Enum(['passed', 'refused', 'failed']),
    /** Why it was not passed to its end. */
    code: Type.Optional(
      Type.String({
        pattern: '^[a-z_]+\\.[a-z_]+$',
        'x-code': { pattern: 'code' },
        'x-says': 'a code such as `network.host`',
      }),
    ),
    /** Passed because a human had released it before the run. */
    released: Type.Optional(Type.Literal(true)),
    /** A call of the participant to a host that it lives by. */
    class: Type.Optional(Type.Literal('service')),
    method: Type.Optional(Name),
    url: Type.Optional(Name),
    sni: Type.Optional(Name),
    /** How many connections the entry counts; absent for one. */
    count: Type.Optional(Type.Integer({ minimum: 2 })),
    bytes_sent: Count,
    bytes_received: Count,
  },
  closed,
)

/** A request that was composed and not sent: it is sent once, after a yes (G-16). */
const HeldRequest = Type.Object(
  {
    /** The child that the request is. */
    step_id: ActionId,
    method: Name,
    /** Without its query, which may hold secrets. */
    url: Name,
    has_query: Type.Boolean(),
    header_names: Type.Array(Name),
    body_bytes: Count,
    /** Of method, address, headers and body as they would be sent. */
    digest: DigestText,
    /** Where the answer would be kept. */
    save_to: Type.Optional(Type.String()),
    /** What would undo it; absent when nothing does. */
    compensation: Type.Optional(Name),
  },
  closed,
)

const SandboxResultSchema = Type.Object(
  {
    action_id: ActionId,
    sandbox_id: Name,
    proposal_digest: DigestText,
    execution: Type.Object(
      {
        started_at: Type.String(),
        ended_at: Type.String(),
        status: Type.Enum([...RUN_STATUSES]),
        exit_code: Type.Union([Type.Integer(), Type.Null()]),
        signal: Type.Union([Name, Type.Null()]),
        killed_by: Type.Optional(Type.Enum([...RUN_CAPS])),
      },
      closed,
    ),
    outputs: Type.Object(
      { stdout: Type.String(), stderr: Type.String(), truncated: Type.Boolean() },
      closed,
    ),
    diff: Diff,
    resources: Type.Object(
      {
        cpu_ms: Amount,
        memory_peak_mb: Amount,
        disk_mb: Amount,
        duration_ms: Amount,
        processes: Count,
        enforced_by: Type.Object(
          {
            cpu: Enforcement,
            memory: Enforcement,
            disk: Enforcement,
            duration: Enforcement,
            processes: Enforcement,
          },
          closed,
        ),
      },
      closed,
    ),
    side_effects: Type.Object(
      {
        network: Type.Array(Connection),
        held: Type.Optional(Type.Array(HeldRequest)),
        background_processes: Count,
        privileged: Type.Boolean(),
        devices: Type.Boolean(),
      },
      closed,
    ),
    findings: Type.Array(
      Type.Object(
        {
          code: Type.String({
            pattern: '^[a-z][a-z0-9_]*(?:\\.[^\\s.]+)+$',
            'x-code': { pattern: 'code' },
            'x-says': 'a code such as `effect.undeclared`',
          }),
          path: Type.Optional(Type.String()),
          detail: Type.Optional(Type.String()),
        },
        closed,
      ),
    ),
    compliance: Type.Object(
      {
        effects_declared: Type.Boolean(),
        within_scope: Type.Boolean(),
        within_resources: Type.Boolean(),
        sandbox_as_required: Type.Boolean(),
        rollback_possible: Type.Boolean(),
      },
      closed,
    ),
    controls: Type.Array(
      Type.Object(
        {
          name: Name,
          profile: Type.Optional(Name),
          detail: Type.Optional(Type.String()),
        },
        closed,
      ),
    ),
  },
  closed,
)

export type SandboxResult = Type.Static<typeof SandboxResultSchema>
export type DiffEntry = Type.Static<typeof DiffEntry>
export type NetworkConnection = Type.Static<typeof Connection>
export type HeldRequest = Type.Static<typeof HeldRequest>
export type EffectClass = (typeof EFFECT_CLASSES)[number]

export const sandboxResult: Contract = {
  name: 'sandbox_result_v1',
  title: 'What a rehearsal did, as the host saw it.',
  prefix: 'sandbox_result',
  schema: SandboxResultSchema,
  checks: SANDBOX_RESULT_CHECKS,
  limits: DOCUMENT_LIMITS,
  isRecord: true,
}
