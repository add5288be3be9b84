/** Qwen Code. Measured on the tested version unless a line says otherwise. */
import {
  claudeGroups,
  type EventNames,
  neededEvents,
  printClaudeForm,
  readClaudeForm,
} from './claude-form.ts'
import { OPENAI_CALLS } from './codex.ts'
import {
  type AgentHost,
  eventCommand,
  type HookLevel,
  type InstallOrder,
  KEY_PLACEHOLDER,
  TRIAL_PROMPT,
} from './host.ts'
import type { HookAnswer, PrintedAnswer, ToolReport } from './report.ts'
import type { ToolNames } from './tools.ts'

const EVENTS: EventNames = {
  before: 'PreToolUse',
  after: 'PostToolUse',
  stop: 'Stop',
  prompt: 'UserPromptSubmit',
  start: 'SessionStart',
}

/** The timeout of a hook is in milliseconds. */
const MS = 1_000

const TOOLS: ToolNames = {
  shell: { run_shell_command: 'command' },
  edit: { write_file: ['file_path'], edit: ['file_path'] },
}

const SETTINGS: Readonly<Record<HookLevel, (order: InstallOrder) => string>> = {
  user: ({ home }) => `${home}/.qwen/settings.json`,
  project: ({ project }) => `${project}/.qwen/settings.json`,
  managed: () => '/etc/qwen-code/settings.json',
}

const printForm = printClaudeForm({ events: EVENTS, tools: TOOLS, allowsRewrite: false })

/** Qwen ignores a rewrite: the denial names the line that the model is to run instead. */
function print(answer: HookAnswer, report: ToolReport): PrintedAnswer {
  if (answer.kind !== 'rewrite') return printForm(answer, report)
  return printForm({ kind: 'deny', reason: insteadLine(answer.command) }, report)
}

/** The reason of a denial where the host cannot rewrite. */
export function insteadLine(command: string): string {
  return `writ checks this command first. Run exactly this instead: ${command}`
}

export const QWEN: AgentHost = {
  name: 'qwen',
  title: 'Qwen Code',
  tested: ['0.24.4'],
  programs: ['qwen', 'qwen-code'],
  packages: ['@qwen-code/qwen-code'],
  session: {
    arguments: [
      {
        add: ['--approval-mode', 'yolo'],
        unless: ['--approval-mode', '--yolo', '-y'],
        why: 'the session confines every tool, so Qwen Code need not ask for each',
      },
    ],
    variables: [
      { name: 'QWEN_SANDBOX', value: 'false', why: 'a container cannot start in the session' },
    ],
  },
  state: {
    places: ['.qwen/'],
    movedBy: ['QWEN_HOME', 'QWEN_RUNTIME_DIR'],
    powers: [
      '.qwen/settings.json',
      '.qwen/QWEN.md',
      '.qwen/.env',
      '.qwen/trustedFolders.json',
      '.qwen/extensions/**',
      '.qwen/commands/**',
      '.qwen/skills/**',
      '.qwen/agents/**',
      '.qwen/hooks/**',
    ],
    remade: [],
    mixed: [],
    copied: [
      '.qwen/settings.json',
      '.qwen/QWEN.md',
      '.qwen/extensions/',
      '.qwen/commands/',
      '.qwen/skills/',
      '.qwen/agents/',
    ],
    logins: [
      {
        file: '.qwen/oauth_creds.json',
        risk: 'an OAuth token of the Qwen account: a program in the session can read it and use the account until it is revoked',
      },
    ],
  },
  endpoints: [
    {
      wire: 'chat',
      host: 'dashscope.aliyuncs.com',
      calls: OPENAI_CALLS,
      key: {
        header: 'authorization',
        prefix: 'Bearer ',
        variables: ['OPENAI_API_KEY', 'DASHSCOPE_API_KEY'],
        placeholder: KEY_PLACEHOLDER,
      },
      redirect: (url) => ({
        variables: { OPENAI_BASE_URL: `${url}/v1` },
        arguments: [],
        files: [
          {
            file: '.qwen/settings.json',
            format: 'json',
            set: { '/security/auth/selectedType': 'openai' },
          },
        ],
      }),
    },
  ],
  hooks: {
    events: EVENTS,
    modes: ['session', 'wrap'],
    levels: ['user', 'project', 'managed'],
    uncovered: [
      { tool: 'mcp__*', why: 'MCP servers act in their own processes' },
      {
        tool: 'run_shell_command',
        why: 'no lock: a hook that fails lets the command run, unless a `bash` of writ comes first on PATH',
      },
    ],
    read: readClaudeForm('qwen', EVENTS, TOOLS),
    print,
    steps: (order: InstallOrder) => {
      const command = eventCommand(order, 'qwen')
      const handler = { type: 'command', name: 'writ', command, timeout: order.seconds * MS }
      const parts = claudeGroups(neededEvents(order.mode, EVENTS), handler, '*')
      return [{ kind: 'merge', file: SETTINGS[order.level](order), format: 'json', parts }]
    },
  },
  switches: [
    {
      file: '.qwen/settings.json',
      keys: ['disableAllHooks'],
      value: true,
      example: true,
      effect: 'switches the hooks of the user off (by documentation)',
      survives: 'a `bash` of writ that comes first on PATH',
    },
  ],
  trial: {
    arguments: () => ['-p', TRIAL_PROMPT],
    variables: ({ url }) => ({
      OPENAI_API_KEY: KEY_PLACEHOLDER,
      OPENAI_BASE_URL: `${url}/v1`,
      OPENAI_MODEL: 'stand-in',
    }),
    files: () => ({
      '.qwen/settings.json': `${JSON.stringify(
        { security: { auth: { selectedType: 'openai' } }, general: { enableAutoUpdate: false } },
        null,
        2,
      )}\n`,
    }),
    open: ['--yolo'],
    locked: () => ['--yolo'],
    shell: (command) => ({
      tool: 'run_shell_command',
      arguments: { command, is_background: false, description: TRIAL_PROMPT },
    }),
    write: (path, content) => ({ tool: 'write_file', arguments: { file_path: path, content } }),
  },
}
