/**
 * A session whose agent does not run: its layers are mounted for as long as a command looks at them,
 * settles them or takes changes out of them.
 */
import type { GateSurface } from '../service/index.ts'
import { openView } from '../view/index.ts'
import { LOOKED_AT_MS } from './live-session.ts'
import type { SessionFiles } from './session-files.ts'
import { Settler } from './settle.ts'

interface IdleParts {
  readonly gate: GateSurface
  readonly files: SessionFiles
  readonly agentHome: string
  readonly nowMs: () => number
}

/** Fails if a process runs the session. Of a session in which nothing is left, the directory goes. */
export async function withIdleSession<T>(
  { gate, files, agentHome, nowMs }: IdleParts,
  work: (settler: Settler) => Promise<T>,
): Promise<T> {
  const terms = files.terms()
  const { session_id: sessionId, descriptor, hosts, limits, agent, argv, cwd } = terms
  const disown = files.own()
  let isOver = false
  try {
    const { sandbox, reading, proxy } = await gate.sessions.open({
      sessionId,
      descriptor,
      hosts,
      limits,
      layers: files.layers,
      agentHome,
      programs: [],
      onRefused: () => undefined,
      onOwn: (socket) => void socket.destroy(),
    })
    try {
      const view = openView(sandbox, { directory: files.directory, ...reading })
      const { layers, controls } = sandbox
      const settler = new Settler({
        surface: gate.sessions,
        view,
        ground: { agent, descriptor, argv, cwd, egress: hosts, layers, controls },
        files,
        isDeclared: terms.is_declared,
        nowMs,
        connections: () => [],
        isWatched: () => false,
        isLookedAt: (actionId) => files.lookedAtMs(actionId) > nowMs() - LOOKED_AT_MS,
      })
      try {
        const done = await work(settler)
        isOver = await settler.isOver()
        return done
      } finally {
        view.close()
      }
    } finally {
      await sandbox.close()
      await proxy.close()
    }
  } finally {
    await (isOver ? files.remove() : disown())
  }
}
