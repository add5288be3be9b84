/**
 * The two ways through the network namespace of a run: out of it, by a socket that listens on its
 * loopback, and into it, to servers that its processes start.
 */
import type { Server, Socket } from 'node:net'
import { FaultError, faultError } from '../../base/index.ts'
import { InsideConnector, openListener } from '../../network/index.ts'
import type { NetworkDoor } from '../driver/driver.ts'

type Namespace = Parameters<typeof openListener>[0]

export class RunDoor {
  readonly #server: Server
  readonly #namespace: Namespace
  #connector: InsideConnector | null = null

  private constructor(server: Server, namespace: Namespace) {
    this.#server = server
    this.#namespace = namespace
  }

  static async open(network: NetworkDoor, namespace: Namespace): Promise<RunDoor> {
    try {
      const server = await openListener(namespace)
      network.listenOn(server)
      return new RunDoor(server, namespace)
    } catch (error) {
      if (error instanceof FaultError) throw error
      throw faultError('sandbox.control_missing', 'network_namespace', String(error))
    }
  }

  connect(port: number): Promise<Socket | null> {
    this.#connector ??= new InsideConnector(this.#namespace)
    return this.#connector.connect(port)
  }

  close(): void {
    this.#server.close()
    this.#connector?.close()
  }
}
