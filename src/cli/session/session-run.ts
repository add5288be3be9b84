/**
 * Starts a session for the person at the terminal, tells them what became of the agent's changes, and
 * asks at the end about what still waits.
 */
import { constants } from 'node:os'
import { join, relative } from 'node:path'
import { faultError } from '../../base/index.ts'
import type { GrantDocument } from '../../contracts/index.ts'
import { type KnownHome, readSecret, stateRoot } from '../../home/index.ts'
import {
  type HookPlaces,
  install,
  installationOf,
  planInstall,
  planUninstall,
  unhookCopy,
  uninstall,
} from '../../hooks/index.ts'
import type { AgentHost } from '../../hosts/index.ts'
import { within } from '../../service/index.ts'
import {
  AgentHome,
  costText,
  findSession,
  keptSessions,
  knownHost,
  NO_BUDGET,
  runSession,
  type SessionEnd,
  SessionFiles,
  type SessionTerms,
  type Settled,
  sessionDescriptor,
} from '../../sessions/index.ts'
import { type OwnStatus, ownStatus, RUNNER_FAULT, usageError } from '../call/command.ts'
import { canAsk } from '../call/passphrase.ts'
import { surroundings } from '../call/terminal.ts'
import { readLimits } from '../exec/exec-proposal.ts'
import { Live } from '../exec/live.ts'
import { askWord, yesOrNo } from '../gate/answer-line.ts'
import { answerLines } from '../gate/answer-text.ts'
import { execConfirm } from '../gate/confirm.ts'
import type { GateSession } from '../gate/open.ts'
import { placesHere } from '../hooks/own-places.ts'
import { ownBin, ownPackage, ownProgram, sessionHook } from '../hooks/own-program.ts'
import { powerLines } from './power-text.ts'
import { readCost, readCount } from './read-count.ts'
import { endLines, settledLines } from './session-text.ts'

interface SessionRequest {
  readonly sessionId: string
  readonly actionId: string
  readonly nowMs: number
  /** The session to go on with; null for a new one. */
  readonly resumed: string | null
  readonly agent: string
  readonly argv: readonly [string, ...string[]]
  readonly cwd: string
  readonly workspace: string
  readonly scope: readonly string[]
  readonly write: readonly string[]
  readonly remove: readonly string[]
  readonly hosts: readonly string[]
  readonly publish: NonNullable<SessionTerms['publish']>
  readonly env: Readonly<Record<string, string>>
  readonly settle: SessionTerms['settle']
}

const SIGNAL_BASE = 128
/** Another session of the agent may go on changing its state meanwhile. */
const QUESTIONS_MAX = 10
/** Enough for builds and browsers; a day. */
const DEFAULT_LIMITS = { memory_mb: 8_192, disk_mb: 20_480, seconds: 24 * 60 * 60 }

export async function carryOutSession(
  session: GateSession,
  request: SessionRequest,
): Promise<OwnStatus> {
  // A gate is opened over a known home.
  const home = session.session.home as KnownHome
  const { files, terms } = sessionOf(home, session, request)
  const around = surroundings()
  const host = knownHost({ argv: terms.argv, cwd: terms.cwd, environment: around.env })
  const agentHome = await AgentHome.open(home, terms.agent, host, around.userDirectory)
  if (!isAgentAtWork(home, terms)) agentHome.clear()
  await acceptPowers(session, agentHome, [terms.workspace, terms.cwd, ...terms.scope])
  if (host !== null) await addHooks(session, host, agentHome)
  const live = new Live('run')
  const run = live.run()
  const confirm = execConfirm(session, live)
  try {
    const end = await runSession({
      gate: session.gate,
      files,
      terms,
      agentHome,
      environment: around.env,
      userDirectory: around.userDirectory,
      hookPrograms: [ownProgram(), ownPackage(), sessionHook()],
      heldPrograms: join(ownBin(), 'held'),
      secretOf: (name) => readSecret(stateRoot(around), name),
      prices: session.gate.modelPrices,
      modelUrl: modelUrlOf(session),
      env: request.env,
      onNotes: (notes) => {
        for (const note of notes) live.tell(note)
      },
      live: { stdin: run.stdin, terminal: run.terminal ?? null, onOutput: run.onOutput },
      isResumed: request.resumed !== null,
      abort: live.abort.signal,
      nowMs: Date.now,
      onStarted: (send) => run.onStarted?.(send),
      onEnded: () => live.end(),
      onSettled: (settled: Settled) => {
        for (const line of settledLines(settled, terms.session_id)) live.tell(line)
      },
      onRefused: (connection, option) => run.onRefused?.(connection, option),
      askAtEnd: (actionId) => askAtEnd(session, actionId, confirm),
    })
    return finish(session, terms, end)
  } finally {
    live.close()
  }
}

/** Whether another session of the same agent runs: both have the same private home. */
function isAgentAtWork(home: KnownHome, { agent }: SessionTerms): boolean {
  return keptSessions(home).some((files) => files.isLive && files.terms().agent === agent)
}

/**
 * Asks about parts of the agent's own state that run code or grant rights and that an earlier session
 * changed; they are used only after a yes. What was changed while the person read is asked about again.
 */
async function acceptPowers(
  { call }: GateSession,
  agentHome: AgentHome,
  own: readonly string[],
): Promise<void> {
  for (let count = 0; count < QUESTIONS_MAX; count++) {
    const { changes, accept } = await agentHome.changedPowers(own)
    if (changes.length === 0) return accept()
    call.terminal.err(`${powerLines(changes, agentHome.directory).join('\n')}\n`)
    const isYes =
      call.options.isOn('accept-state') ||
      (canAsk() && (await askWord('Use it from now on? [y/N] ', yesOrNo)) === 'yes')
    if (!isYes) break
    accept()
  }
  const message = 'the changed state of the agent was not accepted, so it was not started'
  const hint = `look at it in ${agentHome.directory}; delete there what you do not want, and accept the rest with --accept-state`
  throw faultError('session.state_changed', '', message, hint)
}

/**
 * Puts the hooks of a session into the private home of the agent. Without them the session settles when
 * the agent pauses, and is as safe.
 */
async function addHooks({ call }: GateSession, host: AgentHost, home: AgentHome): Promise<void> {
  const { modes, levels } = host.hooks
  const isOffered = modes.includes('session') && levels.includes('user')
  if (!isOffered) return
  const here = placesHere()
  const writ = sessionHook()
  const places = { ...here, writ, home: home.directory, homeInside: here.home, state: home.place }
  try {
    await home.acceptFiles(await removeOtherHooks(host, here, places))
    const plan = await planInstall(host, 'user', 'session', places)
    if (plan.changes.length === 0) return
    install(plan, places)
    await home.acceptFiles(plan.changes.map(({ file }) => relative(home.directory, file)))
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error)
    call.terminal.err(`writ run: no hooks for ${host.title}, changes settle at pauses: ${why}\n`)
  }
}

/**
 * Takes out hooks that came with the copy of the person's home, or that an earlier session added with
 * another program: they would report everything a second time.
 */
async function removeOtherHooks(
  host: AgentHost,
  here: HookPlaces,
  places: HookPlaces,
): Promise<readonly string[]> {
  const installed = installationOf(host, 'user', places)
  if (installed?.writ === places.writ) return []
  const copied = await unhookCopy(host, here, places.home)
  if (installed === null) return copied
  const plan = await planUninstall(host, 'user', places)
  uninstall(plan, places)
  return [...copied, ...plan.changes.map(({ file }) => relative(places.home, file))]
}

function modelUrlOf({ call }: GateSession): string | undefined {
  const text = call.options.text('model-url')
  if (text === null) return undefined
  if (/^https?:\/\/[^/]/.test(text) && URL.canParse(text)) return text
  throw usageError('--model-url is the address of a model', '--model-url http://127.0.0.1:8080')
}

async function askAtEnd(
  { gate }: GateSession,
  actionId: string,
  confirm: ReturnType<typeof execConfirm>,
): Promise<void> {
  const question = await gate.question(actionId)
  if (question === null) return
  const answered = await confirm(question)
  if (answered.kind !== 'wait') await gate.answer(actionId, answered)
}

function sessionOf(home: KnownHome, session: GateSession, request: SessionRequest) {
  if (request.resumed !== null) return resumedSession(home, session, request, request.resumed)
  const files = new SessionFiles(home, request.sessionId)
  return { files, terms: newTerms(session, request) }
}

/** The same view with a new process; what was asked for at its start stays in force unless named again. */
function resumedSession(
  home: KnownHome,
  session: GateSession,
  request: SessionRequest,
  id: string,
) {
  const files = findSession(home, id)
  if (files.isLive) {
    const hint = 'wait until it ends, or end it: `writ session stop`'
    throw faultError('session.running', files.id, 'the session still runs', hint)
  }
  const { argv, cwd, actionId, nowMs } = request
  const kept = files.terms()
  const limits = limitsOf(session, kept.limits)
  const budget = budgetOf(session, { ...NO_BUDGET, ...kept.budget })
  const publish = request.publish.length === 0 ? (kept.publish ?? []) : request.publish
  const created_at = new Date(nowMs).toISOString()
  const descriptor = { ...kept.descriptor, action_id: actionId, created_at }
  return { files, terms: { ...kept, publish, limits, budget, argv, cwd, descriptor } }
}

function newTerms(session: GateSession, request: SessionRequest): SessionTerms {
  const { gate, call, stream } = session
  const { nowMs, agent, argv, cwd, workspace, scope, hosts, write, remove, settle } = request
  const asked = readLimits(call.options)
  const started_at = new Date(nowMs).toISOString()
  const isDeclared = write.length + remove.length > 0
  const granted = isDeclared
    ? { create: write, modify: write, remove }
    : grantedGlobs(gate.grants, scope)
  return {
    session_id: request.sessionId,
    agent,
    argv,
    cwd,
    workspace,
    scope,
    hosts,
    publish: request.publish,
    is_declared: isDeclared,
    settle,
    stream,
    started_at,
    limits: limitsOf(session, DEFAULT_LIMITS),
    budget: budgetOf(session, NO_BUDGET),
    descriptor: sessionDescriptor({
      actionId: request.actionId,
      createdAt: started_at,
      agent,
      scope,
      resources: within(asked, gate.ceilings),
      hosts,
      ...granted,
    }),
  }
}

/** What the options name, else what was in force before. */
function limitsOf({ call }: GateSession, before: SessionTerms['limits']): SessionTerms['limits'] {
  const { options } = call
  const asked = readLimits(options)
  return {
    memory_mb: options.text('memory') === null ? before.memory_mb : asked.max_memory_mb,
    disk_mb: options.text('disk') === null ? before.disk_mb : asked.max_disk_mb,
    seconds:
      options.text('time') === null ? before.seconds : Math.ceil(asked.max_duration_ms / 1_000),
  }
}

type Budget = NonNullable<SessionTerms['budget']>

/** The same for its model; the laws bound it. */
function budgetOf({ call, gate }: GateSession, before: Budget): Budget {
  const { requests, tokens, cost } = gate.sessionBudget
  const bounds = { requests, tokens, cost: cost === null ? null : Math.round(cost * 1e6) }
  const one = (name: keyof Budget): number | null => {
    const most = bounds[name]
    const asked = name === 'cost' ? readCost(call.options) : readCount(call.options, name)
    if (asked !== null && most !== null && asked > most) {
      const bound = name === 'cost' ? costText(most) : most
      const message = `the laws of this home allow a session at most --${name} ${bound}`
      const hint = `\`settings.session_budget.${name}\` in .writ/laws.yaml sets it; then \`writ laws accept\``
      throw faultError('descriptor.ceiling', name, message, hint)
    }
    return asked ?? before[name] ?? most
  }
  return { requests: one('requests'), tokens: one('tokens'), cost: one('cost') }
}

/** What the grants in force let an agent do, as globs of the scope. */
function grantedGlobs(grants: readonly GrantDocument[], scope: readonly string[]) {
  // Globs of grants that lie elsewhere than in the workspace are no part of the scope.
  const placed = (globs: readonly string[] = []): readonly string[] =>
    scope.flatMap((root) =>
      globs.filter((glob) => !/^[~/]/.test(glob)).map((glob) => `${root}/${glob}`),
    )
  const all = (kind: 'change' | 'create' | 'delete'): readonly string[] => [
    ...new Set(grants.flatMap((grant) => placed(grant[kind]))),
  ]
  return { create: all('create'), modify: all('change'), remove: all('delete') }
}

function finish({ call }: GateSession, terms: SessionTerms, end: SessionEnd): OwnStatus {
  const { terminal } = call
  if (end.kind === 'refused') {
    const lines = answerLines(end.answer, terminal.paintError, false, null)
    terminal.err(`${lines.join('\n')}\nwrit: ${end.answer.decision.code}\n`)
    return RUNNER_FAULT
  }
  const { pending, question, outcome } = end
  for (const line of endLines(terms, outcome, pending.length > 0))
    terminal.err(`writ run: ${line}\n`)
  if (pending.length > 0) {
    const count = pending.length === 1 ? '1 change is' : `${pending.length} changes are`
    const id = terms.session_id.slice(-8)
    const next = question === null ? `writ session show ${id}` : 'writ inbox'
    terminal.err(`writ run: ${count} still pending; see \`${next}\`\n`)
  }
  if (outcome.exitCode !== null) return ownStatus(outcome.exitCode)
  const signal = Object.entries(constants.signals).find(([name]) => name === outcome.signal)
  return signal === undefined ? RUNNER_FAULT : ownStatus(SIGNAL_BASE + signal[1])
}
