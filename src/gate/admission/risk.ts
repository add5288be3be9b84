/**
 * The host's own floor under the risk that a descriptor claims (G-1a). The higher of the two counts:
 * an actor can make its act look riskier, never safer.
 */
import {
  type ActionKind,
  type EffectClass,
  type Evaluation,
  field,
  type HostFacts,
  operationPaths,
  type Proposal,
  RISK_LEVELS,
  type RiskLevel,
  type SandboxResult,
} from '../../contracts/index.ts'
import { onlyRead } from '../network/rules.ts'
import { allProposals, leavesOf, RealPaths } from '../paths/places.ts'

export const RISK_FLOORS: Readonly<Record<ActionKind, RiskLevel>> = {
  FILE_READ: 'LOW',
  FILE_WRITE: 'LOW',
  FILE_MOVE: 'LOW',
  DIRECTORY_CREATE: 'LOW',
  FILE_DELETE: 'MEDIUM',
  DIRECTORY_DELETE: 'MEDIUM',
  COMMAND_EXECUTION: 'MEDIUM',
  PACKAGE_INSTALL: 'MEDIUM',
  PACKAGE_REMOVE: 'MEDIUM',
  NETWORK_REQUEST: 'HIGH',
  UI_AUTOMATION: 'HIGH',
  CONFIG_CHANGE: 'LOW',
  MULTI_STEP_COMPOSITE: 'LOW',
}

/** Beyond these a result is HIGH; additions alone do not raise it. */
export const DELETIONS_MAX = 20
export const MODIFICATIONS_MAX = 200

export function higherRisk(one: RiskLevel, other: RiskLevel): RiskLevel {
  return RISK_LEVELS.indexOf(one) >= RISK_LEVELS.indexOf(other) ? one : other
}

export function isAtMost(risk: RiskLevel, limit: RiskLevel): boolean {
  return RISK_LEVELS.indexOf(risk) <= RISK_LEVELS.indexOf(limit)
}

/** The floor by what the proposal says it does, its children included. */
export function riskFloor(proposal: Proposal, host: HostFacts): RiskLevel {
  return floorOfAll(proposal, host, true)
}

/**
 * Returns the risk that laws read after a run. A network makes an act HIGH because it could send data.
 * If the proxy saw only reads from read-only hosts, the network no longer raises the risk (G-16). The
 * recorded risk and the proof that a yes needs do not change.
 */
export function riskAfterRun(
  proposal: Proposal,
  host: HostFacts,
  risk: Evaluation['risk'],
  result: SandboxResult,
): RiskLevel {
  const happened = resultRiskFloor(result)
  if (!onlyRead(result.side_effects.network)) return higherRisk(risk.effective, happened)
  return [risk.declared, floorOfAll(proposal, host, false), happened].reduce(higherRisk)
}

function floorOfAll(proposal: Proposal, host: HostFacts, countsNetwork: boolean): RiskLevel {
  const real = new RealPaths(host)
  return allProposals(proposal)
    .map(({ proposal: one }) => floorOf(one, host, real, countsNetwork))
    .reduce(higherRisk, 'LOW')
}

function floorOf(
  { descriptor, operation }: Proposal,
  { workspace }: HostFacts,
  real: RealPaths,
  countsNetwork: boolean,
): RiskLevel {
  const { action_type, scope, effects } = descriptor
  const floors: RiskLevel[] = [RISK_FLOORS[action_type]]
  if (effects.filesystem.delete.length > 0) floors.push('MEDIUM')
  if (countsNetwork && (scope.network.required || effects.network)) floors.push('HIGH')
  if (scope.ui.required) floors.push('HIGH')
  if (action_type === 'CONFIG_CHANGE') {
    const paths = operationPaths(operation).map(({ text }) => real.translate(text))
    if (!paths.every((path) => path.startsWith(`${workspace}/`))) floors.push('HIGH')
  }
  return floors.reduce(higherRisk)
}

/** The floor by what really happened. */
export function resultRiskFloor(result: Pick<SandboxResult, 'diff' | 'findings'>): RiskLevel {
  const { deleted, modified } = result.diff.counts
  const defers = result.findings.some(({ code }) => code === 'effect.deferred_execution')
  return deleted > DELETIONS_MAX || modified > MODIFICATIONS_MAX || defers ? 'HIGH' : 'LOW'
}

/** Of everything the proposal would do (G-16). Files are staged; what is sent is not. */
export function effectClasses(proposal: Proposal): ReadonlySet<EffectClass> {
  return new Set(leavesOf(proposal).map(({ proposal: leaf }) => classOf(leaf)))
}

/** A user interface without a network is a page of the scope: what it does are files. */
function classOf({ descriptor, operation }: Proposal): EffectClass {
  switch (operation?.type) {
    case 'NETWORK_REQUEST':
      return 'held'
    case 'UI_AUTOMATION':
      if (field(operation, 'compensation') !== undefined) return 'compensable'
      return descriptor.scope.network.required ? 'irreversible' : 'staged'
    // Other operations change files only.
    default:
      return 'staged'
  }
}
