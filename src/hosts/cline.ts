/** Cline CLI. Measured on the tested version unless a line says otherwise. */
import { isOfTool, neededEvents, printed, rewritten } from './claude-form.ts'
import { OPENAI_CALLS } from './codex.ts'
import { asObject, objectIn, textIn } from './fields.ts'
import {
  type AgentHost,
  eventCommand,
  type InstallOrder,
  type InstallStep,
  KEY_PLACEHOLDER,
  TRIAL_PROMPT,
} from './host.ts'
import type { HookAnswer, HookBoundary, PrintedAnswer, ToolReport } from './report.ts'
import { NO_TOOL, type ToolNames, toolParts } from './tools.ts'

/** The names of the files in its directory of hooks. */
const FILES = { before: 'PreToolUse', after: 'PostToolUse' } as const

const BOUNDARY_OF: Readonly<Record<string, HookBoundary>> = {
  tool_call: 'before',
  tool_result: 'after',
}

const TOOLS: ToolNames = {
  shell: { run_commands: 'commands' },
  edit: { editor: ['path'] },
  patch: { apply_patch: 'input' },
}

function read(input: unknown): ToolReport | null {
  const value = asObject(input)
  if (value === null) return null
  const name = textIn(value, 'hookName') ?? ''
  const boundary = Object.hasOwn(BOUNDARY_OF, name) ? BOUNDARY_OF[name] : undefined
  if (boundary === undefined) return null
  const call = objectIn(value, name) ?? {}
  const tool = textIn(call, 'name')
  const args = objectIn(call, 'input')
  if (isOfTool(boundary) && (tool === null || args === null)) return null
  const context = objectIn(value, 'sessionContext') ?? {}
  const roots = value['workspaceRoots']
  const root = Array.isArray(roots) ? roots.find((one) => typeof one === 'string') : undefined
  return {
    host: 'cline',
    boundary,
    ...(tool === null || args === null ? NO_TOOL : toolParts(TOOLS, tool, args)),
    call: textIn(call, 'id'),
    cwd: textIn(value, 'cwd') ?? root ?? null,
    session: textIn(context, 'rootSessionId') ?? textIn(value, 'taskId'),
    agent: textIn(value, 'agent_id'),
    model: textIn(objectIn(value, 'model') ?? {}, 'slug'),
    prompt: null,
  }
}

/** Cline obeys no exit status; `cancel` ends its whole run, and nothing less blocks a call. */
function print(answer: HookAnswer, report: ToolReport): PrintedAnswer {
  switch (answer.kind) {
    case 'pass':
      return printed({})
    case 'deny':
      return printed({ cancel: true, errorMessage: answer.reason })
    case 'rewrite': {
      const overrideInput = rewritten(report, TOOLS, answer.command)
      return overrideInput === null
        ? printed({ cancel: true, errorMessage: 'writ: this call cannot be rewritten' })
        : printed({ overrideInput })
    }
    case 'feedback':
      return printed({ contextModification: answer.line, context: answer.line })
    default:
      return answer satisfies never
  }
}

function steps(order: InstallOrder): readonly InstallStep[] {
  const folder = order.level === 'user' ? `${order.home}/.cline` : `${order.project}/.cline`
  const text = [
    '#!/bin/sh',
    '# Written by `writ hook install cline`; `writ hook uninstall cline` removes it.',
    `exec ${eventCommand(order, 'cline')}`,
    '',
  ].join('\n')
  return Object.values(neededEvents(order.mode, FILES)).map((name) => ({
    kind: 'file',
    file: `${folder}/hooks/${name}`,
    text,
    isExecutable: true,
  }))
}

export const CLINE: AgentHost = {
  name: 'cline',
  title: 'Cline CLI',
  tested: ['3.0.65'],
  programs: ['cline'],
  packages: ['cline', '@cline/cli-linux-x64', '@cline/cli-linux-arm64'],
  session: {
    arguments: [
      {
        add: ['--auto-approve', 'true'],
        unless: ['--auto-approve', '--plan', '-p'],
        why: 'the session confines every tool, so Cline need not ask for each',
      },
    ],
    variables: [],
  },
  state: {
    places: ['.cline/'],
    movedBy: ['CLINE_DIR', 'CLINE_DATA_DIR'],
    powers: [
      '.cline/hooks/**',
      '.cline/skills/**',
      '.cline/rules/**',
      '.cline/workflows/**',
      '.cline/plugins/**',
      '.cline/agents/**',
      '.cline/data/settings/cline_mcp_settings.json',
      '.cline/data/settings/global-settings.json',
      '.cline/data/plugins/**',
      '.cline/data/agents/**',
    ],
    remade: [],
    mixed: [],
    copied: [
      '.cline/hooks/',
      '.cline/skills/',
      '.cline/rules/',
      '.cline/data/settings/cline_mcp_settings.json',
      '.cline/data/settings/global-settings.json',
    ],
    logins: [
      {
        file: '.cline/data/settings/providers.json',
        risk: 'OAuth tokens and API keys of model providers: a program in the session can read them and use these accounts',
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
            file: '.cline/data/settings/providers.json',
            format: 'json',
            set: { '/providers/openai-compatible/settings/baseUrl': `${url}/v1` },
          },
        ],
      }),
    },
  ],
  hooks: {
    events: FILES,
    modes: ['session', 'wrap'],
    levels: ['user', 'project'],
    uncovered: [
      { tool: 'run_commands', why: 'no lock: a hook that fails lets the command run' },
      { tool: 'MCP tools', why: 'MCP servers act in their own processes' },
    ],
    read,
    print,
    steps,
  },
  switches: [],
  trial: {
    arguments: ({ project }) => ['--json', '-c', project, TRIAL_PROMPT],
    variables: () => ({}),
    files: ({ url }) => ({
      '.cline/data/settings/providers.json': `${JSON.stringify(
        {
          version: 1,
          lastUsedProvider: 'openai-compatible',
          providers: {
            'openai-compatible': {
              settings: {
                provider: 'openai-compatible',
                apiKey: KEY_PLACEHOLDER,
                model: 'stand-in',
                baseUrl: `${url}/v1`,
              },
              updatedAt: '2026-01-01T00:00:00.000Z',
              tokenSource: 'manual',
            },
          },
        },
        null,
        2,
      )}\n`,
    }),
    open: [],
    locked: () => [],
    shell: (command) => ({ tool: 'run_commands', arguments: { commands: [command] } }),
    write: (path, content) => ({ tool: 'editor', arguments: { path, new_text: content } }),
  },
}
