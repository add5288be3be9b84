/**
 * Preconditions (G-9), probed by the host. What cannot be probed counts as failed. The answer names
 * what failed; an actor learns only that a precondition failed.
 */
import { type Dirent, lstatSync, readdirSync } from 'node:fs'
import { networkInterfaces } from 'node:os'
import { setImmediate as pause } from 'node:timers/promises'
import type { Proposal } from '../../contracts/index.ts'
import { displayOfRaw, joinRaw, type RawPath, rawOfText, refusedAddress } from '../../gate/index.ts'
import { TICK_MS_MAX } from '../../tree/index.ts'

interface PreconditionFailure {
  readonly name: 'paths_exist' | 'network_available' | 'user_idle'
  readonly path?: string
}

/** Of a proposal and all its children. */
export function probePreconditions(proposal: Proposal): readonly PreconditionFailure[] {
  const { paths_exist, network_available, user_idle } = proposal.descriptor.preconditions
  const failures: PreconditionFailure[] = paths_exist
    .filter((path) => !exists(path))
    .map((path) => ({ name: 'paths_exist', path }))
  if (network_available && !hasNetwork()) failures.push({ name: 'network_available' })
  // A plain system cannot say whether a person is using it.
  if (user_idle) failures.push({ name: 'user_idle' })
  return [...failures, ...(proposal.children ?? []).flatMap(probePreconditions)]
}

function exists(path: string): boolean {
  try {
    lstatSync(path)
    return true
  } catch {
    return false
  }
}

/** An address that others can answer to: neither the machine's own loopback nor of one link alone. */
function hasNetwork(): boolean {
  return Object.values(networkInterfaces()).some((addresses) =>
    addresses?.some(({ internal, address }) => !internal && refusedAddress(address) !== LINK_LOCAL),
  )
}

const LINK_LOCAL = 'link-local'

/** A scope that is larger is looked at as far as this. */
const ENTRIES_MAX = 300_000
const LISTED_MAX = 100
const PAUSE_EVERY = 2_000

/** Repositories and writ's own places change by being looked at. */
const SKIPPED: ReadonlySet<string> = new Set(['.git', '.writ', 'node_modules', '__pycache__'])

/**
 * Files of the scope that changed while a person was being asked (G-19d). A rehearsal may have read
 * them, so the approved effects may not be what a run would do now. Found by their time of change.
 * Paths that the act itself changes are compared apart, byte by byte.
 */
export async function changedInputs(
  roots: readonly string[],
  sinceMs: number,
  touched: ReadonlySet<RawPath>,
  shown: ReadonlySet<string>,
): Promise<readonly RawPath[]> {
  const open = roots.map(rawOfText)
  const changed: RawPath[] = []
  let looked = 0
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    for (const entry of entriesOf(next)) {
      if (++looked > ENTRIES_MAX || changed.length >= LISTED_MAX) return changed.sort()
      if (looked % PAUSE_EVERY === 0) await pause()
      const path = joinRaw(next, entry.name as RawPath) // `entriesOf` reads raw names.
      if (SKIPPED.has(entry.name) || touched.has(path)) continue
      if (entry.isDirectory()) open.push(path)
      // Files' clock may be a tick behind; what was shown already is not shown again for that.
      else if (changeTimeMs(path) > sinceMs - (shown.has(displayOfRaw(path)) ? 0 : TICK_MS_MAX)) {
        changed.push(path)
      }
    }
  }
  return changed.sort()
}

function entriesOf(directory: RawPath): readonly Dirent[] {
  try {
    return readdirSync(Buffer.from(directory, 'latin1'), {
      withFileTypes: true,
      encoding: 'latin1',
    })
  } catch {
    return []
  }
}

function changeTimeMs(path: RawPath): number {
  return lstatSync(Buffer.from(path, 'latin1'), { throwIfNoEntry: false })?.ctimeMs ?? 0
}
