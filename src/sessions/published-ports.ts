/**
 * Ports of a session that a person can open (S-9): each is a port on the loopback of the machine, and
 * leads to a server on the loopback inside. Only ports that `--publish` names are there.
 */
import { createServer, type Server, type Socket } from 'node:net'
import { faultError } from '../base/index.ts'

/** A server inside, and where the machine has it. */
export interface PublishedPort {
  readonly outside: number
  readonly inside: number
}

type ConnectInside = (port: number) => Promise<Socket | null>

const LOOPBACK = '127.0.0.1'

export class PublishedPorts {
  readonly #servers: readonly Server[]
  readonly #open = new Set<Socket>()
  #connect: ConnectInside = async () => null

  private constructor(ports: readonly PublishedPort[]) {
    this.#servers = ports.map(({ inside }) => {
      return createServer({ allowHalfOpen: true }, (socket) => void this.#carry(socket, inside))
    })
  }

  /** Fails if a port of the machine is in use, or needs rights that this user lacks. */
  static async open(ports: readonly PublishedPort[]): Promise<PublishedPorts> {
    const published = new PublishedPorts(ports)
    try {
      for (const [index, port] of ports.entries()) {
        await listening(published.#servers[index], port)
      }
      return published
    } catch (error) {
      published.close()
      throw error
    }
  }

  /** From now on connections lead inside; before, they are closed. */
  lead(connect: ConnectInside): void {
    this.#connect = connect
  }

  close(): void {
    for (const server of this.#servers) if (server.listening) server.close()
    for (const socket of this.#open) socket.destroy()
  }

  async #carry(outer: Socket, port: number): Promise<void> {
    this.#follow(outer)
    const inner = await this.#connect(port)
    if (inner === null) return void outer.destroy()
    this.#follow(inner)
    if (outer.destroyed) return void inner.destroy()
    for (const [one, other] of [
      [outer, inner],
      [inner, outer],
    ] as const) {
      one.once('close', () => other.destroy())
      one.pipe(other)
    }
  }

  #follow(socket: Socket): void {
    this.#open.add(socket)
    socket.setNoDelay(true)
    socket.on('error', () => socket.destroy())
    socket.once('close', () => this.#open.delete(socket))
  }
}

function listening(server: Server | undefined, { outside, inside }: PublishedPort): Promise<void> {
  return new Promise((resolve, reject) => {
    server?.once('error', ({ code }: NodeJS.ErrnoException) => {
      const why = code === 'EADDRINUSE' ? 'another program uses it' : `${code}`
      const message = `port ${outside} of this machine cannot be opened: ${why}`
      const other = outside < 1_024 || outside > 65_000 ? 8_080 : outside + 1
      const hint = `choose another one: --publish ${other}:${inside}`
      reject(faultError('session.port', String(outside), message, hint))
    })
    server?.listen({ host: LOOPBACK, port: outside }, resolve)
  })
}
