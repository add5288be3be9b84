/** Ports of a session on the loopback of the machine (S-9). */
import { createServer, type Server } from 'node:http'
import { type AddressInfo, createServer as createSocketServer } from 'node:net'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { SessionPlace } from './session-place.ts'

let place: SessionPlace
let other: Server
beforeEach(() => {
  place = new SessionPlace('ports')
  place.commit({ 'a.txt': 'one\n', 'b.txt': 'two\n' })
  place.init()
  other = createServer((_, answer) => answer.end('of the machine'))
})
afterEach(() => {
  other.close()
  place.remove()
})

/** A port that was free a moment ago. */
function freePort(): Promise<number> {
  const server = createSocketServer()
  return new Promise((resolve) => {
    server.listen(0, '127.0.0.1', () => {
      // A server that listens on a port has such an address.
      const { port } = server.address() as AddressInfo
      server.close(() => resolve(port))
    })
  })
}

const SERVE = `node -e 'require("node:http").createServer((q, a) => q.pipe(a)).listen(3000, "::1", () => console.log("serves"))' & sleep 1`

describe('a session', { timeout: 90_000 }, () => {
  it('shows a server inside on the loopback of the machine, and nothing when it has ended', async () => {
    const port = await freePort()
    const agent = place.agentRun(['--publish', `${port}:3000`, '--settle', 'end'])
    await agent.does('true')
    expect(agent.err).toContain(`http://127.0.0.1:${port}`)
    const url = `http://127.0.0.1:${port}/`
    await expect(fetch(url)).rejects.toThrow()
    await agent.does(SERVE)
    const long = 'x'.repeat(2_000_000)
    const bodies = [long, 'short', long].map(async (body) => {
      return (await (await fetch(url, { method: 'POST', body })).text()) === body
    })
    expect(await Promise.all(bodies)).toEqual([true, true, true])
    await agent.does('kill %1')
    expect(await agent.ends()).toBe(0)
    await expect(fetch(url)).rejects.toThrow()
  })

  it('is not started where the port is taken, or is none', async () => {
    await new Promise<void>((resolve) => other.listen(0, '127.0.0.1', () => resolve()))
    // A server that listens on a port has such an address.
    const { port } = other.address() as AddressInfo
    const taken = place.writ(['run', '--publish', String(port), '--', 'true'], { isWarm: false })
    expect([taken.status, taken.err]).toEqual([125, expect.stringMatching(/--publish \d+:\d+/)])
    expect(taken.err).toContain('session.port')
    expect(place.writ(['run', '--publish', '3128', '--', 'true']).err).toContain('--publish 3000')
    expect(place.sessions()).toEqual([])
  })
})
