/** Windsurf, by its documentation. Its hooks answer by exit status alone. */
import { blocked, boundaryOf, type EventNames } from './claude-form.ts'
import { NO_MODELS, NO_SESSION } from './documented.ts'
import { asObject, objectIn, textIn } from './fields.ts'
import { type AgentHost, eventCommand, type HookLevel, type InstallOrder } from './host.ts'
import { insteadLine } from './qwen.ts'
import type { HookAnswer, PrintedAnswer, ToolReport } from './report.ts'
import { type ToolNames, toolParts } from './tools.ts'

const BEFORE = ['pre_run_command', 'pre_write_code', 'pre_mcp_tool_use'] as const
const AFTER = ['post_run_command', 'post_write_code', 'post_mcp_tool_use'] as const
const EVENTS: EventNames = { before: BEFORE[0], after: AFTER[0] }

const TOOLS: ToolNames = {
  shell: { run_command: 'command_line' },
  edit: { write_code: ['file_path'] },
}

const FILE: Readonly<Record<HookLevel, (order: InstallOrder) => string>> = {
  user: ({ home }) => `${home}/.codeium/windsurf/hooks.json`,
  project: ({ project }) => `${project}/.windsurf/hooks.json`,
  managed: () => '/etc/windsurf/hooks.json',
}

function read(input: unknown): ToolReport | null {
  const value = asObject(input)
  const name = value === null ? null : textIn(value, 'agent_action_name')
  if (value === null || name === null) return null
  const [, when, tool = ''] = /^(pre|post)_(\w+)$/.exec(name) ?? []
  const boundary = boundaryOf({ before: 'pre', after: 'post' }, when ?? null)
  const args = objectIn(value, 'tool_info')
  if (boundary === null || args === null) return null
  return {
    host: 'windsurf',
    boundary,
    ...toolParts(TOOLS, tool, args),
    call: textIn(value, 'execution_id'),
    cwd: textIn(args, 'cwd'),
    session: textIn(value, 'trajectory_id'),
    agent: null,
    model: textIn(value, 'model_name'),
    prompt: null,
  }
}

const SILENT: PrintedAnswer = { stdout: '{}\n', stderr: '', status: 0 }

function print(answer: HookAnswer): PrintedAnswer {
  switch (answer.kind) {
    case 'pass':
    case 'feedback':
      return SILENT
    case 'deny':
      return blocked(answer.reason)
    case 'rewrite':
      return blocked(insteadLine(answer.command))
    default:
      return answer satisfies never
  }
}

export const WINDSURF: AgentHost = {
  name: 'windsurf',
  title: 'Windsurf',
  tested: [],
  programs: ['windsurf'],
  packages: [],
  session: NO_SESSION,
  state: {
    places: ['.codeium/', '.windsurf/'],
    movedBy: [],
    powers: ['.codeium/windsurf/hooks.json', '.codeium/windsurf/mcp_config.json'],
    remade: [],
    mixed: [],
    copied: [],
    logins: [],
  },
  endpoints: NO_MODELS,
  hooks: {
    events: EVENTS,
    modes: ['wrap'],
    levels: ['user', 'project', 'managed'],
    uncovered: [
      {
        tool: 'all tools',
        why: 'only exit status 2 blocks: a hook that crashes or hangs lets the call run',
      },
      { tool: 'feedback', why: 'a hook cannot tell the model anything after a tool' },
    ],
    read,
    print,
    steps: (order) => {
      const entry = { command: eventCommand(order, 'windsurf'), show_output: false }
      const parts = [...BEFORE, ...AFTER].map(
        (event) => ({ kind: 'item', at: ['hooks', event], value: entry }) as const,
      )
      return [{ kind: 'merge', file: FILE[order.level](order), format: 'json', parts }]
    },
  },
  switches: [],
  trial: null,
}
