/**
 * Real coding agents as MCP clients (M-2): the scripted model calls tools of writ, the agent passes the
 * calls on to `writ mcp`, and what becomes real is what the gate promoted.
 */
import { appendFileSync, existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, it } from 'vitest'
import type { Json } from '../cli-gate/place.ts'
import { McpPlace } from '../mcp/mcp-place.ts'
import { AgentPlace } from './turn.ts'

let place: McpPlace
let token = ''

beforeAll(() => {
  place = new McpPlace('mcp-agents')
  token = place.tokenOf('ai:agent@local')
}, 120_000)

afterAll(() => place.leave())

/** How each agent is given the server, and what else it is started with. */
function connect(name: 'claude-code' | 'codex', agent: AgentPlace): readonly string[] {
  const [command, ...args] = place.argv(['mcp', '--home', join(place.project, '.writ')])
  const { HOME = '', XDG_STATE_HOME = '' } = place.env()
  const env = { WRIT_TOKEN: token, HOME, XDG_STATE_HOME }
  if (name === 'claude-code') {
    const config = JSON.stringify({ mcpServers: { writ: { command, args, env } } })
    const own = ['--strict-mcp-config', '--disallowedTools', 'Bash,Write,Edit']
    return [
      '--mcp-config',
      config,
      ...own,
      '--allowedTools',
      'mcp__writ__write_file,mcp__writ__delete_path',
    ]
  }
  const variables = Object.entries(env).map(([key, value]) => `${key} = ${JSON.stringify(value)}`)
  const lines = [
    '[mcp_servers.writ]',
    `command = ${JSON.stringify(command)}`,
    `args = ${JSON.stringify(args)}`,
    `env = { ${variables.join(', ')} }`,
    '',
  ]
  appendFileSync(join(agent.place.home, '.codex/config.toml'), lines.join('\n'))
  return agent.trial.open
}

it('claude-code uses the tools of writ', async () => {
  place.exec(['--write', 'kept.txt', '--yes'], 'echo kept > kept.txt')
  const agent = await AgentPlace.make('claude-code', () => [
    { tool: 'mcp__writ__write_file', arguments: { path: 'by.txt', content: 'through the gate\n' } },
    { tool: 'mcp__writ__delete_path', arguments: { path: 'kept.txt' } },
    { text: 'done' },
  ])
  try {
    const ended = await agent.run(connect('claude-code', agent))
    expect(existsSync(join(place.project, 'by.txt')), JSON.stringify(ended)).toBe(true)
    expect(readFileSync(join(place.project, 'by.txt'), 'utf8')).toBe('through the gate\n')
    // A deletion is asked about, and the agent cannot answer.
    expect(existsSync(join(place.project, 'kept.txt'))).toBe(true)
    const { pending } = place.writ(['inbox', '--json']).json
    const asked = pending.filter(({ kind }: Json) => kind === 'FILE_DELETE')
    expect(asked.at(-1)).toMatchObject({ asked_by: { principal: 'ai:agent@local' } })
  } finally {
    await agent.remove()
  }
}, 180_000)

/** Codex 0.166 offers tools of servers only after a search of its own, which the stand-in has not. */
it('codex reads what writ offers', async () => {
  const agent = await AgentPlace.make('codex', () => [
    { tool: 'read_mcp_resource', arguments: { server: 'writ', uri: 'writ://laws' } },
    { text: 'done' },
  ])
  try {
    const ended = await agent.run(connect('codex', agent))
    const seen = JSON.stringify(agent.model.requests.map(({ body }) => body))
    expect(seen.includes('ASK_HIGH'), JSON.stringify(ended)).toBe(true)
  } finally {
    await agent.remove()
  }
}, 180_000)
