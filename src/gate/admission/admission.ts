/**
 * Admission (G-1 to G-7) with what only the host knows: the clock, ids that were used, ceilings, real
 * paths, mounts, homes, filesystems. The document itself has passed its contract. Children of a
 * composite are judged like the outermost.
 *
 * INVARIANT (real paths count): a path that names nothing of the host can lead there through a
 *   symbolic link, so every rule about places is asked again about where it leads.
 */
import { at, type Code, parseIsoMomentMs, show, showName } from '../../base/index.ts'
import {
  EFFECT_KINDS,
  type Evaluation,
  type Glob,
  type HostFacts,
  hostPlace,
  hostRoot,
  includesGlob,
  newEffort,
  operationChain,
  operationPaths,
  type Proposal,
  parseGlob,
  type RiskLevel,
  type RootFacts,
} from '../../contracts/index.ts'
import { actorWords, grantedScopes } from '../comparison/grants.ts'
import { type GateLists, matchesListed } from '../data/lists.ts'
import { isAmended } from '../evidence/findings.ts'
import { allProposals, literalPart, type PlacedProposal, RealPaths } from '../paths/places.ts'
import { actRefusals } from './act-admission.ts'
import { higherRisk, isAtMost, riskFloor } from './risk.ts'

/** A reason to refuse, at its place in the proposal. */
export interface Refusal {
  readonly code: Code
  /** JSON Pointer into the proposal. */
  readonly path: string
  readonly message: string
  readonly hint?: string
  /** A hard fail (G-6): the same intent is refused from now on. */
  readonly permanent: boolean
}

export interface Admission {
  readonly refusals: readonly Refusal[]
  readonly permanent: boolean
  readonly risk: {
    readonly declared: RiskLevel
    readonly floor: RiskLevel
    readonly effective: RiskLevel
  }
}

/** The codes of G-6, wherever they are found: in the document or on the machine. */
export const HARD_FAILS: ReadonlySet<string> = new Set<Code>([
  'descriptor.effects_omitted',
  'descriptor.scope_implicit',
  'descriptor.resources',
  'descriptor.rollback_disabled',
  'descriptor.host_access',
  'descriptor.background',
  'descriptor.persistence',
])

/** Judges a proposal that its contract accepts. */
export function admitProposal(
  proposal: Proposal,
  host: HostFacts,
  lists: GateLists,
  rules: AdmissionRules,
): Admission {
  const declared = allProposals(proposal)
    .map(({ proposal: { descriptor } }) => descriptor.risk_level)
    .reduce(higherRisk)
  const floor = riskFloor(proposal, host)
  const effective = higherRisk(declared, floor)
  const desk = new Desk(host, lists, rules)
  for (const part of allProposals(proposal)) desk.judge(part)
  desk.judgeSandbox(proposal, effective)
  const { refusals } = desk
  return {
    refusals,
    permanent: refusals.some(({ permanent }) => permanent),
    risk: { declared, floor, effective },
  }
}

/** By which rules a proposal is admitted, and whose it is. */
export interface AdmissionRules {
  /** Evaluator 3; records of before are admitted as they were. */
  readonly isAmended: boolean
  /** An actor with a token of its own, which is no person's. */
  readonly isActors: boolean
  /** The words that a grant may name the actor by. */
  readonly actors: readonly string[]
  /** Real path; `~/` of a grant's glob begins here. */
  readonly home: string
}

export function admissionRules(
  evaluation: Pick<Evaluation, 'actor_kind' | 'agent' | 'basis' | 'evaluator'>,
): AdmissionRules {
  return {
    isAmended: isAmended(evaluation),
    isActors: evaluation.actor_kind !== 'human',
    actors: actorWords(evaluation),
    home: evaluation.basis?.home ?? '/',
  }
}

/** Whether a root of the scope lies outside what people work on here (G-2a). */
export function isScopeOutside(host: HostFacts): boolean {
  return host.roots.some(({ real }) => !isInWorkspace(real, host))
}

function isInWorkspace(real: string, { workspace, workspace_places = [] }: HostFacts): boolean {
  return [workspace, ...workspace_places].some((place) => isBelowText(real, place))
}

/** Directories of the system, which are never a scope. */
const SYSTEM = /^\/(?:bin|sbin|lib[^/]*|etc|usr|var|run|boot|snap|nix)(?:\/|$)/
const TEMPORARY = /^\/var\/(?:tmp|folders)\//

type Said = Omit<Refusal, 'permanent' | 'path'> & { readonly permanent?: boolean }

class Desk {
  readonly refusals: Refusal[] = []
  readonly #host: HostFacts
  readonly #lists: GateLists
  readonly #real: RealPaths
  readonly #roots: ReadonlyMap<string, RootFacts>
  readonly #rules: AdmissionRules

  constructor(host: HostFacts, lists: GateLists, rules: AdmissionRules) {
    this.#host = host
    this.#rules = rules
    this.#lists = lists
    this.#real = new RealPaths(host)
    this.#roots = new Map(host.roots.map((root) => [root.declared, root]))
  }

  judge(part: PlacedProposal): void {
    this.#judgeId(part)
    this.#judgeAge(part)
    this.#judgeCeilings(part)
    this.#judgeSystemState(part)
    this.#judgeScope(part)
    this.#judgeReach(part)
    for (const { path, ...said } of actRefusals(part.proposal)) {
      this.#refuse(`${part.place}${path}`, said)
    }
  }

  #refuse(path: string, { permanent, ...said }: Said): void {
    const refusal = { ...said, path, permanent: permanent ?? HARD_FAILS.has(said.code) }
    this.refusals.push(refusal)
  }

  #judgeId({ proposal: { descriptor }, place }: PlacedProposal): void {
    const { action_id } = descriptor
    if (!this.#host.seen_action_ids.includes(action_id.toLowerCase())) return
    const message = `the action id ${show(action_id, '')} was used before`
    const hint = 'make a fresh UUID for every proposal'
    this.#refuse(`${place}/descriptor/action_id`, {
      code: 'descriptor.action_id_reused',
      message,
      hint,
    })
  }

  #judgeAge({ proposal: { descriptor }, place }: PlacedProposal): void {
    const { now_ms, max_age_ms, max_future_ms } = this.#host
    const createdMs = parseIsoMomentMs(descriptor.created_at)
    const ageMs = createdMs === null ? Number.NaN : now_ms - createdMs
    if (ageMs <= max_age_ms && ageMs >= -max_future_ms) return
    const words =
      ageMs < 0
        ? `lies more than ${seconds(max_future_ms)} in the future`
        : `is more than ${seconds(max_age_ms)} old`
    this.#refuse(`${place}/descriptor/created_at`, {
      code: 'descriptor.created_at',
      message: `${show(descriptor.created_at, '')} ${words}`,
    })
  }

  #judgeCeilings({ proposal: { descriptor }, place }: PlacedProposal): void {
    const { ceilings } = this.#host
    for (const cap of CAPS) {
      const [wanted, ceiling] = [descriptor.resources[cap], ceilings[cap]]
      if (wanted <= ceiling) continue
      this.#refuse(`${place}/descriptor/resources/${cap}`, {
        code: 'descriptor.ceiling',
        message: `${show(wanted, '')} is more than this host grants`,
        hint: `at most ${ceiling}`,
      })
    }
  }

  #judgeSystemState({ proposal: { descriptor }, place }: PlacedProposal): void {
    if (!descriptor.effects.system_state_change) return
    this.#refuse(`${place}/descriptor/effects/system_state_change`, {
      code: 'descriptor.system_state',
      message: 'a change of system state can be neither staged nor undone',
    })
  }

  #judgeScope({ proposal: { descriptor }, place }: PlacedProposal): void {
    for (const [index, path] of descriptor.scope.filesystem.paths.entries()) {
      const where = `${place}/descriptor/scope/filesystem/paths/${index}`
      const root = this.#roots.get(literalPart(path))
      if (root === undefined) {
        // Nothing is known of it, so nothing can be promised about it.
        const message = `the host could not find out where ${show(path, where)} leads`
        this.#refuse(where, { code: 'descriptor.host_access', message, permanent: false })
      } else {
        this.#judgeRoot(root, path, where)
      }
    }
  }

  #judgeRoot(root: RootFacts, path: string, where: string): void {
    const { real } = root
    const shown =
      real === root.declared
        ? show(path, where)
        : `${show(path, where)}, which is ${showName(real)},`
    const whole =
      path === root.declared
        ? real
        : `${real === '/' ? '' : real}${path.slice(root.declared.length)}`
    const refuse = (words: string, permanent = true): void =>
      this.#refuse(where, {
        code: 'descriptor.host_access',
        message: `${shown} ${words}`,
        permanent,
      })
    const glob = real.includes('*') ? null : parseGlob(whole)
    if (glob === null) {
      const message = `${shown} has a star in its real name, so no glob can speak of it`
      this.#refuse(where, { code: 'descriptor.wildcard', message })
      return
    }
    const place = hostRoot(glob, this.#rules.isAmended)
    if (place !== null) refuse(`reaches for the host: ${place}`)
    const home = this.#host.homes.find(({ path: one }) => one === real || isBelowText(one, real))
    if (home !== undefined) refuse(home.path === real ? 'is a home itself' : 'holds a home')
    this.#judgePlace(real, shown, where)
    if (this.#rules.isAmended) this.#judgeOutside(glob, real, shown, where)
    if (root.kind === 'other') refuse('is neither a file nor a directory', false)
    const [mount] = root.mounts
    if (mount !== undefined) refuse(`holds a mount at ${showName(mount)}`, false)
    if (root.read_only || matchesListed(this.#lists.refusedFilesystems, root.filesystem)) {
      const words = root.read_only ? 'that cannot be written' : showName(root.filesystem)
      this.#refuse(where, {
        code: 'promote.unsupported_fs',
        message: `${shown} lies on a filesystem ${words}, where nothing could be promoted safely`,
      })
    }
  }

  /** A scope outside the workspace: never the system's, and an actor's only where a law grants it. */
  #judgeOutside(glob: Glob, real: string, shown: string, where: string): void {
    if (isInWorkspace(real, this.#host)) return
    if (SYSTEM.test(real) && !TEMPORARY.test(real)) {
      const message = `${shown} is a system directory, which is never a scope`
      this.#refuse(where, { code: 'descriptor.host_access', message })
      return
    }
    const { isActors, actors, home } = this.#rules
    if (!isActors) return
    const places = { home, workspace: this.#host.workspace }
    const subject = { actors: new Set(actors), nowMs: this.#host.now_ms, places }
    const granted = grantedScopes(this.#lists.grants ?? [], subject)
    if (granted.some((one) => includesGlob(one, glob, newEffort()))) return
    const message = `${shown} lies outside the workspace ${showName(this.#host.workspace)}`
    const hint = 'a law can grant it: `grants: [{grant_id: …, scope: [~/other/**]}]`'
    this.#refuse(where, { code: 'descriptor.scope_outside', message, hint })
  }

  /** Judges the real paths behind everything that the operation and the effects name. */
  #judgeReach({ proposal: { descriptor, operation }, place }: PlacedProposal): void {
    for (const kind of EFFECT_KINDS) {
      for (const [index, path] of descriptor.effects.filesystem[kind].entries()) {
        const where = `${place}/descriptor/effects/filesystem/${kind}/${index}`
        this.#judgeReached(path, this.#real.translate(path), where)
      }
    }
    for (const link of operationChain(operation)) {
      for (const { place: step, text } of operationPaths(link.operation)) {
        const where = `${place}/operation${link.place}${step}`
        this.#judgeReached(text, this.#real.follow(text), where)
      }
    }
  }

  /** The contract has judged the path's text. Judges only the real path that it leads to. */
  #judgeReached(path: string, real: string, where: string): void {
    if (real === path) return this.#judgePlace(literalPart(real), show(path, where), where)
    const shown = `${show(path, where)}, which is ${showName(real)},`
    const glob = parseGlob(real)
    const place = glob === null ? null : hostPlace(glob, this.#rules.isAmended)
    if (place !== null) {
      const message = `${shown} reaches for the host: ${place}`
      this.#refuse(where, { code: 'descriptor.host_access', message })
    }
    this.#judgePlace(literalPart(real), shown, where)
  }

  /** Refuses writ's own places and the homes of other users. */
  #judgePlace(real: string, shown: string, where: string): void {
    const { writ_places, homes } = this.#host
    // A scope that holds such a place is ordinary; what a run does there is seen in the rehearsal.
    const isShared = this.#rules.isAmended && SHARED_OF_WRIT.test(real)
    if (!isShared && writ_places.some((own) => isBelowText(real, own))) {
      const message = `${shown} reaches for what belongs to writ`
      this.#refuse(where, { code: 'descriptor.host_access', message })
    }
    const other = homes.find(({ path, own }) => !own && isBelowText(real, path))
    const own = homes.find((home) => home.own && isBelowText(real, home.path))
    // Homes can lie inside one another; the innermost owner counts.
    if (other === undefined || (own !== undefined && own.path.length >= other.path.length)) return
    const message = `${shown} lies in the home of another user`
    this.#refuse(where, { code: 'descriptor.host_access', message })
  }

  /** The host's floor counts here too (G-4): a modest word does not spare the sandbox. */
  judgeSandbox(proposal: Proposal, effective: RiskLevel): void {
    if (isAtMost(effective, 'MEDIUM') || proposal.descriptor.sandbox.required) return
    this.#refuse(at('/descriptor/sandbox', 'required'), {
      code: 'descriptor.sandbox_required',
      message: `the risk is ${showName(effective)}, so the action needs a sandbox`,
    })
  }
}

/** Laws and rules of a home: an act may change them after a question. */
const SHARED_OF_WRIT = /\/\.writ\/(?:laws\.yaml|rules(?:\/.+)?)$/

const CAPS = ['max_cpu_ms', 'max_memory_mb', 'max_disk_mb', 'max_duration_ms'] as const

function seconds(ms: number): string {
  return `${ms / 1000} s`
}

function isBelowText(path: string, directory: string): boolean {
  if (path === directory || directory === '/') return true
  return path.startsWith(`${directory}/`)
}
