/**
 * By which rules the network of a proposal is kept: the hosts of its scope, those of them that the laws
 * mark read-only, and what a human released for it. Recorded with the decision, so that what passed and
 * what was refused can be judged again.
 */
import type { ActionDescriptor, NetworkGrounds, Proposal } from '../../contracts/index.ts'
import { leavesOf } from '../paths/places.ts'
import { hostPort } from './host-name.ts'
import type { NetworkTerms } from './rules.ts'

/** Whether something of it runs with a network; a request that is held is not sent by a run. */
export function runsWithNetwork({ descriptor, operation }: Proposal): boolean {
  return descriptor.sandbox.allow_network && operation?.type !== 'NETWORK_REQUEST'
}

export function hostsOf({ scope }: ActionDescriptor): readonly string[] {
  return scope.network.required ? (scope.network.hosts ?? []) : []
}

/** Null when nothing of the proposal runs with a network. */
export function networkGrounds(
  proposal: Proposal,
  readOnlyHosts: readonly string[],
  release: NetworkGrounds['release'],
): NetworkGrounds | null {
  const leaves = leavesOf(proposal).filter(({ proposal: leaf }) => runsWithNetwork(leaf))
  if (leaves.length === 0) return null
  const hosts = [...new Set(leaves.flatMap(({ proposal: leaf }) => hostsOf(leaf.descriptor)))]
  const names = new Set(hosts.map((host) => hostPort(host)?.name))
  return {
    hosts,
    read_only_hosts: readOnlyHosts.filter((host) => names.has(hostPort(host)?.name)),
    release,
  }
}

/** The rules of the whole. */
export function groundTerms(grounds: NetworkGrounds): NetworkTerms {
  const { hosts, read_only_hosts, release, service_hosts: service = [] } = grounds
  return { hosts, readOnlyHosts: read_only_hosts, release, service }
}

/** With the hosts that a participant lives by; they are no part of what it proposes. */
export function withEgress(
  grounds: NetworkGrounds | null,
  service: readonly string[],
): NetworkGrounds | null {
  if (service.length === 0) return grounds
  const own = grounds ?? { hosts: [], read_only_hosts: [], release: null }
  return { ...own, service_hosts: [...service] }
}

/** The rules of one step. What goes out live can only be the last of a composite (G-22). */
export function stepTerms(grounds: NetworkGrounds, step: Proposal, isLast: boolean): NetworkTerms {
  return {
    hosts: runsWithNetwork(step) ? hostsOf(step.descriptor) : [],
    readOnlyHosts: grounds.read_only_hosts,
    release: isLast ? grounds.release : null,
  }
}
