/** One event of a host's hook: what it reports, and what a session answers to it. */
import type { AgentHost } from './host.ts'
import { hostNamed } from './registry.ts'
import type { ChannelAnswer, HookAnswer, PrintedAnswer, ToolReport } from './report.ts'

/** Returns null if the input is no event of the host. `event` is what the hook's command names. */
export function readEvent(host: AgentHost, input: string, event: string | null): ToolReport | null {
  try {
    return host.hooks.read(JSON.parse(input), event)
  } catch {
    return null
  }
}

/** Status 2 blocks the call. */
export function noEvent({ title }: AgentHost): PrintedAnswer {
  const stderr = `writ: this is no hook event of ${title}, so the call is blocked (hook.input)\n`
  return { stdout: '', stderr, status: 2 }
}

/** After a tool the model hears what became of its changes, as one line. */
export function feedbackAnswer({ feedback }: ChannelAnswer, { boundary }: ToolReport): HookAnswer {
  return feedback !== null && boundary === 'after'
    ? { kind: 'feedback', line: oneLine(feedback) }
    : { kind: 'pass' }
}

/** Answers an event in the words of its host; null if no host has this name. */
export async function answerInSession(
  name: string,
  event: string | null,
  input: string,
  hear: (report: ToolReport) => Promise<ChannelAnswer>,
): Promise<PrintedAnswer | null> {
  const host = hostNamed(name)
  if (host === null) return null
  const report = readEvent(host, input, event)
  if (report === null) return noEvent(host)
  return host.hooks.print(feedbackAnswer(await hear(report), report), report)
}

/** Control characters would let the line look like several. */
function oneLine(text: string): string {
  return text
    .replace(/\p{Cc}+/gu, ' ')
    .trim()
    .slice(0, 2_000)
}
