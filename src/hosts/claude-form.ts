/**
 * The form of hooks that Claude Code began and several hosts share: groups of handlers below
 * `hooks.<Event>` in a JSON file, `hook_event_name` and `tool_input` on standard input, and
 * `hookSpecificOutput` on standard output. Hosts differ in the names of events and tools.
 */
import { digestBytes } from '../base/index.ts'
import { asObject, type JsonFields, objectIn, textIn } from './fields.ts'
import type { AgentName, ConfigurationPart, HookMode } from './host.ts'
import type { HookAnswer, HookBoundary, PrintedAnswer, ToolReport } from './report.ts'
import { NO_TOOL, type ToolNames, toolParts } from './tools.ts'

export type EventNames = Readonly<Partial<Record<HookBoundary, string>>>

/** Returns the boundary that an event name means. */
export function boundaryOf(events: EventNames, name: string | null): HookBoundary | null {
  for (const boundary of BOUNDARIES) if (events[boundary] === name) return boundary
  return null
}

export const BOUNDARIES: readonly HookBoundary[] = ['before', 'after', 'stop', 'prompt', 'start']

export function readClaudeForm(
  host: AgentName,
  events: EventNames,
  tools: ToolNames,
): (input: unknown) => ToolReport | null {
  return (input) => {
    const value = asObject(input)
    const boundary = value === null ? null : boundaryOf(events, textIn(value, 'hook_event_name'))
    if (value === null || boundary === null) return null
    const parts = isOfTool(boundary) ? toolOf(value, tools) : NO_TOOL
    if (parts === null) return null
    const prompt = boundary === 'prompt' ? textIn(value, 'prompt') : null
    return {
      host,
      boundary,
      ...parts,
      call: textIn(value, 'tool_call_id') ?? textIn(value, 'tool_use_id'),
      cwd: textIn(value, 'cwd'),
      session: textIn(value, 'session_id'),
      agent: textIn(value, 'agent_id'),
      model: textIn(value, 'model'),
      prompt: prompt === null ? null : digestBytes(prompt),
    }
  }
}

export function isOfTool(boundary: HookBoundary): boolean {
  return boundary === 'before' || boundary === 'after'
}

function toolOf(value: JsonFields, tools: ToolNames): ReturnType<typeof toolParts> | null {
  const name = textIn(value, 'tool_name')
  const args = objectIn(value, 'tool_input')
  return name === null || args === null ? null : toolParts(tools, name, args)
}

/** Prints one JSON object. */
export function printed(value: unknown): PrintedAnswer {
  return { stdout: `${JSON.stringify(value)}\n`, stderr: '', status: 0 }
}

/** Blocks by exit status 2, which every host with hook programs but Cline obeys. */
export function blocked(reason: string): PrintedAnswer {
  return { stdout: '', stderr: `${reason}\n`, status: 2 }
}

interface ClaudeWords {
  readonly events: EventNames
  /** The argument that holds the shell's text, by tool. */
  readonly tools: ToolNames
  /** Codex takes a rewrite only together with a permission. */
  readonly allowsRewrite: boolean
}

export function printClaudeForm({ events, tools, allowsRewrite }: ClaudeWords) {
  return (answer: HookAnswer, report: ToolReport): PrintedAnswer => {
    const hookEventName = events[report.boundary]
    switch (answer.kind) {
      case 'pass':
        return printed({})
      case 'deny':
        return printed({
          hookSpecificOutput: {
            hookEventName,
            permissionDecision: 'deny',
            permissionDecisionReason: answer.reason,
          },
        })
      case 'rewrite': {
        const updatedInput = rewritten(report, tools, answer.command)
        if (updatedInput === null) return blocked('writ: this call cannot be rewritten')
        const permission = allowsRewrite ? { permissionDecision: 'allow' } : {}
        return printed({ hookSpecificOutput: { hookEventName, ...permission, updatedInput } })
      }
      case 'feedback':
        return printed({ hookSpecificOutput: { hookEventName, additionalContext: answer.line } })
      default:
        return answer satisfies never
    }
  }
}

/** The arguments of a shell tool with another command; null if the tool is no shell. */
export function rewritten(
  report: ToolReport,
  tools: ToolNames,
  command: string,
): JsonFields | null {
  const name = report.tool ?? ''
  const argument = Object.hasOwn(tools.shell, name) ? tools.shell[name] : undefined
  if (argument === undefined) return null
  const isList = Array.isArray(report.arguments[argument])
  return { ...report.arguments, [argument]: isList ? [command] : command }
}

/** Wrapping needs the moment before a tool alone: a hook that fails then must not stop a prompt. */
export function neededEvents(mode: HookMode, events: EventNames): EventNames {
  const { before } = events
  return mode === 'wrap' && before !== undefined ? { before } : events
}

/** The parts of a settings file that name the hook for each event. */
export function claudeGroups(
  events: EventNames,
  handler: JsonFields,
  matcher: string | null,
): readonly ConfigurationPart[] {
  return BOUNDARIES.flatMap((boundary) => {
    const event = events[boundary]
    if (event === undefined) return []
    const group = matcher !== null && isOfTool(boundary) ? { matcher } : {}
    const value = { ...group, hooks: [handler] }
    return [{ kind: 'item' as const, at: ['hooks', event], value }]
  })
}
