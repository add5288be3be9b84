/**
 * Who has files open for writing. The kernel knows at once: it grants nobody a read lease on a file
 * that somebody writes to, whoever that is, and also when only a memory mapping is left of it. Perl,
 * which every Debian has, can ask for one; it asks for all files in one go and gives them back by
 * ending. Only when it says no, or cannot say (a file of somebody else, no perl), are the processes
 * looked through (`/proc/PID/fd`), which takes many times as long; as far as this user may look.
 */
import { readdirSync, readFileSync, readlinkSync, statSync } from 'node:fs'
import { findProgram, startProgram } from '../machine/index.ts'

export interface Writers {
  /** Inodes (`dev:ino`) that are written to. */
  readonly inodes: ReadonlySet<string>
  /** As far as they can be seen. */
  readonly processes: readonly number[]
}

/** A file that is asked about: where it is, its last name, and its inode as `dev:ino`. */
export interface Asked {
  readonly address: Buffer
  readonly name: string
  readonly inode: string
}

const NOBODY: Writers = { inodes: new Set(), processes: [] }

export async function findWriters(asked: readonly Asked[]): Promise<Writers> {
  if (asked.length === 0) return NOBODY
  const answers = await askForLeases(asked)
  const doubtful = asked.filter((_, index) => answers[index] !== 'f')
  if (doubtful.length === 0) return NOBODY
  const found = lookThrough(doubtful)
  const busy = asked.filter((_, index) => answers[index] === 'b').map(({ inode }) => inode)
  return { inodes: new Set([...found.inodes, ...busy]), processes: found.processes }
}

/** F_SETLEASE is 1024, F_RDLCK is 0; O_NOFOLLOW and O_NONBLOCK come from the machine. */
const PROGRAM = `
use Fcntl; use Errno; $/ = "\\0"; my @held;
while (my $path = <STDIN>) {
  chomp $path;
  my $answer = 'u';
  if (sysopen(my $file, $path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK)) {
    if (fcntl($file, 1024, 0)) { $answer = 'f'; push @held, $file }
    elsif ($!{EAGAIN}) { $answer = 'b' }
  } elsif ($!{EAGAIN}) { $answer = 'b' }
  print $answer;
  # Descriptors are few; what was free a moment ago need not be held on to.
  @held = () if @held > 200;
}`

const TIMEOUT_MS = 30_000

/** One letter a file: free, busy, or unknown. Shorter than the list when nobody could be asked. */
function askForLeases(asked: readonly Asked[]): Promise<string> {
  const perl = findProgram('perl')
  if (perl === null) return Promise.resolve('')
  return new Promise((resolved) => {
    const child = startProgram(perl, ['-e', PROGRAM], {
      stdio: ['pipe', 'pipe', 'ignore'],
      timeout: TIMEOUT_MS,
    })
    let answers = ''
    child.stdout?.on('data', (piece: Buffer) => {
      answers += piece.toString('latin1')
    })
    child.on('error', () => resolved(''))
    child.on('close', () => resolved(answers))
    // Perl that ends early closes its input; then the answers are too few.
    child.stdin?.on('error', () => {})
    child.stdin?.end(
      Buffer.concat(asked.flatMap(({ address }) => [forOthers(address), Buffer.from([0])])),
    )
  })
}

/** An address through an open directory of this process, as another process reaches it. */
function forOthers(address: Buffer): Buffer {
  const own = '/proc/self/'
  if (!address.subarray(0, own.length).equals(Buffer.from(own))) return address
  return Buffer.concat([Buffer.from(`/proc/${process.pid}/`), address.subarray(own.length)])
}

const ACCESS_MODE = 0o3

function lookThrough(asked: readonly Asked[]): Writers {
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
    // Gone meanwhile, or somebody else's.
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
