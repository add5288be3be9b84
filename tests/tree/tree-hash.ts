/**
 * One hash over a whole real tree: every entry with all that is compared, carried or restored (G-13a):
 * kind, bytes, mode, link target, `user.*` attributes and access control lists, owner, modification
 * time in nanoseconds, the map of holes, and which entries are hard links of one another; directories
 * and the root itself included. Inode, ctime and atime are left out, as they are claimed nowhere.
 *
 * The listing behind the hash is one line an entry, so that a failing test can show the difference.
 * Entries that cannot be read are opened up for the moment and closed again: only ctime notices. Each
 * by its own name, even if another name of the same file is open: an overlay that linked a real file
 * keeps two copies of its mode, of which it shows the newer one and obeys the older one.
 */
import { createHash } from 'node:crypto'
import {
  accessSync,
  type BigIntStats,
  chmodSync,
  closeSync,
  constants,
  lstatSync,
  openSync,
  readdirSync,
  readlinkSync,
  readSync,
} from 'node:fs'
import { callTool } from './tools.ts'

export interface TreeHashOptions {
  /** Names (relative to the root, latin-1) that are left out with everything below them. */
  readonly without?: readonly string[]
  /** Default true: modification times of directories count. */
  readonly directoryTimes?: boolean
  /** Default true: modification times of everything else count. */
  readonly times?: boolean
  /** Default true as root, else false. */
  readonly owners?: boolean
}

interface Entry {
  /** Relative to the root with one character a byte; the root is the empty name. */
  readonly name: string
  readonly path: Buffer
  readonly stats: BigIntStats
}

type Lent = { readonly path: Buffer; readonly mode: number }[]

export function treeHash(root: string, options: TreeHashOptions = {}): string {
  const hash = createHash('sha256')
  for (const [name, line] of treeListing(root, options)) hash.update(`${name}\u0000${line}\u0000`)
  return `sha256:${hash.digest('hex')}`
}

/** Entry by entry in the order of bytes: the relative name (latin-1), and all that counts. */
export function treeListing(
  root: string,
  options: TreeHashOptions = {},
): ReadonlyMap<string, string> {
  const lent: Lent = []
  try {
    const entries = [...walk(root, new Set(options.without), lent)]
    // After the walk: the other names of a linked file would show the lent mode.
    for (const entry of entries) openFile(entry, lent)
    return listEntries(root, entries, options)
  } finally {
    // From the leaves up: the entries of a directory cannot be reached once it is closed again.
    for (const { path, mode } of lent.reverse()) chmodSync(path, mode)
  }
}

function listEntries(
  root: string,
  entries: readonly Entry[],
  options: TreeHashOptions,
): ReadonlyMap<string, string> {
  const { directoryTimes = true, times = true, owners = process.getuid?.() === 0 } = options
  const attributes = readAttributes(root)
  const holes = readHoles(entries)
  const groups = groupLinks(entries)
  const listing = new Map<string, string>()
  for (const entry of entries) {
    const { name, stats } = entry
    const timed = stats.isDirectory() ? directoryTimes : times
    const words = [
      kindOf(stats),
      Number(stats.mode & 0o7777n).toString(8),
      contentOf(entry),
      owners ? `${stats.uid}:${stats.gid}` : '',
      timed ? String(stats.mtimeNs) : '',
      holes.get(name) ?? '',
      groups.get(`${stats.dev}:${stats.ino}`) ?? '',
      attributes.get(name) ?? '',
    ]
    listing.set(name, words.join(' | '))
  }
  return listing
}

/** What differs between two listings, for people. */
export function listingDifferences(
  one: ReadonlyMap<string, string>,
  other: ReadonlyMap<string, string>,
): string[] {
  const names = [...new Set([...one.keys(), ...other.keys()])].sort()
  return names
    .filter((name) => one.get(name) !== other.get(name))
    .map((name) => {
      const shown = JSON.stringify(name)
      return `${shown}\n  - ${one.get(name) ?? 'absent'}\n  + ${other.get(name) ?? 'absent'}`
    })
}

function* walk(root: string, without: ReadonlySet<string>, lent: Lent): Generator<Entry> {
  const open: Entry[] = [entryOf('', Buffer.from(root))]
  for (let entry = open.pop(); entry !== undefined; entry = open.pop()) {
    yield entry
    if (!entry.stats.isDirectory()) continue
    lend(entry, 0o500, lent)
    const { name, path } = entry
    const children = readdirSync(path, { encoding: 'buffer' })
    const names = children.map((child) => child.toString('latin1')).sort()
    // The last one pushed comes first, with everything below it: bytes in order of depth.
    for (const child of names.reverse()) {
      const below = name === '' ? child : `${name}/${child}`
      if (without.has(below)) continue
      const at = Buffer.concat([path, Buffer.from(`/${child}`, 'latin1')])
      open.push(entryOf(below, at))
    }
  }
}

function entryOf(name: string, path: Buffer): Entry {
  return { name, path, stats: lstatSync(path, { bigint: true }) }
}

function openFile(entry: Entry, lent: Lent): void {
  if (!entry.stats.isFile()) return
  try {
    accessSync(entry.path, constants.R_OK)
  } catch {
    lend(entry, 0o400, lent, true)
  }
}

/** Lends the owner the bits that reading needs; what was lent is noted for giving it back. */
function lend({ path, stats }: Entry, bits: number, lent: Lent, isRefused = false): void {
  const mode = Number(stats.mode & 0o7777n)
  if (process.getuid?.() === 0 || (!isRefused && (mode & bits) === bits)) return
  chmodSync(path, mode | bits)
  lent.push({ path, mode })
}

function kindOf(stats: BigIntStats): string {
  if (stats.isFile()) return 'file'
  if (stats.isDirectory()) return 'directory'
  if (stats.isSymbolicLink()) return 'symlink'
  if (stats.isFIFO()) return 'fifo'
  return stats.isSocket() ? 'socket' : `device ${stats.rdev}`
}

function contentOf(entry: Entry): string {
  if (entry.stats.isSymbolicLink()) return readlinkSync(entry.path, 'latin1')
  if (!entry.stats.isFile()) return ''
  return `${entry.stats.size} ${hashFile(entry.path)}`
}

const CHUNK_BYTES = 1 << 20

function hashFile(path: Buffer): string {
  const hash = createHash('sha256')
  const file = openSync(path, 'r')
  try {
    const buffer = Buffer.allocUnsafe(CHUNK_BYTES)
    for (let read = readSync(file, buffer); read > 0; read = readSync(file, buffer)) {
      hash.update(buffer.subarray(0, read))
    }
    return hash.digest('hex')
  } finally {
    closeSync(file)
  }
}

/** Files with several names, called after the first of them; none when the others lie elsewhere. */
function groupLinks(entries: readonly Entry[]): ReadonlyMap<string, string> {
  const members = new Map<string, string[]>()
  for (const { name, stats } of entries) {
    if (stats.isDirectory() || stats.nlink < 2n) continue
    const key = `${stats.dev}:${stats.ino}`
    members.set(key, [...(members.get(key) ?? []), name])
  }
  const groups = new Map<string, string>()
  for (const [key, names] of members) {
    if (names.length > 1) groups.set(key, `linked as ${[...names].sort()[0]}`)
  }
  return groups
}

/** Attributes of every entry below the root, by relative name. What an overlay left on one counts too. */
function readAttributes(root: string): ReadonlyMap<string, string> {
  const args = ['--recursive', '--physical', '--no-dereference', '--dump', '--match=-']
  const found = callTool(['getfattr', ...args, '--encoding=hex', '--absolute-names', '--', root])
  if (found.status === 127) throw new Error(found.stderr)
  const attributes = new Map<string, string>()
  for (const block of found.stdout.split('\n\n')) {
    const [head = '', ...lines] = block.split('\n').filter((line) => line !== '')
    if (!head.startsWith('# file: ')) continue
    const path = unquote(head.slice('# file: '.length))
    const own = lines.map(withoutOwner).sort()
    if (own.length > 0) {
      const name = path === rawRoot(root) ? '' : path.slice(rawRoot(root).length + 1)
      attributes.set(name, own.join(' '))
    }
  }
  return attributes
}

/** What a list grants the owner is in the mode, and may be lent at the moment. */
export function withoutOwner(line: string): string {
  return line.replace(/^(system\.posix_acl_access=0x020000000100)[0-9a-f]{4}/, '$1----')
}

function rawRoot(root: string): string {
  return Buffer.from(root).toString('latin1')
}

function unquote(text: string): string {
  return text.replace(/\\([0-7]{3})/g, (_, digits: string) =>
    String.fromCharCode(Number.parseInt(digits, 8)),
  )
}

/** Where data begins and ends: SEEK_DATA is 3 and SEEK_HOLE is 4 on Linux. */
const HOLES_PROGRAM = `
use bytes; $/ = "\\0";
while (my $path = <STDIN>) {
  chomp $path; my @map; my $at = 0;
  open(my $file, '<:raw', $path) or do { print "\\0"; next };
  while (1) {
    my $data = sysseek($file, $at, 3); last unless defined $data;
    my $end = sysseek($file, $data, 4); last unless defined $end;
    push @map, ($data + 0) . '-' . ($end + 0); $at = $end;
  }
  print 'data ', join(',', @map), "\\0";
}`

/** The data ranges of each file of at least a block that takes less room than its size says. */
function readHoles(entries: readonly Entry[]): ReadonlyMap<string, string> {
  const sparse = entries.filter(
    ({ stats }) => stats.isFile() && stats.size >= 4096n && stats.blocks * 512n < stats.size,
  )
  if (sparse.length === 0) return new Map()
  const input = Buffer.concat(sparse.flatMap(({ path }) => [path, Buffer.from([0])]))
  const { stdout } = callTool(['perl', '-e', HOLES_PROGRAM], input)
  const maps = stdout.split('\u0000')
  return new Map(sparse.map(({ name }, index) => [name, maps[index] ?? '']))
}
