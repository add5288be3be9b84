/** GitHub Copilot CLI. Measured on the tested version unless a line says otherwise. */
import { digestBytes } from '../base/index.ts'
import {
  blocked,
  boundaryOf,
  type EventNames,
  isOfTool,
  neededEvents,
  printed,
  readClaudeForm,
  rewritten,
} from './claude-form.ts'
import { OPENAI_CALLS } from './codex.ts'
import { asObject, objectOrText, textIn } from './fields.ts'
import {
  type AgentHost,
  eventCommand,
  type InstallOrder,
  type InstallStep,
  KEY_PLACEHOLDER,
  TRIAL_PROMPT,
} from './host.ts'
import type { HookAnswer, PrintedAnswer, ToolReport } from './report.ts'
import { NO_TOOL, type ToolNames, toolParts } from './tools.ts'

const EVENTS: EventNames = {
  before: 'preToolUse',
  after: 'postToolUse',
  stop: 'agentStop',
  prompt: 'userPromptSubmitted',
  start: 'sessionStart',
}

/** As Copilot names them when it reads Claude Code's settings. */
const CLAUDE_EVENTS: EventNames = {
  before: 'PreToolUse',
  after: 'PostToolUse',
  stop: 'Stop',
  prompt: 'UserPromptSubmit',
  start: 'SessionStart',
}

const TOOLS: ToolNames = {
  shell: { bash: 'command', Bash: 'command' },
  edit: {
    create: ['path'],
    edit: ['path'],
    str_replace_editor: ['path'],
    Write: ['file_path'],
    Edit: ['file_path'],
  },
  patch: { apply_patch: 'patch' },
}

const readClaude = readClaudeForm('copilot', CLAUDE_EVENTS, TOOLS)

/** The native form names no event, so each entry of the hook file passes its own name. */
function read(input: unknown, event: string | null): ToolReport | null {
  const value = asObject(input)
  if (value === null) return null
  if (textIn(value, 'hook_event_name') !== null) return readClaude(input)
  const boundary = boundaryOf(EVENTS, event)
  if (boundary === null) return null
  const name = textIn(value, 'toolName')
  const args = objectOrText(value['toolArgs'])
  if (isOfTool(boundary) && (name === null || args === null)) return null
  const prompt = boundary === 'prompt' ? textIn(value, 'prompt') : null
  return {
    host: 'copilot',
    boundary,
    ...(name === null || args === null ? NO_TOOL : toolParts(TOOLS, name, args)),
    call: textIn(value, 'toolCallId'),
    cwd: textIn(value, 'cwd'),
    session: textIn(value, 'sessionId'),
    agent: textIn(value, 'agentName'),
    model: textIn(value, 'model'),
    prompt: prompt === null ? null : digestBytes(prompt),
  }
}

function print(answer: HookAnswer, report: ToolReport): PrintedAnswer {
  switch (answer.kind) {
    case 'pass':
      return printed({})
    case 'deny':
      return printed({ permissionDecision: 'deny', permissionDecisionReason: answer.reason })
    case 'rewrite': {
      const modifiedArgs = rewritten(report, TOOLS, answer.command)
      return modifiedArgs === null
        ? blocked('writ: this call cannot be rewritten')
        : printed({ modifiedArgs })
    }
    case 'feedback':
      return printed({ additionalContext: answer.line })
    default:
      return answer satisfies never
  }
}

function steps(order: InstallOrder): readonly InstallStep[] {
  const entry = (event: string) => [
    {
      type: 'command',
      bash: eventCommand(order, 'copilot', event),
      timeoutSec: order.seconds,
    },
  ]
  const hooks = Object.fromEntries(
    Object.values(neededEvents(order.mode, EVENTS)).map((event) => [event, entry(event)]),
  )
  const text = `${JSON.stringify({ version: 1, hooks }, null, 2)}\n`
  const folder =
    order.level === 'user' ? `${order.home}/.copilot/hooks` : `${order.project}/.github/hooks`
  return [{ kind: 'file', file: `${folder}/writ.json`, text, isExecutable: false }]
}

export const COPILOT: AgentHost = {
  name: 'copilot',
  title: 'GitHub Copilot CLI',
  tested: ['1.0.102'],
  programs: ['copilot'],
  packages: ['@github/copilot', '@github/copilot-linux-x64', '@github/copilot-linux-arm64'],
  session: {
    arguments: [
      {
        add: ['--allow-all-tools'],
        unless: ['--allow-all-tools', '--allow-all', '--yolo', '--allow-tool'],
        why: 'the session confines every tool, so Copilot need not ask for each',
      },
      {
        add: ['--allow-all-paths'],
        unless: ['--allow-all-paths', '--allow-all', '--yolo'],
        why: 'the session bounds the files that Copilot reaches',
      },
    ],
    variables: [
      {
        name: 'COPILOT_AUTO_UPDATE',
        value: 'false',
        why: 'a session does not replace its own program',
      },
    ],
  },
  state: {
    // The last one holds a number that Microsoft's tools share to count machines.
    places: ['.copilot/', '.cache/copilot/', '.cache/Microsoft/DeveloperTools/deviceid'],
    movedBy: ['COPILOT_HOME', 'COPILOT_CACHE_HOME', 'XDG_CACHE_HOME'],
    powers: [
      '.copilot/settings.json',
      '.copilot/mcp-config.json',
      '.copilot/lsp-config.json',
      '.copilot/permissions-config.json',
      '.copilot/copilot-instructions.md',
      '.copilot/hooks/**',
      '.copilot/agents/**',
      '.copilot/skills/**',
      '.copilot/instructions/**',
      '.copilot/installed-plugins/**',
      '.copilot/pkg/**',
      '.cache/copilot/pkg/**',
    ],
    remade: ['.copilot/pkg/**', '.cache/copilot/pkg/**'],
    mixed: [
      {
        file: '.copilot/config.json',
        keys: [
          ['trusted_folders'],
          ['trustedFolders'],
          ['allowed_urls'],
          ['disableAllHooks'],
          ['hooks'],
          ['installed_plugins'],
          ['installedPlugins'],
        ],
      },
    ],
    copied: [
      '.copilot/config.json',
      '.copilot/settings.json',
      '.copilot/mcp-config.json',
      '.copilot/copilot-instructions.md',
      '.copilot/hooks/',
      '.copilot/agents/',
      '.copilot/skills/',
    ],
    logins: [
      {
        file: '.copilot/config.json',
        risk: 'holds the GitHub token where the system has no key ring: a program in the session can read it and act as the GitHub user',
      },
    ],
  },
  endpoints: [
    {
      wire: 'chat',
      host: 'api.openai.com',
      calls: OPENAI_CALLS,
      key: {
        header: 'authorization',
        prefix: 'Bearer ',
        variables: ['COPILOT_PROVIDER_API_KEY'],
        placeholder: KEY_PLACEHOLDER,
      },
      redirect: (url) => ({
        variables: { COPILOT_PROVIDER_BASE_URL: `${url}/v1`, COPILOT_OFFLINE: 'true' },
        arguments: [],
        files: [],
      }),
    },
  ],
  hooks: {
    events: EVENTS,
    modes: ['session', 'wrap'],
    levels: ['user', 'project'],
    uncovered: [
      { tool: 'MCP tools', why: 'MCP servers act in their own processes' },
      {
        tool: 'bash',
        why: "the lock is an argument: start `copilot` with `--allow-tool='shell(/path/to/writ:*)' --allow-all-paths`, never with `--allow-all-tools`",
      },
    ],
    read,
    print,
    steps,
  },
  switches: [
    {
      file: '.claude/settings.json',
      keys: ['disableAllHooks'],
      value: true,
      example: true,
      effect: 'switches the hooks of the user off, since Copilot reads this file too',
      survives: 'the lock by `--allow-tool`',
    },
  ],
  trial: {
    arguments: () => ['--trust-folder', '-s', '-p', TRIAL_PROMPT],
    variables: ({ url }) => ({
      COPILOT_OFFLINE: 'true',
      COPILOT_PROVIDER_BASE_URL: `${url}/v1`,
      COPILOT_PROVIDER_API_KEY: KEY_PLACEHOLDER,
      COPILOT_MODEL: 'stand-in',
      COPILOT_AUTO_UPDATE: 'false',
    }),
    files: () => ({}),
    open: ['--allow-all-tools'],
    locked: ({ writ }) => [`--allow-tool=shell(${writ}:*)`, '--allow-all-paths'],
    shell: (command) => ({
      tool: 'bash',
      arguments: { command, description: TRIAL_PROMPT, mode: 'sync' },
    }),
    write: (path, content) => ({ tool: 'create', arguments: { path, file_text: content } }),
  },
}
