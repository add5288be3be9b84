/**
 * One session while its agent runs: opens the sandbox, starts the agent, settles at boundaries, takes
 * orders of other processes, and ends. What is pending stays in the session's directory (S-11).
 *
 * INVARIANT (recorded before run): the descriptor of the session and its start are facts before the
 *   agent starts.
 * INVARIANT (kept unless settled): the directory of a session is removed only when nothing is pending
 *   and no question waits.
 */
import { setTimeout as pause } from 'node:timers/promises'
import type { SessionFact } from '../contracts/index.ts'
import { displayOfRaw, type RawPath } from '../gate/index.ts'
import { occurredAtText } from '../ledger/index.ts'
import type { RunOutcome, RunRequest } from '../sandbox/index.ts'
import type {
  GateAnswer,
  GateSurface,
  OpenedSession,
  SessionGround,
  SessionSurface,
} from '../service/index.ts'
import { type LiveView, openView } from '../view/index.ts'
import { Boundary, gitDirectories, isGitBusy } from './boundary.ts'
import { type SessionOrder, serveOrders } from './control.ts'
import type { SessionFiles, SessionTerms } from './session-files.ts'
import { type SettleCause, type Settled, Settler } from './settle.ts'

/** How often a session looks whether it can settle. */
const LOOK_MS = 300
/** How long a person who looks at a question keeps it from being replaced. */
export const LOOKED_AT_MS = 5 * 60 * 1000

type LiveParts = Pick<RunRequest, 'onOutput' | 'stdin' | 'terminal'>

export interface SessionOptions {
  readonly gate: GateSurface
  readonly files: SessionFiles
  readonly terms: SessionTerms
  /** The directory that the agent sees as its home. */
  readonly agentHome: string
  readonly env: Readonly<Record<string, string>>
  readonly live: LiveParts
  readonly isResumed: boolean
  readonly abort: AbortSignal
  readonly nowMs: () => number
  /** Gets the function that forwards a signal to the agent. */
  readonly onStarted: (send: (name: NodeJS.Signals) => void) => void
  readonly onEnded: () => void
  readonly onSettled: (settled: Settled) => void
  readonly onRefused: Parameters<SessionSurface['open']>[0]['onRefused']
  /** Asks about what waits, at the end; resolves when it was answered here, or will be elsewhere. */
  readonly askAtEnd: (actionId: string) => Promise<void>
}

export type SessionEnd =
  | { readonly kind: 'refused'; readonly answer: GateAnswer }
  | {
      readonly kind: 'ended'
      readonly outcome: RunOutcome
      /** Paths that are still pending. */
      readonly pending: readonly string[]
      readonly question: string | null
    }

export async function runSession(options: SessionOptions): Promise<SessionEnd> {
  const { gate, files, terms } = options
  const refused = await gate.sessions.begin(groundOf(terms))
  if (refused !== null) return { kind: 'refused', answer: refused }
  if (!options.isResumed) files.make(terms)
  const disown = files.own()
  try {
    return await new LiveSession(options).run()
  } finally {
    await disown()
  }
}

function groundOf(terms: SessionTerms): Omit<SessionGround, 'controls' | 'layers'> {
  const { agent, descriptor, argv, cwd, hosts } = terms
  return { agent, descriptor, argv, cwd, egress: hosts }
}

class LiveSession {
  readonly #options: SessionOptions
  #isStopped = false
  #isOver = false

  constructor(options: SessionOptions) {
    this.#options = options
  }

  async run(): Promise<SessionEnd> {
    const { gate, files, terms, agentHome, onRefused } = this.#options
    const { session_id: sessionId, descriptor, hosts, limits } = terms
    const order = { sessionId, descriptor, hosts, limits, layers: files.layers, agentHome, onRefused }
    const opened = await gate.sessions.open(order)
    try {
      const view = openView(opened.sandbox, { directory: files.directory, ...opened.reading })
      try {
        return await this.#runIn(opened, view)
      } finally {
        view.close()
      }
    } finally {
      await opened.sandbox.close()
      await opened.proxy.close()
    }
  }

  async #runIn(opened: OpenedSession, view: LiveView): Promise<SessionEnd> {
    const settler = this.#settler(opened, view)
    await this.#recordStart()
    const control = serveOrders(this.#options.files, (order) => this.#obey(order, opened, settler))
    try {
      const running = this.#start(opened)
      const looking = this.#look(opened, view, settler)
      const outcome = await running
      this.#isOver = true
      this.#options.onEnded()
      await looking
      return await this.#end(outcome, settler)
    } finally {
      control.close()
    }
  }

  #settler({ sandbox, proxy }: OpenedSession, view: LiveView): Settler {
    const { gate, files, terms, nowMs } = this.#options
    const { layers, controls } = sandbox
    return new Settler({
      surface: gate.sessions,
      view,
      ground: { ...groundOf(terms), layers, controls },
      files,
      isDeclared: terms.is_declared,
      nowMs,
      connections: () => proxy.taken().filter(({ outcome }) => outcome === 'passed'),
      isLookedAt: (actionId) => files.lookedAtMs(actionId) > nowMs() - LOOKED_AT_MS,
    })
  }

  #start({ sandbox, environment }: OpenedSession): Promise<RunOutcome> {
    const { terms, env, live, abort, onStarted } = this.#options
    onStarted((name) => sandbox.signal(name))
    return sandbox.run({
      argv: terms.argv,
      cwd: terms.cwd,
      env: { ...environment, ...env, WRIT_SESSION: terms.session_id },
      ...live,
      abort,
    })
  }

  /** Settles at boundaries until the agent has ended. */
  async #look({ sandbox }: OpenedSession, view: LiveView, settler: Settler): Promise<void> {
    const { terms, nowMs } = this.#options
    if (terms.settle !== 'auto') return
    const boundary = new Boundary(nowMs())
    while (!this.#isOver) {
      await pause(LOOK_MS)
      if (this.#isOver || !(await view.hasPending())) continue
      const isReached = boundary.isReached({
        nowMs: nowMs(),
        processes: sandbox.processes(),
        writers: view.writers(),
        isGitBusy: isGitBusy(gitDirectories(sandbox.layers, terms.scope)),
      })
      if (!isReached) continue
      await this.#settle(settler, { boundary: 'quiet' })
      boundary.settled(nowMs())
    }
  }

  async #settle(settler: Settler, cause: SettleCause): Promise<Settled> {
    const settled = await settler.settle(cause)
    this.#options.onSettled(settled)
    return settled
  }

  async #end(outcome: RunOutcome, settler: Settler): Promise<SessionEnd> {
    const { terms, files, askAtEnd } = this.#options
    if (terms.settle !== 'never') await this.#settle(settler, { boundary: 'end' })
    const { question } = settler
    if (question !== null) {
      await askAtEnd(question.action_id)
      // What was approved is taken out of the view.
      await this.#settle(settler, { boundary: 'end' })
    }
    const { changes } = await settler.pending()
    await this.#recordEnd(outcome, settler, changes.length)
    const waits = settler.question?.action_id ?? null
    if (changes.length === 0 && waits === null) await files.remove()
    const pending = changes.map(({ path }) => displayOfRaw(path))
    return { kind: 'ended', outcome, pending, question: waits }
  }

  /** What other processes ask of this one. */
  async #obey(order: SessionOrder, { sandbox }: OpenedSession, settler: Settler): Promise<unknown> {
    switch (order.order) {
      case 'settle':
        return this.#settle(settler, { boundary: 'command' })
      case 'pending':
        return settler.pending()
      case 'discard': {
        const inUse = await settler.discard(order.paths as readonly RawPath[]) // Raw, as asked for.
        return inUse.map(displayOfRaw)
      }
      case 'stop':
        this.#isStopped = true
        sandbox.signal('SIGTERM')
        return null
      default:
        return order satisfies never
    }
  }

  async #recordStart(): Promise<void> {
    const { gate, terms, isResumed } = this.#options
    const head = { session_id: terms.session_id, at: this.#now() }
    await gate.sessions.record(
      isResumed
        ? { ...head, event: 'RESUMED' }
        : {
            ...head,
            event: 'STARTED',
            action_id: terms.descriptor.action_id,
            agent: terms.agent,
            workspace: terms.workspace,
            scope: [...terms.scope],
            settle: terms.settle,
            confinement: 'confined',
            custody: 'seatbelt',
          },
    )
  }

  async #recordEnd(outcome: RunOutcome, settler: Settler, pending: number): Promise<void> {
    const { gate, terms } = this.#options
    const ended = this.#isStopped ? 'stopped' : outcome.killedBy === null ? 'exited' : 'limit'
    const fact: SessionFact = {
      session_id: terms.session_id,
      at: this.#now(),
      event: 'ENDED',
      ended,
      exit_code: outcome.exitCode,
      settles: settler.count,
      pending,
    }
    await gate.sessions.record(fact)
  }

  #now(): string {
    return occurredAtText(this.#options.nowMs())
  }
}
