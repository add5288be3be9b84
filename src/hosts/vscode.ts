/** The agent of Visual Studio Code, by its documentation: hooks in the form of Claude Code. */
import { type EventNames, neededEvents, printClaudeForm, readClaudeForm } from './claude-form.ts'
import { NO_MODELS, NO_SESSION } from './documented.ts'
import { type AgentHost, eventCommand } from './host.ts'
import type { ToolNames } from './tools.ts'

const EVENTS: EventNames = {
  before: 'PreToolUse',
  after: 'PostToolUse',
  stop: 'Stop',
  prompt: 'UserPromptSubmit',
  start: 'SessionStart',
}

const TOOLS: ToolNames = {
  shell: { runInTerminal: 'command', run_in_terminal: 'command' },
  edit: {
    editFiles: ['filePath'],
    createFile: ['filePath'],
    create_file: ['filePath'],
    replace_string_in_file: ['filePath'],
    insert_edit_into_file: ['filePath'],
  },
  patch: { apply_patch: 'input' },
}

export const VSCODE: AgentHost = {
  name: 'vscode',
  title: 'Visual Studio Code',
  tested: [],
  programs: ['code', 'code-insiders'],
  packages: [],
  session: NO_SESSION,
  state: {
    places: ['.vscode/', '.config/Code/'],
    movedBy: ['VSCODE_PORTABLE'],
    powers: [
      '.vscode/extensions/**',
      '.config/Code/User/settings.json',
      '.config/Code/User/mcp.json',
    ],
    remade: [],
    mixed: [],
    copied: [],
    logins: [],
  },
  endpoints: NO_MODELS,
  hooks: {
    events: EVENTS,
    modes: ['wrap'],
    levels: ['project'],
    uncovered: [
      { tool: 'MCP tools', why: 'MCP servers act in their own processes' },
      { tool: 'tools of extensions', why: 'extensions act inside the editor' },
      { tool: 'hooks', why: 'a preview; an organisation can switch them off' },
    ],
    read: readClaudeForm('vscode', EVENTS, TOOLS),
    print: printClaudeForm({ events: EVENTS, tools: TOOLS, allowsRewrite: false }),
    steps: (order) => {
      const entry = [
        { type: 'command', command: eventCommand(order, 'vscode'), timeout: order.seconds },
      ]
      const hooks = Object.fromEntries(
        Object.values(neededEvents(order.mode, EVENTS)).map((event) => [event, entry]),
      )
      const text = `${JSON.stringify({ hooks }, null, 2)}\n`
      const file = `${order.project}/.github/hooks/writ-vscode.json`
      return [{ kind: 'file', file, text, isExecutable: false }]
    },
  },
  switches: [],
  trial: null,
}
