/**
 * `writ session …`: the sessions of coding agents, what is pending in them, and what a person does
 * about it. A session that runs is asked through its own process; the layers of another one are mounted
 * for the command.
 */
import { createReadStream } from 'node:fs'
import { resolve } from 'node:path'
import { Readable } from 'node:stream'
import { digestBytes, faultError } from '../../base/index.ts'
import {
  type Change,
  displayOfRaw,
  isBelow,
  type RawPath,
  rawOfText,
  textOfRaw,
} from '../../gate/index.ts'
import type { KnownHome } from '../../home/index.ts'
import {
  AgentHome,
  costText,
  findSession,
  isSessionNamed,
  keptSessions,
  type NO_BUDGET,
  type NotDiscarded,
  type PendingChanges,
  type SessionFiles,
  type Settled,
  type Settler,
  sendOrder,
  withIdleSession,
} from '../../sessions/index.ts'
import { visibleName } from '../../words/index.ts'
import { type CommandCall, EXIT, type Exit, reply, usageError } from '../call/command.ts'
import { refuseOthers } from '../call/home.ts'
import { canAsk } from '../call/passphrase.ts'
import { surroundings } from '../call/terminal.ts'
import { type ReadSide, renderEffects } from '../effects/render.ts'
import { readLimits } from '../exec/exec-proposal.ts'
import { askWord, yesOrNo } from '../gate/answer-line.ts'
import { type GateSession, withGate } from '../gate/open.ts'
import { readCost, readCount } from '../session/read-count.ts'
import {
  busyLines,
  nothingNew,
  pastText,
  pendingText,
  settledLines,
} from '../session/session-text.ts'

export async function list(call: CommandCall): Promise<Exit> {
  return withGate(call, async (session) => {
    refuseOthers(session.session.caller, 'the list of sessions')
    const home = homeOf(session.session.home)
    for (const files of keptSessions(home)) await noticeAnswer(files, session)
    const rows = keptSessions(home).map((files) => {
      const { session_id, agent, started_at, workspace } = files.terms()
      const { settles, question } = files.memory()
      const state = files.isLive ? ('running' as const) : ('stopped' as const)
      const { cost_micros } = files.use().model
      return {
        session_id,
        agent,
        started_at,
        workspace,
        state,
        settles,
        question: question?.action_id ?? null,
        ...(cost_micros === undefined ? {} : { cost_micros }),
      }
    })
    return reply(call, { sessions: rows }, (paint) => {
      if (rows.length === 0) return 'no session runs, and none has pending changes\n'
      const lines = rows.map(
        ({ session_id, agent, started_at, state, settles, question, cost_micros }) => {
          const waits = question === null ? '' : `, waits for an answer: writ inbox`
          const cost = cost_micros === undefined ? '' : `, cost ${costText(cost_micros)}`
          const times = settles === 1 ? '1 settle' : `${settles} settles`
          return `${session_id}  ${paint.strong(visibleName(agent))}  ${state} since ${started_at}, ${times}${cost}${waits}\n`
        },
      )
      return lines.join('')
    })
  })
}

/** A session that does not run cannot notice itself that its question was answered. */
async function noticeAnswer(files: SessionFiles, session: GateSession): Promise<void> {
  const { question } = files.memory()
  if (files.isLive || question === null) return
  const state = await session.gate.sessions.stateOf(question.action_id)
  if (state !== 'waiting') await idle(files, session, async () => undefined)
}

export async function show(call: CommandCall): Promise<Exit> {
  const [id] = call.arguments
  return withGate(call, async (session) => {
    refuseOthers(session.session.caller, 'a session of an agent')
    const home = homeOf(session.session.home)
    const isKept =
      id === undefined || keptSessions(home).some((files) => isSessionNamed(files.id, id))
    const past = isKept ? [] : await factsOf(session, id)
    if (past.length > 0) return reply(call, { facts: past }, (paint) => pastText(past, paint))
    const files = findSession(home, id)
    const pending = await pendingOf(files, session)
    const document = {
      session_id: files.id,
      state: files.isLive ? 'running' : 'stopped',
      question: pending.question,
      use: files.use(),
      conflicts: pending.conflicts,
      stale: pending.stale,
      left: pending.left,
      pending: pending.changes.map(({ path, before, after }) => ({
        path: displayOfRaw(path),
        change: before === null ? 'added' : after === null ? 'deleted' : 'modified',
        why: pending.reasons[path] ?? 'pending',
      })),
    }
    return reply(call, document, (paint) => pendingText(document, files, paint))
  })
}

const SHORT_ID = 8

/** What is on the record of a session that is over. */
async function factsOf({ gate }: GateSession, text: string) {
  const facts = (await gate.sessions.facts()).filter(({ session_id }) =>
    isSessionNamed(session_id, text),
  )
  return new Set(facts.map(({ session_id }) => session_id)).size === 1 ? facts : []
}

export async function diff(call: CommandCall): Promise<Exit> {
  return withSession(call, async (files, session) => {
    await whilePending(files, session, async (pending) => {
      await printBases(call, files, session, pending)
      await printChanges(call, files, pending)
    })
    return EXIT.yes
  })
}

type ShownChanges = Pick<PendingChanges, 'changes' | 'layers'>

/** Shows the real tree against the view. */
function printChanges(call: CommandCall, files: SessionFiles, { changes, layers }: ShownChanges) {
  return print(call, files, changes, ({ path, before, after }, side) => {
    const state = side === 'before' ? before : after
    const text = textOfRaw(path)
    if (state?.kind !== 'file' || text === null) return null
    const layer = layers.find(({ root }) => isBelow(path, rawOfText(root)))
    if (side === 'before') return createReadStream(text)
    return layer === undefined
      ? null
      : createReadStream(`${layer.upper}${text.slice(layer.root.length)}`)
  })
}

/** Shows what others changed at the paths of conflicts, where git has the version from before. */
async function printBases(
  call: CommandCall,
  files: SessionFiles,
  { gate }: GateSession,
  { changes, conflicts }: PendingChanges,
): Promise<void> {
  const { heads } = files.memory()
  for (const { path, detail } of conflicts) {
    const change = changes.find((one) => displayOfRaw(one.path) === path)
    const base = change === undefined ? null : gate.sessions.committed(change.path, heads)
    await call.terminal.out(`conflict ${visibleName(path)}: ${detail}\n`)
    if (change === undefined || base === null) {
      await call.terminal.out('git does not have the version from before\n')
      continue
    }
    const real = change.before
    const state = { ...(real ?? change.after), size: base.length, digest: digestBytes(base) }
    // The state of a file, with the size and the bytes of the version from before.
    const seen: Change = { path: change.path, before: state as Change['before'], after: real }
    await call.terminal.out('base, then real:\n')
    await print(call, files, [seen], ({ after }, side) => {
      if (side === 'before') return Readable.from([base])
      const text = textOfRaw(change.path)
      return after?.kind === 'file' && text !== null ? createReadStream(text) : null
    })
  }
  if (conflicts.length > 0) await call.terminal.out('real, then view:\n')
}

async function print(
  { terminal }: CommandCall,
  files: SessionFiles,
  changes: readonly Change[],
  read: ReadSide,
): Promise<void> {
  const columns = terminal.isTty ? terminal.columns : null
  const base = rawOfText(files.terms().workspace)
  const view = { paint: terminal.paint, whole: true, columns, base }
  const nothing: ReadonlySet<never> = new Set()
  const effects = { changes, findings: [], deferred: nothing, builds: nothing, read }
  for await (const piece of renderEffects(effects, view)) await terminal.out(piece)
}

export async function settle(call: CommandCall): Promise<Exit> {
  return withSession(call, async (files, session) => {
    const take = await takenConflicts(call, files, session)
    const settled = files.isLive
      ? await sendOrder<Settled>(files, { order: 'settle', take })
      : await idle(files, session, (settler) => settler.settle({ boundary: 'command' }, take))
    const lines = [...settledLines(settled, files.id), ...busyLines(settled)]
    const left =
      lines.length > 0 || !files.isKept ? 0 : (await pendingOf(files, session)).changes.length
    return reply(call, settled, () => `${lines.join('\n') || nothingNew(files.id, left)}\n`)
  })
}

/** The conflicts in which a person takes the side of the session, after they saw what that replaces. */
async function takenConflicts(
  call: CommandCall,
  files: SessionFiles,
  session: GateSession,
): Promise<readonly RawPath[]> {
  const names = call.options.texts('take').map((name) => resolve(surroundings().cwd, name))
  if (names.length === 0) return []
  const wanted = new Set(names.map(rawOfText))
  await whilePending(files, session, async (pending) => {
    const known = new Set(pending.conflicts.map(({ path }) => path))
    const other = names.find((name) => !known.has(displayOfRaw(rawOfText(name))))
    if (other !== undefined) {
      const message = `${visibleName(other)} is in no conflict`
      throw usageError(message, `writ session show ${files.id.slice(-SHORT_ID)}`)
    }
    const changes = pending.changes.filter(({ path }) => wanted.has(path))
    if (!call.options.isOn('json')) await printChanges(call, files, { ...pending, changes })
  })
  const isYes =
    call.options.isOn('yes') ||
    (canAsk() &&
      (await askWord('Put this in place of the real version? [y/N] ', yesOrNo)) === 'yes')
  if (isYes) return [...wanted]
  throw usageError('nothing was settled: the answer was no', 'add --yes to take it unasked')
}

export async function discard(call: CommandCall): Promise<Exit> {
  const [id, ...names] = call.arguments
  const isAll = call.options.isOn('all')
  if (id === undefined || isAll === names.length > 0) {
    throw usageError('name the session, and paths or --all', 'writ session discard ID PATH…')
  }
  return withSession({ ...call, arguments: [id] }, async (files, session) => {
    const { changes } = await pendingOf(files, session)
    const wanted = names.map((name) => rawOfText(resolve(surroundings().cwd, name)))
    const chosen = changes
      .map(({ path }) => path)
      .filter((path) => isAll || wanted.some((one) => one === path || isBelow(path, one)))
    if (chosen.length === 0 && isAll) {
      const document = { session_id: files.id, discarded: [] }
      return reply(call, document, () => 'nothing is pending\n')
    }
    if (chosen.length === 0) throw usageError('nothing of this is pending', 'writ session show')
    const before = files.memory().question?.action_id ?? null
    const { inUse, hidden } = files.isLive
      ? await sendOrder<NotDiscarded>(files, { order: 'discard', paths: chosen })
      : await idle(files, session, (settler) => settler.discard(chosen))
    const left = new Set([...inUse, ...hidden.map(({ path }) => path)])
    const paths = chosen.map(displayOfRaw).filter((path) => !left.has(path))
    await session.gate.sessions.record({
      session_id: files.id,
      event: 'DISCARDED',
      at: new Date().toISOString(),
      paths,
    })
    if (inUse.length > 0) {
      const message = `a process of the session uses ${inUse.map(visibleName).join(', ')}`
      throw faultError('session.in_use', files.id, message, 'end that process, then discard again')
    }
    const [first] = hidden
    if (first !== undefined) {
      const message = `the session has something else in the place of ${visibleName(first.by)}, which hides ${visibleName(first.path)}`
      throw usageError(message, `writ session discard ${files.id.slice(-SHORT_ID)} ${first.by}`)
    }
    const after = files.memory().question?.action_id ?? null
    return reply(call, { session_id: files.id, discarded: paths }, () =>
      [
        ...paths.map((path) => `discarded ${visibleName(path)}\n`),
        ...askedAgain(before, after),
      ].join(''),
    )
  })
}

/** What became of the question that held a discarded change. */
function askedAgain(before: string | null, after: string | null): readonly string[] {
  if (before === null || before === after) return []
  if (after === null) return ['the question about it was withdrawn\n']
  return ['the question is asked again without it: `writ inbox`\n']
}

export async function extend(call: CommandCall): Promise<Exit> {
  const { options } = call
  const seconds =
    options.text('time') === null ? 0 : Math.ceil(readLimits(options).max_duration_ms / 1_000)
  const requests = readCount(options, 'requests') ?? 0
  const tokens = readCount(options, 'tokens') ?? 0
  const cost = readCost(options) ?? 0
  if (seconds + requests + tokens + cost === 0) {
    throw usageError('say what to give', 'writ session extend --time 2h')
  }
  return withSession(call, async (files, { gate }) => {
    if (!files.isLive) {
      const hint = `give it at the start: \`writ run --resume ${files.id.slice(-SHORT_ID)} --time 2h -- AGENT\``
      throw faultError('session.unreachable', files.id, 'the session does not run', hint)
    }
    const order = { order: 'extend', seconds, requests, tokens, cost } as const
    const extended = await sendOrder<Extended>(files, order)
    const { until, budget } = extended
    const given = {
      ...(budget.requests === null || requests === 0 ? {} : { requests: budget.requests }),
      ...(budget.tokens === null || tokens === 0 ? {} : { tokens: budget.tokens }),
      ...(budget.cost === null || cost === 0 ? {} : { cost_micros: budget.cost }),
    }
    await gate.sessions.record({
      session_id: files.id,
      event: 'EXTENDED',
      at: new Date().toISOString(),
      ...(seconds === 0 && Object.keys(given).length > 0 ? {} : { until }),
      ...(Object.keys(given).length === 0 ? {} : { budget: given }),
    })
    return reply(call, { session_id: files.id, until, budget }, () => {
      const left = [
        ...(budget.requests === null ? [] : [`${budget.requests} requests in all`]),
        ...(budget.tokens === null ? [] : [`${budget.tokens} tokens in all`]),
        ...(budget.cost === null ? [] : [`a cost of ${costText(budget.cost)} in all`]),
      ]
      return `it may run until ${until}${left.length === 0 ? '' : `, with ${left.join(' and ')}`}\n`
    })
  })
}

interface Extended {
  readonly until: string
  readonly budget: typeof NO_BUDGET
}

export async function stop(call: CommandCall): Promise<Exit> {
  return withSession(call, async (files) => {
    if (!files.isLive) return reply(call, { stopped: false }, () => 'it does not run\n')
    await sendOrder(files, { order: 'stop' })
    return reply(
      call,
      { stopped: true },
      () =>
        'the agent got the signal to end, and is killed if it goes on for 10 s; what is pending stays\n',
    )
  })
}

async function withSession(
  call: CommandCall,
  work: (files: SessionFiles, session: GateSession) => Promise<Exit>,
): Promise<Exit> {
  const [id, ...others] = call.arguments
  if (others.length > 0) throw usageError('name one session, or none for the newest')
  return withGate(call, (session) => {
    refuseOthers(session.session.caller, 'a session of an agent')
    return work(findSession(homeOf(session.session.home), id), session)
  })
}

function homeOf(home: GateSession['session']['home']): KnownHome {
  // A gate is opened over a known home.
  return home as KnownHome
}

function pendingOf(files: SessionFiles, session: GateSession): Promise<PendingChanges> {
  return whilePending(files, session, async (pending) => pending)
}

/** The bytes of what is pending can be read while `use` runs. */
async function whilePending<T>(
  files: SessionFiles,
  session: GateSession,
  use: (pending: PendingChanges) => Promise<T>,
): Promise<T> {
  if (files.isLive) return use(await sendOrder<PendingChanges>(files, { order: 'pending' }))
  return idle(files, session, async (settler) => use(await settler.pending()))
}

async function idle<T>(
  files: SessionFiles,
  { gate, session }: GateSession,
  work: (settler: Settler) => Promise<T>,
): Promise<T> {
  const { agent } = files.terms()
  const { userDirectory } = surroundings()
  const home = await AgentHome.open(homeOf(session.home), agent, null, userDirectory)
  return withIdleSession({ gate, files, agentHome: home.directory, nowMs: Date.now }, work)
}
