/** Kiro (editor and command line), by its documentation. Its hooks answer by exit status. */
import { blocked, type EventNames, neededEvents, printed, readClaudeForm } from './claude-form.ts'
import { NO_MODELS, NO_SESSION } from './documented.ts'
import { type AgentHost, eventCommand } from './host.ts'
import { insteadLine } from './qwen.ts'
import type { HookAnswer, PrintedAnswer } from './report.ts'
import type { ToolNames } from './tools.ts'

const EVENTS: EventNames = {
  before: 'PreToolUse',
  after: 'PostToolUse',
  stop: 'Stop',
  prompt: 'UserPromptSubmit',
}

const TOOLS: ToolNames = {
  shell: { execute_bash: 'command', shell: 'command' },
  edit: { fs_write: ['path'], write: ['path'] },
}

function print(answer: HookAnswer): PrintedAnswer {
  switch (answer.kind) {
    case 'pass':
      return printed({})
    case 'feedback':
      return { stdout: `${answer.line}\n`, stderr: '', status: 0 }
    case 'deny':
      return blocked(answer.reason)
    case 'rewrite':
      return blocked(insteadLine(answer.command))
    default:
      return answer satisfies never
  }
}

export const KIRO: AgentHost = {
  name: 'kiro',
  title: 'Kiro',
  tested: [],
  programs: ['kiro', 'kiro-cli'],
  packages: [],
  session: NO_SESSION,
  state: {
    places: ['.kiro/'],
    movedBy: [],
    powers: ['.kiro/hooks/**', '.kiro/settings/**', '.kiro/agents/**', '.kiro/steering/**'],
    remade: [],
    mixed: [],
    copied: ['.kiro/hooks/', '.kiro/settings/', '.kiro/agents/', '.kiro/steering/'],
    logins: [],
  },
  endpoints: NO_MODELS,
  hooks: {
    events: EVENTS,
    modes: ['wrap'],
    levels: ['user', 'project'],
    uncovered: [
      {
        tool: 'all tools',
        why: 'only exit status 2 blocks: a hook that crashes lets the call run',
      },
      { tool: 'MCP tools', why: 'MCP servers act in their own processes' },
    ],
    read: readClaudeForm('kiro', EVENTS, TOOLS),
    print,
    steps: (order) => {
      const hooks = Object.values(neededEvents(order.mode, EVENTS)).map((trigger) => ({
        name: `writ ${trigger}`,
        trigger,
        matcher: '*',
        action: { type: 'command', command: eventCommand(order, 'kiro') },
        timeout: order.seconds,
      }))
      const text = `${JSON.stringify({ version: 'v1', hooks }, null, 2)}\n`
      const folder = order.level === 'user' ? order.home : order.project
      return [{ kind: 'file', file: `${folder}/.kiro/hooks/writ.json`, text, isExecutable: false }]
    },
  },
  switches: [],
  trial: null,
}
