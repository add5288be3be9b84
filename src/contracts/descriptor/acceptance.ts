/**
 * The quick yes for descriptors of sound structure: plain paths, a recursive scope, no network. Other
 * descriptors may be as valid; they are judged by the checks, which know globs in full. A property
 * test holds this to the checks (INVARIANT: quick is never wrong).
 */
import type { JsonObject } from '../kernel/contract.ts'
import type { ActionDescriptor } from './descriptor.ts'

export function acceptsDescriptor(document: JsonObject): boolean {
  // Sound structure is what the static type says.
  const descriptor = document as unknown as ActionDescriptor
  const { scope, effects, sandbox, confirmation } = descriptor
  if (!scope.filesystem.recursive || scope.network.required || scope.network.hosts !== undefined)
    return false
  if (effects.network || effects.system_state_change || sandbox.allow_network || !sandbox.required)
    return false
  if (confirmation.required && !beginsVisibly(confirmation.reason)) return false
  if (!isPlainMoment(descriptor.created_at)) return false
  const { paths } = scope.filesystem
  if (paths.length > ROOTS_MAX) return false
  for (let index = 0; index < paths.length; index++) {
    const path = paths[index] as string
    if (path.length > PATH_LENGTH_MAX || !PLAIN_ROOT.test(path)) return false
  }
  return (
    areInside(descriptor.preconditions.paths_exist, paths, PLAIN_REST) &&
    areInside(effects.filesystem.create, paths, STARRED_REST) &&
    areInside(effects.filesystem.modify, paths, STARRED_REST) &&
    areInside(effects.filesystem.delete, paths, STARRED_REST)
  )
}

function beginsVisibly(text: string): boolean {
  const unit = text.charCodeAt(0)
  return unit > 0x20 && unit < 0x7f
}

/** Each path is a root, or a root and a plain rest. */
function areInside(paths: readonly string[], roots: readonly string[], rest: RegExp): boolean {
  for (let index = 0; index < paths.length; index++) {
    if (!isInside(paths[index] as string, roots, rest)) return false
  }
  return true
}

function isInside(path: string, roots: readonly string[], rest: RegExp): boolean {
  for (let index = 0; index < roots.length; index++) {
    const root = roots[index] as string
    if (path === root) return true
    if (!path.startsWith(root)) continue
    rest.lastIndex = root.length
    if (path.length <= PATH_LENGTH_MAX && rest.test(path)) return true
  }
  return false
}

/** A name has no wildcard and begins with no dot, so none is `.`, `..` or a place of writ's. */
const NAME = '\\w[\\w.@+-]{0,79}'
const PATH_LENGTH_MAX = 1_000
/** Every path is tried against every root, so many roots are left to the checks, which index them. */
const ROOTS_MAX = 16

/** At least two names below a directory that is not the host's. */
const PLAIN_ROOT = new RegExp(`^/(?!proc|sys|dev|boot)${NAME}(?:/${NAME})+$`)
/** What may follow a root: names, and (effects) one star in the last name. Sticky: tested in place. */
const PLAIN_REST = new RegExp(`(?:/${NAME})+$`, 'y')
const STARRED_REST = new RegExp(`(?:/${NAME})*/(?:${NAME}|(?:${NAME})?\\*[\\w.@+-]{0,79})$`, 'y')

const MOMENT_LENGTH = '2026-11-15T08:00:00Z'.length

/** `YYYY-MM-DDThh:mm:ssZ` with a day that every month has. */
function isPlainMoment(text: string): boolean {
  if (text.length !== MOMENT_LENGTH || text.charCodeAt(10) !== 0x54 || text.charCodeAt(19) !== 0x5a)
    return false
  if (text.charCodeAt(4) !== 0x2d || text.charCodeAt(7) !== 0x2d) return false
  if (text.charCodeAt(13) !== 0x3a || text.charCodeAt(16) !== 0x3a) return false
  const century = twoDigits(text, 0)
  const month = twoDigits(text, 5)
  const day = twoDigits(text, 8)
  return (
    century >= 19 &&
    twoDigits(text, 2) >= 0 &&
    month >= 1 &&
    month <= 12 &&
    day >= 1 &&
    day <= 28 &&
    isBelow(twoDigits(text, 11), 24) &&
    isBelow(twoDigits(text, 14), 60) &&
    isBelow(twoDigits(text, 17), 60)
  )
}

function isBelow(value: number, limit: number): boolean {
  return value >= 0 && value < limit
}

/** The number of two digits, or -1. */
function twoDigits(text: string, at: number): number {
  const tens = text.charCodeAt(at) - 0x30
  const ones = text.charCodeAt(at + 1) - 0x30
  return tens >= 0 && tens <= 9 && ones >= 0 && ones <= 9 ? tens * 10 + ones : -1
}
