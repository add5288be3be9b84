/** Small readings that the lifecycle of a proposal is made from. */
import { isAbsolute, join } from 'node:path'
import type { Fault } from '../../base/index.ts'
import { field, type Obstacle, operationChain, type Proposal } from '../../contracts/index.ts'
import { leavesOf } from '../../gate/index.ts'
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
