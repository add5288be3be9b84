/**
 * A release becomes a fact: which hosts and methods, for which proposal, once. What it lets out cannot
 * be taken back, so it is given before the run, and only for hosts that the proposal names itself.
 */
import { randomUUID } from 'node:crypto'
import {
  digestDocument,
  FaultError,
  fault,
  faultError,
  nearest,
  showName,
} from '../../base/index.ts'
import { judge, type Override, type Proposal, proposalContract } from '../../contracts/index.ts'
import { hostPort, hostsToRelease, networkGrounds, showHostPort } from '../../gate/index.ts'
import type { ReleaseOrder } from '../surface/surface.ts'
import type { LawBook } from './law-book.ts'

const MINUTE_MS = 60_000
const METHOD = /^[A-Z][A-Z0-9_-]*$/

/** A release waits for its run as long as a question about requests waits for its answer. */
export function releaseFact(order: ReleaseOrder, minutes: number, nowMs: number): Override {
  const { proposal, hosts, methods, reason } = order
  const grounds = groundsOf(proposal)
  for (const host of hosts) refuseHost(host, grounds.hosts)
  for (const method of methods) {
    if (!METHOD.test(method)) throw refused(method, `${showName(method)} is no method`)
  }
  if (hosts.length === 0 || methods.length === 0) throw refused('', 'no host or no method is named')
  return {
    override_id: randomUUID(),
    kind: 'release',
    action_id: grounds.proposal.descriptor.action_id,
    proposal_digest: digestDocument(proposal),
    hosts: [...new Set(hosts)],
    methods: [...new Set(methods)],
    uses: 1,
    reason,
    given_at: new Date(nowMs).toISOString(),
    expires_at: new Date(nowMs + minutes * MINUTE_MS).toISOString(),
  }
}

/** Hosts of a proposal that nothing is sent to before a human released them. */
export function releasesNeeded(proposal: Proposal, { settings }: LawBook): readonly string[] {
  const grounds = networkGrounds(proposal, settings.readOnlyHosts, null)
  if (grounds === null) return []
  const { hosts, read_only_hosts: readOnlyHosts } = grounds
  return hostsToRelease({ hosts, readOnlyHosts, release: null })
}

function groundsOf(document: unknown) {
  const { valid, violations } = judge(proposalContract, document)
  if (!valid) {
    const [first] = violations
    throw refused(first?.path ?? '', `the proposal is refused: ${first?.message ?? 'it is broken'}`)
  }
  const proposal = document as Proposal // The contract has judged it.
  const grounds = networkGrounds(proposal, [], null)
  if (grounds === null) throw refused('', 'nothing of the proposal runs with a network')
  return { proposal, hosts: grounds.hosts }
}

/** Nothing widens a scope; one port of a host that it names is less. */
function refuseHost(host: string, known: readonly string[]): void {
  const read = hostPort(host)
  if (read !== null && known.includes(showHostPort(read.name, read.port))) return
  const isStandard = read?.port === 80 || read?.port === 443
  if (isStandard && known.includes(showHostPort(read.name, null))) return
  const near = nearest(host, [...known])
  const hint = near === null ? {} : { hint: `did you mean ${showName(near)}?` }
  const message = `the scope of the proposal does not name ${showName(host)}`
  throw new FaultError(fault('override.release', host, null, { message, ...hint }))
}

function refused(at: string, message: string): FaultError {
  return faultError('override.release', at, message)
}
