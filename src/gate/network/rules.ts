/**
 * Which requests of a run pass (G-10d, G-16): requests to hosts that the scope names exactly, on ports
 * 80 and 443 unless the scope names another. Without a question a run may only read, and only from
 * hosts that a law marks read-only. Everything else needs a human's release for hosts and methods,
 * given before the run.
 *
 * INVARIANT (nothing widens a scope): a host that a law or a release names and the scope does not is
 *   refused all the same.
 *
 * By which rules the network of a proposal is kept: the hosts of its scope, those of them that the laws
 * mark read-only, and what a human released for it. Recorded with the decision, so that what passed and
 * what was refused can be judged again.
 *
 * What the connections of a run mean for its decision (G-15, G-16). A request that did not pass is
 * `effect.irreversible`: it was wanted, and nothing could have taken it back. One to a host that the
 * scope does not name was not declared either. A tunnel that was cut because more went up than reading
 * takes is asked about (`effect.upload`); before evaluator 3 it was irreversible too. What a server did
 * not answer is no effect.
 *
 * INVARIANT (what passed is judged again): the record is not believed. A connection that the rules
 *   would have refused is a finding, though it says that it passed.
 */
import type { Code } from '../../base/index.ts'
import type {
  ActionDescriptor,
  NetworkConnection,
  NetworkGrounds,
  Proposal,
} from '../../contracts/index.ts'
import { FindingList } from '../evidence/findings.ts'
import { leavesOf } from '../paths/places.ts'
import { type HostName, type HostPort, hostPort, showHostPort } from './host-name.ts'

/** What a human released for one run. */
export interface Release {
  readonly hosts: readonly string[]
  readonly methods: readonly string[]
}

/** The rules in the form that is recorded with a decision. */
export interface NetworkTerms {
  readonly hosts: readonly string[]
  readonly readOnlyHosts: readonly string[]
  readonly release: Release | null
  /** Hosts of the service that the participant itself runs on. It may send them anything. */
  readonly service?: readonly string[]
}

export interface NetworkRules {
  readonly hosts: readonly HostPort[]
  readonly readOnly: readonly HostPort[]
  readonly released: readonly HostPort[]
  readonly releasedMethods: ReadonlySet<string>
  readonly service: readonly HostPort[]
  /** Addresses that the scope names themselves. */
  readonly literals: readonly HostPort[]
}

/** What a request wants, as far as the proxy can see; through a tunnel the method is CONNECT. */
export interface Wanted {
  readonly method: string
  readonly host: Pick<HostName, 'name'>
  readonly port: number
  readonly hasBody: boolean
}

export type Verdict =
  | { readonly passes: true; readonly isReleased: boolean; readonly isService?: true }
  | { readonly passes: false; readonly code: Code }

export const READING_METHODS: ReadonlySet<string> = new Set(['GET', 'HEAD', 'OPTIONS'])
/** What a tunnel may send without a release beyond handshakes and answered requests. */
export const TUNNEL_UPLOAD_MAX = 64 * 1024
/** What a run may send without a release, every byte counted. */
export const RUN_UPLOAD_MAX = 1024 * 1024
/** What reading from one host takes in a run beyond handshakes and answered requests (UploadMeter). */
const READING_UPLOAD = 8 * 1024
const READING_SHARE = 0.02

/** Returns what a run may have sent to a host that only gives, after so many bytes came from it. */
export function readingAllowance(received: number): number {
  return READING_UPLOAD + Math.floor(received * READING_SHARE)
}

const STANDARD_PORTS: ReadonlySet<number> = new Set([80, 443])

export function networkRules(terms: NetworkTerms): NetworkRules {
  const { hosts, readOnlyHosts, release, service = [] } = terms
  const scope = [...hosts, ...service].flatMap(readHost)
  return {
    hosts: scope,
    readOnly: readOnlyHosts.flatMap(readHost),
    released: (release?.hosts ?? []).flatMap(readHost),
    releasedMethods: new Set(release?.methods ?? []),
    service: service.flatMap(readHost),
    literals: scope.filter(({ isAddress }) => isAddress),
  }
}

/** What is no host names nothing. */
function readHost(text: string): HostPort[] {
  const read = hostPort(text)
  return read === null ? [] : [read]
}

export function judgeRequest(rules: NetworkRules, wanted: Wanted): Verdict {
  const { method, host, port, hasBody } = wanted
  if (!rules.hosts.some(({ name }) => name === host.name)) return refused('network.host')
  if (!names(rules.hosts, host.name, port)) return refused('network.port')
  if (names(rules.service, host.name, port)) {
    return { passes: true, isReleased: false, isService: true }
  }
  if (names(rules.released, host.name, port) && rules.releasedMethods.has(method)) {
    return { passes: true, isReleased: true }
  }
  if (!names(rules.readOnly, host.name, port)) return refused('network.method')
  if (method !== 'CONNECT' && !READING_METHODS.has(method)) return refused('network.method')
  // What reads has nothing to say beyond its head.
  return hasBody ? refused('network.body') : { passes: true, isReleased: false }
}

/** Exactly, with its port unless that is 80 or 443. */
function names(entries: readonly HostPort[], name: string, port: number): boolean {
  return entries.some(
    (entry) =>
      entry.name === name && (entry.port === null ? STANDARD_PORTS.has(port) : entry.port === port),
  )
}

function refused(code: Code): Verdict {
  return { passes: false, code }
}

/** Hosts of the scope that nothing can be sent to before a human released them. */
export function hostsToRelease({ hosts, readOnlyHosts }: NetworkTerms): readonly string[] {
  const rules = networkRules({ hosts, readOnlyHosts, release: null })
  return hosts.filter((text) => {
    const [host] = readHost(text)
    if (host === undefined) return false
    const ports = host.port === null ? [...STANDARD_PORTS] : [host.port]
    return !ports.every((port) => names(rules.readOnly, host.name, port))
  })
}

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

export function networkFindings(
  connections: readonly NetworkConnection[],
  rules: NetworkRules,
  findings = new FindingList(),
  isAmended = true,
): FindingList {
  for (const connection of connections) {
    const code = refusalOf(connection, rules)
    if (code === null) continue
    const place = showHostPort(connection.host, connection.port)
    const what = connection.method === undefined ? code : `${connection.method}: ${code}`
    if (code === 'network.upload' && isAmended) {
      findings.add('effect.upload', place, what)
      continue
    }
    if (code === 'network.host') findings.add('effect.undeclared', place, what)
    findings.add('effect.irreversible', place, what)
  }
  return findings
}

function refusalOf(connection: NetworkConnection, rules: NetworkRules): string | null {
  const { outcome, code, host, port, method = '', released, class: kind } = connection
  if (outcome === 'refused') return code ?? 'network.request'
  if (outcome === 'failed') return null
  const verdict = judgeRequest(rules, { method, host: { name: host }, port, hasBody: false })
  if (!verdict.passes) return verdict.code
  const isAsSaid =
    verdict.isReleased === (released === true) &&
    (verdict.isService === true) === (kind === 'service')
  return isAsSaid ? null : 'network.method'
}

/** Returns whether a run only read from read-only hosts, which asks no human by itself (G-16). */
export function onlyRead(connections: readonly NetworkConnection[]): boolean {
  return connections.every(
    ({ outcome, released }) => outcome !== 'refused' && released === undefined,
  )
}

/**
 * The variables by which programs in the sandbox find the proxy. A run without a network gets none
 * of them. In a run with a network they replace those of the caller's environment. On the sandbox's
 * own loopback, where no other program listens.
 */
export const PROXY_PORT = 3128

const ADDRESS = `http://127.0.0.1:${PROXY_PORT}`

export const PROXY_ENVIRONMENT: Readonly<Record<string, string>> = {
  HTTP_PROXY: ADDRESS,
  HTTPS_PROXY: ADDRESS,
  http_proxy: ADDRESS,
  https_proxy: ADDRESS,
  ALL_PROXY: ADDRESS,
  all_proxy: ADDRESS,
  // Without exceptions: there is no other way out.
  NO_PROXY: '',
  no_proxy: '',
  npm_config_proxy: ADDRESS,
  npm_config_https_proxy: ADDRESS,
  npm_config_noproxy: '',
  // Reports about what is installed are uploads.
  npm_config_audit: 'false',
  npm_config_fund: 'false',
  // Makes Node 24 and later read the names above.
  NODE_USE_ENV_PROXY: '1',
}
