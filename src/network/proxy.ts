/**
 * The proxy of one run: takes what comes in on the sandbox's loopback, judges each request by the rules
 * of the run, and carries what passes. Plain HTTP is one request a connection; CONNECT is a tunnel
 * whose first bytes have to name the host that was asked for.
 *
 * INVARIANT (judged before sent): nothing goes up before the request, its address and, in a tunnel, the
 *   name inside it were judged.
 * INVARIANT (everything is on record): each connection that said anything becomes an entry, with what
 *   became of it.
 */
import { setMaxListeners } from 'node:events'
import type { Server, Socket } from 'node:net'
import { setTimeout as pause } from 'node:timers/promises'
import { CODES, type Fault } from '../base/index.ts'
import type { NetworkConnection } from '../contracts/index.ts'
import {
  HEAD_MAX,
  HELLO_BYTES_MAX,
  headEnd,
  hostName,
  judgeRequest,
  type NetworkRules,
  type NetworkTerms,
  networkRules,
  type RequestHead,
  readClientHello,
  readRequestHead,
  recordedUrl,
  UploadMeter,
} from '../gate/index.ts'
import { connectOnce, type Resolve, resolveOnce } from './connect.ts'
import { answer, carryRequest, cut, type ProxiedRequest, refuse } from './plain-request.ts'
import {
  AcceptedSource,
  bothEnded,
  finish,
  gather,
  OpenedSource,
  pump,
  type SlowTake,
  type Source,
} from './socket-bytes.ts'
import { type ConnectionEntry, Traffic, type Upload } from './traffic.ts'

/** `option` is what would let it through, where the connection alone does not say it. */
export type OnRefused = (connection: NetworkConnection, option: string | null) => void

export interface ProxyOptions {
  readonly resolve?: Resolve
  /** How long a side may say nothing. */
  readonly idleMs?: number
  /** How long a beginning may take to come. */
  readonly beginningMs?: number
  /** Called with each connection that was refused or did not come about, when it is over. */
  readonly onRefused?: OnRefused
}

const CONNECTIONS_MAX = 256
const IDLE_MS = 120_000
const BEGINNING_MS = 15_000
/** After the run is over, what it had written still goes out. */
const SETTLE_MS = 2_000
const GRANTED = 'HTTP/1.1 200 Connection established\r\n\r\n'

export class RunProxy {
  readonly #options: Required<ProxyOptions>
  readonly #traffic = new Traffic()
  readonly #open = new Set<Socket>()
  readonly #work = new Set<Promise<void>>()
  readonly #abort = new AbortController()
  #rules: NetworkRules

  constructor(terms: NetworkTerms, options: ProxyOptions = {}) {
    this.#rules = networkRules(terms)
    // Each connection under way listens for the end of the run.
    setMaxListeners(CONNECTIONS_MAX, this.#abort.signal)
    this.#options = {
      resolve: options.resolve ?? resolveOnce,
      idleMs: options.idleMs ?? IDLE_MS,
      beginningMs: options.beginningMs ?? BEGINNING_MS,
      onRefused: options.onRefused ?? (() => undefined),
    }
  }

  /** From now on; the next child of a composite may have other hosts. */
  obey(terms: NetworkTerms): void {
    this.#rules = networkRules(terms)
  }

  listenOn(server: Server): void {
    server.on('connection', (socket: Socket) => this.accept(socket))
  }

  accept(client: Socket): void {
    this.#follow(client)
    const work = this.#serve(client).catch(() => void client.destroy())
    this.#work.add(work)
    work.finally(() => this.#work.delete(work))
  }

  /** Returns the connections that ended since the last call; open ones go on. */
  taken(): readonly NetworkConnection[] {
    return this.#traffic.take()
  }

  /** Ends the open connections after a run, and returns all connections since the last call. */
  async settle(): Promise<readonly NetworkConnection[]> {
    await Promise.race([this.#idle(), pause(SETTLE_MS, undefined, { ref: false })])
    for (const socket of this.#open) socket.destroy()
    await this.#idle()
    return this.#traffic.take()
  }

  async close(): Promise<void> {
    this.#abort.abort()
    for (const socket of this.#open) socket.destroy()
    await this.#idle()
  }

  async #idle(): Promise<void> {
    while (this.#work.size > 0) await Promise.all(this.#work)
  }

  #follow(socket: Socket): void {
    this.#open.add(socket)
    socket.setNoDelay(true)
    socket.setTimeout(this.#options.idleMs, () => socket.destroy())
    // `close` follows every error and is handled.
    socket.on('error', () => undefined)
    socket.once('close', () => this.#open.delete(socket))
  }

  async #serve(client: Socket): Promise<void> {
    const entry = this.#traffic.entry()
    try {
      if (this.#work.size >= CONNECTIONS_MAX) return refuse(client, entry, 'network.limit')
      const { beginningMs } = this.#options
      const source = new AcceptedSource(client)
      const gathered = await gather(source, Buffer.alloc(0), {
        isEnough: (bytes, known) => headEnd(bytes, known - HEAD_TAIL) !== null,
        bytesMax: HEAD_MAX,
        timeoutMs: beginningMs,
      })
      // A connection that said nothing wanted nothing.
      if (gathered.bytes.length === 0) return entry.forget()
      // A client that closed in the middle of a request did not make it.
      if (gathered.state === 'closed') return entry.fail('network.request')
      if (gathered.state === 'too_long') return refuse(client, entry, 'network.limit')
      if (gathered.state !== 'enough') return refuse(client, entry, 'network.request')
      await this.#judge(source, gathered.bytes, entry)
    } finally {
      if (entry.isRefused || entry.isUnreached) this.#options.onRefused(entry.row, entry.option)
      if (!client.destroyed) finish(client)
      entry.end()
    }
  }

  async #judge(fromClient: Source, bytes: Buffer, entry: ConnectionEntry): Promise<void> {
    const { socket: client } = fromClient
    const end = headEnd(bytes) ?? 0
    // It may have come in one piece.
    if (end > HEAD_MAX) return refuse(client, entry, 'network.limit')
    const reading = readRequestHead(bytes.subarray(0, end))
    if (!reading.ok) {
      const { host, port, method, url } = reading.seen
      entry.describe(seenOf(host?.name, port, method, url))
      return refuse(client, entry, reading.code, reading.says)
    }
    const { head } = reading
    const { method, host, port, url, body } = head
    entry.describe(seenOf(host.name, port, method, url))
    const wanted = { method, host, port, hasBody: body.kind !== 'none' }
    const verdict = judgeRequest(this.#rules, wanted)
    if (!verdict.passes) return refuse(client, entry, verdict.code)
    const fromServer = new OpenedSource()
    const server = await this.#connect(head, fromServer)
    if ('code' in server) return this.#unreached(client, entry, server)
    fromServer.opened(server)
    this.#follow(server)
    const rest = bytes.subarray(end)
    // What a participant lives by is not counted against it, and told as that.
    const { isReleased: wasReleased, isService = false } = verdict
    const isReleased = wasReleased || isService
    if (isService) entry.serve()
    const { beginningMs } = this.#options
    const ends = { client, server, fromClient, fromServer }
    const proxied = { head, rest, ...ends, isReleased, entry, beginningMs }
    await (method === 'CONNECT' ? carryTunnel(proxied) : carryRequest(proxied))
    await bothEnded(client, server)
  }

  #connect({ host, port }: RequestHead, source: OpenedSource): Promise<Socket | Fault> {
    const { literals } = this.#rules
    const { resolve, beginningMs } = this.#options
    const { onread } = source
    const options = { resolve, timeoutMs: beginningMs, abort: this.#abort.signal, onread }
    return connectOnce({ host: host.name, port }, { literals }, options)
  }

  #unreached(client: Socket, entry: ConnectionEntry, failed: Fault): void {
    const { code } = failed
    entry.option = failed.hint ?? null
    if (code === 'network.address') return refuse(client, entry, code)
    entry.fail(code)
    answer(client, code, CODES[code].says)
  }
}

/** A head may end in pieces. */
const HEAD_TAIL = 3

function seenOf(
  host: string | undefined,
  port: number | undefined,
  method: string | undefined,
  url: string | null | undefined,
): Parameters<ConnectionEntry['describe']>[0] {
  return {
    ...(host === undefined ? {} : { host }),
    ...(port === undefined ? {} : { port }),
    ...(method === undefined ? {} : { method }),
    ...(url === undefined || url === null ? {} : { url: recordedUrl(url) }),
  }
}

/**
 * A tunnel: the proxy answers that it is established, and the client sends its TLS hello. The first byte
 * goes up only if the name in the hello is the one that the client asked for. Without a release, the
 * bytes that go up count against what reading from the host takes; the proxy cuts the tunnel before the
 * byte that would exceed it.
 */
async function carryTunnel(proxied: ProxiedRequest): Promise<void> {
  const { client, server, fromClient, rest, entry, isReleased, beginningMs } = proxied
  client.write(GRANTED)
  const { bytes } = await gather(fromClient, rest, {
    isEnough: (held) => readClientHello(held).state !== 'incomplete',
    bytesMax: HELLO_BYTES_MAX,
    timeoutMs: beginningMs,
  })
  // A tunnel that was never used asked for nothing but to be there.
  if (bytes.length === 0) {
    entry.pass(isReleased)
    client.destroy()
    server.destroy()
    return
  }
  const reading = readClientHello(bytes)
  if (reading.state !== 'hello') return cut(proxied, 'network.not_tls')
  if (reading.name !== null) entry.describe({ sni: reading.name })
  if (!isSameName(proxied, reading.name) || reading.isHidden) return cut(proxied, 'network.sni')
  entry.pass(isReleased)
  await flow(proxied, bytes)
}

/** Clients name no address inside; then the tunnel leads where it was asked to all the same. */
function isSameName({ head }: ProxiedRequest, name: string | null): boolean {
  if (name === null) return head.host.isAddress
  return hostName(name)?.name === head.host.name
}

async function flow(proxied: ProxiedRequest, first: Buffer): Promise<void> {
  const { client, server, fromClient, fromServer, entry, isReleased } = proxied
  const meter = new UploadMeter(true)
  const take: SlowTake = (chunk) => {
    if (isReleased) {
      entry.sent(chunk.length)
      return chunk
    }
    const upload = { bytes: chunk.length, counted: meter.up(chunk) }
    return entry.mayUpload(upload) ? chunk : takeSoon(proxied, chunk, upload)
  }
  const counted = (chunk: Buffer): Buffer => {
    meter.down(chunk.length)
    entry.received(chunk.length)
    return chunk
  }
  const beginning = await take(first)
  if (beginning === null) return
  server.write(beginning)
  pump(fromClient, server, take)
  pump(fromServer, client, counted)
}

/** Waits for what the host still has to answer; without it the tunnel is cut. */
async function takeSoon(
  proxied: ProxiedRequest,
  chunk: Buffer,
  upload: Upload,
): Promise<Buffer | null> {
  if (await proxied.entry.mayUploadSoon(upload)) return chunk
  cut(proxied, 'network.upload')
  return null
}
