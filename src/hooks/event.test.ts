/** What the hook program answers: in a session, in wrapping, and in doubt. */
import { mkdtempSync, rmSync } from 'node:fs'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, afterEach, describe, expect, it } from 'vitest'
import { hostNamed } from '../hosts/index.ts'
import { answerEvent } from './event.ts'
import { redeemTicket } from './ticket.ts'

const folder = mkdtempSync(join(tmpdir(), 'writ-event-'))
const servers: Server[] = []
afterEach(() => {
  for (const server of servers.splice(0)) server.close()
})
afterAll(() => rmSync(folder, { recursive: true }))

const TICKETS = join(folder, 'tickets')
const NOW = Date.now()

function call(tool: string, input: object, event = 'PreToolUse'): string {
  return JSON.stringify({
    session_id: 's',
    cwd: '/project',
    hook_event_name: event,
    tool_name: tool,
    tool_input: input,
    tool_use_id: 't1',
  })
}

function answer(
  input: string,
  more: { isWrapping?: boolean; channel?: string; name?: string } = {},
) {
  const host = hostNamed(more.name ?? 'claude-code')
  if (host === null) throw new Error('no such host')
  return answerEvent({
    host,
    event: null,
    input,
    isWrapping: more.isWrapping ?? false,
    channel: more.channel ?? null,
    writ: '/opt/writ',
    tickets: TICKETS,
    cwd: '/project',
    nowMs: NOW,
  })
}

function channel(status: number, body: string): Promise<string> {
  const server = createServer((request, response) => {
    request.resume()
    response.writeHead(status)
    response.end(body)
  })
  servers.push(server)
  return new Promise((resolve) => {
    server.listen(0, '127.0.0.1', () => {
      const { port } = server.address() as AddressInfo
      resolve(`http://127.0.0.1:${port}/token`)
    })
  })
}

const LS = call('Bash', { command: 'ls', timeout: 5 })
const TICKET_LINE = /^\/opt\/writ exec --ticket ([0-9a-f]{32})$/

async function rewritten(input: string, more: object = {}): Promise<string> {
  const { stdout } = await answer(input, { isWrapping: true, ...more })
  return JSON.parse(stdout).hookSpecificOutput?.updatedInput?.command ?? ''
}

describe('wrapping', () => {
  it('turns a command into a ticket that holds it, and keeps the other arguments', async () => {
    const { stdout, status } = await answer(LS, { isWrapping: true })
    const { updatedInput } = JSON.parse(stdout).hookSpecificOutput
    const id = TICKET_LINE.exec(updatedInput.command)?.[1] ?? ''
    expect([status, updatedInput.timeout]).toEqual([0, 5])
    expect(redeemTicket(TICKETS, id, '/project', NOW)).toMatchObject({
      command: 'ls',
      session: 's',
    })
  })

  it('passes its own ticket line, and nothing that only begins like one', async () => {
    const line = `/opt/writ exec --ticket ${'a'.repeat(32)}`
    expect((await answer(call('Bash', { command: line }), { isWrapping: true })).stdout).toBe(
      '{}\n',
    )
    for (const command of [`${line} && rm x`, `/tmp/writ exec --ticket ${'a'.repeat(32)}`]) {
      expect(await rewritten(call('Bash', { command }))).toMatch(TICKET_LINE)
    }
  })

  it('denies edit tools and leaves others alone', async () => {
    const denied = await answer(call('Write', { file_path: '/x', content: '' }), {
      isWrapping: true,
    })
    expect(JSON.parse(denied.stdout).hookSpecificOutput.permissionDecision).toBe('deny')
    expect((await answer(call('Read', { file_path: '/x' }), { isWrapping: true })).stdout).toBe(
      '{}\n',
    )
  })

  it('is not switched off by a channel that does not answer as one', async () => {
    for (const one of [
      'http://127.0.0.1:9/token',
      'nonsense',
      await channel(200, 'ok'),
      await channel(500, '{"feedback":null}'),
    ]) {
      expect(await rewritten(LS, { channel: one })).toMatch(TICKET_LINE)
    }
    expect(await rewritten(LS, { channel: await channel(200, '{"feedback":null}') })).toBe('')
  })
})

describe('in a session', () => {
  it('gives the line of the channel to the model after a tool, as one line', async () => {
    const url = await channel(200, JSON.stringify({ feedback: 'promoted\n\u001b[31m2 files' }))
    const after = await answer(call('Bash', { command: 'ls' }, 'PostToolUse'), { channel: url })
    expect(JSON.parse(after.stdout)).toEqual({
      hookSpecificOutput: {
        hookEventName: 'PostToolUse',
        additionalContext: 'promoted [31m2 files',
      },
    })
    expect((await answer(LS, { channel: url })).stdout).toBe('{}\n')
  })

  it('passes when the channel is closed, elsewhere or broken', async () => {
    for (const one of [
      'http://127.0.0.1:9/token',
      'http://example.com/t',
      await channel(200, '{"feedback":7}'),
    ]) {
      expect(await answer(LS, { channel: one })).toEqual({ stdout: '{}\n', stderr: '', status: 0 })
    }
  })
})

describe('input that is no event', () => {
  it.each([
    '',
    '{',
    '[]',
    'null',
    '{}',
    '{"hook_event_name":"Other"}',
    call('', {}),
    '{"hook_event_name":"PreToolUse","tool_name":"Bash"}',
  ])('blocks: %s', async (input) => {
    for (const isWrapping of [false, true]) {
      const { status, stdout, stderr } = await answer(input, { isWrapping })
      expect([status, stdout]).toEqual([2, ''])
      expect(stderr).toMatch(/hook\.input/)
    }
  })
})
