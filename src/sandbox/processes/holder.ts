/**
 * The holder: a shell in a user and mount namespace of its own that mounts the overlays and starts one
 * bubblewrap after another in them. While it lives, upper and merged directories can be reached through
 * its /proc entry; when it dies, every mount is gone.
 *
 * INVARIANT (no survivor): the holder is killed by the kernel when the thread or the starter that
 *   started it dies, bubblewrap when the holder dies, and the process namespace with bubblewrap's child.
 */
import type { Duplex } from 'node:stream'
import { setTimeout as pause } from 'node:timers/promises'
import { requireProgram } from '../../machine/index.ts'
import { startFailure } from '../driver/failure.ts'
import { mapOwners } from '../driver/owner.ts'
import { type Architecture, ownNumber } from '../kernel/syscalls.ts'
import { MAY_FAIL, type PreparedEntry, RUNS, VIEW } from '../layers/mount-lines.ts'
import { Lines } from '../pipes/lines.ts'
import { FD } from './bubble.ts'
import {
  type HolderProcess,
  type HolderStarter,
  type HolderStreams,
  startHolder,
} from './holder-starter.ts'
import { keeperProgram } from './keeper.ts'

const LAST_WORDS_MS = 500

/** By descriptor: see `FD`. */
const STREAMS: HolderStreams = [
  'ignore',
  'ignore',
  'pipe',
  'ignore',
  'pipe',
  'pipe',
  'ignore',
  'pipe',
]

/** Streams by descriptor, with those of the channel and the keeper where they are wanted. */
function streamsOf({ hasChannel, hasKeeper }: HolderPlan): HolderStreams {
  const channel = hasChannel ? 'pipe' : 'ignore'
  if (hasKeeper) return [...STREAMS, 'ignore', channel, 'pipe']
  return hasChannel ? [...STREAMS, 'ignore', channel] : STREAMS
}

export class Holder {
  readonly control: Lines
  readonly inner: Lines
  readonly status: Lines
  /** Our end of what a command finds on its descriptor 3. */
  readonly channel: Duplex | null
  /** Our end of what the keeper reads its tasks from. */
  readonly keeper: Duplex | null
  readonly #process: HolderProcess
  readonly #words: Lines
  readonly #controlSocket: Duplex
  readonly #innerSocket: Duplex
  readonly #withheld: number | null
  #pid: number
  #isMapped: boolean

  constructor(plan: HolderPlan) {
    const { starter, hasKeeper } = plan
    const [words, streams] = [holderWords(plan), streamsOf(plan)]
    this.#process =
      starter === null || hasKeeper
        ? startHolder(holderProgram(hasKeeper), words, streams)
        : starter.start(words, streams)
    this.#pid = typeof this.#process.pid === 'number' ? this.#process.pid : 0
    this.#controlSocket = this.#socket(FD.holder)
    this.#innerSocket = this.#socket(FD.inner)
    this.control = new Lines(this.#controlSocket)
    this.inner = new Lines(this.#innerSocket)
    this.status = new Lines(this.#socket(FD.status))
    this.#words = new Lines(this.#socket(2))
    this.channel = plan.hasChannel ? this.#socket(FD.channel) : null
    this.keeper = plan.hasKeeper ? this.#socket(FD.keeper) : null
    this.#isMapped = !plan.fullMap
    this.#withheld = plan.withheld
  }

  /** Of a holder that a starter forks, zero until it has begun. */
  get pid(): number {
    return this.#pid
  }

  /** A path of the holder's own mounts, as this process can reach it. */
  reach(path: string): string {
    return `/proc/${this.pid}/root${path}`
  }

  get isAlive(): boolean {
    return this.#process.isAlive
  }

  /** Until the memory filesystem is there, where one is asked for. */
  async begin(): Promise<void> {
    this.#pid = await this.#process.pid
    if (!this.#isMapped) {
      await this.expect('U')
      mapOwners(this.pid, this.#withheld)
      this.#isMapped = true
      this.go()
    }
    await this.expect('T')
  }

  go(): void {
    this.#controlSocket.write('\n')
  }

  /** A line for the shell that waits inside. */
  tellInside(line: string): void {
    this.#innerSocket.write(`${line}\n`)
  }

  /** The next line of the holder, which has to be this one. */
  async expect(line: string): Promise<void> {
    const came = await this.control.next()
    if (came === line) return
    // What it said last may still be on its way.
    await Promise.race([this.#process.silent, pause(LAST_WORDS_MS)])
    throw startFailure(this.#words.rest())
  }

  /** What the programs of the holder complained about. */
  words(): string {
    return this.#words.rest()
  }

  async kill(): Promise<void> {
    this.#process.kill()
    await this.#process.exited
    this.#process.destroyStreams()
  }

  #socket(descriptor: number): Duplex {
    const socket = this.#process.stream(descriptor)
    // If the holder is gone, the caller notices that its next line does not come.
    socket.on('error', () => undefined)
    return socket
  }
}

interface HolderPlan {
  /** The directory with fstab and run script; no blanks or quotes in its name. */
  readonly directory: string
  /** Options of the memory filesystem at `t`, or null when nothing lies in memory. */
  readonly memory: string | null
  /** Files of control groups through which the holder joins them, before anything else. */
  readonly doors: readonly string[]
  /** Root's: every owner is known inside. */
  readonly fullMap: boolean
  /** The one owner that is not, where something is closed to root too. */
  readonly withheld: number | null
  /** Inherited file descriptors that have to be closed first. */
  readonly strayDescriptors: readonly number[]
  /** One more socket, for the command inside. */
  readonly hasChannel: boolean
  readonly hasKeeper: boolean
  /** Directories whose attributes are looked at before anything lies over them. */
  readonly attributesOf: readonly string[]
  /** What the program creates in the directory before it mounts anything. */
  readonly entries: readonly PreparedEntry[]
  readonly uppers: readonly Upper[]
  /** Null if this process starts the holder. */
  readonly starter: HolderStarter | null
}

/** A directory where layers lie: in the memory filesystem, or on a disk. */
export interface Upper {
  readonly name: string
  readonly mode: number
  /** Null for the holder's own. */
  readonly owner: { readonly uid: number; readonly gid: number } | null
  /** One that is there already is left as it is. */
  readonly isKept: boolean
}

/** The file that lists what was found of attributes, if anything was. */
export const CARRIERS = 'carriers'

/** The file that lists the parts of the machine that no overlay could cover. */
export const UNSEEN = 'unseen'
const VIEW_OPTIONS = 'size=4m,nr_inodes=16k,mode=700'

/** The highest descriptor of a holder without a keeper. */
export const LAST_DESCRIPTOR = FD.channel

/**
 * The words for the program of a holder, in Perl, which creates the namespaces, joins the control groups
 * and mounts everything by system calls; then it becomes the shell that starts bubblewraps.
 *
 * The holder writes to its socket: U when it waits for its maps, T when the memory filesystem is
 * mounted, M when the overlays are, E when a bubblewrap has ended. It starts the first bubblewrap by
 * itself, because every command needs one. Arguments: the directory, options of the memory
 * filesystem, whether maps are waited for, the shell and its script; then doors, descriptors,
 * directories to look at, entries by three words and directories for layers, each list after its
 * length.
 */
function holderWords(plan: HolderPlan): readonly string[] {
  const uppers = plan.uppers.map(
    ({ name, mode, owner, isKept }) =>
      `${name} ${mode} ${isKept ? 1 : 0} ${owner?.uid ?? ''} ${owner?.gid ?? ''}`,
  )
  const entries = plan.entries.flatMap(entryWords)
  const lists = [plan.doors, plan.strayDescriptors, plan.attributesOf, entries, uppers]
  return [
    ...[plan.directory, plan.memory ?? '', plan.fullMap ? '1' : ''],
    ...[requireProgram('sh'), runLoop(plan)],
    ...lists.flatMap((list) => [String(list.length), ...list.map(String)]),
  ]
}

function entryWords(each: PreparedEntry): readonly string[] {
  if (each.kind === 'directory') return ['d', each.name, '']
  return each.kind === 'link' ? ['l', each.name, each.target] : ['f', each.name, String(each.mode)]
}

/**
 * Strings that a call reads are variables: the interpreter refuses constants there. What is mounted
 * unwritable is remounted, as the kernel wants it, with flags that may be locked on what it shows.
 */
export function holderProgram(hasKeeper: boolean): string {
  // The driver's `requirePlatform` has refused every other one.
  const architecture = process.arch as Architecture
  const call = (name: Parameters<typeof ownNumber>[1]): string =>
    `syscall(${ownNumber(architecture, name)}`
  return `
$^F = 255;
my ($dir, $memory, $waits, $sh, $loop) = splice @ARGV, 0, 5;
sub list { my $count = shift @ARGV; splice @ARGV, 0, $count }
my @doors = list(); my @stray = list(); my @roots = list(); my @things = list(); my @uppers = list();
my ($none, $top, $source) = ('none', '/', 'writ');
sub fail { print STDERR "$_[0]: $!\\n"; exit 1 }
sub put { my $f; open($f, '>', $_[0]) && defined syswrite($f, $_[1]) && close $f or fail("$_[2]: $_[0]") }
open(my $control, '+<&=', ${FD.holder}) or fail('control');
sub say_ { syswrite($control, "$_[0]\\n") or exit 1 }
sub hear { my $c; do { sysread($control, $c, 1) or exit 1 } until $c eq "\\n" }
sub mounted {
  my ($from, $at, $type, $flags, $data) = @_;
  ${call('mount')}, $from, $at, $type, $flags, $data) == 0 or fail("mount: $at");
}
${call('close')}, $_ + 0) for @stray;
my ($uid, $gid) = ($> + 0, $) + 0);
${call('unshare')}, 0x10020000) == 0 or fail('unshare: unshare failed');
if ($waits) { say_('U'); hear() }
else {
  put('/proc/self/setgroups', 'deny', 'unshare');
  put('/proc/self/uid_map', "0 $uid 1", 'unshare');
  put('/proc/self/gid_map', "0 $gid 1", 'unshare');
}
${call('prctl')}, 1, 9, 0, 0, 0) == 0 or fail('prctl');
mounted($none, $top, $none, 0x44000, $none);
my $holder = $$;
${hasKeeper ? keeperProgram(architecture, FD.keeper) : ''}
put($_, '0', 'group') for @doors;
mounted($source, "$dir/${VIEW}", my $small = 'tmpfs', 0, my $size = '${VIEW_OPTIONS}');
while (my ($kind, $name, $rest) = splice @things, 0, 3) {
  my $path = "$dir/$name";
  if ($kind eq 'd') { mkdir $path and chmod 0755, $path or fail("directory: $path") }
  elsif ($kind eq 'l') { symlink $rest, $path or fail("link: $path") }
  else { put($path, '', 'file'); chmod $rest, $path or fail("file: $path") }
}
mounted($source, "$dir/t", my $tmpfs = 'tmpfs', 0, $memory) if $memory ne '';
for (@uppers) {
  my ($name, $mode, $kept, $owner, $group) = split / /;
  my $path = "$dir/t/$name";
  next if $kept && -d $path;
  mkdir $path or fail("upper: $path");
  if (defined $group) { chown $owner, $group, $path or fail("upper: $path") }
  chmod $mode, $path or fail("upper: $path");
}
say_('T');
my $found = '';
for my $root (@roots) {
  my $names = "\\0" x 65536;
  my $length = ${call('llistxattr')}, $root, $names, 65536);
  $! == 95 or fail("attributes: $root") if $length < 0;
  my $is = grep { /^user\\.overlay\\./ } split /\\0/, substr($names, 0, $length < 0 ? 0 : $length);
  $found .= "# file: $root\\n" if $is;
}
put("$dir/${CARRIERS}", $found, 'attributes') if $found ne '';
hear();
exit 1 if $found ne '';
my $unseen = '';
open(my $lines, '<', "$dir/fstab") or fail('fstab');
while (my $line = <$lines>) {
  my ($from, $at, $type, $options) = split / /, $line;
  s/\\\\([0-7]{3})/chr oct $1/ge for $from, $at;
  my ($flags, $mayFail, $shut, @data) = (0, 0, 0x102f);
  for (split /,/, $options) {
    if ($_ eq 'ro') { $flags |= 1 }
    elsif ($_ eq 'bind') { $flags |= 0x1000 }
    elsif ($_ eq 'rbind') { $flags |= 0x5000 }
    elsif ($_ eq '${MAY_FAIL}') { $mayFail = 1 }
    elsif ($_ eq '${RUNS}') { $shut = 0x1027 }
    else { push @data, $_ }
  }
  my $data = join ',', @data;
  if ($mayFail) { $unseen .= "$at\\n" if ${call('mount')}, $from, $at, $type, $flags, $data) != 0 }
  else { mounted($from, $at, $type, $flags, $data) }
  mounted($none, $at, $none, $shut, $none) if ($flags & 0x1001) == 0x1001;
}
close $lines;
put("$dir/${UNSEEN}", $unseen, 'view') if $unseen ne '';
exec $sh, '-c', $loop or fail('sh');
`
}

function runLoop({ directory }: HolderPlan): string {
  return [
    `echo M >&${FD.holder}`,
    `while :; do`,
    `. ${directory}/run`,
    `echo "E$?" >&${FD.holder}`,
    `read -r line <&${FD.holder} || exit`,
    'done',
  ].join('\n')
}
