/**
 * Releases in force: each for one proposal, its hosts and its methods, used once. Sent data cannot be
 * taken back, so a release counts as used as soon as the proposal is on the record, before anything
 * runs. Only a refusal before any run gives the release back.
 *
 * A proposal that was rehearsed and refused may come again with its release under the same id: that
 * run is the act, and does not count among the rehearsals (G-16).
 */
import type { Decision, Evaluation, NetworkGrounds, Override } from '../../contracts/index.ts'
import { type FoldMemory, type KeptMemory, MemoryTable, NOTHING_KEPT } from './memory-table.ts'
import { isInForce } from './override-fold.ts'

export type UsableRelease = NonNullable<NetworkGrounds['release']>

interface KnownRelease {
  readonly override: Override
  readonly isUsed: boolean
}

/** The releases of one action, and by their numbers: */
interface ActionReleases {
  readonly known: readonly KnownRelease[]
  /** what its last proposal used, as long as nothing was decided about that one; */
  readonly fresh: readonly number[]
  /** those whose run began and was not decided about. */
  readonly open: readonly number[]
}

/** A released run that began. What it sent is not yet known. */
export interface ReleasedRun extends UsableRelease {
  readonly actionId: string
  readonly proposalDigest: string
}

/** A released run that was interrupted; the host found it at `foundMs`. */
export interface InterruptedRun extends UsableRelease {
  readonly actionId: string
  readonly foundMs: number
}

/** The code of a run of which it is unknown whether it sent anything. */
export const RUN_UNKNOWN = 'request.unknown'

interface Brief {
  readonly open: readonly string[]
  readonly interrupted: readonly (readonly [string, InterruptedRun])[]
  readonly mayHaveRun: readonly (readonly [string, boolean])[]
  readonly judged: readonly (readonly [string, Judged])[]
}

/** Of the action that is being decided: its own release, and whether it was a proposal at all. */
interface Judged {
  readonly release: string
  readonly isWhole: boolean
}

const NO_BRIEF: Brief = { open: [], interrupted: [], mayHaveRun: [], judged: [] }

export class ReleaseFold implements FoldMemory {
  readonly #byAction: MemoryTable<ActionReleases>
  /**
   * By action id: the digest of its first proposal as long as every decision about it was a refusal;
   * `LET_ON` once a decision asked a human or let the act through.
   */
  readonly #refused: MemoryTable<string>
  /** Actions with a run that began and was not decided about. */
  readonly #open: Set<string>
  /** Of the action that is being decided: whether something of it may have run. */
  readonly #mayHaveRun: Map<string, boolean>
  readonly #interrupted: Map<string, InterruptedRun>
  readonly #judged: Map<string, Judged>

  constructor(kept: KeptMemory = NOTHING_KEPT) {
    // What is kept was written by a fold of the same version.
    const brief = (kept.brief('releases') ?? NO_BRIEF) as Brief
    this.#byAction = new MemoryTable(kept.table('releases'))
    this.#refused = new MemoryTable(kept.table('refused'))
    this.#open = new Set(brief.open)
    this.#mayHaveRun = new Map(brief.mayHaveRun)
    this.#interrupted = new Map(brief.interrupted)
    this.#judged = new Map(brief.judged)
  }

  get tables() {
    return { releases: this.#byAction, refused: this.#refused }
  }

  brief(): Brief {
    return {
      open: [...this.#open],
      interrupted: [...this.#interrupted],
      mayHaveRun: [...this.#mayHaveRun],
      judged: [...this.#judged],
    }
  }

  takeOverride(override: Override): void {
    if (override.kind !== 'release' || override.action_id === undefined) return
    const id = override.action_id.toLowerCase()
    const before = this.#byAction.get(id) ?? { known: [], fresh: [], open: [] }
    this.#byAction.set(id, { ...before, known: [...before.known, { override, isUsed: false }] })
  }

  takeProposal(actionIds: readonly string[]): void {
    for (const id of actionIds) {
      const before = this.#byAction.get(id)
      if (before === undefined) continue
      const fresh = before.known.flatMap(({ isUsed }, number) => (isUsed ? [] : [number]))
      const known = withUse(before.known, fresh, true)
      const open = fresh.length > 0 ? fresh : before.open
      this.#byAction.set(id, { known, fresh, open })
      if (open.length > 0) this.#open.add(id)
    }
  }

  takeEvaluation(evaluation: Evaluation): void {
    const { action_id, proposal_digest, obstacles, violations, network, host } = evaluation
    const id = action_id.toLowerCase()
    const release = network?.release ?? null
    const isWhole = violations.length === 0
    this.#judged.set(id, { release: release?.override_id ?? '', isWhole })
    if (release !== null && obstacles.some(({ code }) => code === RUN_UNKNOWN)) {
      this.#interrupted.set(id, { ...release, actionId: action_id, foundMs: host.now_ms })
    }
    if (!this.#refused.has(id)) this.#refused.set(id, proposal_digest)
    this.#mayHaveRun.set(id, obstacles.length > 0)
  }

  takeDecision({ action_id, decision, result_digest }: Decision): void {
    const id = action_id.toLowerCase()
    const mayHaveRun = result_digest !== undefined || this.#mayHaveRun.get(id) !== false
    this.#mayHaveRun.delete(id)
    const fresh = this.#closed(id)
    if (decision !== 'BLOCK') {
      this.#refused.set(id, LET_ON)
      return
    }
    const releases = this.#byAction.get(id)
    if (mayHaveRun || releases === undefined) return
    this.#byAction.set(id, { ...releases, known: withUse(releases.known, fresh, false) })
  }

  /**
   * What the proposal used that a decision is about. Others may use the id meanwhile, and are refused:
   * that neither ends a run that goes on nor gives its release back.
   */
  #closed(id: string): readonly number[] {
    const { release = '', isWhole = false } = this.#judged.get(id) ?? {}
    this.#judged.delete(id)
    const before = this.#byAction.get(id)
    if (before === undefined) return []
    const isOwn = before.open.some(
      (number) => before.known[number]?.override.override_id === release,
    )
    const fresh = isWhole ? before.fresh : []
    const isOver = isOwn || fresh.length > 0
    if (isOver) this.#open.delete(id)
    this.#byAction.set(id, {
      ...before,
      ...(isOver ? { open: [] } : {}),
      ...(isWhole ? { fresh: [] } : {}),
    })
    return fresh
  }

  /** Runs that began with a release and about which nothing was decided since. */
  openRuns(): readonly ReleasedRun[] {
    return [...this.#open].flatMap((id) => {
      const { known, open } = this.#byAction.get(id) ?? { known: [], open: [] }
      const override = known[open.at(-1) ?? -1]?.override
      if (override === undefined) return []
      const { action_id: actionId = '', proposal_digest: proposalDigest = '' } = override
      const { override_id, hosts = [], methods = [] } = override
      return [{ actionId, proposalDigest, override_id, hosts, methods }]
    })
  }

  /** Returns the runs that a fact marks as interrupted: what they sent is unknown. */
  interruptedRuns(): readonly InterruptedRun[] {
    return [...this.#interrupted.values()]
  }

  /** Returns what this proposal may send at this time; null without a release. */
  usable(actionId: string, proposalDigest: string, nowMs: number): UsableRelease | null {
    const known = this.#byAction.get(actionId.toLowerCase())?.known ?? []
    const found = known.findLast(
      ({ override, isUsed }) =>
        !isUsed && override.proposal_digest === proposalDigest && isInForce(override, nowMs),
    )
    if (found === undefined) return null
    const { override_id, hosts = [], methods = [] } = found.override
    return { override_id, hosts, methods }
  }

  /** Whether the id was used by nothing but refused runs of this very proposal. */
  onlyRefused(actionId: string, proposalDigest: string): boolean {
    return this.#refused.get(actionId.toLowerCase()) === proposalDigest
  }
}

/** An id that was not refused for good; no digest is empty. */
const LET_ON = ''

function withUse(
  known: readonly KnownRelease[],
  numbers: readonly number[],
  isUsed: boolean,
): readonly KnownRelease[] {
  return known.map((one, number) => (numbers.includes(number) ? { ...one, isUsed } : one))
}
