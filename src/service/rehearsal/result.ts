/** The sandbox result of a rehearsal, as the host saw it: `sandbox_result_v1`. */
import type { Digest } from '../../base/index.ts'
import type { HeldRequest, RunCap, SandboxResult } from '../../contracts/index.ts'
import { type Comparison, displayOfRaw, inlineDiff } from '../../gate/index.ts'
import { occurredAtText } from '../../ledger/index.ts'
import type { RunOutcome } from '../../sandbox/index.ts'
import { isSuccess, type Rehearsal } from './rehearsal.ts'

interface ResultParts {
  readonly actionId: string
  readonly proposalDigest: Digest
  readonly rehearsal: Rehearsal
  readonly comparison: Comparison
  readonly manifest: Digest
  /** Requests that were composed and not sent. */
  readonly held?: readonly HeldRequest[]
}

export function buildResult(parts: ResultParts): SandboxResult {
  const { actionId, proposalDigest, rehearsal, comparison, manifest, held = [] } = parts
  const outcomes = rehearsal.steps.map(({ outcome }) => outcome)
  const findings = [...comparison.findings, ...treeFindings(rehearsal), ...rehearsal.told]
  const { status, last } = summary(outcomes)
  return {
    action_id: actionId,
    sandbox_id: rehearsal.sandboxId,
    proposal_digest: proposalDigest,
    execution: {
      started_at: occurredAtText(outcomes[0]?.startedAtMs ?? 0),
      ended_at: occurredAtText(Math.max(...outcomes.map(({ endedAtMs }) => endedAtMs))),
      status,
      exit_code: last.exitCode,
      signal: last.signal,
      ...(last.killedBy === null ? {} : { killed_by: last.killedBy }),
    },
    outputs: rehearsal.outputs.document(),
    diff: {
      counts: comparison.counts,
      bytes: comparison.bytes,
      manifest,
      ...inlineDiff(comparison.promoted),
    },
    resources: sumResources(outcomes),
    side_effects: {
      network: [...(rehearsal.network ?? [])],
      ...(held.length === 0 ? {} : { held: [...held] }),
      background_processes: sum(outcomes.map((outcome) => outcome.backgroundProcesses)),
      privileged: false,
      devices: false,
    },
    findings,
    compliance: {
      effects_declared: comparison.effectsDeclared,
      within_scope: comparison.withinScope,
      within_resources: status !== 'TIMEOUT' && status !== 'RESOURCE_KILLED',
      sandbox_as_required: true,
      rollback_possible: !findings.some(({ code }) => code === 'diff.unsupported'),
    },
    controls: rehearsal.controls.map((control) => ({ ...control })),
  }
}

type Status = SandboxResult['execution']['status']

/** The whole ends as its last step did: nothing runs after one that does not succeed. */
function summary(outcomes: readonly RunOutcome[]): { status: Status; last: RunOutcome } {
  const last = outcomes[outcomes.length - 1] as RunOutcome
  if (last.aborted) return { status: 'POLICY_ABORTED', last: { ...last, killedBy: null } }
  if (last.killedBy !== null) {
    return { status: last.killedBy === 'duration' ? 'TIMEOUT' : 'RESOURCE_KILLED', last }
  }
  return { status: isSuccess(last) ? 'SUCCESS' : 'FAILURE', last }
}

function treeFindings({ findings }: Rehearsal): SandboxResult['findings'] {
  return findings.map(({ code, path, detail }) => {
    const found = { code, path: displayOfRaw(path) }
    return detail === undefined ? found : { ...found, detail }
  })
}

function sumResources(outcomes: readonly RunOutcome[]): SandboxResult['resources'] {
  const all = outcomes.map(({ resources }) => resources)
  // Every `enforcedBy` has this type; `Object.assign` loses it.
  const enforced = Object.assign({}, ...all.map(({ enforcedBy }) => enforcedBy)) as Partial<
    Record<RunCap, 'kernel' | 'polled'>
  >
  return {
    cpu_ms: sum(all.map(({ cpuMs }) => cpuMs)),
    memory_peak_mb: Math.max(...all.map(({ memoryPeakMb }) => memoryPeakMb)),
    disk_mb: Math.max(...all.map(({ diskMb }) => diskMb)),
    duration_ms: sum(all.map(({ durationMs }) => durationMs)),
    processes: Math.max(...all.map(({ processes }) => processes)),
    enforced_by: enforced,
  }
}

function sum(numbers: readonly number[]): number {
  return numbers.reduce((total, each) => total + each, 0)
}
