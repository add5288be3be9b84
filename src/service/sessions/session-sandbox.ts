/**
 * The sandbox of a session: overlays over the scope and the workspace whose upper layers stay on the disk,
 * a private home of the agent in place of the person's, and one way out, the proxy. Everything else is as
 * in a rehearsal.
 */
import type { Server, Socket } from 'node:net'
import type { ActionDescriptor, Proposal } from '../../contracts/index.ts'
import { type NetworkTerms, PROXY_ENVIRONMENT, sandboxEnvironment } from '../../gate/index.ts'
import { RunProxy } from '../../network/index.ts'
import { ownIds } from '../../tree/index.ts'
import type { GateParts } from '../lifecycle/act.ts'
import { hostFactsOf } from '../lifecycle/draft.ts'
import { realPathOf } from '../readings/host-facts.ts'
import { sandboxRequest, toolSettings } from '../rehearsal/sandbox-request.ts'
import { stagePlaces } from '../stage/stage-place.ts'
import { isRoot } from '../surface/context.ts'
import type { OpenedSession, SessionSandboxOrder } from '../surface/session-surface.ts'

/** More than builds and browsers start; threads count. */
const PROCESSES_MAX = 4_096
/** A model may think, and a server may be silent, for as long as the session lasts. */
const IDLE_MS = 3_600_000
/** Servers that the agent starts, and the channel of the session, are on the loopback inside. */
const BEGINNING_BYTES = 16
const MEBIBYTE = 1024 * 1024
const LOOPBACK = 'localhost,127.0.0.1,::1'

export async function openSessionSandbox(
  gate: GateParts,
  order: SessionSandboxOrder,
): Promise<OpenedSession> {
  const { context, book, view } = gate
  const { descriptor, hosts, limits } = order
  // Only its scope is looked at.
  const proposal: Proposal = { descriptor }
  const facts = hostFactsOf(context, book, proposal, await view.standing(), context.nowMs())
  const ownHomes = facts.homes.filter(({ own }) => own).map(({ path }) => path)
  const proxy = new RunProxy(sessionTerms(hosts), {
    idleMs: IDLE_MS,
    ...(context.resolve === undefined ? {} : { resolve: context.resolve }),
    onRefused: order.onRefused,
  })
  const request = sandboxRequest({
    sandboxId: order.sessionId,
    home: context.home,
    stateRoot: context.stateRoot,
    roots: facts.roots.map(({ real }) => real),
    ownHomes,
    resources: resourcesOf(limits),
    lists: book.lists,
    sockets: book.settings.unixSockets ?? 'inside',
    network: { listenOn: (server) => divide(server, order.onOwn, proxy) },
  })
  const { emptied: _, ...rest } = request
  const sandbox = await context.driver.open({
    ...rest,
    watchedRoots: [...rest.watchedRoots, ...order.programs],
    caps: { ...request.caps, processes: PROCESSES_MAX },
    kept: { directory: order.layers },
    private: [{ from: order.agentHome, at: realPathOf(context.userDirectory) }],
  })
  const reading = {
    isRoot: isRoot(),
    ids: ownIds(),
    exclude: stagePlaces(context.home),
    scopeRoots: request.scopeRoots,
    maxBytes: limits.disk_mb * MEBIBYTE,
  }
  return { sandbox, reading, proxy, environment: environmentOf(gate) }
}

/** A request to a server names a path; one to a proxy names a host. */
const TO_SERVER = /^[A-Z]+ \//

/** One address inside serves the proxy and the session's own channel: the first bytes tell which. */
function divide(server: Server, onOwn: SessionSandboxOrder['onOwn'], proxy: RunProxy): void {
  server.on('connection', (socket: Socket) => {
    socket.once('error', () => socket.destroy())
    socket.once('data', (bytes: Buffer) => {
      socket.pause()
      socket.unshift(bytes)
      const isOwn = TO_SERVER.test(bytes.subarray(0, BEGINNING_BYTES).toString('latin1'))
      if (isOwn) onOwn(socket)
      else proxy.accept(socket)
      socket.resume()
    })
  })
}

function sessionTerms(hosts: readonly string[]): NetworkTerms {
  return { hosts: [], readOnlyHosts: [], release: null, service: hosts }
}

function resourcesOf(limits: SessionSandboxOrder['limits']): ActionDescriptor['resources'] {
  const durationMs = limits.seconds * 1_000
  return {
    // A session is bounded by its time, not by how much it computes in it.
    max_cpu_ms: durationMs * 64,
    max_memory_mb: limits.memory_mb,
    max_disk_mb: limits.disk_mb,
    max_duration_ms: durationMs,
  }
}

function environmentOf({ context, book }: GateParts): Readonly<Record<string, string>> {
  const { environment, userDirectory } = context
  const inherited = sandboxEnvironment(
    book.lists,
    { ...environment, HOME: userDirectory },
    book.settings.passEnvironment,
  )
  const proxied = { ...PROXY_ENVIRONMENT, NO_PROXY: LOOPBACK, no_proxy: LOOPBACK }
  return { ...toolSettings(userDirectory), ...inherited, ...proxied }
}
