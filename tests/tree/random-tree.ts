/**
 * Random trees, and random things done to them, from a seed. Steps are data that any directory can be
 * put through: a real tree, a copy of it, or the merged side of an overlay. A step that does not fit
 * the tree as it is then (a name that is gone, a directory that is closed) does nothing.
 *
 * Names include newlines, bytes that are not UTF-8, leading dashes and what tools quote.
 */
import {
  appendFileSync,
  chmodSync,
  closeSync,
  ftruncateSync,
  lchownSync,
  linkSync,
  lstatSync,
  mkdirSync,
  openSync,
  renameSync,
  rmSync,
  symlinkSync,
  truncateSync,
  utimesSync,
  writeFileSync,
  writeSync,
} from 'node:fs'
import { callTool } from './tools.ts'

/** Paths are relative, with one character a byte. */
export type Step =
  | { readonly do: 'directory'; readonly path: string }
  | { readonly do: 'write' | 'replace' | 'append'; readonly path: string; readonly text: string }
  | { readonly do: 'truncate'; readonly path: string; readonly size: number }
  | { readonly do: 'sparse'; readonly path: string; readonly size: number; readonly at: number }
  | { readonly do: 'remove' | 'empty'; readonly path: string }
  | { readonly do: 'move' | 'link'; readonly path: string; readonly to: string }
  | { readonly do: 'symlink'; readonly path: string; readonly to: string }
  | { readonly do: 'mode'; readonly path: string; readonly mode: number }
  | { readonly do: 'owner'; readonly path: string; readonly uid: number; readonly gid: number }
  | { readonly do: 'attribute'; readonly path: string; readonly name: string; readonly hex: string }
  | { readonly do: 'time'; readonly path: string; readonly seconds: number }

export interface RandomTree {
  readonly seed: number
  readonly build: readonly Step[]
  readonly change: readonly Step[]
}

export interface RandomTreeOptions {
  /** About how many steps make the tree, and how many change it. */
  readonly buildSteps?: number
  readonly changeSteps?: number
  /** Other owners occur; needs root. */
  readonly owners?: boolean
  /** Modes that shut out the owner occur in what changes the tree. */
  readonly closedModes?: boolean
  /** Hard links occur. */
  readonly links?: boolean
}

export function randomTree(seed: number, options: RandomTreeOptions = {}): RandomTree {
  const { buildSteps = 30, changeSteps = 25 } = options
  const dice = new Dice(seed)
  const known: string[] = []
  const build = Array.from({ length: buildSteps }, () => buildStep(dice, known, options))
  const change = Array.from({ length: 1 + dice.below(changeSteps) }, () =>
    changeStep(dice, known, options),
  )
  return { seed, build, change }
}

/** A small generator of its own, so that a seed means the same tree in every version of every library. */
export class Dice {
  #state: number

  constructor(seed: number) {
    this.#state = seed >>> 0
  }

  below(bound: number): number {
    this.#state = (this.#state + 0x6d2b79f5) >>> 0
    let mixed = Math.imul(this.#state ^ (this.#state >>> 15), this.#state | 1)
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)
    return ((mixed ^ (mixed >>> 14)) >>> 0) % bound
  }

  pick<T>(of: readonly [T, ...T[]]): T {
    return of[this.below(of.length)] ?? of[0]
  }

  chance(percent: number): boolean {
    return this.below(100) < percent
  }
}

export const NAMES = [
  'a',
  'b',
  'c',
  'd.txt',
  '.hidden',
  'two words',
  'new\nline',
  'b\\s',
  '-rf',
  '=x',
  '\xff\xfe',
  '\xc3\xa9',
  '#q"\'$',
  'x'.repeat(200),
] as const

function newPath(dice: Dice, known: string[]): string {
  const parents = known.filter((path) => path.split('/').length < 6)
  const parent = dice.chance(70) ? parents[dice.below(Math.max(1, parents.length))] : undefined
  const name = dice.pick(NAMES)
  const path = parent === undefined ? name : `${parent}/${name}`
  known.push(path)
  return path
}

function oldPath(dice: Dice, known: readonly string[]): string {
  return known[dice.below(Math.max(1, known.length))] ?? 'a'
}

function textOf(dice: Dice): string {
  const line = `${dice.below(5)}\n`
  return dice.chance(5) ? line.repeat(60_000) : line.repeat(dice.below(4))
}

function buildStep(dice: Dice, known: string[], options: RandomTreeOptions): Step {
  const roll = dice.below(100)
  if (roll < 35) return { do: 'directory', path: newPath(dice, known) }
  if (roll < 70) return { do: 'write', path: newPath(dice, known), text: textOf(dice) }
  if (roll < 76) return symlinkStep(dice, known)
  if (roll < 80) return sparseStep(dice, newPath(dice, known))
  if (roll < 86 && options.links !== false) {
    return { do: 'link', path: oldPath(dice, known), to: newPath(dice, known) }
  }
  const path = oldPath(dice, known)
  if (roll < 90) return attributeStep(dice, path)
  if (roll < 93) return { do: 'time', path, seconds: dice.below(2_000_000_000) + 0.25 }
  if (roll < 96 && options.owners === true) return ownerStep(dice, path)
  return { do: 'mode', path, mode: dice.pick([0o755, 0o700, 0o750, 0o775]) }
}

function changeStep(dice: Dice, known: string[], options: RandomTreeOptions): Step {
  const roll = dice.below(100)
  const [old, made] = [oldPath(dice, known), () => newPath(dice, known)]
  if (roll < 8) return { do: 'directory', path: made() }
  if (roll < 18) return { do: 'write', path: made(), text: textOf(dice) }
  if (roll < 24) return { do: 'write', path: old, text: textOf(dice) }
  if (roll < 30) return { do: 'replace', path: old, text: textOf(dice) }
  if (roll < 36) return { do: 'append', path: old, text: textOf(dice) }
  if (roll < 39) return { do: 'truncate', path: old, size: dice.below(10) }
  if (roll < 52) return { do: 'remove', path: old }
  if (roll < 60) return { do: 'empty', path: old }
  if (roll < 70)
    return { do: 'move', path: old, to: dice.chance(50) ? made() : oldPath(dice, known) }
  if (roll < 75) return symlinkStep(dice, known)
  if (roll < 78) return sparseStep(dice, dice.chance(50) ? made() : old)
  if (roll < 82 && options.links !== false) return { do: 'link', path: old, to: made() }
  if (roll < 88) return attributeStep(dice, old)
  if (roll < 91 && options.owners === true) return ownerStep(dice, old)
  if (roll < 93) return { do: 'time', path: old, seconds: dice.below(2_000_000_000) + 0.5 }
  const closed = options.closedModes === true && dice.chance(40)
  const mode = closed
    ? dice.pick([0, 0o200, 0o100, 0o555])
    : dice.pick([0o755, 0o711, 0o700, 0o777])
  return { do: 'mode', path: dice.chance(5) ? '.' : old, mode }
}

function symlinkStep(dice: Dice, known: string[]): Step {
  const to = dice.pick(['/etc/passwd', '..', 'a', 'nowhere/at/all', '\xff'])
  return { do: 'symlink', path: dice.chance(50) ? newPath(dice, known) : oldPath(dice, known), to }
}

function sparseStep(dice: Dice, path: string): Step {
  const size = 8192 * (1 + dice.below(200))
  return { do: 'sparse', path, size, at: dice.below(size) }
}

function attributeStep(dice: Dice, path: string): Step {
  const name = dice.pick(['user.a', 'user.b=c', 'user.n\nl', 'user.\xc3\xa9', ACL])
  const hex =
    name === ACL ? dice.pick(LISTS) : dice.pick(['', '00', '61', '0a3d5c', 'ff'.repeat(64)])
  return { do: 'attribute', path, name, hex }
}

const ACL = 'system.posix_acl_access'
/** Owner, group, mask and others; no names, which a namespace would have to know. */
const LISTS = [
  '0200000001000700ffffffff04000400ffffffff10000600ffffffff20000400ffffffff',
  '0200000001000700ffffffff04000500ffffffff10000500ffffffff20000000ffffffff',
] as const

function ownerStep(dice: Dice, path: string): Step {
  return { do: 'owner', path, uid: dice.pick([0, 1, 1777]), gid: dice.pick([0, 1, 1777]) }
}

/** Puts the directory through the steps. */
export function applySteps(root: string, steps: readonly Step[]): void {
  for (const step of steps) {
    try {
      applyStep(root, step)
    } catch (error) {
      if (!DOES_NOT_FIT.has((error as NodeJS.ErrnoException).code ?? '')) throw error
    }
  }
}

const DOES_NOT_FIT = new Set([
  ...['ENOENT', 'ENOTDIR', 'EISDIR', 'EEXIST', 'ENOTEMPTY', 'EACCES', 'EPERM', 'EXDEV', 'EINVAL'],
  ...['ELOOP', 'EMLINK', 'ENXIO', 'EBUSY', 'ENAMETOOLONG', 'EROFS', 'EOVERFLOW'],
])

function applyStep(root: string, step: Step): void {
  const at = bytesBelow(root, step.path)
  // A step never leaves the tree through a link: what it names must lie in real directories.
  if (!isReal(root, step.path)) return
  switch (step.do) {
    case 'directory':
      return void mkdirSync(at)
    case 'write':
      return isLink(at) ? undefined : writeFileSync(at, step.text)
    case 'append':
      return isLink(at) ? undefined : appendFileSync(at, step.text)
    case 'truncate':
      return isLink(at) ? undefined : truncateSync(at, step.size)
    case 'replace':
      writeFileSync(bytesBelow(root, `${step.path}~`), step.text)
      return renameSync(bytesBelow(root, `${step.path}~`), at)
    case 'sparse':
      return isLink(at) ? undefined : writeSparse(at, step.size, step.at)
    case 'remove':
      return removeWhole(at)
    case 'empty':
      if (!lstatSync(at).isDirectory()) return
      removeWhole(at)
      return void mkdirSync(at)
    case 'move':
      return isReal(root, step.to) ? moveWhole(at, bytesBelow(root, step.to)) : undefined
    case 'link':
      return isReal(root, step.to) ? linkSync(at, bytesBelow(root, step.to)) : undefined
    case 'symlink':
      return symlinkSync(Buffer.from(step.to, 'latin1'), at)
    case 'mode':
      return isLink(at) ? undefined : chmodSync(at, step.mode)
    case 'owner':
      return lchownSync(at, step.uid, step.gid)
    case 'attribute':
      return isLink(at) ? undefined : setAttribute(at, step.name, step.hex)
    case 'time':
      return isLink(at) ? undefined : utimesSync(at, step.seconds, step.seconds)
    default:
      return step satisfies never
  }
}

function bytesBelow(root: string, path: string): Buffer {
  return Buffer.concat([Buffer.from(`${root}/`), Buffer.from(path, 'latin1')])
}

function isReal(root: string, path: string): boolean {
  const parts = path.split('/')
  return parts
    .slice(1)
    .every((_, index) => !isLink(bytesBelow(root, parts.slice(0, index + 1).join('/'))))
}

function isLink(at: Buffer): boolean {
  try {
    return lstatSync(at).isSymbolicLink()
  } catch {
    return false
  }
}

function writeSparse(at: Buffer, size: number, offset: number): void {
  const file = openSync(at, 'w')
  try {
    ftruncateSync(file, size)
    writeSync(file, 'x', offset)
  } finally {
    closeSync(file)
  }
}

function removeWhole(at: Buffer): void {
  if (lstatSync(at).isDirectory()) call('rm', ['-rf', '--', at])
  else rmSync(at)
}

/** As `mv` does it: an overlay does not rename directories of the real tree. */
function moveWhole(at: Buffer, to: Buffer): void {
  lstatSync(at)
  call('mv', ['-T', '-f', '--', at, to])
}

function setAttribute(at: Buffer, name: string, hex: string): void {
  const bytes = Buffer.from(name, 'latin1')
  call('setfattr', ['-h', '-n', bytes, '-v', `0x${hex}`, '--', at])
}

/** It may fail: what it could do is done. */
function call(command: string, args: readonly (string | Buffer)[]): void {
  const { status, stderr } = callTool([command, ...args])
  if (status === 127) throw new Error(stderr)
}
