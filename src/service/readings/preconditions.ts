/**
 * Preconditions (G-9), probed by the host. What cannot be probed counts as failed. The answer names
 * what failed; an actor learns only that a precondition failed.
 */
import { lstatSync } from 'node:fs'
import { networkInterfaces } from 'node:os'
import type { Proposal } from '../../contracts/index.ts'
import { refusedAddress } from '../../gate/index.ts'

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
