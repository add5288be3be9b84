/**
 * Sends one request, once: the name is resolved once, the address judged, the certificate verified, no
 * redirect followed, nothing tried again. A failure says whether the request may have been carried out.
 *
 * INVARIANT (known or unknown): before the first byte of the request is handed to the network a failure
 *   is known; from then until the whole head of an answer has come, the outcome is unknown.
 */
import type { IncomingMessage } from 'node:http'
import { isIP, type Socket } from 'node:net'
import type { TLSSocket } from 'node:tls'
import { type Digest, digestBytes } from '../../base/index.ts'
import { type ComposedRequest, hostPort } from '../../gate/index.ts'
import { type AddressRules, connectOnce, type Resolve } from '../../network/index.ts'

/** Modules of Node that only a request needs. */
interface Protocols {
  readonly http: Pick<typeof import('node:http'), 'request'>
  readonly tls: Pick<typeof import('node:tls'), 'connect'>
}

export async function loadProtocols(): Promise<Protocols> {
  return { http: await import('node:http'), tls: await import('node:tls') }
}

interface SendOptions {
  readonly protocols: Protocols
  readonly rules: AddressRules
  readonly resolve?: Resolve
  /** For everything together. */
  readonly timeoutMs: number
  /** A longer answer is counted and not kept. */
  readonly answerBytesMax: number
}

export interface HttpResponse {
  readonly status: number
  readonly bytes: number
  /** Null when it was too long to be kept. */
  readonly body: { readonly digest: Digest; readonly bytes: Buffer } | null
}

export type Sent =
  | { readonly state: 'ANSWERED'; readonly answer: HttpResponse }
  | {
      readonly state: 'FAILED'
      readonly code: string
      readonly detail: string
      readonly answer?: HttpResponse
    }
  | { readonly state: 'UNKNOWN'; readonly code: string; readonly detail: string }

const REFUSED_FROM = 400

export async function sendRequest(composed: ComposedRequest, options: SendOptions): Promise<Sent> {
  const deadline = AbortSignal.timeout(options.timeoutMs)
  const { host, port } = composed.address
  const name = host.replace(/^\[|\]$/g, '')
  const { resolve, rules, timeoutMs } = options
  const connected = await connectOnce({ host: name, port }, rules, {
    ...(resolve === undefined ? {} : { resolve }),
    timeoutMs,
    abort: deadline,
  })
  if ('code' in connected) {
    return { state: 'FAILED', code: connected.code, detail: connected.message }
  }
  try {
    const socket = composed.isSecure
      ? await secured(options.protocols, connected, name, deadline)
      : connected
    return await exchange(composed, socket, options, deadline)
  } catch (error) {
    return { state: 'FAILED', code: 'network.unreachable', detail: wordsOf(error) }
  } finally {
    connected.destroy()
  }
}

/** Opens TLS on the socket; fails unless a trusted authority signed the certificate for this name. */
function secured(
  { tls }: Protocols,
  socket: Socket,
  name: string,
  deadline: AbortSignal,
): Promise<TLSSocket> {
  return new Promise((resolve, reject) => {
    const secure = tls.connect({
      socket,
      host: name,
      ...(isIP(name) === 0 ? { servername: name } : {}),
      ALPNProtocols: ['http/1.1'],
      minVersion: 'TLSv1.2',
      rejectUnauthorized: true,
    })
    secure.once('secureConnect', () => resolve(secure))
    secure.once('error', reject)
    deadline.addEventListener('abort', () => reject(new Error('no answer in time')), { once: true })
  })
}

/** Sends the request. Bytes may have left by then, so a failure before an answer is UNKNOWN. */
function exchange(
  { operation, address }: ComposedRequest,
  socket: Socket,
  { protocols, answerBytesMax }: SendOptions,
  deadline: AbortSignal,
): Promise<Sent> {
  const { method, headers = {}, body } = operation
  const url = new URL(operation.url)
  return new Promise((resolve) => {
    const unknown = (error: unknown): void =>
      resolve({ state: 'UNKNOWN', code: 'request.unknown', detail: wordsOf(error) })
    const sending = protocols.http.request({
      // Without an agent: with one the request would be sent over a connection of its own.
      createConnection: () => socket,
      method,
      host: address.host,
      path: `${url.pathname}${url.search}`,
      headers: {
        'User-Agent': 'writ',
        Accept: '*/*',
        ...headers,
        Host: url.host,
        Connection: 'close',
        ...(body === undefined ? {} : { 'Content-Length': String(Buffer.byteLength(body)) }),
      },
      signal: deadline,
    })
    sending.once('error', unknown)
    sending.once('response', (response) => {
      void readAnswer(response, answerBytesMax).then((answer) => resolve(judged(answer)), unknown)
    })
    sending.end(body)
  })
}

/** Reads the answer. Its status counts even if the body breaks off. */
async function readAnswer(response: IncomingMessage, bytesMax: number): Promise<HttpResponse> {
  const status = response.statusCode ?? 0
  const pieces: Buffer[] = []
  let bytes = 0
  let isWhole = true
  try {
    for await (const piece of response) {
      // A stream without an encoding yields buffers.
      bytes += (piece as Buffer).length
      if (bytes <= bytesMax) pieces.push(piece as Buffer)
    }
  } catch {
    isWhole = false
  }
  if (!isWhole || bytes > bytesMax) return { status, bytes, body: null }
  const whole = Buffer.concat(pieces)
  return { status, bytes, body: { digest: digestBytes(whole), bytes: whole } }
}

function judged(answer: HttpResponse): Sent {
  if (answer.status < REFUSED_FROM) return { state: 'ANSWERED', answer }
  const detail = `the answer was ${answer.status}`
  return { state: 'FAILED', code: 'request.refused', detail, answer }
}

/** Literals that the scope names; nothing else of the machine's own network can be reached. */
export function addressRules(hosts: readonly string[]): AddressRules {
  return {
    literals: hosts.flatMap((text) => hostPort(text) ?? []).filter(({ isAddress }) => isAddress),
  }
}

function wordsOf(error: unknown): string {
  // Sockets, DNS and TLS fail with an Error; only some have a code.
  const { code, message } = error as NodeJS.ErrnoException
  return code === undefined ? String(message) : `${code}`
}
