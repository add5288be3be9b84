/**
 * The service: one process, one home, open as long as it runs. It stops in order: takes no more
 * requests, lets those under way end, then closes the ledger.
 */
import { readFileSync, rmSync } from 'node:fs'
import { createServer, type IncomingMessage, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { availableParallelism } from 'node:os'
import { faultError } from '../base/index.ts'
import type { Surroundings } from '../home/index.ts'
import { refuseOpenAddress } from '../machine/index.ts'
import type { McpHost } from '../mcp/index.ts'
import type { AnchorPace } from '../witness/index.ts'
import { type ListenOptions, ownNames } from './address.ts'
import { anchorOften } from './anchorer.ts'
import { createApp } from './app.ts'
import { HostedHome } from './call/hosted-home.ts'
import { ProgramRuns } from './call/program-runs.ts'
import { consolePlace } from './console/console-place.ts'
import { watchLedger } from './ledger-watch.ts'
import { createLog } from './look/log.ts'
import { Traces } from './look/traces.ts'
import { ServiceLock } from './service-lock.ts'
import { dispatchTasks, tellPeople, walkRuns } from './walker.ts'

interface ServeOptions {
  readonly around: Surroundings
  readonly home: string | null
  readonly listen: Omit<ListenOptions, 'hasTls'>
  readonly tls: { readonly cert: string; readonly key: string } | null
  /** For MCP clients. */
  readonly mcp: Pick<McpHost, 'explain' | 'evaluate' | 'console'>
  /** How often pinned witnesses are asked for cosignatures. */
  readonly anchorPace: AnchorPace
  /** The script of this program, which answers the routes of commands. */
  readonly program: string
  /** Takes a line of the log. */
  readonly writeLog: (line: string) => void
}

interface StartedServer {
  readonly url: string
  /** Where people log in. */
  readonly console: string
  /** The socket of local callers. */
  readonly socket: string
  /** Resolves with a fault of the ledger after which the service has to end. */
  readonly lost: Promise<Error>
  stop(): Promise<void>
}

const DRAIN_MS = 30_000
const HEADERS_MS = 10_000

export async function startServer(options: ServeOptions): Promise<StartedServer> {
  const listen = { ...options.listen, hasTls: options.tls !== null }
  refuseOpenAddress(listen)
  const home = await HostedHome.open(options.around, options.home)
  let lock: ServiceLock | null = null
  try {
    // A service decides and records; on a machine that may not sign it would only read.
    if (home.ledger.server !== null) await home.ledger.machine()
    lock = ServiceLock.take(home.home.state)
    return await listenAt({ ...options, listen }, home, lock)
  } catch (error) {
    lock?.release()
    await home.close()
    throw error
  }
}

interface WholeListen extends Omit<ServeOptions, 'listen'> {
  readonly listen: ListenOptions
}

async function listenAt(
  { listen, around, writeLog, tls, program, mcp, anchorPace }: WholeListen,
  home: HostedHome,
  lock: ServiceLock,
): Promise<StartedServer> {
  const stop = new AbortController()
  let names: ReadonlySet<string> = new Set()
  let place = consolePlace(listen.port, listen.hasTls)
  const locals = new WeakSet<IncomingMessage>()
  const log = createLog(writeLog)
  const traces = new Traces(around.env, log)
  const atOnce = Math.max(2, availableParallelism())
  const programs = new ProgramRuns(program, around.env, atOnce)
  const app = createApp({
    home,
    programs,
    userName: around.userName,
    names: () => names,
    place: () => place,
    rehearsalsAtOnce: atOnce,
    stop: stop.signal,
    log,
    traces,
    locals,
    mcp,
    tls: tls === null ? null : { cert: readFileSync(tls.cert), key: readFileSync(tls.key) },
  })
  // What waits for a person, or for another process, keeps no service from starting.
  await home
    .finishInterrupted(around.userName)
    .catch(() => log.warn({ event: 'recovery_waits', hint: 'writ recover' }))
  const { host, port } = listen
  try {
    await app.listen({ host, port })
  } catch (error) {
    throw faultError(
      'service.address',
      host,
      `cannot listen at ${host}:${port}: ${(error as Error).message}`,
    )
  }
  app.server.headersTimeout = HEADERS_MS
  // An address of a server that listens on TCP.
  const { port: found } = app.server.address() as AddressInfo
  names = ownNames(listen, found)
  place = consolePlace(found, listen.hasTls)
  const local = createServer((request, response) => {
    locals.add(request)
    app.routing(request, response)
  })
  await listenLocally(local, lock.socket)
  const url = `${tls === null ? 'http' : 'https'}://${host.includes(':') ? `[${host}]` : host}:${found}`
  lock.tell({ pid: process.pid, url, since: new Date().toISOString() })
  const resting = new AbortController()
  const walking = [
    walkRuns(home, programs, log, resting.signal),
    tellPeople(home, programs, log, resting.signal, { userName: around.userName, port: found }),
    dispatchTasks(home, programs, log, resting.signal),
    anchorOften(home, anchorPace, log, resting.signal),
  ]
  const end = async (): Promise<void> => {
    const late = setTimeout(() => stop.abort(), DRAIN_MS)
    resting.abort()
    local.close()
    local.closeIdleConnections()
    await Promise.all([app.close(), programs.close(), ...walking])
    clearTimeout(late)
    await traces.send()
    stop.abort()
    await home.close()
    lock.release()
  }
  const lost = watchLedger(home, resting.signal)
  return { url, console: place.origin, socket: lock.socket, lost, stop: end }
}

/** The socket of a service that died is in the way; the lock says that none is alive. */
function listenLocally(server: Server, path: string): Promise<void> {
  rmSync(path, { force: true })
  return new Promise((resolve, reject) => {
    server.once('error', reject)
    const before = process.umask(0o177)
    server.listen(path, () => resolve())
    process.umask(before)
  })
}
