/**
 * What the parts of a law file say about one another: ids that stand once, conflicts that a priority
 * settles, tiers that no lower law undoes, patterns and hosts of legal form.
 */
import { at, isIsoMoment, show, showName } from '../../base/index.ts'
import { parseGlob } from '../descriptor/glob.ts'
import { parseHost } from '../descriptor/web-address.ts'
import { type ConflictWords, reportTies } from '../flow/policy-conflicts.ts'
import { type Check, elements, field, type Subject } from '../kernel/contract.ts'
import { DEFAULT_LAW_IDS } from './default-law-ids.ts'
import { checkDispatch } from './dispatch.ts'
import { checkNotify } from './notification.ts'

const LAW_WORDS: ConflictWords = {
  list: 'laws',
  ranked: ['laws'],
  tie: 'laws.policy_tie',
  cycle: 'laws.policy_cycle',
}

function checkIds({ document, report }: Subject): void {
  const seen = new Set<unknown>()
  for (const [index, law] of elements(document['laws']).entries()) {
    const id = field(law, 'policy_id')
    if (typeof id !== 'string') continue
    if (seen.has(id)) {
      const path = `/laws/${index}/policy_id`
      report.add('laws.duplicate_id', path, `the id ${showName(id)} is used twice`)
    }
    seen.add(id)
  }
}

function checkConflicts(subject: Subject): void {
  const { document, report } = subject
  const laws = elements(document['laws'])
  // The first of two equal ids counts, as everywhere.
  const known = new Map(laws.map((law) => [field(law, 'policy_id'), law] as const).reverse())
  const below = defaultsUnder(document)
  const names = [...known.keys(), ...below].filter((id) => typeof id === 'string')
  for (const [index, law] of laws.entries()) {
    for (const [place, other] of elements(field(law, 'conflicts_with')).entries()) {
      if (typeof other !== 'string') continue
      const path = at(`/laws/${index}/conflicts_with`, place)
      const named = known.get(other)
      if (named === undefined) {
        // Whether the two are in a tie only a reader of the whole layers can tell.
        if (below.includes(other)) continue
        const message = `there is no law ${showName(other)}`
        report.add('laws.unknown_ref', path, message, report.guess(other, names))
      } else if (law === named) {
        report.add('laws.policy_tie', path, 'a law is in conflict with itself')
      } else reportTierOverride(law, named, path, subject)
    }
  }
  reportTies(subject, LAW_WORDS)
}

/** Ids of the default laws that hold besides those of the file. */
function defaultsUnder(document: Subject['document']): readonly string[] {
  if (document['replace'] === true) return []
  const disabled = elements(document['disable'])
  return DEFAULT_LAW_IDS.filter((id) => !disabled.includes(id))
}

/** Reports a law that overrides one of a stronger tier by its priority. No law overrides tier 0. */
function reportTierOverride(law: unknown, other: unknown, path: string, subject: Subject): void {
  const rank = (one: unknown): number => Number(field(one, 'priority'))
  const tier = (one: unknown): number => Number(field(one, 'tier'))
  const [winner, loser] = rank(law) > rank(other) ? [law, other] : [other, law]
  if (!(rank(winner) > rank(loser) && tier(winner) > tier(loser))) return
  if (field(winner, 'override_mode') === 'merge') return
  const [strong, weak] = [field(winner, 'policy_id'), field(loser, 'policy_id')].map(String)
  subject.report.add(
    'laws.tier_override',
    path,
    `${showName(strong ?? '')} of tier ${tier(winner)} would override ${showName(weak ?? '')} of tier ${tier(loser)}`,
    'let it have the lower priority, the same tier, or `merge`',
  )
}

/** Reports a law of tier 2 that blocks. Tier 2 only asks; laws that block belong in tier 0 or 1. */
function checkTierActions({ document, report }: Subject): void {
  for (const [index, law] of elements(document['laws']).entries()) {
    if (field(law, 'tier') !== 2 || field(law, 'violation_action') !== 'block') continue
    report.add(
      'laws.tier_action',
      `/laws/${index}/violation_action`,
      'a law of tier 2 asks, it does not block',
      'use `confirm`, or tier 1',
    )
  }
}

/** Reports `approvals` on a law that asks no question: one that blocks or only reports. */
function checkApprovals({ document, report }: Subject): void {
  for (const [index, law] of elements(document['laws']).entries()) {
    if (field(law, 'approvals') === undefined) continue
    const [tier, action] = [field(law, 'tier'), field(law, 'violation_action')]
    if (tier === 2 && action === 'confirm') continue
    report.add(
      'laws.approvals',
      `/laws/${index}/approvals`,
      `approvals are counted where a law asks, and this one is of tier ${show(tier, '')} with ${show(action, '')}`,
      'use tier 2 with `confirm`, or leave `approvals` out',
    )
  }
}

/** `~/` begins at a home, two stars and a slash at any directory; stars alone would drop everything. */
function checkEphemeral({ document, report }: Subject): void {
  for (const [index, pattern] of elements(document['ephemeral']).entries()) {
    if (typeof pattern !== 'string' || isEphemeral(pattern)) continue
    report.add(
      'laws.glob',
      `/ephemeral/${index}`,
      `${show(pattern, '')} is not a pattern that names a place`,
      'such as `~/.cache/**` or `**/__pycache__/**`',
    )
  }
}

function isEphemeral(pattern: string): boolean {
  if (!/^(?:~\/|\*\*\/|\/)/.test(pattern)) return false
  if (parseGlob(pattern.startsWith('/') ? pattern : `/${pattern}`) === null) return false
  return pattern.split('/').some((name) => name !== '~' && name.replaceAll('*', '') !== '')
}

const ACTOR = /^(?:ai|script|device|agent|session)(?::\S+)?$/

function checkGrants({ document, report }: Subject): void {
  const seen = new Set<unknown>()
  for (const [index, grant] of elements(document['grants']).entries()) {
    const place = `/grants/${index}`
    const id = field(grant, 'grant_id')
    if (typeof id === 'string' && seen.has(id)) {
      report.add('laws.duplicate_id', `${place}/grant_id`, `the id ${showName(id)} is used twice`)
    }
    seen.add(id)
    for (const [at, name] of elements(field(grant, 'actors')).entries()) {
      if (typeof name !== 'string' || ACTOR.test(name)) continue
      report.add(
        'laws.actor',
        `${place}/actors/${at}`,
        `${show(name, '')} names no actor`,
        'such as `ai`, `script`, `ai:builder` or `agent:claude`',
      )
    }
    const until = field(grant, 'until')
    if (typeof until === 'string' && !isIsoMoment(until)) {
      const hint = 'such as `2026-12-31T00:00:00Z`'
      report.add('laws.moment', `${place}/until`, `${show(until, '')} is no moment`, hint)
    }
    checkGrantGlobs(grant, place, report)
  }
}

function checkGrantGlobs(grant: unknown, place: string, report: Subject['report']): void {
  for (const name of ['create', 'change', 'delete', 'scope']) {
    for (const [at, glob] of elements(field(grant, name)).entries()) {
      if (typeof glob !== 'string' || isPlaced(glob, name === 'scope')) continue
      report.add(
        'laws.glob',
        `${place}/${name}/${at}`,
        `${show(glob, '')} is not a pattern of normal form`,
        name === 'scope'
          ? 'such as `~/other/**`'
          : 'such as `src/**`, `**/dist/**` or `~/other/**`',
      )
    }
  }
}

/** A scope is named from the root or from the home; the rest may begin anywhere. */
function isPlaced(glob: string, isScope: boolean): boolean {
  if (isScope && !/^(?:~\/|\/)./.test(glob)) return false
  const rest = glob.startsWith('~/') ? glob.slice(1) : glob
  return glob !== '' && parseGlob(rest.startsWith('/') ? rest : `/${rest}`) !== null
}

/** A place that is hidden or shown is a path, with everything in it. */
function checkPlaces({ document, report }: Subject): void {
  const { settings } = document
  const hidden = elements(field(settings, 'hidden'))
  for (const name of ['hidden', 'shown']) {
    for (const [index, path] of elements(field(settings, name)).entries()) {
      if (typeof path !== 'string') continue
      const place = `/settings/${name}/${index}`
      if (!isPlace(path)) {
        const message = `${show(path, '')} is not a path that can be ${name}`
        report.add('laws.glob', place, message, PLACE_HINT)
      } else if (name === 'shown' && hidden.includes(path)) {
        report.add('laws.glob', place, `${show(path, '')} is hidden and shown at once`)
      }
    }
  }
}

const PLACE_HINT =
  'a path without `*`, `..` and a slash at its end: `secrets` (in the workspace), `~/clients` or `/srv/secrets`'

function isPlace(path: string): boolean {
  const plain = path.replace(/\/\*\*$/, '')
  if (plain === '' || plain === '/' || plain.includes('*') || /^~(?!\/)/.test(plain)) return false
  return isPlaced(plain, false)
}

function checkHosts({ document, report }: Subject): void {
  const hosts = elements(field(document['settings'], 'read_only_hosts'))
  for (const [index, host] of hosts.entries()) {
    if (typeof host !== 'string' || (!host.includes('*') && parseHost(host) !== null)) continue
    report.add(
      'laws.host',
      `/settings/read_only_hosts/${index}`,
      `${show(host, '')} is not one exact host name`,
      'lower case, no scheme and no path, such as `registry.npmjs.org`',
    )
  }
}

export const LAWS_FILE_CHECKS: readonly Check[] = [
  checkIds,
  checkConflicts,
  checkTierActions,
  checkApprovals,
  checkEphemeral,
  checkGrants,
  checkPlaces,
  checkHosts,
  checkNotify,
  checkDispatch,
]
