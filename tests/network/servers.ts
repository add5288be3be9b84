/** Real servers on loopback, plain and with TLS, that remember what they received. */
import { execFileSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { createServer as createHttp, type RequestListener } from 'node:http'
import { createServer as createHttps } from 'node:https'
import type { AddressInfo, Server, Socket } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

export interface Heard {
  readonly method: string
  readonly url: string
  readonly headers: NodeJS.Dict<string | string[]>
  readonly body: Buffer
}

export interface TestServer {
  readonly port: number
  readonly heard: Heard[]
  /** How many connections there were. */
  connections: number
  close(): Promise<void>
}

/** Starts a server that answers `hello`, or with the given listener. */
export async function plainServer(answer: RequestListener = hello): Promise<TestServer> {
  return started((listener) => createHttp({ maxHeaderSize: 65_536 }, listener), answer)
}

export async function tlsServer(
  { key, cert }: Certificate,
  answer: RequestListener = hello,
): Promise<TestServer> {
  return started((listener) => createHttps({ key, cert }, listener), answer)
}

const hello: RequestListener = (_request, response) => {
  response.setHeader('content-type', 'text/plain')
  response.end('hello\n')
}

async function started(
  make: (listener: RequestListener) => Server,
  answer: RequestListener,
): Promise<TestServer> {
  const heard: Heard[] = []
  const sockets = new Set<Socket>()
  const server = make((request, response) => {
    const parts: Buffer[] = []
    request.on('data', (part: Buffer) => parts.push(part))
    request.on('error', () => undefined)
    request.on('end', () => {
      const { method = '', url = '', headers } = request
      heard.push({ method, url, headers, body: Buffer.concat(parts) })
      answer(request, response)
    })
  })
  const made: TestServer = {
    port: 0,
    heard,
    connections: 0,
    close: async () => {
      for (const socket of sockets) socket.destroy()
      await new Promise((resolve) => server.close(resolve))
    },
  }
  server.on('connection', (socket) => {
    made.connections++
    sockets.add(socket)
    socket.on('error', () => undefined)
    socket.once('close', () => sockets.delete(socket))
  })
  server.on('tlsClientError', () => undefined)
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return Object.assign(made, { port: (server.address() as AddressInfo).port })
}

export interface Certificate {
  readonly key: string
  readonly cert: string
  readonly file: string
  remove(): void
}

/** For these names and the loopback address; clients trust it by its own file. */
export function certificate(...names: string[]): Certificate {
  const folder = mkdtempSync(join(tmpdir(), 'writ-network-test-'))
  const [key, file] = [join(folder, 'key.pem'), join(folder, 'cert.pem')]
  const alternatives = ['IP:127.0.0.1', ...names.map((name) => `DNS:${name}`)].join(',')
  execFileSync(
    'openssl',
    [
      ...['req', '-x509', '-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes'],
      ...['-keyout', key, '-out', file, '-days', '2', '-subj', '/CN=writ test'],
      ...['-addext', `subjectAltName=${alternatives}`],
    ],
    { stdio: 'ignore', timeout: 20_000 },
  )
  return {
    key: readFileSync(key, 'utf8'),
    cert: readFileSync(file, 'utf8'),
    file,
    remove: () => rmSync(folder, { recursive: true, force: true }),
  }
}
