/**
 * Findings as they are gathered. The list stays short enough to read and to record: it names a limited
 * number of paths for each code and counts the rest. The manifest names every path.
 */
import { type Code, compareCodePoints } from '../../base/index.ts'
import type { Evaluation, Proposal, SandboxResult } from '../../contracts/index.ts'
import type { GateLists } from '../data/lists.ts'

type Finding = SandboxResult['findings'][number]

export const FINDINGS_PER_CODE_MAX = 200
/** How many findings of one code a person is shown; they can page through them. */
export const FINDINGS_SHOWN_MAX = 100_000

/** In the order they are listed: what blocks for good first, what only reports last. */
const ORDER: readonly Code[] = [
  'effect.host_state',
  'effect.privileged',
  'effect.git_forged',
  'effect.out_of_scope',
  'effect.undeclared',
  'effect.irreversible',
  'effect.upload',
  'effect.deferred_execution',
  'effect.build_execution',
  'effect.left_out',
  'effect.not_taken',
  'effect.home_kept',
  'effect.writ_kept',
  'effect.laws_file',
  'effect.ungranted',
  'effect.discarded',
  'effect.not_observed',
]

/** Whether a comparison gives this code, and not the host's scan. */
export function isComparedCode(code: string): boolean {
  return ORDER.some((known) => known === code)
}

/** At this many times the limit, findings that will not be listed are dropped and only counted. */
const HELD_TIMES = 10

interface Held {
  readonly found: Map<string, Finding>
  /** How many were dropped. */
  more: number
}

export class FindingList {
  readonly #held = new Map<Code, Held>()
  readonly #counted = new Map<Code, Map<string, number>>()
  readonly #limit: number

  constructor(limit = FINDINGS_PER_CODE_MAX) {
    this.#limit = limit
  }

  add(code: Code, path: string, detail?: string): void {
    const held = this.#held.get(code) ?? { found: new Map(), more: 0 }
    this.#held.set(code, held)
    const key = `${path}\0${detail ?? ''}`
    if (held.found.has(key)) return
    held.found.set(key, detail === undefined ? { code, path } : { code, path, detail })
    if (held.found.size > HELD_TIMES * this.#limit) prune(held, this.#limit)
  }

  /** Counts a finding that is reported as a number for its path. */
  count(code: Code, path: string): void {
    const paths = this.#counted.get(code) ?? new Map<string, number>()
    this.#counted.set(code, paths)
    paths.set(path, (paths.get(path) ?? 0) + 1)
  }

  has(code: Code): boolean {
    return this.#held.has(code) || this.#counted.has(code)
  }

  finish(): readonly Finding[] {
    return ORDER.flatMap((code) => {
      const counted = [...(this.#counted.get(code) ?? [])].map(([path, count]) => ({
        code,
        path,
        detail: count === 1 ? '1 entry' : `${count} entries`,
      }))
      const { found, more } = this.#held.get(code) ?? { found: new Map<string, Finding>(), more: 0 }
      return cut(code, sorted([...found.values(), ...counted]), more, this.#limit)
    })
  }
}

/** Keeps those that would be listed first. */
function prune(held: Held, limit: number): void {
  const keys = [...held.found.keys()].sort(compareCodePoints)
  for (const key of keys.slice(limit)) held.found.delete(key)
  held.more += keys.length - limit
}

function sorted(findings: readonly Finding[]): readonly Finding[] {
  return [...findings].sort(
    (one, other) =>
      compareCodePoints(one.path ?? '', other.path ?? '') ||
      compareCodePoints(one.detail ?? '', other.detail ?? ''),
  )
}

function cut(
  code: Code,
  findings: readonly Finding[],
  letGo: number,
  limit: number,
): readonly Finding[] {
  const listed = findings.slice(0, limit)
  const more = findings.length - listed.length + letGo
  return more === 0 ? listed : [...listed, { code, detail: `and ${more} more` }]
}

export interface Judgement {
  /** Null when the document broke its contract. */
  readonly proposal: Proposal | null
  /** What the host found out, as it is recorded; filled further stage by stage. */
  readonly evaluation: Evaluation
  /** Null before a rehearsal, and when none could be had. */
  readonly result: SandboxResult | null
  readonly lists: GateLists
  /** ISO 8601. */
  readonly decidedAt: string
}

/**
 * The version changes when the same inputs may give another decision, or when the record holds more
 * to compute it from. Since 2 the record holds what laws were judged with. Since 3 the decision
 * follows the amended rules of failing commands, agents, deferred execution and cooldown.
 */
export const EVALUATOR = { name: 'gate', version: '3' } as const

/** Versions whose records this evaluator computes again as they were made. */
export const REPLAYED_VERSIONS: ReadonlySet<string> = new Set(['1', '2', EVALUATOR.version])

/**
 * What a decision is made from, and by which evaluator. Everything in it is on the ledger (L-9).
 * Returns whether a record follows the amended rules (evaluator 3). Every amended rule asks this, so
 * that a replay of an older record gives the answer of its own time.
 */
export function isAmended({ evaluator }: Pick<Evaluation, 'evaluator'>): boolean {
  return evaluator.version !== '1' && evaluator.version !== '2'
}

/** Returns whether the record holds what laws and standing were judged with (since evaluator 2). */
export function recordsGrounds({ evaluator }: Pick<Evaluation, 'evaluator'>): boolean {
  return evaluator.version !== '1'
}

/**
 * Returns whether changes to the home outside the scope are left out of what is promoted, instead of
 * blocking the run: in a run that a person started and declared nothing for (G-15b).
 */
export function leavesHomeOut(
  evaluation: Pick<Evaluation, 'evaluator' | 'declared_by_approval' | 'door' | 'actor_kind'>,
): boolean {
  const { declared_by_approval, door, actor_kind } = evaluation
  return isAmended(evaluation) && declared_by_approval && door === 'exec' && actor_kind === 'human'
}

/** Returns whether the person of such a run chose to keep those changes as well. */
export function keepsHome(
  evaluation: Parameters<typeof leavesHomeOut>[0] & Pick<Evaluation, 'home_kept'>,
): boolean {
  return leavesHomeOut(evaluation) && evaluation.home_kept === true
}

/**
 * Returns whether what happened inside the scope is no finding by itself: a human's approval declares
 * it, or an agent did it in a session, where grants and not a declaration decide (S-0).
 */
export function needsNoDeclaration({
  declared_by_approval,
  session,
}: Pick<Evaluation, 'declared_by_approval' | 'session'>): boolean {
  return declared_by_approval || session?.declared === false
}

/**
 * Returns the paths that an edit tool names. The agent reported them, so that they only
 * make the comparison stricter (S-5).
 */
export function namedPaths({ session }: Pick<Evaluation, 'session'>): {
  namedPaths?: readonly string[]
} {
  const paths = session?.tool?.paths
  return paths === undefined ? {} : { namedPaths: paths }
}

/** Returns the part that a person took of the act. */
export function takenPaths({ part }: Pick<Evaluation, 'part'>): { only?: readonly string[] } {
  return part === undefined ? {} : { only: part.only }
}
