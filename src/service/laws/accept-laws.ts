/**
 * What a human decides about laws becomes a fact: which laws hold, what is set aside, what is
 * released.
 */
import { randomUUID } from 'node:crypto'
import {
  digestBytes,
  digestDocument,
  FaultError,
  fault,
  faultError,
  isDigest,
  isUuid,
  nearest,
  showName,
} from '../../base/index.ts'
import {
  judge,
  type Laws,
  type Override,
  type Proposal,
  proposalContract,
} from '../../contracts/index.ts'
import {
  hostPort,
  hostsToRelease,
  networkGrounds,
  type StandingFold,
  showHostPort,
} from '../../gate/index.ts'
import type { KnownHome } from '../../home/index.ts'
import { HOST_STREAM, type Principal } from '../../ledger/index.ts'
import {
  bareLaws,
  DEFAULT_LAWS,
  LAYERED,
  type LawSet,
  loadLaws,
  WHOLE,
} from '../../policy/index.ts'
import type { Ledger } from '../../store/index.ts'
import type { OverrideOrder, ReleaseOrder } from '../surface/surface.ts'
import { keptLaws, type LawBook, openLawBook } from './law-book.ts'

/**
 * A human accepts the laws of a home as they are now: the register of homes names their digest, and
 * a fact of the host's stream says who accepted what, with laws and lists kept as bodies. The home
 * is registered with these laws already. Says nothing twice.
 */
export async function recordLaws(
  registered: KnownHome,
  ledger: Ledger,
  principal: Principal,
  nowMs: number,
): Promise<void> {
  const home = { ...registered, registeredLaws: registered.laws }
  const book = await openLawBook(home, ledger)
  const last = (await lastAccepted(ledger))?.laws ?? null
  const { layered } = home
  if (last?.laws === book.digest && (last.layered ?? false) === layered) return
  const bodies = [book.text, book.listsText].map((text) => Buffer.from(text))
  for (const bytes of bodies) await ledger.objects.put({ digest: digestBytes(bytes), bytes })
  const payload: Laws = {
    laws: book.digest,
    body: book.digest,
    lists: book.listsDigest,
    ...(layered ? { layered } : {}),
    accepted_at: new Date(nowMs).toISOString(),
  }
  await ledger.record({
    stream: HOST_STREAM,
    source: 'gate',
    principal,
    record: { type: 'laws_v1', payload },
  })
}

/** Records the default laws as the ones in force; does not read the law file of the home. */
export async function recordDefaultLaws(
  home: KnownHome,
  ledger: Ledger,
  principal: Principal,
  nowMs: number,
): Promise<void> {
  const bytes = Buffer.from(DEFAULT_LAWS)
  await ledger.objects.put({ digest: digestBytes(bytes), bytes })
  await recordLaws({ ...home, laws: digestBytes(bytes) }, ledger, principal, nowMs)
}

/** The laws that a human accepted last; null where there are none or their bytes are lost. */
export async function acceptedLaws(ledger: Ledger): Promise<LawSet | null> {
  const last = (await lastAccepted(ledger))?.laws ?? null
  const text = last === null ? null : await keptLaws(last.laws, ledger.objects)
  if (text === null) return null
  const ground = last?.layered === true ? LAYERED : WHOLE
  if (text.trim() === '') return bareLaws(ground)
  const reading = await loadLaws(text, ground)
  return reading.ok ? reading.laws : null
}

/**
 * Returns the home with the laws that a human accepted last, on any machine. Where one machine
 * writes the ledger, the registration of the home says which these are.
 */
export async function underAcceptedLaws(home: KnownHome, ledger: Ledger): Promise<KnownHome> {
  const accepted = ledger.files === null ? null : ((await lastAccepted(ledger))?.laws ?? null)
  if (accepted === null) return home
  return { ...home, registeredLaws: accepted.laws, layered: accepted.layered ?? false }
}

/** Returns the newest fact about laws: what was accepted, and its number. */
export async function lastAccepted(
  ledger: Pick<Ledger, 'store'>,
): Promise<{ readonly laws: Laws; readonly seq: number } | null> {
  const page = await ledger.store.find({
    stream: HOST_STREAM,
    type: 'laws_v1',
    limit: 1,
    order: 'newest_first',
  })
  const [found] = page.facts
  if (found === undefined) return null
  // The query asked for facts of this type, and the store checked them when they were recorded.
  const { record } = JSON.parse(found.text) as { record: { payload: Laws } }
  return { laws: record.payload, seq: found.seq }
}

/**
 * What a human sets aside becomes a fact: which law or block, for whose intent, how long, how often
 * (once, unless said otherwise). Every override of a law ends by itself. The actor proposes again with a fresh id; what carries over is the intent, never the words.
 */
export function overrideFact(
  order: Exclude<OverrideOrder, { kind: 'release' }>,
  standing: StandingFold,
  nowMs: number,
): Override {
  const common = {
    override_id: randomUUID(),
    uses: 1,
    reason: order.reason,
    given_at: new Date(nowMs).toISOString(),
  }
  if (order.kind === 'lift') return { ...common, kind: 'lift', ...liftedBy(order.of, standing) }
  const { policyId, actionId, forMs, uses } = order
  return {
    ...common,
    kind: 'law',
    policy_id: policyId,
    uses,
    ...(actionId === null ? {} : { action_id: actionId, intent: intentOf(actionId, standing) }),
    expires_at: new Date(nowMs + (forMs ?? UNUSED_MS)).toISOString(),
  }
}

/** How long an override for one intent can be used if the human names no duration. */
const UNUSED_MS = 24 * 60 * 60 * 1000

/** Only a law of tier 1 can be set aside, and only one that there is. */
export function refuseLaw(
  policyId: string,
  laws: readonly Pick<LawBook['laws'][number], 'policyId' | 'tier'>[],
): void {
  const law = laws.find((one) => one.policyId === policyId)
  if (law?.tier === 1) return
  const known = laws.filter(({ tier }) => tier === 1).map((one) => one.policyId)
  const near = nearest(policyId, known)
  if (law === undefined) {
    const message = `there is no law ${showName(policyId)}`
    const hint = near === null ? {} : { hint: `did you mean ${showName(near)}?` }
    throw new FaultError(fault('override.unknown_law', policyId, null, { message, ...hint }))
  }
  const message =
    law.tier === 0
      ? `the law ${showName(policyId)} is of tier 0 and cannot be set aside`
      : `the law ${showName(policyId)} asks: its question is answered, not set aside`
  throw faultError('override.tier', policyId, message)
}

function liftedBy(
  of: string,
  standing: StandingFold,
): Pick<Override, 'intent'> | Pick<Override, 'operation_digest'> {
  if (isDigest(of)) return { operation_digest: of }
  return { intent: intentOf(of, standing) }
}

function intentOf(actionId: string, standing: StandingFold): string {
  const intent = isUuid(actionId) ? standing.intentOf(actionId) : null
  if (intent !== null) return intent
  const message = `no proposal with the id ${showName(actionId)} was decided here`
  throw faultError('history.unknown', actionId, message)
}

const MINUTE_MS = 60_000
const METHOD = /^[A-Z][A-Z0-9_-]*$/

/**
 * A release becomes a fact: which hosts and methods, for which proposal, once. What it lets out
 * cannot be taken back, so it is given before the run, and only for hosts that the proposal names
 * itself. A release waits for its run as long as a question about requests waits for its answer.
 */
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
