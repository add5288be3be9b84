/**
 * Extended attributes of many entries at once, by one `getfattr` process. What the overlay writes for
 * itself is left out; what a person's program may have written and a promotion can carry is kept; all
 * else is named, so that nothing is lost in silence.
 *
 * Names and paths arrive with newlines, backslashes and equals signs in octal; values in hex.
 */
import { existsSync } from 'node:fs'
import type { Attribute, RawPath } from '../gate/index.ts'
import { readByProgram } from './attribute-reader.ts'
import { asArguments, runBatch } from './tool.ts'

export interface Attributes {
  /** `user.*`, access control lists and `security.capability`, sorted by name. */
  readonly kept: readonly Attribute[]
  /** Names that cannot be carried, and what overlays keep for themselves where none should be. */
  readonly foreign: readonly string[]
  /** Labels of a security module that does not run, so that only a program can have written them. */
  readonly labels?: readonly Attribute[]
}

interface AttributeBatch {
  readonly byPath: ReadonlyMap<RawPath, Attributes>
  /** Paths whose attributes could not be read, or the empty path when the tool did not say which. */
  readonly unreadable: readonly RawPath[]
}

export const NO_ATTRIBUTES: Attributes = { kept: [], foreign: [] }

const GETFATTR = ['--no-dereference', '--dump', '--match=-', '--encoding=hex', '--absolute-names']

type LayerKind = 'upper' | 'real'
/** One for all paths, or told path by path. */
type LayerOf = LayerKind | ((path: RawPath) => LayerKind)

/**
 * `upper`: the overlay's own attributes are expected and skipped, and the ones that a program inside
 * tried to write in the overlay's name (they arrive escaped) are foreign. `real`: all of them are
 * foreign, because a tree that carries them is not shown inside as it is.
 */
export async function readAttributes(
  paths: Iterable<RawPath>,
  layer: LayerOf,
  textMax = Number.POSITIVE_INFINITY,
): Promise<AttributeBatch> {
  const byPath = new Map<RawPath, Attributes>()
  let text = 0
  const take = (path: RawPath, attributes: readonly Attribute[]): boolean => {
    const found = sortOut(attributes, typeof layer === 'string' ? layer : layer(path))
    for (const [name, hex] of found.kept) text += name.length + hex.length
    byPath.set(path, found)
    return text <= textMax
  }
  const unreadable = await eachAttributes(paths, take)
  if (text > textMax) throw new TooMuchText()
  return { byPath, unreadable }
}

/** There is more in the attributes than the caller takes. */
export class TooMuchText extends Error {}

/**
 * Calls `take` with every path that has attributes, in the order of the paths. False ends it. Answers
 * with the paths that could not be read, or the empty path when the tool did not say which.
 */
async function eachAttributes(
  paths: Iterable<RawPath>,
  take: (path: RawPath, attributes: readonly Attribute[]) => boolean,
): Promise<readonly RawPath[]> {
  if (isEmpty(paths)) return []
  const blocks = new Blocks(take)
  const few = asArguments(paths)
  const read = few === null ? null : await readByProgram(few)
  if (read !== null) {
    blocks.add(read.text)
    // One of the paths that were asked for.
    return blocks.end() ? (read.unreadable as readonly RawPath[]) : []
  }
  const onOutput = (piece: Buffer): boolean => blocks.add(piece.toString('latin1'))
  const { status, stderr } = await runBatch('getfattr', GETFATTR, paths, { onOutput })
  if (!blocks.end()) return []
  return status !== 0 || stderr !== '' ? unreadablePaths(stderr, paths) : []
}

function isEmpty(paths: Iterable<RawPath>): boolean {
  for (const _ of paths) return false
  return true
}

/** Names and values of all there are, each path once; nothing is left out. */
export async function readRawAttributes(
  paths: Iterable<RawPath>,
): Promise<ReadonlyMap<RawPath, readonly Attribute[]>> {
  const found = new Map<RawPath, readonly Attribute[]>()
  await eachAttributes(paths, (path, attributes) => found.set(path, attributes).size > 0)
  return found
}

const FILE_LINE = '# file: '

/** The output of `getfattr --dump --encoding=hex`, read as latin-1. */
export function parseAttributes(text: string, layer: LayerOf): ReadonlyMap<RawPath, Attributes> {
  const byPath = new Map<RawPath, Attributes>()
  const blocks = new Blocks((path, attributes) => {
    byPath.set(path, sortOut(attributes, typeof layer === 'string' ? layer : layer(path)))
    return true
  })
  blocks.add(text)
  blocks.end()
  return byPath
}

/** Reads the output of `getfattr` as it comes, and hands on each path with what it has. */
class Blocks {
  readonly #take: (path: RawPath, attributes: readonly Attribute[]) => boolean
  #rest = ''
  #path: RawPath | null = null
  #block: Attribute[] = []
  #isWanted = true

  constructor(take: (path: RawPath, attributes: readonly Attribute[]) => boolean) {
    this.#take = take
  }

  /** False when nothing more is wanted. */
  add(text: string): boolean {
    const lines = `${this.#rest}${text}`.split('\n')
    this.#rest = lines.pop() ?? ''
    for (const line of lines) this.#line(line)
    return this.#isWanted
  }

  /** Hands on the last one; false when nothing more was wanted. */
  end(): boolean {
    this.#line(this.#rest)
    this.#rest = ''
    this.#finish()
    return this.#isWanted
  }

  #line(line: string): void {
    if (line.startsWith(FILE_LINE)) {
      this.#finish()
      // The output is read as latin1: a character is a byte, as in a raw path.
      this.#path = unquote(line.slice(FILE_LINE.length)) as RawPath
    } else if (line !== '') {
      // Equals signs of a name are quoted; an empty value may have none at all.
      const [name = '', value = ''] = line.split('=', 2)
      this.#block.push([unquote(name), hexOf(value)])
    }
  }

  #finish(): void {
    if (this.#path !== null && this.#isWanted) {
      this.#isWanted = this.#take(this.#path, this.#block)
    }
    this.#path = null
    this.#block = []
  }
}

function sortOut(attributes: readonly Attribute[], layer: LayerKind): Attributes {
  const kept: Attribute[] = []
  const foreign: string[] = []
  const labels: Attribute[] = []
  for (const attribute of attributes) {
    const [name] = attribute
    if (isOwnOfOverlay(name)) {
      if (layer === 'real' || isEscaped(name)) foreign.push(name)
    } else if (isCarried(name)) kept.push(attribute)
    else if (!isOfTheSystem(name)) foreign.push(name)
    else if (!isKernels(name)) labels.push(attribute)
  }
  kept.sort(([one], [other]) => (one < other ? -1 : 1))
  return labels.length === 0 ? { kept, foreign } : { kept, foreign, labels }
}

/** What a program inside writes as `user.overlay.x` is kept by the overlay under this name. */
const ESCAPED = 'user.overlay.overlay.'

export function isEscaped(name: string): boolean {
  return name.startsWith(ESCAPED)
}

function isOwnOfOverlay(name: string): boolean {
  return name.startsWith('user.overlay.') || name.startsWith('trusted.overlay.')
}

function isCarried(name: string): boolean {
  return (
    name.startsWith('user.') ||
    name === ACCESS_LIST ||
    name === 'system.posix_acl_default' ||
    name === CAPABILITY
  )
}

const ACCESS_LIST = 'system.posix_acl_access'

/**
 * An access control list as it is under a mode: what it grants the owner follows the owner's bits,
 * which may be lent while the list is read. Sixteen bits of tag, sixteen of rights, thirty-two of id.
 */
export function listUnder(mode: number, [name, hex]: Attribute): Attribute {
  if (name !== ACCESS_LIST || !hex.startsWith(OWNER_ENTRY)) return [name, hex]
  const rest = hex.slice(OWNER_ENTRY.length + 4)
  return [name, `${OWNER_ENTRY}0${(mode >> 6) & 7}00${rest}`]
}

/** Version 2, then the entry that every list begins with. */
const OWNER_ENTRY = '020000000100'

export const CAPABILITY = 'security.capability'

/** Labels and measurements, and where the module shows that keeps them by the place of a file. */
const OF_THE_SYSTEM: ReadonlyMap<string, string> = new Map([
  ['security.selinux', '/sys/fs/selinux/enforce'],
  ['security.SMACK64', '/sys/fs/smackfs/load2'],
  ['security.apparmor', '/sys/kernel/security/apparmor/profiles'],
  ['security.ima', '/sys/kernel/security/ima/policy'],
  ['security.evm', '/sys/kernel/security/evm'],
])

export function isOfTheSystem(name: string): boolean {
  return OF_THE_SYSTEM.has(name)
}

const RUNNING = new Map<string, boolean>()

/** The module runs here: it sets and guards the label itself. */
function isKernels(name: string): boolean {
  const known = RUNNING.get(name)
  if (known !== undefined) return known
  const runs = existsSync(OF_THE_SYSTEM.get(name) ?? '')
  RUNNING.set(name, runs)
  return runs
}

function hexOf(value: string): string {
  return value.startsWith('0x') || value.startsWith('0X') ? value.slice(2).toLowerCase() : value
}

function unquote(text: string): string {
  if (!text.includes('\\')) return text
  return text.replace(/\\([0-7]{3})/g, (_, digits: string) =>
    String.fromCharCode(Number.parseInt(digits, 8)),
  )
}

const COMPLAINT = 'getfattr: '

/**
 * Returns the paths that the messages of `getfattr` name, each in front of what is wrong with it; the
 * empty path for a message that names none of the paths.
 */
function unreadablePaths(stderr: string, paths: Iterable<RawPath>): readonly RawPath[] {
  const known = new Set<string>(paths)
  const named = new Set<RawPath>()
  for (const line of stderr.split('\n').filter((one) => one !== '')) {
    const said = line.startsWith(COMPLAINT) ? line.slice(COMPLAINT.length) : ''
    let path = ''
    for (let end = said.indexOf(': '); end !== -1; end = said.indexOf(': ', end + 1)) {
      if (known.has(said.slice(0, end))) path = said.slice(0, end)
    }
    // One of the known paths, or empty.
    named.add(path as RawPath)
  }
  return named.size > 0 ? [...named] : ['' as RawPath]
}
