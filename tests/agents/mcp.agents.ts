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
    'required = true',
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

/** Codex offers the tools of a server as a group, and at the first turn only those of one it waits for. */
it('codex uses the tools of writ, and reads what it offers', async () => {
  place.exec(['--write', 'mine.txt', '--yes'], 'echo mine > mine.txt')
  const namespace = 'mcp__writ'
  const agent = await AgentPlace.make('codex', () => [
    { tool: 'read_mcp_resource', arguments: { server: 'writ', uri: 'writ://laws' } },
    { namespace, tool: 'write_file', arguments: { path: 'codex.txt', content: 'by codex\n' } },
    { namespace, tool: 'delete_path', arguments: { path: 'mine.txt' } },
    { text: 'done' },
  ])
  try {
    // A model that Codex does not know is offered every tool; for others the model has to search first.
    const ended = await agent.run([...connect('codex', agent), '-m', 'stand-in'])
    const seen = JSON.stringify(agent.model.requests.map(({ body }) => body))
    expect(seen.includes('ASK_HIGH'), JSON.stringify(ended)).toBe(true)
    expect(existsSync(join(place.project, 'codex.txt')), JSON.stringify(ended)).toBe(true)
    expect(readFileSync(join(place.project, 'codex.txt'), 'utf8')).toBe('by codex\n')
    expect(existsSync(join(place.project, 'mine.txt'))).toBe(true)
    const { pending } = place.writ(['inbox', '--json']).json
    const asked = pending.filter(({ kind }: Json) => kind === 'FILE_DELETE')
    expect(asked.at(-1)).toMatchObject({ asked_by: { principal: 'ai:agent@local' } })
    expect(JSON.stringify(asked.at(-1))).toContain('mine.txt')
  } finally {
    await agent.remove()
  }
}, 180_000)
