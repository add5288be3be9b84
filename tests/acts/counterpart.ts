/**
 * The other side of requests: an HTTP server in a process of its own, since tests wait for programs
 * without turning their loop. What reached it is asked for over a second server.
 */
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'

export interface Taken {
  readonly method: string
  readonly path: string
  readonly headers: Readonly<Record<string, string>>
  readonly body: string
  /** Of `/saw<path>`: whether that file was there. */
  readonly sawFile: boolean
}

const PROGRAM = `
const { createServer } = require('node:http')
const { existsSync } = require('node:fs')
let taken = []
const tls = process.argv[1] === undefined ? null : JSON.parse(process.argv[1])
const make = (listener) =>
  tls === null ? createServer(listener) : require('node:https').createServer(tls, listener)
const server = make((request, response) => {
  const pieces = []
  request.on('data', (piece) => pieces.push(piece))
  request.on('end', () => {
    const { method, url, headers } = request
    const sawFile = url.startsWith('/saw/') && existsSync(url.slice(4))
    taken.push({ method, path: url, headers, body: Buffer.concat(pieces).toString(), sawFile })
    if (url.startsWith('/break')) return request.socket.destroy()
    if (url.startsWith('/stall')) return
    if (url.startsWith('/redirect')) {
      response.writeHead(302, { location: '/elsewhere' })
      return response.end()
    }
    const status = Number(/^\\/status\\/(\\d+)/.exec(url)?.[1] ?? 200)
    response.writeHead(status)
    response.end('ok')
  })
})
const control = createServer((request, response) => {
  response.end(JSON.stringify(taken))
  taken = []
})
server.listen(0, '127.0.0.1', () =>
  control.listen(0, '127.0.0.1', () =>
    console.log(JSON.stringify([server.address().port, control.address().port])),
  ),
)
`

export class Counterpart {
  readonly port: number
  readonly #control: number
  readonly #child: ChildProcess

  private constructor(child: ChildProcess, [port, control]: readonly [number, number]) {
    this.#child = child
    this.port = port
    this.#control = control
  }

  /** With TLS where a key and a certificate are given. */
  static async open(tls?: { readonly key: string; readonly cert: string }): Promise<Counterpart> {
    const words = tls === undefined ? [] : [JSON.stringify({ key: tls.key, cert: tls.cert })]
    const child = spawn(process.execPath, ['-e', PROGRAM, ...words], {
      stdio: ['ignore', 'pipe', 'inherit'],
    })
    const [line] = (await once(child.stdout, 'data')) as [Buffer]
    return new Counterpart(child, JSON.parse(line.toString()) as [number, number])
  }

  /** Returns a port without a listener. */
  static async closedPort(): Promise<number> {
    const server: Server = createServer().listen(0, '127.0.0.1')
    await once(server, 'listening')
    const { port } = server.address() as AddressInfo
    server.close()
    await once(server, 'close')
    return port
  }

  get host(): string {
    return `127.0.0.1:${this.port}`
  }

  get url(): string {
    return `http://${this.host}`
  }

  /** What reached it since the last time. */
  async taken(): Promise<readonly Taken[]> {
    const answer = await fetch(`http://127.0.0.1:${this.#control}/`, {
      headers: { connection: 'close' },
    })
    return (await answer.json()) as readonly Taken[]
  }

  /** Waits until so many have come. */
  async until(count: number): Promise<readonly Taken[]> {
    const all: Taken[] = []
    for (let tries = 0; tries < 300 && all.length < count; tries++) {
      all.push(...(await this.taken()))
      if (all.length < count) await new Promise((resolve) => setTimeout(resolve, 50))
    }
    return all
  }

  close(): void {
    this.#child.kill('SIGKILL')
  }
}
