/**
 * Finds the processes that have files open for writing. The kernel grants no read lease on a file that
 * any process has open for writing, or has mapped writable. Perl, which every Debian has, asks for the
 * leases and releases them before it answers. Only if it is refused a lease, or
 * cannot ask (no perl, a file of another user), does writ search `/proc/PID/fd`, which takes many times
 * as long and shows only what this user may see.
 */

import { readdirSync, readFileSync, readlinkSync, statSync } from 'node:fs'
import type { ChangeSide, RawPath } from '../../gate/index.ts'
import { AnsweringProgram, findProgram } from '../../machine/index.ts'
import { type Address, joinAddress, lookAt } from './entry.ts'
import type { ExchangeStep } from './plan.ts'

/** A file that is asked about: its real path, and where it is now. */
export interface AskedFile {
  readonly path: RawPath
  readonly address: Buffer
}

export interface Writers<File extends AskedFile = AskedFile> {
  /** The files that are written to. */
  readonly files: readonly File[]
  /** As far as they can be seen. */
  readonly processes: readonly number[]
}

const NO_WRITERS = { files: [], processes: [] }

/** The files are gone through twice, and not held: there may be very many. */
export async function findWriters<File extends AskedFile>(
  asked: Iterable<File>,
): Promise<Writers<File>> {
  const answers = await askForLeases(asked)
  const doubtful = [...doubtfulOf(asked, answers)]
  if (doubtful.length === 0) return NO_WRITERS
  const { inodes, processes } = lookThrough(doubtful)
  const busy = doubtful.filter(({ answer, inode }) => answer === 'b' || inodes.has(inode))
  return { files: busy.map(({ file }) => file), processes }
}

interface Doubtful<File extends AskedFile = AskedFile> {
  readonly file: File
  readonly name: string
  /** `dev:ino`. */
  readonly inode: string
  readonly answer: string | undefined
}

function* doubtfulOf<File extends AskedFile>(
  asked: Iterable<File>,
  answers: string,
): Generator<Doubtful<File>> {
  let index = 0
  for (const file of asked) {
    const answer = answers[index++]
    const entry = answer === 'f' ? null : lookAt(file.address)
    if (entry?.kind !== 'file') continue
    yield { file, name: nameAt(file.address), inode: entry.inode, answer }
  }
}

function nameAt(address: Buffer): string {
  return address.subarray(address.lastIndexOf('/') + 1).toString('latin1')
}

/**
 * The files of steps on one side of their changes, also those inside a tree. `placeOf` says where the
 * entry of a step lies; null for one that is left out.
 */
export function filesOf(
  steps: Iterable<ExchangeStep>,
  side: ChangeSide,
  placeOf: (step: ExchangeStep) => Address | null,
): Iterable<AskedFile & { readonly step: ExchangeStep }> {
  return { [Symbol.iterator]: () => filesIn(steps, side, placeOf) }
}

function* filesIn(
  steps: Iterable<ExchangeStep>,
  side: ChangeSide,
  placeOf: (step: ExchangeStep) => Address | null,
): Generator<AskedFile & { readonly step: ExchangeStep }> {
  for (const step of steps) {
    const place = placeOf(step)
    if (place === null) continue
    for (const change of step.changes) {
      if (change[side]?.kind !== 'file') continue
      const below = change.path.slice(step.path.length + 1)
      const address = below === '' ? Buffer.from(place) : joinAddress(place, below)
      yield { step, path: change.path, address }
    }
  }
}

/**
 * F_SETLEASE is 1024, F_RDLCK is 0; O_NOFOLLOW and O_NONBLOCK come from the machine. A request is its
 * length and the paths, each with a zero byte behind it. The kernel sends SIGIO to the holder of a lease
 * when another process wants to write.
 */
const PROGRAM = `
use Fcntl; use Errno; $| = 1; $SIG{IO} = 'IGNORE';
while (defined(my $length = <STDIN>)) {
  my ($rest, $answers, @held) = (int $length, '');
  local $/ = "\\0";
  while ($rest > 0 && defined(my $path = <STDIN>)) {
    $rest -= length $path;
    chomp $path;
    my $answer = 'u';
    lstat $path;
    if (!-f _) {
    } elsif (sysopen(my $file, $path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK)) {
      if (fcntl($file, 1024, 0)) { $answer = 'f'; push @held, $file }
      elsif ($!{EAGAIN}) { $answer = 'b' }
    } elsif ($!{EAGAIN}) { $answer = 'b' }
    $answers .= $answer;
    # Descriptors are few; what was free a moment ago need not be held on to.
    @held = () if @held > 200;
  }
  @held = ();
  print "$answers\\n.\\n";
}`

/** So many files are asked about in one request. */
const FILES_MAX = 1_000

/** Stays, because a promotion asks twice, and a session promotes often. */
let program: AnsweringProgram | null = null

/** Returns a letter for each file: free, busy or unknown. The text is shorter if perl did not answer. */
async function askForLeases(asked: Iterable<AskedFile>): Promise<string> {
  let answers = ''
  for (const request of requestsOf(asked)) {
    program = program?.isAlive === true ? program : startAsking()
    const [letters] = (await program?.ask(`${request.length}\n${request}`)) ?? []
    if (letters === undefined) return answers
    answers += letters
  }
  return answers
}

function startAsking(): AnsweringProgram | null {
  const perl = findProgram('perl')
  return perl === null ? null : new AnsweringProgram(perl, ['-e', PROGRAM])
}

function* requestsOf(asked: Iterable<AskedFile>): Generator<string> {
  let [request, files] = ['', 0]
  for (const { address } of asked) {
    request += `${forOthers(address.toString('latin1'))}\u0000`
    if (++files < FILES_MAX) continue
    yield request
    ;[request, files] = ['', 0]
  }
  if (files > 0) yield request
}

/** An address through an open directory of this process, as another process reaches it. */
function forOthers(address: string): string {
  const own = '/proc/self/'
  return address.startsWith(own) ? `/proc/${process.pid}/${address.slice(own.length)}` : address
}

const ACCESS_MODE = 0o3

interface Found {
  /** That are written to. */
  readonly inodes: ReadonlySet<string>
  readonly processes: readonly number[]
}

function lookThrough(asked: readonly Doubtful[]): Found {
  const names = new Set(asked.map(({ name }) => name))
  const wanted = new Set(asked.map(({ inode }) => inode))
  const inodes = new Set<string>()
  const processes = new Set<number>()
  for (const name of readdirSync('/proc')) {
    const process = Number(name)
    if (!Number.isInteger(process)) continue
    for (const handle of handlesOf(process)) {
      const inode = writtenInode(process, handle, names)
      if (inode === null || !wanted.has(inode)) continue
      inodes.add(inode)
      processes.add(process)
    }
  }
  return { inodes, processes: [...processes] }
}

function handlesOf(process: number): readonly string[] {
  try {
    return readdirSync(`/proc/${process}/fd`)
  } catch {
    // The process has exited, or belongs to another user.
    return []
  }
}

/** Names are compared first, and inodes only where a name fits. */
function writtenInode(process: number, handle: string, names: ReadonlySet<string>): string | null {
  try {
    const link = readlinkSync(`/proc/${process}/fd/${handle}`, 'latin1')
    if (!link.startsWith('/') || !names.has(link.slice(link.lastIndexOf('/') + 1))) return null
    const text = readFileSync(`/proc/${process}/fdinfo/${handle}`, 'latin1')
    const flags = /^flags:\s*([0-7]+)/m.exec(text)
    if ((Number.parseInt(flags?.[1] ?? '0', 8) & ACCESS_MODE) === 0) return null
    const { dev, ino } = statSync(`/proc/${process}/fd/${handle}`, { bigint: true })
    return `${dev}:${ino}`
  } catch {
    return null
  }
}
