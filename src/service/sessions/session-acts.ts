/**
 * Acts of sessions: makes a proposal and a rehearsal of what an agent changed so far, and sends them
 * through the lifecycle. The view, its processes and the question of when to settle are the caller's.
 */
import { randomBytes, randomUUID } from 'node:crypto'
import { uuidV7 } from '../../base/index.ts'
import type { Confirmation, Evaluation, Proposal, SessionFact } from '../../contracts/index.ts'
import {
  type Change,
  compareAgain,
  displayOfRaw,
  FINDINGS_SHOWN_MAX,
  manifestDigest,
  pendingParts,
  type RawPath,
} from '../../gate/index.ts'
import { occurredAtText } from '../../ledger/index.ts'
import type { RunOutcome, Sandbox } from '../../sandbox/index.ts'
import type { CommandWish } from '../acts/command-plan.ts'
import { knownRefs, type PushWish, pushAddresses, trackingRefs } from '../acts/git-push.ts'
import { isHeld, outputOf } from '../acts/held-command.ts'
import type { BudgetWish } from '../acts/session-budget.ts'
import type { Decided, GateParts, RanInSession, Terms } from '../lifecycle/act.ts'
import { answerOf } from '../lifecycle/answer.ts'
import { endUnanswered } from '../lifecycle/confirm.ts'
import { act, beginSession, settle, weigh } from '../lifecycle/lifecycle.ts'
import { headsNear } from '../readings/git-head.ts'
import type { HostReadings } from '../readings/host-readings.ts'
import { committedBytes } from '../readings/tracked.ts'
import type { Rehearsal } from '../rehearsal/rehearsal.ts'
import { stagePlaceFor } from '../stage/stage-place.ts'
import { workspaceOf } from '../surface/context.ts'
import type {
  OpenedSession,
  PendingPart,
  PushState,
  QuestionState,
  SessionGround,
  SessionSandboxOrder,
  SessionSurface,
  SettleOrder,
  WeighedParts,
} from '../surface/session-surface.ts'
import type { GateAnswer } from '../surface/surface.ts'
import { budgetProposal, commandProposal, pushProposal } from './session-push.ts'
import { openSessionSandbox } from './session-sandbox.ts'

const NEVER = new AbortController().signal
const PAGE = 1_000

export class SessionActs implements SessionSurface {
  readonly #gate: GateParts
  readonly #recover: () => Promise<void>
  #weighed: { readonly changes: readonly Change[]; readonly readings: HostReadings } | null = null

  /** `recover` ends what a crash interrupted. */
  constructor(gate: GateParts, recover: () => Promise<void>) {
    this.#gate = gate
    this.#recover = recover
  }

  /** Ends first what an earlier process of the session left half done, so that the view compares whole trees. */
  async open(order: SessionSandboxOrder): Promise<OpenedSession> {
    await this.#recover()
    return openSessionSandbox(this.#gate, order)
  }

  async begin(ground: Omit<SessionGround, 'layers' | 'controls'>): Promise<GateAnswer | null> {
    const { descriptor, agent, argv, cwd } = ground
    const operation = { type: 'COMMAND_EXECUTION' as const, argv: [...argv], cwd }
    const refused = await beginSession(this.#gate, { descriptor, operation }, termsOf(agent))
    return refused === null ? null : answerOf(this.#gate.questions, refused)
  }

  async weigh(ground: SessionGround, order: SettleOrder): Promise<WeighedParts> {
    const ran = this.#ran(ground, order)
    const decided = await weigh(this.#gate, ran)
    const { seen } = decided.compared
    const { part } = order
    if (seen !== null) this.#weighed = { changes: part.changes, readings: seen.readings }
    // Refused before anything was compared: by a halt, by laws that no human accepted, by a cooldown.
    if (seen === null) return { parts: onlyBlocked(part), dropped: [] }
    const dropped = seen.comparison.discarded.map(({ path }) => path)
    const promoted = seen.comparison.promoted
    if (decided.decision.decision === 'PROMOTE') {
      const parts = { ...onlyBlocked(NOTHING), granted: partOf(part, promoted) }
      return { parts, dropped }
    }
    const findings = [...this.#findingsOf(decided), ...toldOf(part), ...treeFindings(part)]
    const split = pendingParts(promoted, findings)
    // A law over the whole act asks, and no finding says about what: then it asks about all of it.
    const isWhole =
      decided.decision.decision === 'CONFIRM' && split.granted.length === promoted.length
    const {
      granted,
      asked,
      blocked: refused,
    } = isWhole ? { ...split, granted: [], asked: promoted } : split
    const parts = {
      granted: partOf(part, granted),
      asked: partOf(part, asked),
      blocked: withRest(partOf(part, refused), part),
    }
    return { parts, dropped }
  }

  async settle(ground: SessionGround, order: SettleOrder): Promise<GateAnswer> {
    return answerOf(this.#gate.questions, await settle(this.#gate, this.#ran(ground, order)))
  }

  async stateOf(actionId: string): Promise<QuestionState> {
    const standing = await this.#gate.view.standing()
    if (standing.promotion(actionId) !== null) return 'promoted'
    if (standing.question(actionId) !== null) return 'waiting'
    const answer = await this.#gate.view.factOf('confirmation_v1', actionId)
    // A fact is of its contract.
    const given = (answer?.payload as Confirmation | undefined)?.answer
    if (given === 'APPROVED') {
      // A yes whose promotion was refused is no longer open.
      const isOpen = standing.approved().some((one) => one.actionId === actionId)
      return isOpen ? 'waiting' : 'ended'
    }
    return given === 'DENIED' ? 'denied' : 'ended'
  }

  async reasonOf(actionId: string): Promise<string | null> {
    const answer = await this.#gate.view.factOf('confirmation_v1', actionId)
    // A fact is of its contract.
    return (answer?.payload as Confirmation | undefined)?.reason ?? null
  }

  async untaken(actionId: string): Promise<ReadonlySet<RawPath>> {
    const record = await this.#gate.questions.record(actionId)
    const left = record?.evaluation.part === undefined ? [] : record.discarded
    return new Set(left.map(({ path }) => path))
  }

  async supersede(actionId: string, by: string): Promise<boolean> {
    const pending = (await this.#gate.view.standing()).question(actionId)
    if (pending === null) return false
    await endUnanswered(this.#gate, pending, { superseded_by: by })
    return (await this.stateOf(actionId)) === 'ended'
  }

  headsNear(paths: readonly RawPath[]): ReturnType<SessionSurface['headsNear']> {
    return headsNear(paths)
  }

  committed(...words: Parameters<SessionSurface['committed']>): Uint8Array | null {
    return committedBytes(...words)
  }

  knownRefs(...words: Parameters<SessionSurface['knownRefs']>): ReturnType<typeof knownRefs> {
    return knownRefs(...words)
  }

  trackingRefs(tree: string): Promise<ReadonlySet<string>> {
    return trackingRefs(tree)
  }

  async pushAddresses(tree: string): Promise<readonly string[]> {
    return pushAddresses(tree)
  }

  async push(
    { agent, descriptor }: Pick<SessionGround, 'agent' | 'descriptor'>,
    wish: PushWish,
  ): Promise<GateAnswer> {
    return this.#hold(agent, await pushProposal(this.#gate, descriptor, wish))
  }

  isHeld(wish: Parameters<SessionSurface['isHeld']>[0]): boolean {
    return isHeld(wish)
  }

  async command(
    { agent, descriptor }: Pick<SessionGround, 'agent' | 'descriptor'>,
    wish: CommandWish,
  ): Promise<GateAnswer> {
    return this.#hold(agent, await commandProposal(this.#gate, descriptor, wish))
  }

  async askBudget(
    { agent, descriptor }: Pick<SessionGround, 'agent' | 'descriptor'>,
    wish: BudgetWish,
  ): Promise<GateAnswer> {
    return this.#hold(agent, budgetProposal(this.#gate, descriptor, wish))
  }

  commandOutput(actionId: string): string {
    return outputOf(this.#gate.context.home.state, actionId)
  }

  async #hold(agent: string, proposal: Proposal): Promise<GateAnswer> {
    const confirm = async () => ({ kind: 'wait' }) as const
    const outcome = await act(this.#gate, proposal, { ...termsOf(agent), confirm })
    return answerOf(this.#gate.questions, outcome)
  }

  async pushState(actionId: string): Promise<PushState> {
    const { requests } = await this.#gate.view.standing()
    const ends = requests.of(actionId).flatMap(({ ended }) => ended ?? [])
    for (const { state, detail, code = '' } of ends) {
      if (state === 'FAILED') return { state: 'failed', detail: detail ?? code }
      if (state === 'UNKNOWN') return { state: 'unknown', detail: detail ?? code }
    }
    const state = await this.stateOf(actionId)
    const reason = state === 'denied' ? await this.reasonOf(actionId) : null
    return reason === null ? { state } : { state, detail: `; their reason: ${reason}` }
  }

  async record(fact: SessionFact): Promise<void> {
    const key = `session/${fact.session_id}/${fact.event}/${fact.at}`
    await this.#gate.view.record([{ type: 'session_v1', payload: fact, key }])
  }

  async facts(): Promise<readonly SessionFact[]> {
    const { ledger, stream } = this.#gate.context
    const facts: SessionFact[] = []
    for (let cursor: number | null = -1; cursor !== null; ) {
      const page = await ledger.store.find({
        stream,
        type: 'session_v1',
        cursor,
        limit: PAGE,
        order: 'oldest_first',
      })
      for (const { text } of page.facts) {
        // The store returns the canonical text of a fact, which is of its contract.
        facts.push((JSON.parse(text) as { record: { payload: SessionFact } }).record.payload)
      }
      cursor = page.next
    }
    return facts
  }

  /** Every finding of a comparison: the result lists a limited number of each code. */
  #findingsOf({ compared, evaluation, proposal, result, manifest }: Decided) {
    const { lists } = this.#gate.book
    const record = { proposal, evaluation, result, manifest: manifest ?? null, steps: [], lists }
    const whole = compareAgain(record, FINDINGS_SHOWN_MAX)
    return whole?.findings ?? compared.seen?.comparison.findings ?? []
  }

  #ran(ground: SessionGround, order: SettleOrder): RanInSession {
    const { mark, part } = order
    const proposal = this.#proposal(ground, part)
    const terms = { ...termsOf(ground.agent), session: mark }
    const rehearsal = this.#rehearsal(ground, order, proposal)
    return { document: proposal, terms, rehearsal, egress: ground.egress }
  }

  /**
   * Derives the proposal of a settle from that of the session. It names the changes by their digest, so
   * that the same changes are the same intent, and others are another one.
   */
  #proposal({ descriptor, argv, cwd }: SessionGround, { changes }: PendingPart): Proposal {
    const nowMs = this.#gate.context.nowMs()
    return {
      descriptor: {
        ...descriptor,
        action_id: uuidV7(nowMs, randomBytes(10)),
        created_at: occurredAtText(nowMs),
        scope: { ...descriptor.scope, network: { required: false } },
        effects: { ...descriptor.effects, network: false },
        sandbox: { ...descriptor.sandbox, allow_network: false },
      },
      operation: {
        type: 'COMMAND_EXECUTION',
        argv: [...argv],
        cwd,
        env: { WRIT_PENDING: manifestDigest(changes) },
      },
    }
  }

  /** What was read when these very changes were weighed: each scan makes new ones. */
  #readingsOf(changes: readonly Change[]): HostReadings | undefined {
    const { changes: weighed, readings } = this.#weighed ?? { changes: [] }
    const isSame =
      weighed.length === changes.length && weighed.every((one, at) => one === changes[at])
    return isSame ? readings : undefined
  }

  #rehearsal(
    { layers, controls }: SessionGround,
    { part, made, session, sinceMs, connections }: SettleOrder,
    { descriptor }: Proposal,
  ): Rehearsal {
    const { changes, findings, emptied } = part
    const readings = this.#readingsOf(changes)
    const outcome = outcomeSince(sinceMs, this.#gate.context.nowMs())
    return {
      sandboxId: randomUUID(),
      sandbox: stillRunning(layers, controls),
      place: stagePlaceFor(this.#gate.context.home, workspaceOf(this.#gate.context)),
      steps: [{ descriptor, outcome, changes }],
      changes,
      findings,
      told: toldOf(part),
      emptied,
      controls,
      outputs: { document: () => ({ stdout: '', stderr: '', truncated: false }) },
      network: connections,
      made,
      session,
      ...(readings === undefined ? {} : { readings }),
    }
  }
}

function termsOf(agent: string): Terms {
  return {
    door: 'propose',
    declaredByApproval: false,
    dryRun: false,
    abort: NEVER,
    actorKind: 'ai' satisfies Evaluation['actor_kind'],
    agent,
  }
}

const NOTHING: PendingPart = { changes: [], findings: [], emptied: [], told: [] }

function onlyBlocked(part: PendingPart): WeighedParts['parts'] {
  return { granted: NOTHING, asked: NOTHING, blocked: part }
}

/** Adds what is about no change at all, which may be why it is blocked. */
function withRest(part: PendingPart, whole: PendingPart): PendingPart {
  const paths = new Set(whole.changes.map(({ path }) => path))
  const rest = whole.findings.filter((each) => !paths.has(each.path) && !isLeftInView(each, paths))
  return { ...part, findings: [...part.findings, ...rest] }
}

/** The same for some of the changes. */
function partOf(whole: PendingPart, changes: readonly Change[]): PendingPart {
  const paths = new Set(changes.map(({ path }) => path))
  const isOf = ({ path }: { readonly path: RawPath }): boolean => paths.has(path)
  return {
    changes,
    findings: whole.findings.filter(isOf),
    emptied: whole.emptied.filter(isOf),
    told: whole.told.filter(isOf),
  }
}

function toldOf({ told }: PendingPart): Rehearsal['told'] {
  return told.map(({ code, path, detail }) => ({ code, path: displayOfRaw(path), detail }))
}

/**
 * What the scan found wrong. An entry that cannot be promoted at all, such as a socket, is no change: it
 * stays in the view and keeps nothing else back.
 */
function isLeftInView(
  { code, path }: PendingPart['findings'][number],
  paths: ReadonlySet<RawPath>,
): boolean {
  return !paths.has(path) && (code === 'diff.unsupported' || code === 'diff.path_too_long')
}

function treeFindings({ changes, findings }: PendingPart) {
  const paths = new Set(changes.map(({ path }) => path))
  return findings
    .filter((finding) => !isLeftInView(finding, paths))
    .map(({ code, path }) => ({ code, path: displayOfRaw(path) }))
}

/** The agent still runs; what it changed so far counts like what a run left that succeeded. */
function outcomeSince(sinceMs: number, nowMs: number): RunOutcome {
  const resources = { cpuMs: 0, memoryPeakMb: 0, diskMb: 0, processes: 0 }
  return {
    startedAtMs: sinceMs,
    endedAtMs: Math.max(sinceMs, nowMs),
    exitCode: 0,
    signal: null,
    killedBy: null,
    aborted: false,
    resources: { ...resources, durationMs: Math.max(0, nowMs - sinceMs), enforcedBy: {} },
    backgroundProcesses: 0,
  }
}

/** The sandbox of a session for one settle: its layers are read, and it stays open. */
function stillRunning(
  layers: SessionGround['layers'],
  controls: SessionGround['controls'],
): Rehearsal['sandbox'] {
  return { layers, controls, close: async () => undefined } satisfies Pick<
    Sandbox,
    'close' | 'controls' | 'layers'
  >
}
