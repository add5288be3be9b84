/** Cursor, by its documentation. Its agent runs inside the editor, so only wrapping fits. */
import { digestBytes } from '../base/index.ts'
import {
  BOUNDARIES,
  blocked,
  boundaryOf,
  type EventNames,
  isOfTool,
  neededEvents,
  printed,
  rewritten,
} from './claude-form.ts'
import { NO_MODELS, NO_SESSION } from './documented.ts'
import { asObject, objectOrText, textIn } from './fields.ts'
import { type AgentHost, eventCommand, type HookLevel, type InstallOrder } from './host.ts'
import type { HookAnswer, PrintedAnswer, ToolReport } from './report.ts'
import { NO_TOOL, type ToolNames, toolParts } from './tools.ts'

const EVENTS: EventNames = {
  before: 'preToolUse',
  after: 'postToolUse',
  stop: 'stop',
  prompt: 'beforeSubmitPrompt',
  start: 'sessionStart',
}

const TOOLS: ToolNames = {
  shell: { Shell: 'command' },
  edit: {
    Write: ['file_path', 'path'],
    StrReplace: ['file_path', 'path'],
    Edit: ['file_path', 'path'],
    Delete: ['file_path', 'path'],
  },
}

const FILE: Readonly<Record<HookLevel, (order: InstallOrder) => string>> = {
  user: ({ home }) => `${home}/.cursor/hooks.json`,
  project: ({ project }) => `${project}/.cursor/hooks.json`,
  managed: () => '/etc/cursor/hooks.json',
}

function read(input: unknown): ToolReport | null {
  const value = asObject(input)
  const boundary = value === null ? null : boundaryOf(EVENTS, textIn(value, 'hook_event_name'))
  if (value === null || boundary === null) return null
  const name = textIn(value, 'tool_name')
  const args = objectOrText(value['tool_input'])
  if (isOfTool(boundary) && (name === null || args === null)) return null
  const prompt = textIn(value, 'prompt')
  const roots = value['workspace_roots']
  const root = Array.isArray(roots) ? roots.find((one) => typeof one === 'string') : undefined
  return {
    host: 'cursor',
    boundary,
    ...(name === null || args === null ? NO_TOOL : toolParts(TOOLS, name, args)),
    call: textIn(value, 'tool_use_id') ?? textIn(value, 'generation_id'),
    cwd: textIn(value, 'cwd') ?? root ?? null,
    session: textIn(value, 'conversation_id'),
    agent: null,
    model: textIn(value, 'model'),
    prompt: prompt === null ? null : digestBytes(prompt),
  }
}

/** `ask` is never printed: since 2.4.21 Cursor does not obey it. */
function print(answer: HookAnswer, report: ToolReport): PrintedAnswer {
  switch (answer.kind) {
    case 'pass':
      return printed({})
    case 'deny':
      return printed({
        permission: 'deny',
        user_message: answer.reason,
        agent_message: answer.reason,
      })
    case 'rewrite': {
      const updated = rewritten(report, TOOLS, answer.command)
      return updated === null
        ? blocked('writ: this call cannot be rewritten')
        : printed({ permission: 'allow', updated_input: updated })
    }
    case 'feedback':
      return printed({ additional_context: answer.line })
    default:
      return answer satisfies never
  }
}

export const CURSOR: AgentHost = {
  name: 'cursor',
  title: 'Cursor',
  tested: [],
  programs: ['cursor', 'cursor-agent'],
  packages: [],
  session: NO_SESSION,
  state: {
    places: ['.cursor/', '.config/Cursor/'],
    movedBy: [],
    powers: [
      '.cursor/hooks.json',
      '.cursor/mcp.json',
      '.cursor/rules/**',
      '.cursor/cli-config.json',
    ],
    remade: [],
    mixed: [],
    copied: ['.cursor/hooks.json', '.cursor/mcp.json', '.cursor/cli-config.json'],
    logins: [
      {
        file: '.config/cursor/auth.json',
        risk: 'a token of the Cursor account: a program in the session can read it and use the account',
      },
    ],
  },
  endpoints: NO_MODELS,
  hooks: {
    events: EVENTS,
    modes: ['wrap'],
    levels: ['user', 'project', 'managed'],
    uncovered: [
      { tool: 'MCP tools', why: 'MCP servers act in their own processes' },
      { tool: 'Tab edits', why: 'completions of the editor are no tool calls' },
    ],
    read,
    print,
    steps: (order) => {
      const entry = {
        command: eventCommand(order, 'cursor'),
        timeout: order.seconds,
        failClosed: true,
      }
      const groups = BOUNDARIES.flatMap((boundary) => {
        const event = neededEvents(order.mode, EVENTS)[boundary]
        return event === undefined
          ? []
          : [{ kind: 'item' as const, at: ['hooks', event], value: entry }]
      })
      const version = { kind: 'value', at: ['version'], value: 1 } as const
      return [
        {
          kind: 'merge',
          file: FILE[order.level](order),
          format: 'json',
          parts: [version, ...groups],
        },
      ]
    },
  },
  switches: [],
  trial: null,
}
