/** OpenCode. Measured on the tested version unless a line says otherwise. */
import { OPENAI_CALLS } from './codex.ts'
import {
  type AgentHost,
  type ConfigurationPart,
  type HookLevel,
  type InstallOrder,
  type InstallStep,
  KEY_PLACEHOLDER,
  TICKET_WORDS,
  TRIAL_PROMPT,
} from './host.ts'
import { pluginFile, printPluginForm, readPluginForm } from './plugin-form.ts'
import type { ToolNames } from './tools.ts'

const TOOLS: ToolNames = {
  shell: { bash: 'command' },
  edit: { write: ['filePath'], edit: ['filePath'] },
  patch: { patch: 'patchText', apply_patch: 'patchText' },
}

const FOLDER: Readonly<Record<HookLevel, (order: InstallOrder) => string>> = {
  user: ({ home }) => `${home}/.config/opencode`,
  project: ({ project }) => `${project}/.opencode`,
  managed: () => '/etc/opencode',
}

/** Rules are judged in the order of the file, and the last that fits decides. */
function lockParts({ writ, shell }: InstallOrder): readonly ConfigurationPart[] {
  const line = `${[writ, ...TICKET_WORDS].join(' ')} *`
  return [
    { kind: 'value', at: ['permission', 'bash'], value: { '*': 'deny', [line]: 'allow' } },
    { kind: 'value', at: ['permission', 'edit'], value: 'deny' },
    { kind: 'value', at: ['shell'], value: shell },
  ]
}

function steps(order: InstallOrder): readonly InstallStep[] {
  const folder = FOLDER[order.level](order)
  const text = pluginFile(order, 'opencode', false)
  const plugin: InstallStep = {
    kind: 'file',
    file: `${folder}/plugin/writ.js`,
    text,
    isExecutable: false,
  }
  if (order.mode === 'session') return [plugin]
  const file =
    order.level === 'project' ? `${order.project}/opencode.json` : `${folder}/opencode.json`
  return [plugin, { kind: 'merge', file, format: 'json', parts: lockParts(order) }]
}

export const OPENCODE: AgentHost = {
  name: 'opencode',
  title: 'OpenCode',
  tested: ['1.18.33'],
  programs: ['opencode'],
  packages: [
    'opencode-ai',
    'opencode-linux-x64',
    'opencode-linux-arm64',
    'opencode-linux-x64-baseline',
  ],
  session: {
    arguments: [],
    variables: [
      {
        name: 'OPENCODE_PERMISSION',
        value: '{"*":"allow"}',
        why: 'the session confines every tool, so OpenCode need not ask for each',
      },
      {
        name: 'OPENCODE_DISABLE_AUTOUPDATE',
        value: '1',
        why: 'a session does not replace its own program',
      },
      {
        name: 'OPENCODE_DISABLE_MODELS_FETCH',
        value: '1',
        why: 'the gateway passes model calls alone',
      },
      {
        name: 'OPENCODE_DISABLE_LSP_DOWNLOAD',
        value: '1',
        why: 'downloads need a host that is allowed',
      },
    ],
  },
  state: {
    places: [
      '.config/opencode/',
      '.local/share/opencode/',
      '.local/state/opencode/',
      '.cache/opencode/',
    ],
    movedBy: ['OPENCODE_CONFIG', 'OPENCODE_CONFIG_DIR', 'OPENCODE_CONFIG_CONTENT', 'OPENCODE_DB'],
    powers: [
      '.config/opencode/**',
      '.local/share/opencode/bin/**',
      '.cache/opencode/bin/**',
      '.cache/opencode/node_modules/**',
      '.cache/opencode/packages/**',
    ],
    remade: ['.config/opencode/.gitignore'],
    mixed: [],
    copied: ['.config/opencode/'],
    logins: [
      {
        file: '.local/share/opencode/auth.json',
        risk: 'OAuth tokens and API keys of model providers: a program in the session can read them and use these accounts',
      },
      {
        file: '.local/share/opencode/mcp-auth.json',
        risk: 'OAuth tokens of MCP servers: a program in the session can read them and use these servers',
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
        variables: ['OPENAI_API_KEY'],
        placeholder: KEY_PLACEHOLDER,
      },
      redirect: (url) => ({
        variables: {},
        arguments: [],
        files: [
          {
            file: '.config/opencode/opencode.json',
            format: 'json',
            set: { '/provider/openai/options/baseURL': `${url}/v1` },
          },
        ],
      }),
    },
    {
      wire: 'anthropic',
      host: 'api.anthropic.com',
      calls: [{ method: 'POST', path: '/v1/messages' }],
      key: {
        header: 'x-api-key',
        prefix: '',
        variables: ['ANTHROPIC_API_KEY'],
        placeholder: KEY_PLACEHOLDER,
      },
      redirect: (url) => ({
        variables: {},
        arguments: [],
        files: [
          {
            file: '.config/opencode/opencode.json',
            format: 'json',
            set: { '/provider/anthropic/options/baseURL': `${url}/v1` },
          },
        ],
      }),
    },
  ],
  hooks: {
    events: { before: 'tool.execute.before', after: 'tool.execute.after', stop: 'session.idle' },
    modes: ['session', 'wrap'],
    levels: ['user', 'project'],
    uncovered: [
      { tool: 'MCP tools', why: 'MCP servers act in their own processes' },
      { tool: 'shell setting', why: 'a missing shell falls back to the real one without a word' },
    ],
    read: readPluginForm('opencode', TOOLS),
    print: printPluginForm,
    steps,
  },
  switches: [
    {
      file: 'opencode.json',
      keys: ['permission'],
      value: null,
      example: { bash: 'allow', edit: 'allow' },
      effect: 'replaces permission rules of the user (by documentation)',
      survives: 'the plugin',
    },
    {
      file: 'opencode.json',
      keys: ['shell'],
      value: null,
      example: '/bin/bash',
      effect: 'replaces the shell of the user (by documentation)',
      survives: 'the plugin and the permission rules',
    },
  ],
  trial: {
    arguments: () => ['run', '--format', 'json', TRIAL_PROMPT],
    variables: () => ({
      OPENCODE_DISABLE_AUTOUPDATE: '1',
      OPENCODE_DISABLE_MODELS_FETCH: '1',
      OPENCODE_DISABLE_LSP_DOWNLOAD: '1',
      OPENCODE_DISABLE_DEFAULT_PLUGINS: '1',
    }),
    files: ({ url }) => ({
      '.config/opencode/opencode.json': `${JSON.stringify(
        {
          model: 'standin/stand-in',
          provider: {
            standin: {
              npm: '@ai-sdk/openai-compatible',
              options: { baseURL: `${url}/v1`, apiKey: KEY_PLACEHOLDER },
              models: { 'stand-in': { tool_call: true, limit: { context: 100000, output: 8000 } } },
            },
          },
        },
        null,
        2,
      )}\n`,
    }),
    open: [],
    locked: () => [],
    shell: (command) => ({ tool: 'bash', arguments: { command, description: TRIAL_PROMPT } }),
    write: (path, content) => ({ tool: 'write', arguments: { filePath: path, content } }),
  },
}
