/** Small readings that the lifecycle of a proposal is made from. */

import { statSync } from 'node:fs'
import { hostname } from 'node:os'
import { isAbsolute, join } from 'node:path'
import { digestDocument, type Fault } from '../../base/index.ts'
import {
  type EvaluationBasis,
  field,
  type NetworkGrounds,
  type Obstacle,
  operationChain,
  type Proposal,
} from '../../contracts/index.ts'
import {
  type Change,
  displayOfRaw,
  hourUse,
  leavesOf,
  networkGrounds,
  parentOfRaw,
  type RawPath,
  RECENT_MS,
  type StandingFold,
} from '../../gate/index.ts'
import type { LawBook } from '../laws/law-book.ts'
import type { GateContext } from '../surface/context.ts'
import { realPathOf } from './host-facts.ts'

/** Failures of sandbox, scan and stage carry a fault; anything else is a defect and goes on. */
export function obstacleOf(error: unknown): Obstacle {
  const { fault } = error as { readonly fault?: Fault }
  if (!(error instanceof Error) || fault === undefined) throw error
  return obstacleFrom(fault)
}

/** A fault as the record keeps it: what happened and what to do are one text. */
export function obstacleFrom({ code, message, hint, at }: Fault): Obstacle {
  const detail = hint === undefined ? message : `${message}; ${hint}`
  return { code, detail, ...(at === '' ? {} : { path: at }) }
}

/**
 * Returns the real directories that a PATH names. A relative or an empty entry means a directory
 * below the one that a shell happens to be in, so it is resolved against each of `places`.
 */
export function pathDirectories(
  path: string | undefined,
  places: readonly string[],
): readonly string[] {
  if (path === undefined || path === '') return []
  const directories = path
    .split(':')
    .flatMap((entry) => (isAbsolute(entry) ? [entry] : places.map((place) => join(place, entry))))
  return [...new Set(directories.map(realPathOf))]
}

/** Returns where relative names of a proposal's commands begin: its directories, the workspace, ours. */
export function startingPlaces(proposal: Proposal, workspace: string): readonly string[] {
  const directories = leavesOf(proposal).flatMap(({ proposal: { operation } }) =>
    operationChain(operation).map(({ operation: one }) => field(one, 'cwd')),
  )
  const named = directories.filter((cwd): cwd is string => typeof cwd === 'string')
  return [...new Set([...named, workspace, ownDirectory() ?? workspace])]
}

/** Null when the directory that this process runs in was removed. */
function ownDirectory(): string | null {
  try {
    return process.cwd()
  } catch {
    return null
  }
}

/** Whether changes can be promoted from a stage: bytes are moved there, never copied. */
export function isOnDeviceOf(place: string, changes: readonly Change[]): boolean {
  const { dev } = statSync(place)
  const parents = new Set(changes.map(({ path }) => parentOfRaw(path)))
  return [...parents].every((parent) => deviceOf(parent) === dev)
}

/** Of the nearest directory that is there. */
function deviceOf(path: RawPath): number {
  const found = statSync(displayOfRaw(path), { throwIfNoEntry: false })
  return found?.dev ?? deviceOf(parentOfRaw(path))
}

interface NetworkQuestion {
  readonly proposal: Proposal | null
  readonly standing: StandingFold
  readonly book: LawBook
  readonly nowMs: number
  readonly dryRun: boolean
}

/**
 * Returns what is known of a proposal's network before it runs: by which rules, and what a human released.
 * Null when nothing of it runs with a network; a dry run sends nothing that was released.
 */
export function networkFor(question: NetworkQuestion): NetworkGrounds | null {
  const { proposal, standing, book, nowMs, dryRun } = question
  if (proposal === null) return null
  const { action_id } = proposal.descriptor
  const release = dryRun ? null : standing.releaseFor(action_id, digestDocument(proposal), nowMs)
  return networkGrounds(proposal, book.settings.readOnlyHosts, release)
}

/** A rehearsal that was refused does not count against the run that a human released (G-16). */
export function isReleasedRun(
  proposal: Proposal | null,
  network: NetworkGrounds | null,
  standing: StandingFold,
): boolean {
  if (proposal === null || network?.release == null) return false
  return standing.onlyRefused(proposal.descriptor.action_id, digestDocument(proposal))
}

/**
 * What laws are judged with besides the documents, as of a moment: it is recorded with the decision.
 */
export function basisOf(
  { userDirectory }: Pick<GateContext, 'userDirectory'>,
  actor: string,
  seen: EvaluationBasis['facts_seen'],
  actionId: string,
  intent: string | null,
  standing: StandingFold,
  nowMs: number,
): EvaluationBasis {
  const given = standing.grants.inForce(nowMs)
  return {
    actor,
    machine: hostname(),
    home: realPathOf(userDirectory),
    recent_rollbacks: standing.rollbacksOf(actor, nowMs, RECENT_MS),
    overrides: [...standing.overridesInForce(actionId, intent ?? '', nowMs)],
    hour_use: hourUse(standing, actor, nowMs),
    ...(given.length === 0 ? {} : { given: [...given] }),
    facts_seen: seen,
  }
}
