/** A request on its way through the proxy, and the ways in which it ends early. */
import type { Socket } from 'node:net'
import { CODES, type Code } from '../base/index.ts'
import type { RequestHead } from '../gate/index.ts'
import type { Source } from './socket-bytes.ts'
import { finish } from './socket-bytes.ts'
import type { ConnectionEntry } from './traffic.ts'

/** One request on its way, with everything that carrying it needs. */
export interface ProxiedRequest {
  readonly head: RequestHead
  /** What came behind the head. */
  readonly rest: Buffer
  readonly client: Socket
  readonly server: Socket
  /** The bytes of either. */
  readonly fromClient: Source
  readonly fromServer: Source
  readonly isReleased: boolean
  readonly entry: ConnectionEntry
  readonly beginningMs: number
}

/** The client hears the code; the result of the run has the rest. */
export function refuse(
  client: Socket,
  entry: ConnectionEntry,
  code: Code,
  says: string = CODES[code].says,
): void {
  entry.refuse(code)
  answer(client, code, says)
}

const LAST_WORDS_MS = 2_000
const REASONS: Readonly<Record<number, string>> = {
  403: 'Forbidden',
  502: 'Bad Gateway',
  504: 'Gateway Timeout',
}

export function answer(client: Socket, code: Code, says: string): void {
  if (client.destroyed || client.writableEnded) return
  const { http } = CODES[code]
  const text = `writ: ${code}: ${says}\n`
  client.write(
    [
      `HTTP/1.1 ${http} ${REASONS[http] ?? 'Refused'}`,
      `X-Writ-Code: ${code}`,
      'Content-Type: text/plain; charset=utf-8',
      `Content-Length: ${Buffer.byteLength(text)}`,
      'Connection: close',
      '',
      text,
    ].join('\r\n'),
  )
  finish(client, LAST_WORDS_MS)
}

/** Of a tunnel that was granted already: there is no answer any more that the client could read. */
export function cut({ client, server, entry }: ProxiedRequest, code: Code): void {
  entry.refuse(code)
  client.destroy()
  server.destroy()
}

/** Of a request whose head went up already. */
export function spoil({ client, server, entry }: ProxiedRequest, code: Code): void {
  entry.fail(code)
  server.destroy()
  answer(client, code, CODES[code].says)
}
