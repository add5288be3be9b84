/**
 * What two sets of laws do differently: laws, grants, places and settings that one of them adds,
 * removes or changes. Compares what is in force, so comments and order make no difference.
 */
import type { GrantDocument } from '../contracts/index.ts'
import { DEFAULT_GRANTS } from './default-laws.ts'
import type { Law, LawSet } from './law.ts'

export interface LawDifference {
  readonly kind: 'added' | 'changed' | 'removed'
  /** Such as `law NO_CRITICAL` or `setting plain_yes`. */
  readonly name: string
  /** Null for one that is added. */
  readonly before: string | null
  /** Null for one that is removed. */
  readonly after: string | null
}

/** Removed ones first: they are what protects no more. */
export function lawDifferences(before: LawSet, after: LawSet): readonly LawDifference[] {
  const [old, now] = [partsOf(before), partsOf(after)]
  const names = [...new Set([...old.keys(), ...now.keys()])]
  const all = names.flatMap((name): readonly LawDifference[] => {
    const [was, is] = [old.get(name) ?? null, now.get(name) ?? null]
    if (was === is) return []
    const kind = was === null ? 'added' : is === null ? 'removed' : 'changed'
    return [{ kind, name, before: was, after: is }]
  })
  const of = (kind: LawDifference['kind']) => all.filter((one) => one.kind === kind)
  return [...of('removed'), ...of('changed'), ...of('added')]
}

/** Every part of the laws by its name, in words that differ where the parts differ. */
function partsOf(laws: LawSet): ReadonlyMap<string, string> {
  const own = laws.laws.filter(({ isBuiltIn }) => !isBuiltIn)
  return new Map([
    ...(laws.isWhole ? [['replace', 'no default law and no default grant holds'] as const] : []),
    ...own.map((law) => [`law ${law.policyId}`, lawWords(law)] as const),
    ...grantsOf(laws).map((grant) => [`grant ${grant.grant_id}`, grantWords(grant)] as const),
    ...laws.shown.map((place) => [`shown ${place}`, 'runs without a network can read it'] as const),
    ...laws.hidden.map((place) => [`hidden ${place}`, 'no run can read it'] as const),
    ...laws.ephemeral.map((place) => [`ephemeral ${place}`, 'changes are dropped'] as const),
    ...settingParts('', laws.settings),
  ])
}

function lawWords(law: Law): string {
  const { tier, action, priority, overrideMode, conflictsWith, approvals, expression } = law
  const rest = [
    `priority ${priority}`,
    `override ${overrideMode}`,
    ...(approvals === 1 ? [] : [`approvals ${approvals}`]),
    ...(conflictsWith.length === 0 ? [] : [`conflicts with ${conflictsWith.join(', ')}`]),
  ]
  const condition = expression.source.replaceAll(/\s+/g, ' ').trim()
  return `tier ${tier}, ${action} if ${condition} (${rest.join(', ')})`
}

/** The grants in force: those of the file and the default ones that it leaves. */
function grantsOf({ grants, disabled, isWhole }: LawSet): readonly GrantDocument[] {
  if (isWhole) return grants
  const gone = new Set([...grants.map(({ grant_id }) => grant_id), ...disabled])
  return [...grants, ...DEFAULT_GRANTS.filter(({ grant_id }) => !gone.has(grant_id))]
}

function grantWords({ grant_id: _, ...grant }: GrantDocument): string {
  return `unasked: ${fieldWords(grant)}`
}

function fieldWords(fields: object): string {
  const parts = Object.entries(fields).sort(([one], [other]) => (one < other ? -1 : 1))
  return parts.map(([name, value]) => `${name} ${valueWords(value)}`).join('; ')
}

function settingParts(above: string, settings: object): readonly (readonly [string, string])[] {
  return Object.entries(settings).flatMap(([key, value]: readonly [string, unknown]) => {
    const name = `${above}${SETTING_NAMES.get(key) ?? snaked(key)}`
    const isGroup = typeof value === 'object' && value !== null && !Array.isArray(value)
    if (isGroup) return settingParts(`${name}.`, value)
    if (!isWays(value)) return [[`setting ${name}`, valueWords(value)] as const]
    // The list of names tells their order, which decides among ways that reach the same device.
    return [
      [`setting ${name}`, valueWords(value.map((way) => way.name))] as const,
      ...value.map((way) => [`setting ${name}.${way.name}`, fieldWords(way)] as const),
    ]
  })
}

interface Way {
  readonly name: string
}

/** Whether a setting lists ways, which have names (`notify`, `dispatch`); each is shown by itself. */
function isWays(value: unknown): value is readonly Way[] {
  return (
    Array.isArray(value) && value.length > 0 && value.every((one) => typeof one?.name === 'string')
  )
}

/** Settings that a file writes in another unit. */
const SETTING_NAMES: ReadonlyMap<string, string> = new Map([
  ['questionMinutes', 'question_ttl in minutes'],
])

function snaked(key: string): string {
  return key.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`)
}

function valueWords(value: unknown): string {
  if (typeof value === 'string') return value
  if (!Array.isArray(value)) return JSON.stringify(value)
  return value.length === 0 ? 'none' : value.map(valueWords).join(', ')
}
