/** pi. Measured on the tested version unless a line says otherwise. */
import { ANTHROPIC_CALLS } from './claude-code.ts'
import { OPENAI_CALLS } from './codex.ts'
import {
  type AgentHost,
  type InstallOrder,
  type InstallStep,
  KEY_PLACEHOLDER,
  TRIAL_PROMPT,
} from './host.ts'
import { pluginFile, printPluginForm, readPluginForm } from './plugin-form.ts'
import type { ToolNames } from './tools.ts'

const TOOLS: ToolNames = {
  shell: { bash: 'command' },
  edit: { write: ['path'], edit: ['path'] },
}

function steps(order: InstallOrder): readonly InstallStep[] {
  const folder = order.level === 'user' ? `${order.home}/.pi/agent` : `${order.project}/.pi`
  const text = pluginFile(order, 'pi', true)
  const extension: InstallStep = {
    kind: 'file',
    file: `${folder}/extensions/writ.ts`,
    text,
    isExecutable: false,
  }
  if (order.mode === 'session') return [extension]
  const shell: InstallStep = {
    kind: 'merge',
    file: `${folder}/settings.json`,
    format: 'json',
    parts: [{ kind: 'value', at: ['shellPath'], value: order.shell }],
  }
  return [extension, shell]
}

export const PI: AgentHost = {
  name: 'pi',
  title: 'pi',
  tested: ['0.73.1'],
  programs: ['pi'],
  packages: ['@mariozechner/pi-coding-agent'],
  session: {
    arguments: [],
    variables: [{ name: 'PI_OFFLINE', value: '1', why: 'the gateway passes model calls alone' }],
  },
  state: {
    places: ['.pi/'],
    movedBy: ['PI_CODING_AGENT_DIR'],
    powers: [
      '.pi/agent/settings.json',
      '.pi/agent/models.json',
      '.pi/agent/AGENTS.md',
      '.pi/agent/SYSTEM.md',
      '.pi/agent/extensions/**',
      '.pi/agent/skills/**',
      '.pi/agent/prompts/**',
      '.pi/agent/tools/**',
      '.pi/agent/bin/**',
      '.pi/agent/git/**',
      '.pi/agent/npm/**',
    ],
    remade: [],
    mixed: [],
    copied: [
      '.pi/agent/settings.json',
      '.pi/agent/models.json',
      '.pi/agent/AGENTS.md',
      '.pi/agent/extensions/',
      '.pi/agent/skills/',
      '.pi/agent/prompts/',
    ],
    logins: [
      {
        file: '.pi/agent/auth.json',
        risk: 'OAuth tokens and API keys of model providers: a program in the session can read them and use these accounts',
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
        variables: {},
        arguments: [],
        files: [
          {
            file: '.pi/agent/models.json',
            format: 'json',
            set: { '/providers/anthropic/baseUrl': url },
          },
        ],
      }),
    },
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
            file: '.pi/agent/models.json',
            format: 'json',
            set: { '/providers/openai/baseUrl': `${url}/v1` },
          },
        ],
      }),
    },
  ],
  hooks: {
    events: { before: 'tool_call', after: 'tool_result', stop: 'agent_end' },
    modes: ['session', 'wrap'],
    levels: ['user', 'project'],
    uncovered: [{ tool: 'tools of extensions', why: 'extensions act inside pi’s own process' }],
    read: readPluginForm('pi', TOOLS),
    print: printPluginForm,
    steps,
  },
  switches: [
    {
      file: '.pi/settings.json',
      keys: ['shellPath'],
      value: null,
      example: '/bin/bash',
      effect: 'replaces the shell of the user (by documentation)',
      survives: 'the extension',
    },
  ],
  trial: {
    arguments: () => ['--provider', 'standin', '--model', 'stand-in', '-p', TRIAL_PROMPT],
    variables: () => ({ PI_OFFLINE: '1' }),
    files: ({ url }) => ({
      '.pi/agent/models.json': `${JSON.stringify(
        {
          providers: {
            standin: {
              baseUrl: `${url}/v1`,
              api: 'openai-completions',
              apiKey: KEY_PLACEHOLDER,
              models: [{ id: 'stand-in' }],
            },
          },
        },
        null,
        2,
      )}\n`,
    }),
    open: [],
    locked: () => [],
    shell: (command) => ({ tool: 'bash', arguments: { command } }),
    write: (path, content) => ({ tool: 'write', arguments: { path, content } }),
  },
}
