/**
 * Room: hosts. Adapters of coding agents: how each is recognised, what a session adds to its start,
 * its state and model endpoints, and translators of its hooks. Pure. Sees base.
 */
export { answerInSession, feedbackAnswer, noEvent, readEvent } from './event.ts'
export { asObject, type JsonFields } from './fields.ts'
export {
  type AgentHost,
  type ConfigurationPart,
  type HookLevel,
  type HookMode,
  type InstallStep,
  KEY_PLACEHOLDER,
  TICKET_WORDS,
  ticketLine,
} from './host.ts'
export { HOSTS, hostNamed, recogniseHost } from './registry.ts'
export {
  type ChannelAnswer,
  type HookAnswer,
  type PrintedAnswer,
  readChannelAnswer,
  type ToolReport,
} from './report.ts'
export { sessionStart, switchedOff } from './session-start.ts'
