/** Connecting once: addresses that are refused, names that lead elsewhere, servers that are not there. */
import { createServer, type Server, type Socket } from 'node:net'
import { afterEach, describe, expect, it } from 'vitest'
import { connectOnce, isOpen } from './connect.ts'

const servers: Server[] = []
afterEach(() => {
  for (const server of servers.splice(0)) server.close()
})

async function listening(): Promise<number> {
  const server = createServer((socket) => socket.on('error', () => undefined).end('hello'))
  servers.push(server)
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return (server.address() as { port: number }).port
}

const LOOPBACK = { literals: [{ name: '127.0.0.1', port: null }] }
const NOTHING = { literals: [] }

async function codeOf(connecting: ReturnType<typeof connectOnce>): Promise<string> {
  const answer = await connecting
  if ('code' in answer) return answer.code
  ;(answer as Socket).destroy()
  return 'connected'
}

describe('connecting', () => {
  it('a literal in scope opens exactly itself', async () => {
    const port = await listening()
    expect(await codeOf(connectOnce({ host: '127.0.0.1', port }, LOOPBACK))).toBe('connected')
    expect(await codeOf(connectOnce({ host: '127.0.0.1', port }, NOTHING))).toBe('network.address')
    const other = { literals: [{ name: '127.0.0.1', port: port - 1 }] }
    expect(await codeOf(connectOnce({ host: '127.0.0.1', port }, other))).toBe('network.address')
    expect(isOpen('::ffff:127.0.0.1', port, LOOPBACK)).toBe(false)
    expect(isOpen('0:0::1', 1, { literals: [{ name: '::1', port: null }] })).toBe(true)
  })

  it('a name that leads inside is refused, also when only one of its addresses does', async () => {
    const port = await listening()
    for (const addresses of [['127.0.0.1'], ['93.184.216.34', '10.0.0.1'], ['::ffff:10.0.0.1']]) {
      const resolve = async () => addresses
      const answer = codeOf(connectOnce({ host: 'a.test', port }, NOTHING, { resolve }))
      expect(await answer).toBe('network.address')
    }
  })

  it('a name is asked once: what it leads to later changes nothing', async () => {
    const port = await listening()
    let asked = 0
    const resolve = async () => (++asked === 1 ? ['127.0.0.1'] : ['10.0.0.1'])
    const target = { host: 'rebound.test', port }
    expect(await codeOf(connectOnce(target, LOOPBACK, { resolve }))).toBe('connected')
    expect(asked).toBe(1)
    expect(await codeOf(connectOnce(target, LOOPBACK, { resolve }))).toBe('network.address')
  })

  it('what cannot be had is a fault', async () => {
    const none = async () => []
    const fails = async () => Promise.reject(new Error('NXDOMAIN'))
    for (const resolve of [none, fails]) {
      const answer = codeOf(connectOnce({ host: 'a.test', port: 80 }, NOTHING, { resolve }))
      expect(await answer).toBe('network.unresolved')
    }
    const port = await listening()
    servers.splice(0)[0]?.close()
    const refused = codeOf(connectOnce({ host: '127.0.0.1', port }, LOOPBACK))
    expect(await refused).toBe('network.unreachable')
    const never = () => new Promise<readonly string[]>(() => undefined)
    const late = connectOnce({ host: 'a.test', port }, NOTHING, { resolve: never, timeoutMs: 30 })
    expect(await codeOf(late)).toBe('network.unresolved')
  })
})
