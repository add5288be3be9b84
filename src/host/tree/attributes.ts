/**
 * Extended attributes of many entries at once, by one `getfattr` process. What the overlay writes for
 * itself is left out; what a person's program may have written and a promotion can carry is kept; all
 * else is named, so that nothing is lost in silence.
 *
 * Names and paths arrive with newlines, backslashes and equals signs in octal; values in hex.
 */
import { existsSync } from 'node:fs'
import type { Attribute, RawPath } from '../../gate/index.ts'
import { readyCopyist, runBatch, type ToolOptions } from './tool.ts'

export interface Attributes {
  /** `user.*`, access control lists and `security.capability`, sorted by name. */
  readonly kept: readonly Attribute[]
  /** Names that cannot be carried, and what overlays keep for themselves where none should be. */
  readonly foreign: readonly string[]
  /** Labels of a security module that does not run, so that only a program can have written them. */
  readonly labels?: readonly Attribute[]
}

export interface AttributeBatch {
  readonly byPath: ReadonlyMap<RawPath, Attributes>
  /** Paths whose attributes could not be read, or the empty path when the tool did not say which. */
  readonly unreadable: readonly RawPath[]
}

export const NO_ATTRIBUTES: Attributes = { kept: [], foreign: [] }

/** More than these are read by a tool of their own, which keeps nobody else waiting. */
const READ_AT_ONCE = 1000

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
  paths: readonly RawPath[],
  layer: LayerOf,
): Promise<AttributeBatch> {
  if (paths.length === 0) return { byPath: new Map(), unreadable: [] }
  const told = paths.length > READ_AT_ONCE ? null : await readyCopyist()?.attributesOf(paths)
  if (told != null) return { ...told, byPath: sortOutAll(told.byPath, layer) }
  const { status, stdout, stderr } = await runBatch('getfattr', GETFATTR, paths)
  const byPath = parseAttributes(stdout.toString('latin1'), layer)
  const failed = status !== 0 || stderr !== ''
  return { byPath, unreadable: failed ? unreadablePaths(stderr, paths) : [] }
}

/** Names and values of all there are, each path once; nothing is left out. */
export async function readRawAttributes(
  paths: readonly RawPath[],
): Promise<ReadonlyMap<RawPath, readonly Attribute[]>> {
  if (paths.length === 0) return new Map()
  const told = paths.length > READ_AT_ONCE ? null : await readyCopyist()?.attributesOf(paths)
  if (told != null) return told.byPath
  const { stdout } = await runBatch('getfattr', GETFATTR, paths)
  return parseRawAttributes(stdout)
}

/** The tool that reads them, for paths that are plain, and what it wrote. */
export function attributeReader(paths: readonly RawPath[]): NonNullable<ToolOptions['reader']> {
  return ['getfattr', ...GETFATTR, '--', ...paths]
}

export function parseRawAttributes(stdout: Buffer): ReadonlyMap<RawPath, readonly Attribute[]> {
  return parseBlocks(stdout.toString('latin1'))
}

const FILE_LINE = '# file: '

/** The output of `getfattr --dump --encoding=hex`, read as latin-1. */
export function parseAttributes(text: string, layer: LayerOf): ReadonlyMap<RawPath, Attributes> {
  return sortOutAll(parseBlocks(text), layer)
}

function sortOutAll(
  found: ReadonlyMap<RawPath, readonly Attribute[]>,
  layer: LayerOf,
): ReadonlyMap<RawPath, Attributes> {
  const byPath = new Map<RawPath, Attributes>()
  for (const [path, attributes] of found) {
    byPath.set(path, sortOut(attributes, typeof layer === 'string' ? layer : layer(path)))
  }
  return byPath
}

function parseBlocks(text: string): Map<RawPath, Attribute[]> {
  const blocks = new Map<RawPath, Attribute[]>()
  let block: Attribute[] = []
  for (const line of text.split('\n')) {
    if (line.startsWith(FILE_LINE)) {
      block = []
      blocks.set(unquote(line.slice(FILE_LINE.length)) as RawPath, block)
    } else if (line !== '') {
      // Equals signs of a name are quoted; an empty value may have none at all.
      const [name = '', value = ''] = line.split('=', 2)
      block.push([unquote(name), hexOf(value)])
    }
  }
  return blocks
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

export const ACCESS_LIST = 'system.posix_acl_access'

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

/** Messages name the path as it is, then say what is wrong; what they do not name is the empty path. */
function unreadablePaths(stderr: string, paths: readonly RawPath[]): readonly RawPath[] {
  const known = new Set<string>(paths)
  const named = new Set<RawPath>()
  for (const line of stderr.split('\n').filter((one) => one !== '')) {
    const said = line.startsWith(COMPLAINT) ? line.slice(COMPLAINT.length) : ''
    let path = ''
    for (let end = said.indexOf(': '); end !== -1; end = said.indexOf(': ', end + 1)) {
      if (known.has(said.slice(0, end))) path = said.slice(0, end)
    }
    named.add(path as RawPath)
  }
  return named.size > 0 ? [...named] : ['' as RawPath]
}
