/**
 * One event of a host's hook (S-16, S-17): input in, exactly one answer out.
 *
 * In a session the report goes to the session's channel, and at most one line comes back for the
 * model. In wrapping a shell command becomes a ticket line, and an edit tool is denied.
 *
 * INVARIANT (no doubt passes): input that is no event of the host leaves with status 2, which blocks.
 *   A channel that fails neither blocks a tool in a session nor replaces wrapping outside of one.
 */
import {
  type AgentHost,
  feedbackAnswer,
  type HookAnswer,
  noEvent,
  type PrintedAnswer,
  readEvent,
  TICKET_WORDS,
  type ToolReport,
  ticketLine,
} from '../hosts/index.ts'
import { postReport } from './channel.ts'
import { makeTicket } from './ticket.ts'

interface HookEvent {
  readonly host: AgentHost
  readonly isWrapping: boolean
  /** What the hook's command names, where the host's input names no event. */
  readonly event: string | null
  readonly input: string
  /** `WRIT_SESSION_CHANNEL`; null outside of a session. */
  readonly channel: string | null
  readonly writ: string
  readonly tickets: string
  readonly cwd: string
  readonly nowMs: number
}

const PASS: HookAnswer = { kind: 'pass' }

export async function answerEvent(event: HookEvent): Promise<PrintedAnswer> {
  const report = readEvent(event.host, event.input, event.event)
  if (report === null) return noEvent(event.host)
  return event.host.hooks.print(await decided(event, report), report)
}

/**
 * A wrapping hook believes in a session only if its channel answers: a variable alone, which a file of
 * the repository may have set, does not stop the wrapping.
 */
async function decided(event: HookEvent, report: ToolReport): Promise<HookAnswer> {
  const { channel, isWrapping } = event
  const answer = channel === null ? null : await postReport(channel, report)
  if (answer === null) return isWrapping ? wrapped(event, report) : PASS
  return feedbackAnswer(answer, report)
}

function wrapped(event: HookEvent, report: ToolReport): HookAnswer {
  const { writ, tickets, nowMs } = event
  if (report.boundary !== 'before') return PASS
  if (report.kind === 'edit') return { kind: 'deny', reason: EDIT_REASON }
  if (report.kind !== 'shell') return PASS
  const { command, host, session } = report
  if (command === null) return { kind: 'deny', reason: 'writ cannot read the command of this call' }
  if (isTicketLine(command, writ)) return PASS
  const cwd = report.cwd ?? event.cwd
  const ticket = makeTicket(tickets, { host, session, cwd, command }, nowMs)
  return { kind: 'rewrite', command: ticketLine(writ, ticket) }
}

const EDIT_REASON =
  'writ: edit tools of this host go past the gate. Change the file with a shell command instead, which writ checks, or start the agent with `writ run`.'

function isTicketLine(command: string, writ: string): boolean {
  const prefix = `${writ} ${TICKET_WORDS.join(' ')} `
  return command.startsWith(prefix) && /^[0-9a-f]{32}$/.test(command.slice(prefix.length))
}
