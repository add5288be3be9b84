/** Goose 1.38 and newer, by its sources. Its hooks fail closed with `on_failure: "block"`. */
import { blocked, type EventNames, neededEvents, printed, readClaudeForm } from './claude-form.ts'
import { NO_MODELS, NO_SESSION } from './documented.ts'
import { type AgentHost, eventCommand, type InstallOrder, type InstallStep } from './host.ts'
import { insteadLine } from './qwen.ts'
import type { HookAnswer, PrintedAnswer } from './report.ts'
import type { ToolNames } from './tools.ts'

const EVENTS: EventNames = { before: 'PreToolUse', after: 'PostToolUse', stop: 'Stop' }

const TOOLS: ToolNames = {
  shell: { developer__shell: 'command', shell: 'command' },
  edit: { developer__text_editor: ['path'], text_editor: ['path'] },
}

function print(answer: HookAnswer): PrintedAnswer {
  switch (answer.kind) {
    case 'pass':
    case 'feedback':
      return printed({ decision: 'allow' })
    case 'deny':
      return blocked(answer.reason)
    case 'rewrite':
      return blocked(insteadLine(answer.command))
    default:
      return answer satisfies never
  }
}

/** A plugin of its own. The matcher is a regular expression: a bare `*` would skip the rule. */
function steps(order: InstallOrder): readonly InstallStep[] {
  const entry = {
    type: 'command',
    command: eventCommand(order, 'goose'),
    timeout: order.seconds,
    on_failure: 'block',
  }
  const group = [{ matcher: '.*', hooks: [entry] }]
  const hooks = Object.fromEntries(
    Object.values(neededEvents(order.mode, EVENTS)).map((event) => [event, group]),
  )
  const folder = `${order.level === 'user' ? order.home : order.project}/.agents/plugins/writ`
  const plugin = { name: 'writ', version: '1.0.0', description: 'asks writ before each tool' }
  return [
    {
      kind: 'file',
      file: `${folder}/plugin.json`,
      text: `${JSON.stringify(plugin, null, 2)}\n`,
      isExecutable: false,
    },
    {
      kind: 'file',
      file: `${folder}/hooks/hooks.json`,
      text: `${JSON.stringify({ hooks }, null, 2)}\n`,
      isExecutable: false,
    },
  ]
}

export const GOOSE: AgentHost = {
  name: 'goose',
  title: 'Goose',
  tested: [],
  programs: ['goose', 'goosed'],
  packages: [],
  session: NO_SESSION,
  state: {
    places: ['.config/goose/', '.local/share/goose/', '.local/state/goose/', '.agents/'],
    movedBy: ['GOOSE_PATH_ROOT'],
    powers: ['.config/goose/**', '.agents/**'],
    remade: [],
    mixed: [],
    copied: ['.config/goose/', '.agents/'],
    logins: [],
  },
  endpoints: NO_MODELS,
  hooks: {
    events: EVENTS,
    modes: ['wrap'],
    levels: ['user', 'project'],
    uncovered: [
      { tool: 'MCP tools', why: 'extensions act in their own processes' },
      { tool: 'feedback', why: 'a hook cannot tell the model anything after a tool' },
    ],
    read: readClaudeForm('goose', EVENTS, TOOLS),
    print,
    steps,
  },
  switches: [],
  trial: null,
}
