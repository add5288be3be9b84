/** Claude Code. Measured on the tested version unless a line says otherwise. */
import {
  claudeGroups,
  type EventNames,
  neededEvents,
  printClaudeForm,
  readClaudeForm,
} from './claude-form.ts'
import {
  type AgentHost,
  type ConfigurationPart,
  eventCommand,
  type HookLevel,
  type InstallOrder,
  KEY_PLACEHOLDER,
  type ModelCall,
  TICKET_WORDS,
  TRIAL_PROMPT,
} from './host.ts'
import type { ToolNames } from './tools.ts'

const EVENTS: EventNames = {
  before: 'PreToolUse',
  after: 'PostToolUse',
  stop: 'Stop',
  prompt: 'UserPromptSubmit',
  start: 'SessionStart',
}

const TOOLS: ToolNames = {
  shell: { Bash: 'command' },
  edit: { Write: ['file_path'], Edit: ['file_path'], NotebookEdit: ['notebook_path'] },
}

export const ANTHROPIC_CALLS: readonly ModelCall[] = [
  { method: 'POST', path: '/v1/messages' },
  { method: 'POST', path: '/v1/messages/count_tokens' },
  { method: 'GET', path: '/v1/models' },
  { method: 'GET', path: '/v1/models/*' },
]

const SETTINGS: Readonly<Record<HookLevel, (order: InstallOrder) => string>> = {
  user: ({ home }) => `${home}/.claude/settings.json`,
  project: ({ project }) => `${project}/.claude/settings.json`,
  managed: () => '/etc/claude-code/managed-settings.json',
}

/**
 * At its first start at a terminal Claude Code looks for its own hosts, past the base URL, and asks
 * about the key and about the mode that the session has chosen. Trust in a directory stays a question.
 */
const FIRST_START = {
  '/hasCompletedOnboarding': true,
  // It knows a key by its last 20 characters.
  '/customApiKeyResponses': { approved: [KEY_PLACEHOLDER.slice(-20)], rejected: [] },
}

/** It would move an answer of `.claude.json` here at its start. */
const CHOSEN_MODE = { '/skipDangerousModePermissionPrompt': true }

/**
 * In wrapping, the lock is the permission rule, and the prefix a second one. Edit tools are denied,
 * which removes them from the model's list.
 */
function lockParts({ writ, shell }: InstallOrder): readonly ConfigurationPart[] {
  const rule = `Bash(${[writ, ...TICKET_WORDS].join(' ')}:*)`
  return [
    { kind: 'item', at: ['permissions', 'allow'], value: rule },
    ...Object.keys(TOOLS.edit).map(
      (value) => ({ kind: 'item', at: ['permissions', 'deny'], value }) as const,
    ),
    { kind: 'value', at: ['env', 'CLAUDE_CODE_SHELL_PREFIX'], value: shell },
  ]
}

export const CLAUDE_CODE: AgentHost = {
  name: 'claude-code',
  title: 'Claude Code',
  tested: ['2.1.325'],
  programs: ['claude', 'claude-code'],
  packages: [
    '@anthropic-ai/claude-code',
    '@anthropic-ai/claude-code-linux-x64',
    '@anthropic-ai/claude-code-linux-arm64',
  ],
  session: {
    arguments: [
      {
        add: ['--permission-mode', 'bypassPermissions'],
        unless: ['--permission-mode', '--dangerously-skip-permissions'],
        why: 'the session confines every tool, so Claude Code need not ask for each',
      },
    ],
    variables: [
      { name: 'IS_SANDBOX', value: '1', why: 'lets root run without prompts inside the session' },
      {
        name: 'CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC',
        value: '1',
        why: 'the gateway passes model calls alone',
      },
      {
        name: 'DISABLE_AUTOUPDATER',
        value: '1',
        why: 'a session does not replace its own program',
      },
    ],
  },
  state: {
    places: [
      '.claude/',
      '.claude.json',
      '.cache/claude/',
      '.local/share/claude/',
      '.local/state/claude/',
    ],
    movedBy: ['CLAUDE_CONFIG_DIR'],
    powers: [
      '.claude/settings.json',
      '.claude/settings.local.json',
      '.claude/CLAUDE.md',
      '.claude/agents/**',
      '.claude/commands/**',
      '.claude/hooks/**',
      '.claude/output-styles/**',
      '.claude/plugins/**',
      '.claude/rules/**',
      '.claude/shell-snapshots/**',
      '.claude/skills/**',
      '.claude/workflows/**',
      '.claude/keybindings.json',
      '.local/share/claude/**',
    ],
    remade: ['.claude/shell-snapshots/**', '.claude/plugins/store/*_builtin-*.json'],
    mixed: [
      {
        file: '.claude.json',
        keys: [
          ['mcpServers'],
          ['env'],
          ['apiKeyHelper'],
          ['bypassPermissionsModeAccepted'],
          ['customApiKeyResponses'],
          ['projects', '*', 'mcpServers'],
          ['projects', '*', 'allowedTools'],
          ['projects', '*', 'enabledMcpjsonServers'],
          ['projects', '*', 'hasTrustDialogAccepted'],
          ['projects', '*', 'hasTrustDialogHooksAccepted'],
          ['projects', '*', 'hasClaudeMdExternalIncludesApproved'],
        ],
      },
    ],
    trusts: [
      {
        file: '.claude.json',
        key: (directory) => ['projects', directory, 'hasTrustDialogAccepted'],
        values: [true, false],
      },
    ],
    copied: [
      '.claude.json',
      '.claude/settings.json',
      '.claude/CLAUDE.md',
      '.claude/agents/',
      '.claude/commands/',
      '.claude/skills/',
      '.claude/plugins/',
      '.claude/output-styles/',
      '.claude/keybindings.json',
    ],
    logins: [
      {
        file: '.claude/.credentials.json',
        risk: 'an OAuth token of the Claude account: a program in the session can read it and use the account until it is revoked',
      },
    ],
  },
  endpoints: [
    {
      wire: 'anthropic',
      host: 'api.anthropic.com',
      calls: ANTHROPIC_CALLS,
      key: {
        header: 'x-api-key',
        prefix: '',
        variables: ['ANTHROPIC_API_KEY'],
        placeholder: KEY_PLACEHOLDER,
      },
      redirect: (url) => ({
        variables: { ANTHROPIC_BASE_URL: url },
        arguments: [],
        files: [
          { file: '.claude.json', format: 'json', set: FIRST_START },
          { file: '.claude/settings.json', format: 'json', set: CHOSEN_MODE },
        ],
      }),
    },
  ],
  hooks: {
    events: EVENTS,
    modes: ['session', 'wrap'],
    levels: ['user', 'project', 'managed'],
    uncovered: [
      { tool: '@file', why: 'files that a prompt mentions are read without a hook' },
      {
        tool: 'mcp__*',
        why: 'MCP servers act in their own processes; wrapping sees the call only',
      },
      { tool: 'WebFetch, WebSearch', why: 'the host itself sends them' },
    ],
    read: readClaudeForm('claude-code', EVENTS, TOOLS),
    print: printClaudeForm({ events: EVENTS, tools: TOOLS, allowsRewrite: false }),
    steps: (order) => {
      const command = eventCommand(order, 'claude-code')
      const fails = order.mode === 'wrap' ? { onFailure: 'block' } : {}
      const handler = { type: 'command', command, timeout: order.seconds, ...fails }
      const groups = claudeGroups(neededEvents(order.mode, EVENTS), handler, '*')
      const parts = order.mode === 'wrap' ? [...groups, ...lockParts(order)] : groups
      return [{ kind: 'merge', file: SETTINGS[order.level](order), format: 'json', parts }]
    },
  },
  switches: [
    {
      file: '.claude/settings.json',
      keys: ['disableAllHooks'],
      value: true,
      example: true,
      effect: 'switches the hooks of the user off, also in a directory that is not trusted',
      survives: 'hooks of the managed level, and the permission rule',
    },
    {
      file: '.claude/settings.json',
      keys: ['env', 'CLAUDE_CODE_SHELL_PREFIX'],
      value: null,
      example: '',
      effect: 'replaces the shell prefix of the user',
      survives: 'the prefix of the managed level, and the permission rule',
    },
    {
      file: '.claude/settings.local.json',
      keys: ['disableAllHooks'],
      value: true,
      example: true,
      effect: 'switches the hooks of the user off',
      survives: 'hooks of the managed level, and the permission rule',
    },
  ],
  trial: {
    arguments: () => [
      '-p',
      TRIAL_PROMPT,
      '--output-format',
      'json',
      '--model',
      'claude-sonnet-4-5',
    ],
    variables: ({ url }) => ({
      ANTHROPIC_BASE_URL: url,
      ANTHROPIC_API_KEY: KEY_PLACEHOLDER,
      CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: '1',
      DISABLE_AUTOUPDATER: '1',
    }),
    files: () => ({}),
    open: ['--allowedTools', 'Bash,Write,Edit'],
    locked: () => [],
    shell: (command) => ({ tool: 'Bash', arguments: { command, description: TRIAL_PROMPT } }),
    write: (path, content) => ({ tool: 'Write', arguments: { file_path: path, content } }),
  },
}
