/** Gemini CLI. Measured on the tested version unless a line says otherwise. */
import {
  blocked,
  claudeGroups,
  type EventNames,
  neededEvents,
  printed,
  readClaudeForm,
  rewritten,
} from './claude-form.ts'
import {
  type AgentHost,
  eventCommand,
  type HookLevel,
  type InstallOrder,
  type InstallStep,
  KEY_PLACEHOLDER,
  TICKET_WORDS,
  TRIAL_PROMPT,
} from './host.ts'
import type { HookAnswer, PrintedAnswer, ToolReport } from './report.ts'
import type { ToolNames } from './tools.ts'

const EVENTS: EventNames = {
  before: 'BeforeTool',
  after: 'AfterTool',
  stop: 'AfterAgent',
  prompt: 'BeforeAgent',
  start: 'SessionStart',
}

/** The timeout of a hook is in milliseconds. */
const MS = 1_000

const TOOLS: ToolNames = {
  shell: { run_shell_command: 'command' },
  edit: { write_file: ['file_path'], replace: ['file_path'] },
}

const SETTINGS: Readonly<Record<HookLevel, (order: InstallOrder) => string>> = {
  user: ({ home }) => `${home}/.gemini/settings.json`,
  project: ({ project }) => `${project}/.gemini/settings.json`,
  managed: () => '/etc/gemini-cli/settings.json',
}

/** `ask` is never printed: without a terminal Gemini waits for ever. */
function print(answer: HookAnswer, report: ToolReport): PrintedAnswer {
  const hookEventName = EVENTS[report.boundary]
  switch (answer.kind) {
    case 'pass':
      return printed({})
    case 'deny':
      return printed({ decision: 'deny', reason: answer.reason })
    case 'rewrite': {
      const input = rewritten(report, TOOLS, answer.command)
      if (input === null) return blocked('writ: this call cannot be rewritten')
      return printed({ hookSpecificOutput: { hookEventName, tool_input: input } })
    }
    case 'feedback':
      return printed({ hookSpecificOutput: { hookEventName, additionalContext: answer.line } })
    default:
      return answer satisfies never
  }
}

/** The policy is checked after the rewrite, also under `--yolo`, and no workspace overrides it. */
function policyFile({ writ }: InstallOrder): string {
  const prefix = JSON.stringify([writ, ...TICKET_WORDS].join(' '))
  return [
    '# Written by `writ hook install gemini`; `writ hook uninstall gemini` removes it.',
    '[[rule]]',
    'toolName = "run_shell_command"',
    'decision = "deny"',
    'priority = 100',
    '',
    '[[rule]]',
    'toolName = "run_shell_command"',
    `commandPrefix = ${prefix}`,
    'decision = "allow"',
    'priority = 200',
    '',
    '[[rule]]',
    `toolName = ${JSON.stringify(Object.keys(TOOLS.edit))}`,
    'decision = "deny"',
    'priority = 300',
    '',
  ].join('\n')
}

function steps(order: InstallOrder): readonly InstallStep[] {
  const handler = {
    type: 'command',
    name: 'writ',
    command: eventCommand(order, 'gemini'),
    timeout: order.seconds * MS,
  }
  const parts = claudeGroups(neededEvents(order.mode, EVENTS), handler, '*')
  const file = SETTINGS[order.level](order)
  const merge: InstallStep = { kind: 'merge', file, format: 'json', parts }
  if (order.mode === 'session') return [merge]
  const policies =
    order.level === 'managed' ? '/etc/gemini-cli/policies' : `${order.home}/.gemini/policies`
  const text = policyFile(order)
  return [merge, { kind: 'file', file: `${policies}/writ.toml`, text, isExecutable: false }]
}

export const GEMINI: AgentHost = {
  name: 'gemini',
  title: 'Gemini CLI',
  tested: ['0.61.0'],
  programs: ['gemini', 'gemini-cli'],
  packages: ['@google/gemini-cli'],
  session: {
    arguments: [
      {
        add: ['--approval-mode', 'yolo'],
        unless: ['--approval-mode', '--yolo', '-y'],
        why: 'the session confines every tool, so Gemini need not ask for each',
      },
    ],
    variables: [
      { name: 'GEMINI_SANDBOX', value: 'false', why: 'a container cannot start in the session' },
      {
        name: 'GEMINI_CLI_TRUST_WORKSPACE',
        value: 'true',
        why: 'without a terminal Gemini leaves a directory that it does not trust',
      },
    ],
  },
  state: {
    places: ['.gemini/', '.cache/gemini-cli/'],
    movedBy: ['GEMINI_CLI_HOME', 'GEMINI_DIR'],
    powers: [
      '.gemini/settings.json',
      '.gemini/GEMINI.md',
      '.gemini/.env',
      '.gemini/trustedFolders.json',
      '.gemini/policies/**',
      '.gemini/extensions/**',
      '.gemini/commands/**',
      '.gemini/skills/**',
      '.gemini/agents/**',
      '.gemini/hooks/**',
    ],
    remade: [],
    mixed: [],
    copied: [
      '.gemini/settings.json',
      '.gemini/GEMINI.md',
      '.gemini/policies/',
      '.gemini/extensions/',
      '.gemini/commands/',
      '.gemini/skills/',
    ],
    logins: [
      {
        file: '.gemini/oauth_creds.json',
        risk: 'an OAuth token of the Google account: a program in the session can read it and use the account until it is revoked',
      },
      {
        file: '.gemini/mcp-oauth-tokens.json',
        risk: 'OAuth tokens of MCP servers: a program in the session can read them and use these servers',
      },
    ],
  },
  endpoints: [
    {
      wire: 'gemini',
      host: 'generativelanguage.googleapis.com',
      calls: [
        { method: 'POST', path: '/v1beta/models/*:generateContent' },
        { method: 'POST', path: '/v1beta/models/*:streamGenerateContent' },
        { method: 'POST', path: '/v1beta/models/*:countTokens' },
        { method: 'POST', path: '/v1beta/models/*:embedContent' },
        { method: 'GET', path: '/v1beta/models' },
      ],
      key: {
        header: 'x-goog-api-key',
        prefix: '',
        variables: ['GEMINI_API_KEY', 'GOOGLE_API_KEY'],
        placeholder: KEY_PLACEHOLDER,
      },
      redirect: (url) => ({
        variables: { GOOGLE_GEMINI_BASE_URL: url },
        arguments: [],
        files: [
          {
            file: '.gemini/settings.json',
            format: 'json',
            set: { '/security/auth/selectedType': 'gemini-api-key' },
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
      { tool: 'mcp_*', why: 'MCP servers act in their own processes' },
      { tool: 'web_fetch, google_web_search', why: 'the host or the model’s host runs them' },
      { tool: '@file', why: 'files that a prompt mentions are read without a hook' },
    ],
    read: readClaudeForm('gemini', EVENTS, TOOLS),
    print,
    steps,
  },
  switches: [
    {
      file: '.gemini/settings.json',
      keys: ['hooksConfig', 'enabled'],
      value: false,
      example: false,
      effect: 'switches the hooks of the user off',
      survives: 'the policy in the user’s home directory',
    },
    {
      file: '.gemini/settings.json',
      keys: ['hooksConfig', 'disabled'],
      value: null,
      example: ['writ'],
      effect: 'switches single hooks off by name',
      survives: 'the policy in the user’s home directory',
    },
  ],
  trial: {
    arguments: () => ['-m', 'gemini-2.5-flash', '-p', TRIAL_PROMPT],
    variables: ({ url }) => ({
      GEMINI_API_KEY: KEY_PLACEHOLDER,
      GOOGLE_GEMINI_BASE_URL: url,
      GEMINI_CLI_TRUST_WORKSPACE: 'true',
    }),
    files: () => ({
      '.gemini/settings.json': `${JSON.stringify(
        {
          security: { auth: { selectedType: 'gemini-api-key' } },
          privacy: { usageStatisticsEnabled: false },
          general: { enableAutoUpdate: false },
        },
        null,
        2,
      )}\n`,
    }),
    open: ['--yolo'],
    locked: () => ['--yolo'],
    shell: (command) => ({
      tool: 'run_shell_command',
      arguments: { command, description: TRIAL_PROMPT },
    }),
    write: (path, content) => ({ tool: 'write_file', arguments: { file_path: path, content } }),
  },
}
