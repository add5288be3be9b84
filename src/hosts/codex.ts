/** Codex CLI. Measured on the tested version unless a line says otherwise. */
import { digestDocument } from '../base/index.ts'
import {
  BOUNDARIES,
  blocked,
  claudeGroups,
  type EventNames,
  isOfTool,
  neededEvents,
  printClaudeForm,
  readClaudeForm,
} from './claude-form.ts'
import { asObject, objectIn } from './fields.ts'
import {
  type AgentHost,
  type ConfigurationPart,
  eventCommand,
  type InstallOrder,
  type InstallStep,
  KEY_PLACEHOLDER,
  type ModelCall,
  TICKET_WORDS,
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

/** The name of each event in the keys of the trust table. */
const TRUST_NAMES: EventNames = {
  before: 'pre_tool_use',
  after: 'post_tool_use',
  stop: 'stop',
  prompt: 'user_prompt_submit',
  start: 'session_start',
}

const TOOLS: ToolNames = {
  shell: { Bash: 'command' },
  edit: {},
  patch: { apply_patch: 'command' },
}

const MATCHER = '.*'

export const OPENAI_CALLS: readonly ModelCall[] = [
  { method: 'POST', path: '/v1/responses' },
  { method: 'POST', path: '/v1/responses/compact' },
  { method: 'POST', path: '/v1/chat/completions' },
  { method: 'GET', path: '/v1/models' },
  { method: 'GET', path: '/v1/models/*' },
]

function handlerOf(order: InstallOrder) {
  return { type: 'command', command: eventCommand(order, 'codex'), timeout: order.seconds }
}

/**
 * Codex skips a hook without an entry in its trust table, and says nothing. The entry is the digest of
 * the hook's definition; its key names the file, the event and the places in the lists.
 */
function trustParts(order: InstallOrder, file: string): readonly ConfigurationPart[] {
  const present = objectIn(asObject(order.present(file)) ?? {}, 'hooks') ?? {}
  const handler = { ...handlerOf(order), async: false }
  return BOUNDARIES.flatMap((boundary) => {
    const event = neededEvents(order.mode, EVENTS)[boundary]
    const name = TRUST_NAMES[boundary]
    if (event === undefined || name === undefined) return []
    const matcher = isOfTool(boundary) ? { matcher: MATCHER } : {}
    const place = placeIn(present[event], { ...matcher, hooks: [handlerOf(order)] })
    const value = digestDocument({ event_name: name, ...matcher, hooks: [handler] })
    const key = `${seenAs(order, file)}:${name}:${place}:0`
    return [{ kind: 'value' as const, at: ['hooks', 'state', key, 'trusted_hash'], value }]
  })
}

/** The table names a file by the path at which Codex opens it. */
function seenAs({ home, homeInside = home }: InstallOrder, file: string): string {
  return file.startsWith(`${home}/`) ? `${homeInside}${file.slice(home.length)}` : file
}

/** Where the group is in a list, or will be once it is appended. */
function placeIn(list: unknown, group: unknown): number {
  if (!Array.isArray(list)) return 0
  const known = list.findIndex((one) => digestDocument(one) === digestDocument(group))
  return known === -1 ? list.length : known
}

/** The rule that lets the ticket line run outside the read-only sandbox, and nothing else. */
function ruleFile({ writ }: InstallOrder): string {
  const words = [writ, ...TICKET_WORDS].map((word) => JSON.stringify(word)).join(', ')
  const example = [writ, ...TICKET_WORDS, 't1'].join(' ')
  return [
    '# Written by `writ hook install codex`; `writ hook uninstall codex` removes it.',
    'prefix_rule(',
    `    pattern = [${words}],`,
    '    decision = "allow",',
    '    justification = "writ rehearses the command and asks before its effects become real",',
    `    match = [${JSON.stringify(example)}],`,
    ')',
    '',
  ].join('\n')
}

function steps(order: InstallOrder): readonly InstallStep[] {
  if (order.level === 'managed') return managedSteps(order)
  const folder = order.level === 'user' ? `${order.home}/.codex` : `${order.project}/.codex`
  const file = `${folder}/hooks.json`
  const groups = claudeGroups(neededEvents(order.mode, EVENTS), handlerOf(order), MATCHER)
  const trust = trustParts(order, file)
  const mode: readonly ConfigurationPart[] =
    order.mode === 'wrap' ? [{ kind: 'value', at: ['sandbox_mode'], value: 'read-only' }] : []
  const rule: readonly InstallStep[] =
    order.mode === 'wrap'
      ? [
          {
            kind: 'file',
            file: `${order.home}/.codex/rules/writ.rules`,
            text: ruleFile(order),
            isExecutable: false,
          },
        ]
      : []
  return [
    { kind: 'merge', file, format: 'json', parts: groups },
    {
      kind: 'merge',
      file: `${order.home}/.codex/config.toml`,
      format: 'toml',
      parts: [...mode, ...trust],
    },
    ...rule,
  ]
}

/** Managed hooks need no trust, and no repository can switch them off. */
function managedSteps(order: InstallOrder): readonly InstallStep[] {
  const groups = claudeGroups(neededEvents(order.mode, EVENTS), handlerOf(order), MATCHER)
  const modes: readonly ConfigurationPart[] =
    order.mode === 'wrap'
      ? [{ kind: 'value', at: ['allowed_sandbox_modes'], value: ['read-only'] }]
      : []
  const parts: readonly ConfigurationPart[] = [
    ...modes,
    { kind: 'value', at: ['features', 'hooks'], value: true },
    ...groups,
  ]
  return [{ kind: 'merge', file: '/etc/codex/requirements.toml', format: 'toml', parts }]
}

const printForm = printClaudeForm({ events: EVENTS, tools: TOOLS, allowsRewrite: true })

/** Codex ignores a denial with a key that it does not know, so a denial also leaves with status 2. */
function print(answer: HookAnswer, report: ToolReport): PrintedAnswer {
  return answer.kind === 'deny' ? blocked(answer.reason) : printForm(answer, report)
}

export const CODEX: AgentHost = {
  name: 'codex',
  title: 'Codex CLI',
  tested: ['0.166.0'],
  programs: ['codex', 'codex-cli'],
  packages: ['@openai/codex', '@openai/codex-linux-x64', '@openai/codex-linux-arm64'],
  session: {
    arguments: [
      {
        add: ['-s', 'danger-full-access'],
        unless: [
          '-s',
          '--sandbox',
          '--dangerously-bypass-approvals-and-sandbox',
          '--yolo',
          '--approve-for-me',
        ],
        why: 'a sandbox of Codex cannot start inside the sandbox of the session',
      },
      {
        add: ['-c', 'approval_policy="never"'],
        unless: [
          '-a',
          '--ask-for-approval',
          '--dangerously-bypass-approvals-and-sandbox',
          '--yolo',
          '--approve-for-me',
        ],
        why: 'the session confines every tool, so Codex need not ask for each',
      },
      {
        add: ['-c', 'analytics.enabled=false', '-c', 'otel.metrics_exporter="none"'],
        unless: [],
        why: 'the gateway passes model calls alone',
      },
    ],
    variables: [],
  },
  state: {
    places: ['.codex/', '.agents/'],
    movedBy: ['CODEX_HOME', 'CODEX_SQLITE_HOME'],
    powers: [
      '.codex/config.toml',
      '.codex/*.config.toml',
      '.codex/hooks.json',
      '.codex/AGENTS.md',
      '.codex/AGENTS.override.md',
      '.codex/rules/**',
      '.codex/prompts/**',
      '.codex/skills/**',
      '.codex/plugins/**',
      '.codex/agents/**',
      '.codex/shell_snapshots/**',
      '.codex/bin/**',
      '.agents/**',
    ],
    remade: ['.codex/shell_snapshots/**', '.codex/skills/.system/**'],
    mixed: [],
    trusts: [
      {
        file: '.codex/config.toml',
        key: (directory) => ['projects', directory, 'trust_level'],
        values: ['trusted', 'untrusted'],
      },
    ],
    copied: [
      '.codex/config.toml',
      '.codex/hooks.json',
      '.codex/AGENTS.md',
      '.codex/rules/',
      '.codex/prompts/',
      '.codex/skills/',
      '.agents/',
    ],
    logins: [
      {
        file: '.codex/auth.json',
        risk: 'an OAuth token of the ChatGPT account, or an API key: a program in the session can read it and use the account until it is revoked',
      },
    ],
  },
  endpoints: [
    {
      wire: 'responses',
      host: 'api.openai.com',
      calls: OPENAI_CALLS,
      key: {
        header: 'authorization',
        prefix: 'Bearer ',
        variables: ['OPENAI_API_KEY', 'CODEX_API_KEY'],
        placeholder: KEY_PLACEHOLDER,
      },
      redirect: (url) => ({
        variables: {},
        arguments: [
          '-c',
          'model_provider="writ"',
          '-c',
          `model_providers.writ={name="writ", base_url="${url}/v1", wire_api="responses", env_key="OPENAI_API_KEY"}`,
        ],
        files: [],
      }),
    },
  ],
  hooks: {
    events: EVENTS,
    modes: ['session', 'wrap'],
    levels: ['user', 'project', 'managed'],
    uncovered: [
      { tool: 'write_stdin', why: 'text for a command that runs is not a tool call of its own' },
      { tool: 'web_search', why: 'the model’s host runs it' },
      { tool: 'MCP tools', why: 'MCP servers act in their own processes' },
    ],
    read: readClaudeForm('codex', EVENTS, TOOLS),
    print,
    steps,
  },
  switches: [
    {
      file: '.codex/config.toml',
      keys: ['features', 'hooks'],
      value: false,
      example: false,
      effect: 'switches the hooks of the user off, in a trusted project',
      survives: 'hooks of the managed level; the read-only sandbox',
    },
    {
      file: '.codex/config.toml',
      keys: ['sandbox_mode'],
      value: null,
      example: 'danger-full-access',
      effect: 'replaces the read-only sandbox, in a trusted project',
      survives: '`allowed_sandbox_modes` of the managed level',
    },
  ],
  trial: {
    arguments: () => [
      'exec',
      '--json',
      '--skip-git-repo-check',
      '--disable',
      'plugins',
      '--disable',
      'apps',
      TRIAL_PROMPT,
    ],
    variables: () => ({ WRIT_TRIAL_KEY: KEY_PLACEHOLDER }),
    files: ({ url, project }) => ({
      '.codex/config.toml': [
        'model = "gpt-5.5"',
        'model_provider = "stand-in"',
        '[model_providers.stand-in]',
        'name = "stand-in"',
        `base_url = "${url}/v1"`,
        'wire_api = "responses"',
        'env_key = "WRIT_TRIAL_KEY"',
        'request_max_retries = 0',
        'stream_max_retries = 0',
        `[projects.${JSON.stringify(project)}]`,
        'trust_level = "trusted"',
        '[otel]',
        'metrics_exporter = "none"',
        '[analytics]',
        'enabled = false',
        '',
      ].join('\n'),
    }),
    open: ['-s', 'danger-full-access'],
    locked: () => [],
    shell: (cmd) => ({ tool: 'exec_command', arguments: { cmd } }),
    write: (path, content) => ({
      tool: 'apply_patch',
      patch: `*** Begin Patch\n*** Add File: ${path}\n+${content}\n*** End Patch\n`,
    }),
  },
}
