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
  if (!beginsVisibly(descriptor.intent_summary) || !PLAIN_MOMENT.test(descriptor.created_at))
    return false
  const { paths } = scope.filesystem
  if (paths.length > ROOTS_MAX) return false
  for (let index = 0; index < paths.length; index++) {
    const path = paths[index] as string
    if (path.length > PATH_LENGTH_MAX || !PLAIN_ROOT.test(path)) return false
  }
  return (
    areInside(descriptor.preconditions.paths_exist, paths, false) &&
    areInside(effects.filesystem.create, paths, true) &&
    areInside(effects.filesystem.modify, paths, true) &&
    areInside(effects.filesystem.delete, paths, true)
  )
}

function beginsVisibly(text: string): boolean {
  const unit = text.charCodeAt(0)
  return unit > 0x20 && unit < 0x7f
}

/** Each path is a root, or a root and a plain rest. */
function areInside(paths: readonly string[], roots: readonly string[], globs: boolean): boolean {
  for (let index = 0; index < paths.length; index++) {
    if (!isInside(paths[index] as string, roots, globs)) return false
  }
  return true
}

function isInside(path: string, roots: readonly string[], globs: boolean): boolean {
  if (path.length > PATH_LENGTH_MAX) return false
  for (let index = 0; index < roots.length; index++) {
    const root = roots[index] as string
    if (path.length === root.length) {
      if (path === root) return true
    } else if (begins(path, root) && isPlainRest(path, root.length, globs)) return true
  }
  return false
}

/** `indexOf` at zero is three times as fast as `startsWith`; the last unit tells most roots apart. */
function begins(path: string, root: string): boolean {
  const last = root.length - 1
  return path.charCodeAt(last) === root.charCodeAt(last) && path.indexOf(root) === 0
}

/** No name in a path of this length is too long for a file system. */
const PATH_LENGTH_MAX = 255
/** Every path is tried against every root, so many roots are left to the checks, which index them. */
const ROOTS_MAX = 16

/** At least two names below a directory that is not the host's; none begins with a dot. */
const PLAIN_ROOT = /^\/(?!proc|sys|dev|boot)\w[\w.@+-]*(?:\/\w[\w.@+-]*)+$/

const OTHER = 0
const LETTER = 1
const SIGN = 2
const SLASH = 3
const STAR = 4

/** What each code unit is in a path. */
const UNIT_KINDS = new Uint8Array(128)
for (const unit of 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_') {
  UNIT_KINDS[unit.charCodeAt(0)] = LETTER
}
for (const unit of '.@+-') UNIT_KINDS[unit.charCodeAt(0)] = SIGN
UNIT_KINDS['/'.charCodeAt(0)] = SLASH
UNIT_KINDS['*'.charCodeAt(0)] = STAR

/**
 * Names from `from` on, each beginning with a letter, so that none is `.`, `..` or a place of writ's;
 * in effects one star may stand in the last name.
 */
function isPlainRest(path: string, from: number, globs: boolean): boolean {
  let before = OTHER
  let starred = !globs
  for (let index = from; index < path.length; index++) {
    const unit = path.charCodeAt(index)
    const kind = unit < 128 ? (UNIT_KINDS[unit] as number) : OTHER
    if (kind === OTHER || (index === from && kind !== SLASH)) return false
    if (kind === STAR) {
      if (starred) return false
      starred = true
    } else if (
      kind === SLASH ? before === SLASH || (globs && starred) : kind === SIGN && before === SLASH
    ) {
      return false
    }
    before = kind
  }
  return before !== SLASH
}

/** `YYYY-MM-DDThh:mm:ssZ` with a day that every month has. */
const PLAIN_MOMENT =
  /^(?:19|[2-9]\d)\d\d-(?:0[1-9]|1[0-2])-(?:0[1-9]|1\d|2[0-8])T(?:[01]\d|2[0-3]):[0-5]\d:[0-5]\dZ$/
