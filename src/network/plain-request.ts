/**
 * One plain request and its answer. The head goes up as it was judged, the body as long as it said, and
 * nothing after that; the answer comes down with its head read far enough to end the connection behind
 * it. Redirects are answers.
 */
import type { Socket } from 'node:net'
import { CODES, type Code } from '../base/index.ts'
import {
  ChunkedBody,
  forwardedHead,
  headEnd,
  RESPONSE_HEAD_MAX,
  type RequestHead,
  readResponseHead,
  UploadMeter,
} from '../gate/index.ts'
import { finish, gather, pump, type Source, type Take } from './socket-bytes.ts'
import type { ConnectionEntry } from './traffic.ts'

const HEAD_TAIL = 3
/** How many answers before the last one a server may give: `100 Continue` and the like. */
const INTERIM_MAX = 8

export async function carryRequest(proxied: ProxiedRequest): Promise<void> {
  const { head, client, server, entry, isReleased } = proxied
  const bytes = forwardedHead(head)
  if (isReleased) entry.sent(bytes.length)
  else if (!entry.mayUpload({ bytes: bytes.length, counted: new UploadMeter(false).up(bytes) })) {
    server.destroy()
    return refuse(client, entry, 'network.upload')
  }
  entry.pass(isReleased)
  // Told when it is over; a plain request is judged by what others have brought.
  server.once('close', () => entry.received(server.bytesRead))
  server.write(bytes)
  sendBody(proxied)
  await carryAnswer(proxied)
}

/** What comes after the body is not looked at: the next request takes another connection. */
function sendBody(proxied: ProxiedRequest): void {
  const { rest, fromClient, server, entry } = proxied
  const take = bodyOf(proxied)
  if (take === null) return
  const counted: Take = (chunk) => {
    const passing = take(chunk)
    entry.sent(passing?.length ?? 0)
    return passing
  }
  const first = rest.length === 0 ? Buffer.alloc(0) : counted(rest)
  if (first === null) return
  if (first.length > 0) server.write(first)
  pump(fromClient, server, counted)
}

/** Null when there is no body. */
function bodyOf(proxied: ProxiedRequest): Take | null {
  const { head } = proxied
  if (head.body.kind === 'none') return null
  if (head.body.kind === 'length') {
    let left = head.body.length
    return (chunk) => {
      if (left === 0) return null
      const passing = chunk.subarray(0, left)
      left -= passing.length
      return passing
    }
  }
  const body = new ChunkedBody()
  let isOver = false
  return (chunk) => {
    if (isOver) return null
    const { used, state } = body.take(chunk)
    isOver = state !== 'more'
    if (state !== 'broken') return chunk.subarray(0, used)
    refuse(proxied.client, proxied.entry, 'network.request')
    proxied.server.destroy()
    return null
  }
}

/** Interim answers and the last one; from there on everything as it comes. */
async function carryAnswer(proxied: ProxiedRequest): Promise<void> {
  const { client, fromServer, beginningMs, entry } = proxied
  let held: Buffer = Buffer.alloc(0)
  for (let round = 0; round < INTERIM_MAX; round++) {
    const gathered = await gather(fromServer, held, {
      isEnough: (bytes, known) => headEnd(bytes, known - HEAD_TAIL) !== null,
      bytesMax: RESPONSE_HEAD_MAX,
      timeoutMs: 8 * beginningMs,
    })
    if (entry.isRefused) return
    const end = headEnd(gathered.bytes)
    if (end === null) {
      const code = gathered.state === 'late' ? 'network.timeout' : 'network.unreachable'
      return spoil(proxied, code)
    }
    const answer = readResponseHead(gathered.bytes.subarray(0, end))
    // Another protocol was not asked for.
    if (answer === null || answer.status === 101) return spoil(proxied, 'network.unreachable')
    held = Buffer.from(gathered.bytes.subarray(end))
    client.write(answer.bytes)
    if (answer.status >= 200) break
  }
  if (held.length > 0) client.write(held)
  pump(fromServer, client, null)
}

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

/**
 * Ends a request early: the client hears the code; the result of the run has the rest.
 */
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
function spoil({ client, server, entry }: ProxiedRequest, code: Code): void {
  entry.fail(code)
  server.destroy()
  answer(client, code, CODES[code].says)
}
