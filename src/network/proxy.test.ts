/**
 * The proxy alone, on this machine's loopback, with real servers and real clients. Over 500 lines on
 * purpose: every case is a few lines on one rig of servers, certificates and clients.
 */
import { spawn } from 'node:child_process'
import { createHash, randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { rmSync, writeFileSync } from 'node:fs'
import { type AddressInfo, connect, createServer, type Server, type Socket } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { connect as connectTls } from 'node:tls'
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import {
  type Certificate,
  certificate,
  plainServer,
  type TestServer,
  tlsServer,
} from '../../tests/network/servers.ts'
import type { NetworkTerms } from '../gate/index.ts'
import { type ProxyOptions, RunProxy } from './proxy.ts'

let cert: Certificate
beforeAll(() => {
  cert = certificate('registry.test', 'other.test')
})
afterAll(() => cert.remove())

const closing: (() => Promise<unknown> | unknown)[] = []
afterEach(async () => {
  for (const close of closing.splice(0).reverse()) await close()
})

interface Opened {
  readonly proxy: RunProxy
  readonly port: number
}

async function opened(terms: Partial<NetworkTerms>, options: ProxyOptions = {}): Promise<Opened> {
  const proxy = new RunProxy({ hosts: [], readOnlyHosts: [], release: null, ...terms }, options)
  const server: Server = createServer({ allowHalfOpen: true })
  proxy.listenOn(server)
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  closing.push(
    () => proxy.close(),
    () => server.close(),
  )
  return { proxy, port: (server.address() as AddressInfo).port }
}

async function served(server: Promise<TestServer>): Promise<TestServer> {
  const made = await server
  closing.push(() => made.close())
  return made
}

/** Says something to the proxy and hears everything that comes back. */
async function say(port: number, ...pieces: (string | Buffer)[]): Promise<string> {
  const socket = connect(port, '127.0.0.1')
  const parts: Buffer[] = []
  socket.on('data', (part) => parts.push(part)).on('error', () => undefined)
  await once(socket, 'connect')
  for (const piece of pieces) {
    socket.write(piece)
    await new Promise((resolve) => setTimeout(resolve, 5))
  }
  if (!socket.closed) await once(socket, 'close')
  return Buffer.concat(parts).toString('latin1')
}

/** A file of so many bytes. */
function large(size: number): string {
  const file = join(tmpdir(), `writ-network-test-${process.pid}-${size}`)
  writeFileSync(file, randomBytes(size))
  closing.push(() => rmSync(file, { force: true }))
  return file
}

interface Curled {
  readonly status: number | null
  readonly out: string
}

function curl(proxy: number, ...args: string[]): Promise<Curled> {
  const words = [
    '-sS',
    '-m',
    '10',
    '-x',
    `http://127.0.0.1:${proxy}`,
    '--cacert',
    cert.file,
    ...args,
  ]
  const child = spawn('curl', words, { timeout: 15_000, env: { PATH: process.env['PATH'] } })
  let out = ''
  child.stdout.on('data', (part) => {
    out += part
  })
  child.stderr.on('data', (part) => {
    out += part
  })
  return new Promise((resolve) => child.once('close', (status) => resolve({ status, out })))
}

const resolve = async () => ['127.0.0.1']

describe('plain requests', () => {
  it('reading from a read-only host passes, and is reported', async () => {
    const server = await served(plainServer())
    const host = `127.0.0.1:${server.port}`
    const { proxy, port } = await opened({ hosts: [host], readOnlyHosts: [host] })
    const { out } = await curl(port, `http://${host}/a?b=c`)
    expect(out).toBe('hello\n')
    expect(server.heard).toMatchObject([{ method: 'GET', url: '/a?b=c' }])
    expect(server.heard[0]?.headers).not.toHaveProperty('proxy-connection')
    expect(await proxy.settle()).toEqual([
      {
        host: '127.0.0.1',
        port: server.port,
        outcome: 'passed',
        method: 'GET',
        url: `http://${host}/a?(3 characters)`,
        bytes_sent: expect.any(Number),
        bytes_received: expect.any(Number),
      },
    ])
  })

  it.each([
    [
      'a host that is not in scope',
      'GET http://elsewhere.test/ HTTP/1.1\r\nHost: elsewhere.test',
      'network.host',
    ],
    [
      'another port',
      'GET http://registry.test:8080/ HTTP/1.1\r\nHost: registry.test:8080',
      'network.port',
    ],
    [
      'a method that changes something',
      'POST http://registry.test/ HTTP/1.1\r\nHost: registry.test\r\nContent-Length: 1',
      'network.method',
    ],
    [
      'a body where something is read',
      'GET http://registry.test/ HTTP/1.1\r\nHost: registry.test\r\nContent-Length: 1',
      'network.body',
    ],
    [
      'a host in scope that is not read-only',
      'GET http://scoped.test/?secret HTTP/1.1\r\nHost: scoped.test',
      'network.method',
    ],
    [
      'another Host than the target',
      'GET http://registry.test/ HTTP/1.1\r\nHost: other.test',
      'network.request',
    ],
    [
      'a web socket',
      'GET http://registry.test/ HTTP/1.1\r\nHost: registry.test\r\nConnection: upgrade\r\nUpgrade: websocket',
      'network.upgrade',
    ],
    ['a path instead of an address', 'GET / HTTP/1.1\r\nHost: registry.test', 'network.request'],
    [
      'an endless head',
      `GET http://registry.test/ HTTP/1.1\r\nHost: registry.test\r\nX: ${'x'.repeat(40_000)}`,
      'network.limit',
    ],
  ])('%s is refused with its code', async (_says, head, code) => {
    let asked = 0
    const { proxy, port } = await opened(
      { hosts: ['registry.test', 'scoped.test'], readOnlyHosts: ['registry.test'] },
      {
        resolve: async () => {
          asked++
          return ['127.0.0.1']
        },
      },
    )
    const heard = await say(port, `${head}\r\n\r\n`)
    expect(heard).toMatch(/^HTTP\/1\.1 403 /)
    expect(heard).toContain(`X-Writ-Code: ${code}\r\n`)
    expect(await proxy.settle()).toMatchObject([{ outcome: 'refused', code, bytes_sent: 0 }])
    expect(asked).toBe(0)
  })

  it('an answer that leads elsewhere goes to the client, and where it leads is judged again', async () => {
    const server = await served(
      plainServer((_request, response) => {
        response.writeHead(302, { location: 'http://elsewhere.test/' }).end()
      }),
    )
    const host = `127.0.0.1:${server.port}`
    const { proxy, port } = await opened({ hosts: [host], readOnlyHosts: [host] })
    const { out } = await curl(port, '-L', `http://${host}/`)
    expect(out).toContain('network.host')
    expect(await proxy.settle()).toMatchObject([
      { outcome: 'passed', host: '127.0.0.1' },
      { outcome: 'refused', host: 'elsewhere.test', code: 'network.host' },
    ])
  })

  it('a second request behind the first is never looked at', async () => {
    const server = await served(plainServer())
    const host = `127.0.0.1:${server.port}`
    const { proxy, port } = await opened({ hosts: [host], readOnlyHosts: [host] })
    const one = `GET http://${host}/one HTTP/1.1\r\nHost: ${host}\r\n\r\n`
    const two = `POST http://${host}/two HTTP/1.1\r\nHost: ${host}\r\nContent-Length: 0\r\n\r\n`
    await say(port, one + two)
    expect(server.heard.map(({ url }) => url)).toEqual(['/one'])
    expect(await proxy.settle()).toHaveLength(1)
  })

  it('what was released is sent with its body, by length and in chunks', async () => {
    const server = await served(plainServer())
    const host = `127.0.0.1:${server.port}`
    const release = { hosts: [host], methods: ['POST'] }
    const { proxy, port } = await opened({ hosts: [host], release })
    const body = randomBytes(300_000).toString('hex')
    await curl(port, '-d', body.slice(0, 100_000), `http://${host}/one`)
    await curl(
      port,
      '-d',
      body.slice(0, 90_000),
      '-H',
      'Transfer-Encoding: chunked',
      `http://${host}/two`,
    )
    expect(server.heard.map(({ url, body: { length } }) => [url, length])).toEqual([
      ['/one', 100_000],
      ['/two', 90_000],
    ])
    expect((await curl(port, '-X', 'DELETE', `http://${host}/`)).out).toContain('network.method')
    const told = await proxy.settle()
    expect(told.map(({ outcome, released }) => [outcome, released])).toEqual([
      ['passed', true],
      ['passed', true],
      ['refused', undefined],
    ])
    expect(told[0]?.bytes_sent).toBeGreaterThan(100_000)
  })

  it('reading may not tell a host more than reading takes', async () => {
    const server = await served(plainServer())
    const host = `127.0.0.1:${server.port}`
    const { proxy, port } = await opened({ hosts: [host], readOnlyHosts: [host] })
    const query = 'x'.repeat(3_000)
    const request = `GET http://${host}/?${query} HTTP/1.1\r\nHost: ${host}\r\n\r\n`
    const answers = []
    for (let count = 0; count < 6; count++) answers.push((await say(port, request)).slice(9, 12))
    expect(answers).toEqual(['200', '200', '200', '200', '403', '403'])
    const told = await proxy.settle()
    const sent = told.reduce((total, { bytes_sent }) => total + bytes_sent, 0)
    // 1 KiB of each answered request is not counted.
    expect(sent).toBeLessThanOrEqual((8 + 4 + 1) * 1024)
    expect(told.at(-1)).toMatchObject({ outcome: 'refused', code: 'network.upload' })
  })

  it('tells at once what was refused or not reached, and the option that would help', async () => {
    const heard: unknown[] = []
    const { port } = await opened(
      { hosts: ['a.test', 'inner.test'], readOnlyHosts: ['a.test', 'inner.test'] },
      {
        resolve: async (name) => (name === 'inner.test' ? ['10.0.0.7'] : []),
        onRefused: ({ host, outcome, code }, option) => heard.push([host, outcome, code, option]),
      },
    )
    for (const host of ['a.test', 'inner.test']) {
      await say(port, `GET http://${host}/ HTTP/1.1\r\nHost: ${host}\r\n\r\n`)
    }
    expect(heard).toEqual([
      ['a.test', 'failed', 'network.unresolved', null],
      ['inner.test', 'refused', 'network.address', '--net 10.0.0.7'],
    ])
  })

  it('a missing server is a failure and no refusal', async () => {
    const server = await plainServer()
    await server.close()
    const host = `127.0.0.1:${server.port}`
    const { proxy, port } = await opened({ hosts: [host], readOnlyHosts: [host] })
    expect(await say(port, `GET http://${host}/ HTTP/1.1\r\nHost: ${host}\r\n\r\n`)).toMatch(
      / 502 /,
    )
    expect(await proxy.settle()).toMatchObject([{ outcome: 'failed', code: 'network.unreachable' }])
  })

  it('a large answer arrives whole through a slow client', async () => {
    const content = randomBytes(24 * 1024 * 1024)
    const server = await served(plainServer((_request, response) => response.end(content)))
    const host = `127.0.0.1:${server.port}`
    const { port } = await opened({ hosts: [host], readOnlyHosts: [host] })
    const socket = connect(port, '127.0.0.1')
    socket.write(`GET http://${host}/ HTTP/1.1\r\nHost: ${host}\r\n\r\n`)
    const digest = createHash('sha256')
    let size = 0
    let isHead = true
    for await (const piece of socket as AsyncIterable<Buffer>) {
      const start = isHead ? piece.indexOf('\r\n\r\n') + 4 : 0
      isHead = false
      size += piece.length - start
      digest.update(piece.subarray(start))
      if (Math.random() < 0.05) await new Promise((wake) => setTimeout(wake, 5))
    }
    expect(size).toBe(content.length)
    expect(digest.digest('hex')).toBe(createHash('sha256').update(content).digest('hex'))
  })
})

describe('what goes up', () => {
  async function released() {
    const server = await served(plainServer())
    const host = `127.0.0.1:${server.port}`
    const release = { hosts: [host], methods: ['POST', 'GET'] }
    return { server, host, ...(await opened({ hosts: [host], release })) }
  }

  it('ends with its body: bytes behind a body are sent nowhere', async () => {
    const { server, host, port, proxy } = await released()
    const head = `POST http://${host}/one HTTP/1.1\r\nHost: ${host}\r\n`
    const more = `POST /two HTTP/1.1\r\nHost: ${host}\r\nContent-Length: 0\r\n\r\n`
    await say(port, `${head}Content-Length: 3\r\n\r\nabc${more}`)
    await say(port, `${head}Content-Length: 3\r\n\r\nab`, `c${more}`)
    await say(port, `${head}Transfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n0\r\n\r\n${more}`)
    expect(server.heard.map(({ url, body }) => [url, body.toString()])).toEqual([
      ['/one', 'abc'],
      ['/one', 'abc'],
      ['/one', 'abc'],
    ])
    const told = await proxy.settle()
    const sizes = told.map(({ bytes_sent }) => bytes_sent)
    const whole = `POST /one HTTP/1.1\r\nHost: ${host}\r\nContent-Length: 3\r\nConnection: close\r\n\r\nabc`
    expect(sizes.slice(0, 2)).toEqual([whole.length, whole.length])
  })

  it('chunks that can be read in two ways are cut', async () => {
    const { host, port, proxy } = await released()
    const head = `POST http://${host}/ HTTP/1.1\r\nHost: ${host}\r\nTransfer-Encoding: chunked\r\n\r\n`
    await say(port, `${head}3;x=y\r\nabc\r\n0\r\n\r\n`)
    expect(await proxy.settle()).toMatchObject([{ outcome: 'refused', code: 'network.request' }])
  })

  it('waits for the server where the client asks it to', async () => {
    const { server, host, port } = await released()
    const { out } = await curl(port, '-H', 'Expect: 100-continue', '-d', 'abc', `http://${host}/`)
    expect(out).toBe('hello\n')
    expect(server.heard.map(({ body }) => body.toString())).toEqual(['abc'])
  })

  it('one direction can end before the other', async () => {
    const server = await served(
      plainServer((_request, response) => {
        setTimeout(() => response.end('late\n'), 100)
      }),
    )
    const host = `127.0.0.1:${server.port}`
    const { port } = await opened({ hosts: [host], readOnlyHosts: [host] })
    const socket = connect({ port, host: '127.0.0.1', allowHalfOpen: true })
    socket.end(`GET http://${host}/ HTTP/1.1\r\nHost: ${host}\r\n\r\n`)
    const parts: Buffer[] = []
    for await (const part of socket as AsyncIterable<Buffer>) parts.push(part)
    expect(Buffer.concat(parts).toString()).toMatch(/late\n/)
  })

  it('a client that is gone takes its request with it', async () => {
    const server = await served(
      plainServer((_request, response) => {
        const more = setInterval(() => response.write(Buffer.alloc(100_000)), 2)
        response.on('close', () => clearInterval(more))
      }),
    )
    const host = `127.0.0.1:${server.port}`
    const { port, proxy } = await opened({ hosts: [host], readOnlyHosts: [host] })
    const socket = connect(port, '127.0.0.1').on('error', () => undefined)
    socket.write(`GET http://${host}/ HTTP/1.1\r\nHost: ${host}\r\n\r\n`)
    await once(socket, 'data')
    socket.destroy()
    const [told] = await proxy.settle()
    expect(told).toMatchObject({ outcome: 'passed' })
  })

  it('half a request is no request', async () => {
    const { proxy, port } = await opened({ hosts: ['a.test'] })
    const socket = connect(port, '127.0.0.1').on('error', () => undefined)
    socket.end('GET http://a.te')
    await once(socket, 'close')
    expect(await proxy.settle()).toMatchObject([{ outcome: 'failed', bytes_sent: 0 }])
  })

  it('more connections than there may be are refused', async () => {
    const { proxy, port } = await opened({})
    const sockets = await Promise.all(
      Array.from({ length: 257 }, async () => {
        const socket = connect(port, '127.0.0.1').on('error', () => undefined)
        await once(socket, 'connect')
        return socket
      }),
    )
    const answers = sockets.map((socket) => once(socket, 'data'))
    const [answer] = (await Promise.race(answers)) as [Buffer]
    expect(answer.toString()).toContain('network.limit')
    for (const socket of sockets) socket.destroy()
    expect(await proxy.settle()).toMatchObject([{ outcome: 'refused', code: 'network.limit' }])
  })
})

describe('tunnels', () => {
  it('TLS to a read-only host passes, and is listed with the name inside', async () => {
    const server = await served(tlsServer(cert))
    const host = `registry.test:${server.port}`
    const scope = { hosts: [host, '127.0.0.1'], readOnlyHosts: [host] }
    const literal = `127.0.0.1:${server.port}`
    const { proxy, port } = await opened({ ...scope, hosts: [host, literal] }, { resolve })
    const { out } = await curl(port, `https://${host}/x`)
    expect(out).toBe('hello\n')
    const [told] = await proxy.settle()
    expect(told).toMatchObject({
      host: 'registry.test',
      port: server.port,
      outcome: 'passed',
      method: 'CONNECT',
      sni: 'registry.test',
    })
    expect(told?.bytes_sent).toBeGreaterThan(300)
    expect(told?.bytes_received).toBeGreaterThan(300)
    expect(told).not.toHaveProperty('url')
  })

  it('an address in scope needs no name inside', async () => {
    const server = await served(tlsServer(cert))
    const host = `127.0.0.1:${server.port}`
    const { port } = await opened({ hosts: [host], readOnlyHosts: [host] })
    expect((await curl(port, `https://${host}/`)).out).toBe('hello\n')
  })

  async function tried(name: string | null, first?: Buffer) {
    const server = await served(tlsServer(cert))
    const host = `registry.test:${server.port}`
    const hosts = [host, `127.0.0.1:${server.port}`]
    const { proxy, port } = await opened({ hosts, readOnlyHosts: [host] }, { resolve })
    const socket = await tunnel(port, host)
    if (first === undefined) {
      const secure = connectTls({
        socket,
        ca: cert.cert,
        ...(name === null ? { checkServerIdentity: () => undefined } : { servername: name }),
      })
      secure.on('error', () => undefined)
    } else socket.write(first)
    if (!socket.closed) await once(socket, 'close')
    const [told] = await proxy.settle()
    return { told, heard: server.heard.length }
  }

  it.each([
    ['another name', 'other.test'],
    ['no name', null],
  ])('%s inside is refused before anything goes up', async (_says, name) => {
    const { told } = await tried(name)
    const code = 'network.sni'
    expect(told).toMatchObject({ outcome: 'refused', code, bytes_sent: 0, bytes_received: 0 })
  })

  it('a name that hides another one is refused before anything goes up', async () => {
    const hello = helloBytes('registry.test', [0xfe, 0x0d, 0, 1, 0])
    const { told } = await tried('x', hello)
    expect(told).toMatchObject({
      outcome: 'refused',
      code: 'network.sni',
      sni: 'registry.test',
      bytes_sent: 0,
    })
  })

  it('what is not TLS is refused before anything goes up', async () => {
    const { told, heard } = await tried('x', Buffer.from('GET / HTTP/1.1\r\n\r\n'))
    expect(told).toMatchObject({ outcome: 'refused', code: 'network.not_tls', bytes_sent: 0 })
    expect(heard).toBe(0)
  })

  it('an upload is cut when more goes up than reading takes', async () => {
    const server = await served(tlsServer(cert))
    const host = `127.0.0.1:${server.port}`
    const { proxy, port } = await opened({ hosts: [host], readOnlyHosts: [host] })
    const { status } = await curl(port, '-T', large(60_000), `https://${host}/`)
    expect(status).not.toBe(0)
    expect(server.heard).toEqual([])
    const [told] = await proxy.settle()
    expect(told).toMatchObject({ outcome: 'refused', code: 'network.upload', method: 'CONNECT' })
    // The handshake and 1 KiB of the request are not counted.
    expect(told?.bytes_sent).toBeLessThanOrEqual(10 * 1024)
  })

  it('many small uploads to one host are one upload', async () => {
    const server = await served(tlsServer(cert))
    const host = `127.0.0.1:${server.port}`
    const { proxy, port } = await opened({ hosts: [host], readOnlyHosts: [host] })
    for (let count = 0; count < 4; count++) {
      await curl(port, '-T', large(6_000), `https://${host}/${count}`)
    }
    expect(server.heard.length).toBeLessThan(3)
    const told = await proxy.settle()
    expect(told.at(-1)).toMatchObject({ outcome: 'refused', code: 'network.upload' })
  })

  it('downloads pass, also when a client asks for many at once', async () => {
    const server = await served(
      tlsServer(cert, (_request, response) => void response.end('x'.repeat(200_000))),
    )
    const host = `127.0.0.1:${server.port}`
    const { proxy, port } = await opened({ hosts: [host], readOnlyHosts: [host] })
    const asked = Array.from({ length: 15 }, (_, index) => curl(port, `https://${host}/${index}`))
    expect((await Promise.all(asked)).map(({ status }) => status)).toEqual(Array(15).fill(0))
    const told = await proxy.settle()
    expect(told.every(({ outcome }) => outcome === 'passed')).toBe(true)
    expect(told.reduce((total, { bytes_sent }) => total + bytes_sent, 0)).toBeGreaterThan(9 * 1024)
  })

  it.each([15, 1])('600 small packages pass over %i connections', async (connections) => {
    const server = await served(tlsServer(cert, (_request, response) => void response.end(PACKAGE)))
    const host = `127.0.0.1:${server.port}`
    const { proxy, port } = await opened({ hosts: [host], readOnlyHosts: [host] })
    const each = 600 / connections
    const asked = Array.from({ length: connections }, () => fetchMany(port, host, each))
    expect(await Promise.all(asked)).toEqual(Array(connections).fill(each))
    const told = await proxy.settle()
    expect(told.every(({ outcome }) => outcome === 'passed')).toBe(true)
    const sent = told.reduce((total, { bytes_sent }) => total + bytes_sent, 0)
    expect(sent).toBeGreaterThan(300 * 1024)
  })

  it('a released tunnel has no cap', async () => {
    const server = await served(tlsServer(cert))
    const host = `127.0.0.1:${server.port}`
    const release = { hosts: [host], methods: ['CONNECT'] }
    const { proxy, port } = await opened({ hosts: [host], release })
    await curl(port, '-T', large(2_000_000), `https://${host}/`)
    expect(server.heard).toMatchObject([{ method: 'PUT' }])
    expect(server.heard[0]?.body).toHaveLength(2_000_000)
    expect(await proxy.settle()).toMatchObject([{ outcome: 'passed', released: true }])
  })

  it('a name that leads inside is refused', async () => {
    const { proxy, port } = await opened(
      { hosts: ['registry.test'], readOnlyHosts: ['registry.test'] },
      { resolve: async () => ['93.184.216.34', '169.254.169.254'] },
    )
    const head = 'CONNECT registry.test:443 HTTP/1.1\r\nHost: registry.test:443\r\n\r\n'
    expect(await say(port, head)).toContain('network.address')
    expect(await proxy.settle()).toMatchObject([{ outcome: 'refused', code: 'network.address' }])
  })

  it('silence is not waited for', async () => {
    const server = await served(tlsServer(cert))
    const host = `127.0.0.1:${server.port}`
    const { proxy, port } = await opened(
      { hosts: [host], readOnlyHosts: [host] },
      { beginningMs: 100 },
    )
    expect(await say(port, 'GET http')).toContain('network.request')
    const socket = await tunnel(port, host)
    socket.write(Buffer.from([22, 3, 1]))
    await once(socket, 'close')
    const told = await proxy.settle()
    expect(told.map(({ code }) => code)).toEqual(['network.request', 'network.not_tls'])
  })
})

/** A tunnel that the proxy granted. */
async function tunnel(port: number, to: string): Promise<Socket> {
  const socket = connect(port, '127.0.0.1').on('error', () => undefined)
  socket.write(`CONNECT ${to} HTTP/1.1\r\nHost: ${to}\r\n\r\n`)
  const [answer] = (await once(socket, 'data')) as [Buffer]
  expect(answer.toString()).toMatch(/^HTTP\/1\.1 200 /)
  return socket
}

/** Asks for so many packages, one after the other on one connection, as npm does; returns how many came. */
async function fetchMany(proxy: number, host: string, count: number): Promise<number> {
  const socket = await tunnel(proxy, host)
  const secure = connectTls({ socket, host: '127.0.0.1', ca: cert.cert })
  const head = `GET /package HTTP/1.1\r\nHost: ${host}\r\nUser-Agent: ${'x'.repeat(450)}\r\n\r\n`
  let [text, came] = ['', 0]
  secure.on('error', () => undefined)
  secure.on('data', (part) => {
    text += part
    if (!text.endsWith(PACKAGE)) return
    text = ''
    if (++came === count) secure.end()
    else secure.write(head)
  })
  secure.write(head)
  await once(secure, 'close')
  return came
}

const PACKAGE = `${'x'.repeat(1_500)}.`

/** A ClientHello with a name and more extensions, in one record. */
function helloBytes(name: string, more: readonly number[]): Buffer {
  const text = [...Buffer.from(name)]
  const entry = [0, 0, text.length, ...text]
  const extensions = [0, 0, 0, entry.length + 2, 0, entry.length, ...entry, ...more]
  const start = [3, 3, ...Array<number>(32).fill(7), 0, 0, 2, 19, 1, 1, 0]
  const body = [...start, 0, extensions.length, ...extensions]
  return Buffer.from([22, 3, 1, 0, body.length + 4, 1, 0, 0, body.length, ...body])
}
