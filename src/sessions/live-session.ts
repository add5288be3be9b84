/**
 * One session while its agent runs: opens the sandbox, starts the agent, settles at boundaries, takes
 * orders of other processes, and ends. What is pending stays in the session's directory (S-11).
 *
 * INVARIANT (recorded before run): the descriptor of the session and its start are facts before the
 *   agent starts.
 * INVARIANT (kept unless settled): the directory of a session is removed only when nothing is pending
 *   and no question waits.
 */
import { randomBytes } from 'node:crypto'
import { delimiter } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { faultCode } from '../base/index.ts'
import type { SessionFact } from '../contracts/index.ts'
import { displayOfRaw, PROXY_PORT, type RawPath } from '../gate/index.ts'
import { type ModelPrice, NO_BUDGET, SessionChannel } from '../gateway/index.ts'
import { answerInSession } from '../hosts/index.ts'
import { occurredAtText } from '../ledger/index.ts'
import type { RunOutcome, RunRequest } from '../sandbox/index.ts'
import type { GateAnswer, GateSurface, OpenedSession, SessionSurface } from '../service/index.ts'
import { type LiveView, openView } from '../view/index.ts'
import type { AgentHome } from './agent/agent-home.ts'
import { AgentStop } from './agent/agent-stop.ts'
import { ProgramWatch } from './agent/programs.ts'
import { type AgentStart, startOf } from './agent-start.ts'
import { Boundary, gitDirectories, isGitBusy } from './boundary.ts'
import { type SessionOrder, serveOrders } from './control.ts'
import { feedbackOf, laterWords, realVersion } from './feedback.ts'
import { HeldCommands } from './held-commands.ts'
import { HeldPushes, pushVariables } from './held-pushes.ts'
import { LimitNotices } from './limit-notices.ts'
import { PublishedPorts } from './published-ports.ts'
import { SessionBudget } from './session-budget.ts'
import type { SessionFiles, SessionTerms } from './session-files.ts'
import { groundOf } from './session-proposal.ts'
import { budgetFact, type SessionUse, UseMeter } from './session-use.ts'
import { Settler } from './settle.ts'
import type { SettleCause, Settled } from './settled.ts'
import { ToolReports } from './tool-reports.ts'
import { TreeWatch } from './tree-watch.ts'

/** How often a session looks whether it can settle. */
const LOOK_MS = 300
/** Reports settle at most so often. */
const REPORTS_MS = 1_000
const TOKEN_BYTES = 24
/** How long a person who looks at a question keeps it from being replaced. */
export const LOOKED_AT_MS = 5 * 60 * 1000

type LiveParts = Pick<RunRequest, 'onOutput' | 'stdin' | 'terminal'>

interface SessionOptions {
  readonly gate: GateSurface
  readonly files: SessionFiles
  readonly terms: SessionTerms
  readonly agentHome: AgentHome
  /** The person's own environment and home. */
  readonly environment: Readonly<Record<string, string | undefined>>
  readonly userDirectory: string
  /** Programs that hooks of the agent start. */
  readonly hookPrograms: readonly string[]
  /** The directory of programs that hand commands over; they come first on the PATH inside. */
  readonly heldPrograms: string
  readonly secretOf: (name: string) => string | null
  /** What models cost, by the laws. */
  readonly prices: readonly ModelPrice[]
  /** Where the person says that the model is; absent for the agent's usual one. */
  readonly modelUrl: string | undefined
  /** Variables that the person named. */
  readonly env: Readonly<Record<string, string>>
  readonly live: LiveParts
  readonly isResumed: boolean
  readonly abort: AbortSignal
  readonly nowMs: () => number
  /** Gets the function that forwards a signal to the agent. */
  readonly onStarted: (send: (name: NodeJS.Signals) => void) => void
  readonly onEnded: () => void
  /** What the adapter of the agent added to its start. */
  readonly onNotes: (notes: readonly string[]) => void
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
  const { terms } = options
  const session = new LiveSession(options)
  // Fails if the program is not there, before anything is recorded or made.
  const start = await session.startOf()
  const ports = await PublishedPorts.open(terms.publish ?? [])
  try {
    return await runOn(session, start, ports, options)
  } finally {
    ports.close()
  }
}

async function runOn(
  session: LiveSession,
  start: AgentStart,
  ports: PublishedPorts,
  { gate, files, terms, isResumed }: SessionOptions,
): Promise<SessionEnd> {
  const refused = await gate.sessions.begin(groundOf(terms))
  if (refused !== null) return { kind: 'refused', answer: refused }
  if (!isResumed) files.make(terms)
  const disown = files.own()
  try {
    return await session.run(start, ports)
  } finally {
    await disown()
  }
}

class LiveSession {
  readonly #options: SessionOptions
  readonly #reports: ToolReports
  readonly #token = randomBytes(TOKEN_BYTES).toString('hex')
  readonly #programs = new ProgramWatch()
  #budget: SessionBudget | null = null
  #meter: UseMeter | null = null
  #recordedUse: string | null = null
  #settler: Settler | null = null
  #watch: TreeWatch | null = null
  #pushAddresses: Promise<readonly string[]> = Promise.resolve([])
  readonly #notices: LimitNotices
  #lastReportMs = 0
  readonly #stop = new AgentStop()
  readonly #over = new AbortController()
  /** Why a settle failed, as it was said last. */
  #told = ''

  constructor(options: SessionOptions) {
    this.#options = options
    this.#reports = new ToolReports(options.terms.cwd)
    this.#notices = new LimitNotices(options.terms, (line) => options.onNotes([line]))
  }

  async run(start: AgentStart, ports: PublishedPorts): Promise<SessionEnd> {
    const { gate, files, terms, agentHome, onRefused } = this.#options
    const { session_id: sessionId, descriptor, hosts, limits } = terms
    const { prices, nowMs } = this.#options
    const parts = { surface: gate.sessions, terms, files, prices, nowMs, notices: this.#notices }
    this.#budget = new SessionBudget({ ...parts, over: this.#over.signal }, start.endpoints)
    const { gateway } = this.#budget
    // Git says it while the sandbox opens; without git there is nothing to push.
    this.#pushAddresses = gate.sessions.pushAddresses(terms.scope[0] ?? terms.cwd).catch(() => [])
    const onReport = (report: unknown) => this.#hear(report)
    const channel = new SessionChannel({
      token: this.#token,
      gateway,
      ...this.#makeHeld(),
      onReport,
      onEvent: (...event) => answerInSession(...event, onReport),
      onRead: (path) => realVersion(path, this.#settler),
    })
    const opened = await gate.sessions.open({
      sessionId,
      descriptor,
      hosts,
      limits,
      layers: files.layers,
      agentHome: agentHome.directory,
      programs: start.programs,
      onRefused,
      onOwn: (socket) => channel.accept(socket),
    })
    const { proxy } = opened
    this.#meter = new UseMeter(
      files.use(),
      () => gateway.use,
      () => proxy.taken(),
      prices.length > 0,
    )
    ports.lead((port) => opened.sandbox.connectInside(port))
    try {
      const view = openView(opened.sandbox, { directory: files.directory, ...opened.reading })
      try {
        return await this.#runIn(opened, view, start)
      } finally {
        view.close()
      }
    } finally {
      channel.close()
      await opened.sandbox.close()
      await opened.proxy.close()
    }
  }

  #makeHeld() {
    const { gate, files, terms, onNotes } = this.#options
    const [tree = terms.cwd] = terms.scope
    const parts = {
      surface: gate.sessions,
      ground: terms,
      tell: (line: string): void => onNotes([line]),
    }
    return {
      pushes: new HeldPushes({ ...parts, files, tree }),
      commands: new HeldCommands({ ...parts, trees: [tree, ...terms.scope.slice(1)] }),
    }
  }

  get #channel(): string {
    return `http://127.0.0.1:${PROXY_PORT}/${this.#token}`
  }

  async startOf(): Promise<AgentStart> {
    const { terms, environment, env, agentHome, secretOf, onNotes } = this.#options
    const { userDirectory, hookPrograms } = this.#options
    const start = await startOf({
      argv: terms.argv,
      cwd: terms.cwd,
      environment,
      given: env,
      userDirectory,
      hookPrograms,
      agentHome: agentHome.directory,
      channel: this.#channel,
      secretOf,
      modelUrl: this.#options.modelUrl,
    })
    const published = (terms.publish ?? []).map(
      ({ outside, inside }) => `port ${inside} of the session: http://127.0.0.1:${outside}`,
    )
    onNotes([...start.notes, ...agentHome.logins(), ...published])
    await agentHome.acceptFiles(start.written)
    return start
  }

  /** A report of a hook; the end of a tool call settles. Returns the line for the agent. */
  async #hear(report: unknown): Promise<{ readonly feedback: string | null }> {
    const heard = this.#reports.take(report)
    const { terms, nowMs } = this.#options
    const words = this.#notices.words().map((text) => `writ: ${text}.`)
    const isOften = nowMs() - this.#lastReportMs < REPORTS_MS
    const settles = terms.settle === 'auto' || terms.settle === 'tool'
    if (heard.kind === 'ended' && settles && !isOften && this.#settler !== null) {
      this.#lastReportMs = nowMs()
      const tool = heard.tool === undefined ? {} : { tool: heard.tool }
      const settled = await this.#settle(this.#settler, { boundary: 'tool', ...tool })
      words.push(feedbackOf(settled) ?? '')
    }
    return { feedback: words.filter((text) => text !== '').join(' ') || null }
  }

  async #runIn(opened: OpenedSession, view: LiveView, start: AgentStart): Promise<SessionEnd> {
    const settler = this.#makeSettler(opened, view)
    this.#settler = settler
    // What became real since the interruption is taken out of the view before anything uses it.
    if (this.#options.isResumed) await settler.prune()
    await this.#recordStart()
    const addresses = await this.#pushAddresses
    const watch = new TreeWatch(this.#options.terms.scope, {
      onChanged: (paths) => settler.refresh(paths),
      onPartial: (words) => this.#options.onNotes([words]),
    })
    this.#watch = watch
    const control = serveOrders(this.#options.files, (order) => this.#obey(order, opened, settler))
    try {
      const running = this.#start(opened, start, addresses)
      const looking = this.#look(opened, view, settler)
      const outcome = await running
      this.#notices.look(opened.sandbox.endedCommands(), this.#options.nowMs())
      this.#over.abort()
      await this.#budget?.close()
      this.#options.onEnded()
      await looking
      return await this.#end(outcome, settler)
    } finally {
      watch.close()
      control.close()
    }
  }

  #makeSettler({ sandbox }: OpenedSession, view: LiveView): Settler {
    const { gate, files, terms, nowMs } = this.#options
    const { layers, controls } = sandbox
    return new Settler({
      surface: gate.sessions,
      view,
      ground: { ...groundOf(terms), layers, controls },
      files,
      isDeclared: terms.is_declared,
      nowMs,
      connections: () => this.#meter?.passed() ?? [],
      isWatched: () => this.#watch?.isWhole === true,
      isLookedAt: (actionId) => files.lookedAtMs(actionId) > nowMs() - LOOKED_AT_MS,
    })
  }

  #start(
    { sandbox, environment }: OpenedSession,
    start: AgentStart,
    addresses: readonly string[],
  ): Promise<RunOutcome> {
    const { terms, env, live, abort, onStarted, heldPrograms } = this.#options
    const variables = { ...environment, ...start.variables, ...env }
    onStarted((name) => sandbox.signal(name))
    this.#notices.extend(this.#options.nowMs() + terms.limits.seconds * 1_000)
    return sandbox.run({
      argv: start.argv,
      cwd: terms.cwd,
      env: {
        ...variables,
        PATH: [heldPrograms, variables.PATH ?? ''].join(delimiter),
        WRIT_SESSION: terms.session_id,
        WRIT_SESSION_CHANNEL: this.#channel,
        ...pushVariables(this.#channel, environment, addresses, terms.scope),
      },
      ...live,
      abort,
    })
  }

  /** Watches the agent and settles at boundaries, until it has ended. */
  async #look({ sandbox }: OpenedSession, view: LiveView, settler: Settler): Promise<void> {
    const { terms, nowMs } = this.#options
    const boundary = new Boundary(nowMs())
    while (!this.#over.signal.aborted) {
      await pause(LOOK_MS, undefined, { signal: this.#over.signal }).catch(() => undefined)
      if (this.#over.signal.aborted) return
      const processes = sandbox.processes()
      this.#programs.look(processes)
      boundary.look(nowMs(), processes)
      this.#notices.look(sandbox.endedCommands(), nowMs())
      await settler.notice().catch((error: unknown) => this.#tellOnce(error))
      // Where hooks report, a call that is under way ends with a boundary of its own.
      const isOpen = this.#reports.isOpen || this.#notices.isOver(nowMs())
      const isOwnTurn = terms.settle === 'auto' && !isOpen
      if (!isOwnTurn || !(await view.hasPending())) continue
      const isReached = boundary.isReached({
        nowMs: nowMs(),
        processes,
        writers: () => view.writers(),
        isGitBusy: isGitBusy(gitDirectories(sandbox.layers, terms.scope)),
      })
      if (!isReached) continue
      await this.#settleIfStill(settler)
      boundary.settled(nowMs())
    }
  }

  /** Processes that cannot be stopped now, such as those of a fork bomb, are tried again later. */
  async #settleIfStill(settler: Settler): Promise<void> {
    try {
      await this.#settle(settler, { boundary: 'quiet' })
    } catch (error) {
      if (faultCode(error) !== 'sandbox.failed') this.#tellOnce(error)
    }
  }

  /** A settle that fails, as on a full disk, ends nothing: the agent goes on, and it is tried again. */
  #tellOnce(error: unknown): void {
    const why = error instanceof Error ? error.message : String(error)
    if (this.#over.signal.aborted || this.#told === why) return
    this.#told = why
    this.#options.onNotes([`could not settle, what is pending stays: ${why}`])
  }

  async #settle(
    settler: Settler,
    cause: SettleCause,
    take: readonly string[] = [],
  ): Promise<Settled> {
    const { seen } = this.#programs
    const programs = seen.length === 0 ? {} : { programs: [...seen] }
    this.#watch?.tell()
    const settled = await settler.settle({ ...programs, ...cause }, take as readonly RawPath[]) // Raw, as asked for.
    const { promoted, asked, blocked } = settled
    if (promoted !== null || asked !== null || blocked !== null) this.#programs.clear()
    if (cause.boundary !== 'tool')
      for (const words of laterWords(settled)) this.#notices.keep(words)
    await this.#recordUse()
    this.#options.onSettled(settled)
    return settled
  }

  /** Nothing is recorded again that is on the record. */
  async #recordUse(): Promise<SessionUse> {
    const { gate, files, terms } = this.#options
    const use = this.#meter?.total ?? files.use()
    const text = JSON.stringify(use)
    const isNothing = use.model.requests === 0 && use.network.length === 0
    if (isNothing || text === this.#recordedUse || this.#over.signal.aborted) return use
    this.#recordedUse = text
    files.noteUse(use)
    const { model, network } = use
    const head = { session_id: terms.session_id, at: this.#now() }
    await gate.sessions.record({ ...head, event: 'USED', model, network: [...network] })
    return use
  }

  async #end(outcome: RunOutcome, settler: Settler): Promise<SessionEnd> {
    const { terms, files, askAtEnd } = this.#options
    // What was interrupted may be half written, so it stays pending until a person settles it.
    const isCut = outcome.killedBy !== null || this.#stop.isKilled
    const settles = terms.settle !== 'never' && !isCut
    if (settles) await this.#settle(settler, { boundary: 'end' })
    for (let asked = ''; settler.question !== null && settler.question.action_id !== asked; ) {
      asked = settler.question.action_id
      await askAtEnd(asked)
      // What was approved is taken out of the view; a settle also asks about what waited behind it.
      if (settles) await this.#settle(settler, { boundary: 'end' })
      else await settler.notice()
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
        return this.#settle(settler, { boundary: 'command' }, order.take)
      case 'pending':
        await this.#recordUse()
        return settler.pending()
      case 'extend':
        return this.#extend(order, sandbox)
      case 'discard':
        return settler.discard(order.paths as readonly RawPath[]) // Raw, as asked for.
      case 'stop':
        void this.#stop.end((name) => sandbox.signal(name), this.#over.signal)
        return null
      default:
        return order satisfies never
    }
  }

  /** Returns until when the session may run, and its budget from now on. */
  #extend(order: Extract<SessionOrder, { order: 'extend' }>, sandbox: OpenedSession['sandbox']) {
    const budget = this.#budget?.extend(order) ?? NO_BUDGET
    sandbox.extend(order.seconds * 1_000)
    const endsAtMs = this.#notices.extend(order.seconds * 1_000)
    return { until: occurredAtText(endsAtMs), budget }
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
            ...budgetFact(terms.budget ?? NO_BUDGET),
          },
    )
  }

  async #recordEnd(outcome: RunOutcome, settler: Settler, pending: number): Promise<void> {
    const { gate, files, terms } = this.#options
    const ended = this.#stop.isAsked ? 'stopped' : outcome.killedBy === null ? 'exited' : 'limit'
    const { model, network } = this.#meter?.total ?? files.use()
    files.noteUse({ model, network })
    const fact: SessionFact = {
      session_id: terms.session_id,
      at: this.#now(),
      event: 'ENDED',
      ended,
      exit_code: outcome.exitCode,
      settles: settler.count,
      pending,
      model,
      network: [...network],
    }
    await gate.sessions.record(fact)
  }

  #now(): string {
    return occurredAtText(this.#options.nowMs())
  }
}
