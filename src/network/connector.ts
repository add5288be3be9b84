/**
 * Connects to servers on the loopback of a sandbox, from outside (S-9). A helper program enters the
 * network namespace, opens each connection there, and hands it over; this process copies the bytes.
 * The helper ends with the channel to this process, so it never outlives it.
 */
import type { ChildProcess } from 'node:child_process'
import { Socket } from 'node:net'
import { type Namespace, startInside } from './listener.ts'

/** Servers listen on one of the two; a paused socket leaves its bytes to the process that gets it. */
const PROGRAM = `
process.on('disconnect', () => process.exit(0))
process.on('message', ({ id, port }) => {
  const hosts = ['127.0.0.1', '::1']
  const next = () => {
    const host = hosts.shift()
    if (host === undefined) return process.send({ id })
    const socket = require('node:net').connect({ host, port, allowHalfOpen: true })
    socket.pause()
    socket.once('error', next)
    socket.once('connect', () => process.send({ id }, socket))
  }
  next()
})
`

type OnConnected = (socket: Socket | null) => void

export class InsideConnector {
  readonly #child: ChildProcess
  readonly #waiting = new Map<number, OnConnected>()
  #count = 0

  constructor(namespace: Namespace) {
    this.#child = startInside(namespace, PROGRAM)
    this.#child.on('error', () => this.#end())
    this.#child.on('exit', () => this.#end())
    this.#child.on('message', (message, handle) => {
      // The program sends nothing else.
      const { id } = message as { readonly id: number }
      const waiting = this.#waiting.get(id)
      this.#waiting.delete(id)
      if (handle instanceof Socket) handle.allowHalfOpen = true
      waiting?.(handle instanceof Socket ? handle : null)
    })
  }

  /** Resolves to null if nothing listens on the port inside. */
  connect(port: number): Promise<Socket | null> {
    const id = this.#count++
    return new Promise((resolve) => {
      if (!this.#child.connected) return resolve(null)
      this.#waiting.set(id, resolve)
      this.#child.send({ id, port })
    })
  }

  close(): void {
    if (this.#child.connected) this.#child.disconnect()
    this.#end()
  }

  #end(): void {
    for (const resolve of this.#waiting.values()) resolve(null)
    this.#waiting.clear()
  }
}
