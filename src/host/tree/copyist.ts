/**
 * A process that stays, reads attributes and copies few plain files, for processes that do so often:
 * starting `getfattr` and `cp` takes several times what they do. It is perl, where that is installed,
 * because that can set exact times and attributes by system calls.
 *
 * Whoever asks compares what was copied with what was scanned: what could not be set is found there.
 * The copyist ends when its input does, so with this process, however that ends; it keeps nothing alive.
 */
import type { ChildProcess } from 'node:child_process'
import type { Socket } from 'node:net'
import type { Attribute, RawPath } from '../../gate/index.ts'
import { type ProgramPath, startProgram } from '../sandbox/programs.ts'
import { type Architecture, ownNumber } from '../sandbox/syscalls.ts'

/** One to be copied, with what its copy gets. */
export interface CopyOrder {
  readonly from: RawPath
  readonly to: RawPath
  readonly isLink: boolean
  readonly mode: number
  /** Null where owners are not carried. */
  readonly owner: { readonly uid: bigint; readonly gid: bigint } | null
  readonly atimeNs: bigint
  readonly mtimeNs: bigint
  /** Those with the same are names of one file; null for the only name of one. */
  readonly inode: string | null
}

export interface CopyistReading {
  readonly byPath: ReadonlyMap<RawPath, readonly Attribute[]>
  readonly unreadable: readonly RawPath[]
}

/** Null when it ended before it answered; whether it did anything is not known then. */
type Answer<T> = Promise<T | null>

const TIMEOUT_MS = 600_000

export class Copyist {
  readonly #process: ChildProcess
  readonly #sockets: readonly Socket[]
  readonly #waiting: ((lines: readonly string[] | null) => void)[] = []
  #text = ''
  #isOver = false

  constructor(perl: ProgramPath, architecture: Architecture) {
    this.#process = startProgram(perl, ['-e', program(architecture)])
    const { stdin, stdout, stderr } = this.#process
    // Pipes of Node are sockets.
    this.#sockets = [stdin, stdout, stderr] as unknown as readonly Socket[]
    stdout?.on('data', (bytes: Buffer) => this.#hear(bytes.toString('latin1')))
    stderr?.resume()
    stdin?.on('error', () => undefined)
    const over = (): void => this.#end()
    this.#process.on('error', over)
    this.#process.on('exit', over)
    this.#rest()
  }

  get isOver(): boolean {
    return this.#isOver
  }

  /** What all of them have, each that has any. */
  async attributesOf(paths: readonly RawPath[]): Answer<CopyistReading> {
    const lines = await this.#ask(['A', ...paths.map(hexOf)])
    return lines === null ? null : readingOf(lines)
  }

  /** What the copies have of attributes, or why not all could be made. */
  async copy(orders: readonly CopyOrder[]): Answer<CopyistReading | string> {
    const lines = await this.#ask(['C', ...orders.map(orderText)])
    if (lines === null) return null
    const failed = lines.find((line) => line.startsWith('! '))
    return failed === undefined ? readingOf(lines) : textOf(failed.slice(2))
  }

  async #ask(words: readonly string[]): Answer<readonly string[]> {
    if (this.#isOver) return null
    for (const socket of this.#sockets) socket.ref()
    const answer = new Promise<readonly string[] | null>((resolve) => this.#waiting.push(resolve))
    const timer = setTimeout(() => this.#end(), TIMEOUT_MS)
    this.#process.stdin?.write(`${words.join(' ')}\n`)
    try {
      return await answer
    } finally {
      clearTimeout(timer)
      if (this.#waiting.length === 0) this.#rest()
    }
  }

  /** Answers end with a line that has but a full stop, and come in the order of what was asked. */
  #hear(text: string): void {
    this.#text += text
    for (let end = endOf(this.#text); end !== -1; end = endOf(this.#text)) {
      const lines = this.#text.slice(0, end).split('\n').slice(0, -1)
      this.#text = this.#text.slice(end + END.length)
      this.#waiting.shift()?.(lines)
    }
  }

  #end(): void {
    this.#isOver = true
    this.#process.kill('SIGKILL')
    for (const resolve of this.#waiting.splice(0)) resolve(null)
  }

  #rest(): void {
    this.#process.unref()
    for (const socket of this.#sockets) socket.unref()
  }
}

const END = '.\n'

function endOf(text: string): number {
  if (text.startsWith(END)) return 0
  const place = text.indexOf(`\n${END}`)
  return place === -1 ? -1 : place + 1
}

/** Paths are bytes, one a character. */
function hexOf(path: string): string {
  return Buffer.from(path, 'latin1').toString('hex')
}

function textOf(hex: string): string {
  return Buffer.from(hex, 'hex').toString('latin1')
}

function orderText(order: CopyOrder): string {
  const { from, to, isLink, mode, owner, atimeNs, mtimeNs, inode } = order
  const [read, written] = [momentOf(atimeNs), momentOf(mtimeNs)]
  return [
    ...[hexOf(from), hexOf(to), isLink ? '1' : '', mode],
    ...[owner?.uid ?? '', owner?.gid ?? '', ...read, ...written, inode ?? ''],
  ].join(',')
}

const SECOND_NS = 1_000_000_000n

/** Seconds and the rest, which is never negative. */
function momentOf(ns: bigint): readonly [bigint, bigint] {
  const rest = ((ns % SECOND_NS) + SECOND_NS) % SECOND_NS
  return [(ns - rest) / SECOND_NS, rest]
}

function readingOf(lines: readonly string[]): CopyistReading {
  const byPath = new Map<RawPath, Attribute[]>()
  const unreadable: RawPath[] = []
  let found: Attribute[] = []
  for (const line of lines) {
    const [kind, first = '', second = ''] = line.split(' ')
    if (kind === 'E') unreadable.push(textOf(first) as RawPath)
    else if (kind === 'X') found.push([textOf(first), second])
    else {
      found = []
      byPath.set(textOf(first) as RawPath, found)
    }
  }
  return { byPath, unreadable }
}

/**
 * A file is open to its owner until everything is on it. What a filesystem does not take of attributes
 * is left out, as by `cp`; whatever else fails is told. Strings that a call reads are variables: the
 * interpreter refuses constants there.
 */
function program(architecture: Architecture): string {
  const call = (name: Parameters<typeof ownNumber>[1]): string =>
    `syscall(${ownNumber(architecture, name)}`
  return `
use Fcntl qw(O_RDONLY O_WRONLY O_CREAT O_EXCL O_NOFOLLOW);
my ($HERE, $ITSELF, $UNSUPPORTED, $NONE, $SIZE) = (-100, 0x100, 95, 61, 65536);
my $out;
binmode STDIN;
sub bytes { pack 'H*', $_[0] }
sub hex_ { unpack 'H*', $_[0] }
sub names {
  my ($path) = @_;
  my $list = "\\0" x $SIZE;
  my $length = ${call('llistxattr')}, $path, $list, $SIZE);
  return $! == $UNSUPPORTED ? [] : undef if $length < 0;
  return [split /\\0/, substr($list, 0, $length)];
}
sub value {
  my ($path, $name) = @_;
  my $value = "\\0" x $SIZE;
  my $length = ${call('lgetxattr')}, $path, $name, $value, $SIZE);
  return $length < 0 ? undef : substr($value, 0, $length);
}
sub tell_ {
  my ($path) = @_;
  my $names = names($path);
  return $out .= 'E ' . hex_($path) . "\\n" unless defined $names;
  $out .= 'F ' . hex_($path) . "\\n" if @$names;
  for my $name (@$names) {
    my $value = value($path, $name);
    if (defined $value) { $out .= 'X ' . hex_($name) . ' ' . hex_($value) . "\\n" }
    elsif ($! != $NONE) { $out .= 'E ' . hex_($path) . "\\n" }
  }
}
sub carry {
  my ($from, $to) = @_;
  for my $name (@{names($from) || []}) {
    next if $name =~ /^user\\.overlay\\./;
    next unless $name =~ /^user\\./ || $name eq 'system.posix_acl_access' || $name eq 'security.capability';
    my $value = value($from, $name);
    ${call('lsetxattr')}, $to, $name, $value, length $value, 0) if defined $value;
  }
}
sub folder {
  my ($path) = @_;
  return 1 if -d $path;
  return folder($path =~ s{/[^/]*$}{}r) && (mkdir($path, 0700) || -d $path);
}
my %first;
sub copy {
  my ($from, $to, $isLink, $mode, $uid, $gid, $as, $an, $ms, $mn, $inode) = @_;
  folder($to =~ s{/[^/]*$}{}r) or return 0;
  if ($inode ne '' && defined $first{$inode}) { return link $first{$inode}, $to }
  $first{$inode} = $to if $inode ne '';
  if ($isLink) {
    my $target = readlink $from;
    defined $target && symlink($target, $to) or return 0;
    if ($uid ne '') { ${call('fchownat')}, $HERE, $to, $uid + 0, $gid + 0, $ITSELF) == 0 or return 0 }
  } else {
    sysopen(my $in, $from, O_RDONLY | O_NOFOLLOW) or return 0;
    sysopen(my $made, $to, O_WRONLY | O_CREAT | O_EXCL, 0600) or return 0;
    while (1) {
      my $count = sysread($in, my $piece, 1048576);
      return 0 unless defined $count;
      last if $count == 0;
      for (my $done = 0; $done < $count;) { $done += syswrite($made, $piece, $count - $done, $done) || return 0 }
    }
    if ($uid ne '') { chown $uid, $gid, $made or return 0 }
    carry($from, $to);
    close $made or return 0;
    chmod $mode, $to or return 0;
  }
  my $times = pack 'q4', $as, $an, $ms, $mn;
  return ${call('utimensat')}, $HERE, $to, $times, $ITSELF) == 0;
}
while (my $line = <STDIN>) {
  chomp $line;
  my ($verb, @words) = split / /, $line;
  $out = '';
  %first = ();
  if ($verb eq 'A') { tell_(bytes($_)) for @words }
  else {
    for (@words) {
      my ($from, $to, @rest) = split /,/, $_, -1;
      ($from, $to) = (bytes($from), bytes($to));
      if (copy($from, $to, @rest)) { tell_($to) unless $rest[0]; next }
      $out = '! ' . hex_("$to: $!") . "\\n";
      last;
    }
  }
  $out .= ".\\n";
  for (my $done = 0; $done < length $out;) { $done += syswrite(STDOUT, $out, length($out) - $done, $done) || exit 1 }
}
`
}
