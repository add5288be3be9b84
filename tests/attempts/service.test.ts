/** Hosts that a participant needs to run: reached through the proxy, recorded, and without a question. */
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { WHO } from '../sandbox/drive.ts'
import { Ground } from './steps.ts'

const seen: { readonly key: string; readonly bytes: number }[] = []
let server: Server
let host = ''

beforeAll(async () => {
  server = createServer((request, response) => {
    let bytes = 0
    request.on('data', (chunk: Buffer) => {
      bytes += chunk.length
    })
    request.on('end', () => {
      seen.push({ key: String(request.headers['authorization']), bytes })
      response.end('thought')
    })
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  host = `127.0.0.1:${(server.address() as AddressInfo).port}`
})
afterAll(() => server.close())

/** Posts many bytes, more than a run may send to anybody else. */
function post(target: string): string {
  return [
    'import os, urllib.request',
    `r = urllib.request.Request("http://${target}/v1", b"x" * 3000000, {"Authorization": os.environ.get("KEY", "")})`,
    'print(urllib.request.urlopen(r).read().decode())',
  ].join('\n')
}

describe.each(WHO)('as %s', (who) => {
  it('the process reaches them with its secrets; what it did is promoted without a question', async () => {
    const ground = new Ground(who)
    const secret = 'sk-very-secret-0123456789'
    const done = await ground.steps(
      { do: 'begin', name: 'one', egress: [host], secrets: { KEY: secret } },
      { do: 'run', name: 'one', command: `python3 -c '${post(host)}' && echo x > a.txt` },
      { do: 'finish', name: 'one' },
      { do: 'promote', name: 'one' },
    )
    expect(done[1]?.ok, done[1]?.ok.stderr).toMatchObject({ stdout: 'thought\n', exitCode: 0 })
    expect(seen.at(-1)).toEqual({ key: secret, bytes: 3_000_000 })
    const { result, decision } = done[2]?.ok ?? {}
    expect(decision).toMatchObject({ decision: 'PROMOTE' })
    expect(result.side_effects.network).toEqual([
      expect.objectContaining({ class: 'service', outcome: 'passed', method: 'POST' }),
    ])
    expect(JSON.stringify(result)).not.toContain(secret)
    expect(done[3]?.ok).toMatchObject({ promoted: true })
  })

  it('no other host is reached, and what tried is blocked; without any there is no network', async () => {
    const ground = new Ground(who)
    const count = seen.length
    const done = await ground.steps(
      { do: 'begin', name: 'other', egress: ['model.example:8443'] },
      { do: 'run', name: 'other', command: `python3 -c '${post(host)}'; echo x > a.txt` },
      { do: 'finish', name: 'other' },
      { do: 'begin', name: 'none' },
      { do: 'run', name: 'none', command: `python3 -c '${post(host)}'; echo y > a.txt` },
      { do: 'finish', name: 'none' },
    )
    expect(done[2]?.ok.decision).toMatchObject({ decision: 'BLOCK' })
    expect(done[2]?.ok.decision.codes).toContain('effect.irreversible')
    expect(done[4]?.ok.stderr).toMatch(/refused|unreachable/i)
    expect(seen.length).toBe(count)
  })
})
