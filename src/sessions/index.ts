/**
 * Room: sessions. Runs coding agents in sessions: starts them, settles what they change, goes on after
 * an interruption. Sees base, contracts, configuration, ledger, gate, hosts, machine, gateway, sandbox,
 * view, home and service.
 */
export { costText, NO_BUDGET } from '../gateway/index.ts'
export { AgentHome } from './agent/agent-home.ts'
export type { PowerChange } from './agent/agent-powers.ts'
export { knownHost } from './agent-start.ts'
export { sendOrder } from './control.ts'
export { withIdleSession } from './idle-session.ts'
export { runSession, type SessionEnd } from './live-session.ts'
export {
  findSession,
  isSessionNamed,
  keptSessions,
  SessionFiles,
  type SessionTerms,
} from './session-files.ts'
export { sessionDescriptor } from './session-proposal.ts'
export type { SessionUse } from './session-use.ts'
export type { Settler } from './settle.ts'
export type { NotDiscarded, PendingChanges, PendingReason, Settled } from './settled.ts'
