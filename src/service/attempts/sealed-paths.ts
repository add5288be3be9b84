/**
 * Paths that no participant may change, held against what an attempt changed. Mounts cannot seal a path
 * that is not there yet, nor a link, nor a directory above: the changes tell.
 */
import { type Glob, matchesPath, parseGlob, type SandboxResult } from '../../contracts/index.ts'
import {
  type Change,
  displayOfRaw,
  isBelow,
  type RawPath,
  rawOfText,
  textOfRaw,
} from '../../gate/index.ts'
import type { AttemptOrder, SealedPaths } from '../surface/attempt-surface.ts'

type SealedOrder = Pick<AttemptOrder, 'sealed' | 'workspace'>

/** What a finding says about a change of something sealed. */
const DETAILS = {
  'flow.program_touched': 'no participant may change a program of the run, or what it is made of',
  'flow.artifact_touched': 'no participant may change what another node or another run handed in',
} as const satisfies Record<SealedPaths['code'], string>

/** Absolute. */
export function sealedPlaces({ sealed = [], workspace }: SealedOrder): readonly string[] {
  return sealed.flatMap(({ places }) => places.map((place) => `${workspace}/${place}`))
}

/** One finding for each change of something sealed, or of a directory that leads to it. */
export function sealedFindings(
  { sealed = [], workspace }: SealedOrder,
  changes: readonly Change[],
): SandboxResult['findings'] {
  const all = sealed.flatMap((paths) => findingsOf(paths, workspace, changes))
  return [...new Map(all.map((one) => [`${one.code} ${one.path}`, one])).values()]
}

function findingsOf(
  { code, patterns, own, declared = [] }: SealedPaths,
  workspace: string,
  changes: readonly Change[],
): SandboxResult['findings'] {
  if (patterns.length === 0) return []
  const globsOf = (texts: readonly string[]): readonly Glob[] =>
    texts.flatMap((text) => parseGlob(`${workspace}/${text}`) ?? [])
  const globs = globsOf(patterns)
  const above = globsOf([...new Set(patterns.flatMap(placesAbove))])
  const allowed = globsOf(declared)
  const heads = patterns.map((pattern) => rawOfText(`${workspace}/${headOf(pattern)}`))
  const whole = patterns
    .filter((pattern) => pattern === `${headOf(pattern)}/**`)
    .map((pattern) => rawOfText(`${workspace}/${headOf(pattern)}`))
  const free = own === undefined ? null : rawOfText(`${workspace}/${own}`)
  return changes.flatMap((change) => {
    if (free !== null && isFree(change, free)) return []
    const path = textOfRaw(change.path)
    if (path !== null && allowed.some((glob) => matchesPath(glob, path))) return []
    // A name that is no text fits no pattern, but may lie below a sealed directory.
    const isInside =
      path === null
        ? whole.some((directory) => isBelow(change.path, directory))
        : globs.some((glob) => matchesPath(glob, path))
    // A link above something sealed, there or not, would lead to something else.
    const isLed = path !== null && change.after?.kind === 'symlink'
    const isLedAway = isLed && above.some((glob) => matchesPath(glob, path))
    if (!isInside && !isLedAway && !isMoved(change, heads)) return []
    return [{ code, path: displayOfRaw(change.path), detail: DETAILS[code] }]
  })
}

/** Lies in the participant's own directory, or is a new directory that leads there. */
function isFree({ path, before, after }: Change, own: RawPath): boolean {
  const isMade = before === null && after?.kind === 'directory'
  return (path !== own && isBelow(path, own)) || (isMade && isBelow(own, path))
}

/** A directory above something sealed is no directory any more. */
function isMoved({ path, before, after }: Change, heads: readonly RawPath[]): boolean {
  const isGone = before?.kind === 'directory' && after?.kind !== 'directory'
  return isGone && heads.some((head) => isBelow(head, path))
}

/**
 * Patterns for the directories that lead to what a pattern matches. One that holds in every directory
 * needs none: it holds where a link leads to.
 */
function placesAbove(pattern: string): readonly string[] {
  const names = pattern.split('/')
  const stars = names.indexOf('**')
  const fixed = stars === -1 ? names.length : stars
  const above = names.slice(0, fixed - (stars === -1 ? 1 : 0))
  const within = stars > 0 && stars < names.length - 1 ? [`${above.join('/')}/**`] : []
  return [...above.map((_, index) => names.slice(0, index + 1).join('/')), ...within]
}

/** The names of a pattern before its first star. */
function headOf(pattern: string): string {
  const names = pattern.split('/')
  const star = names.findIndex((name) => name.includes('*'))
  return (star === -1 ? names : names.slice(0, star)).join('/')
}
