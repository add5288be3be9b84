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
  for (let index = 0; index < paths.length; index++) {
    if (!isPlainPath(paths[index] as string, false)) return false
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

/** Each path is plain and lies at or below a root. */
function areInside(paths: readonly string[], roots: readonly string[], globs: boolean): boolean {
  for (let index = 0; index < paths.length; index++) {
    const path = paths[index] as string
    if (!isPlainPath(path, globs) || !isBelowOne(path, roots)) return false
  }
  return true
}

function isBelowOne(path: string, roots: readonly string[]): boolean {
  for (let index = 0; index < roots.length; index++) {
    const root = roots[index] as string
    if (
      path.startsWith(root) &&
      (path.length === root.length || path.charCodeAt(root.length) === SLASH)
    )
      return true
  }
  return false
}

const SLASH = 0x2f
const STAR = 0x2a
const PATH_LENGTH_MAX = 1_000
const NAME_LENGTH_MAX = 80

/** By code unit: 1 may begin a name, 2 may only follow. */
const NAME_UNIT = new Uint8Array(128)
for (const unit of 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_')
  NAME_UNIT[unit.charCodeAt(0)] = 1
for (const unit of '.-+@') NAME_UNIT[unit.charCodeAt(0)] = 2

/**
 * At least two names of plain characters below a directory that is not the host's. No name begins
 * with a dot, so none is `.`, `..` or a place of writ's; a star stands in the last name only.
 */
function isPlainPath(path: string, globs: boolean): boolean {
  const { length } = path
  if (length > PATH_LENGTH_MAX || isHostDirectory(path)) return false
  let names = 0
  let nameAt = 0
  for (let index = 0; index < length; index++) {
    const unit = path.charCodeAt(index)
    if (unit === SLASH) {
      if (nameAt === index && index > 0) return false
      names++
      nameAt = index + 1
    } else if (unit === STAR) {
      if (!globs || path.charCodeAt(index + 1) === STAR || path.indexOf('/', index) !== -1)
        return false
    } else if (unit > 127 || NAME_UNIT[unit] === 0 || (index === nameAt && NAME_UNIT[unit] !== 1)) {
      return false
    } else if (index - nameAt > NAME_LENGTH_MAX) return false
  }
  return path.charCodeAt(0) === SLASH && names > 1 && nameAt < length
}

function isHostDirectory(path: string): boolean {
  switch (path.charCodeAt(1)) {
    case 0x70: // p
      return path.startsWith('/proc')
    case 0x73: // s
      return path.startsWith('/sys')
    case 0x64: // d
      return path.startsWith('/dev')
    case 0x62: // b
      return path.startsWith('/boot')
    default:
      return false
  }
}

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
