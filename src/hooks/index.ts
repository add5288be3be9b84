/**
 * Room: hooks. Installs and removes hooks of coding agents, answers their events, and tries what
 * happens when they fail. Sees base, configuration, hosts and machine.
 */
export { type FaultTrial, tryFaults } from './doctor/doctor.ts'
export { switchesIn } from './doctor/switches.ts'
export { answerEvent } from './event.ts'
export {
  type FileChange,
  type HookPlaces,
  type HookPlan,
  install,
  installationOf,
  installations,
  planInstall,
  planUninstall,
  unhookCopy,
  uninstall,
} from './install/install.ts'
export { redeemTicket, ticketFolder, withTickets } from './ticket.ts'
