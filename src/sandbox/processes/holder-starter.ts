/**
 * How the process of a holder comes to be: started by this process, or forked by a starter, a small
 * program in Perl that has read the holder's program before. The kernel copies the page tables of who
 * starts a process, and those of a long run are large, so a driver that opens many sandboxes has one.
 *
 * Requests go to the starter's standard output, a socket: a length, then words with a zero byte between them.
 * The starter answers with lines: ready, `P NAME PID`, `E NAME`. The holder's streams are connections
 * to a socket in the driver's private directory, made in the order in which the starter accepts them;
 * it takes only those of its own parent, as the kernel names it.
 *
 * INVARIANT (no survivor): the kernel kills the starter with the thread that started it, and holders
 *   with the starter. Only the starter reaps them, so the number that it kills is never another's.
 */
import type { ChildProcess } from 'node:child_process'
import { connect, type Socket } from 'node:net'
import { join } from 'node:path'
import type { Duplex, Readable } from 'node:stream'
import { invariant } from '../../base/index.ts'
import { requireProgram, startProgram } from '../../machine/index.ts'
import { type Architecture, ownNumber } from '../kernel/syscalls.ts'
import { Lines } from '../pipes/lines.ts'

/** By descriptor: what the process finds there. */
export type HolderStreams = readonly ('ignore' | 'pipe')[]

export interface HolderProcess {
  /** Zero if it could not be started. */
  readonly pid: number | Promise<number>
  readonly isAlive: boolean
  readonly exited: Promise<void>
  /** Exited, and nothing more comes from its streams. */
  readonly silent: Promise<void>
  /** Our end of a descriptor that was asked for as a pipe. */
  stream(descriptor: number): Duplex
  kill(): void
  destroyStreams(): void
}

/** Starts the program by this process. */
export function startHolder(
  program: string,
  words: readonly string[],
  streams: HolderStreams,
): HolderProcess {
  const child = startProgram(requireProgram('perl'), ['-e', program, ...words], {
    stdio: [...streams],
  })
  return {
    pid: child.pid ?? 0,
    get isAlive() {
      return child.exitCode === null && child.signalCode === null
    },
    exited: endOf(child),
    silent: new Promise((resolve) => child.once('close', () => resolve())),
    // Asked for as pipes; Node's sockets go both ways.
    stream: (descriptor) => child.stdio[descriptor] as Readable as Duplex,
    kill: () => child.kill('SIGKILL'),
    destroyStreams: () => {
      for (const socket of child.stdio) socket?.destroy()
    },
  }
}

function endOf(child: ChildProcess): Promise<void> {
  return new Promise((resolve) => {
    child.once('exit', () => resolve())
    child.once('error', () => resolve())
  })
}

/** A path of a socket that is longer does not fit into its address. */
const PATH_BYTES_MAX = 100

/** So many holders a driver starts without a starter: most drivers open fewer sandboxes. */
const STARTED_HERE = 4

interface StarterOptions {
  /** Private to the driver. */
  readonly directory: string
  readonly architecture: Architecture
  /** The program of a holder that has no keeper. */
  readonly program: string
  /** Inherited file descriptors that have to be closed first. */
  readonly strayDescriptors: readonly number[]
  /** The highest descriptor of a holder. */
  readonly lastDescriptor: number
}

/** The starter of one driver, from the time on when it pays. */
export class HolderStarts {
  readonly #options: StarterOptions
  #count = 0
  #starter: HolderStarter | null = null

  constructor(options: StarterOptions) {
    this.#options = options
  }

  /** Counts a holder; null if this process has to start it. */
  next(): HolderStarter | null {
    this.#count++
    if (this.#count === STARTED_HERE) this.#begin()
    return this.#starter?.isReady === true ? this.#starter : null
  }

  async close(): Promise<void> {
    await this.#starter?.close()
    this.#starter = null
  }

  #begin(): void {
    const path = join(this.#options.directory, 'starter')
    if (Buffer.byteLength(path) > PATH_BYTES_MAX) return
    this.#starter = new HolderStarter(path, this.#options)
  }
}

/** A holder that the starter has been asked for. */
class ForkedHolder implements HolderProcess {
  readonly pid: Promise<number>
  readonly exited: Promise<void>
  readonly silent: Promise<void>
  readonly #sockets: ReadonlyMap<number, Socket>
  readonly #kill: () => void
  #tellPid: (pid: number) => void = () => undefined
  #tellEnd: () => void = () => undefined
  #isAlive = true

  constructor(sockets: ReadonlyMap<number, Socket>, kill: () => void) {
    this.#sockets = sockets
    this.#kill = kill
    this.pid = new Promise((resolve) => {
      this.#tellPid = resolve
    })
    this.exited = new Promise((resolve) => {
      this.#tellEnd = resolve
    })
    const ends = [...sockets.values()].map(
      (socket) => new Promise<void>((resolve) => socket.once('close', () => resolve())),
    )
    this.silent = Promise.all([this.exited, ...ends]).then(() => undefined)
  }

  get isAlive(): boolean {
    return this.#isAlive
  }

  begun(pid: number): void {
    this.#tellPid(pid)
  }

  ended(): void {
    this.#isAlive = false
    this.#tellPid(0)
    this.#tellEnd()
  }

  stream(descriptor: number): Duplex {
    const socket = this.#sockets.get(descriptor)
    invariant(socket !== undefined, 'a stream of a holder was asked for as a pipe')
    return socket
  }

  kill(): void {
    this.#kill()
  }

  destroyStreams(): void {
    for (const socket of this.#sockets.values()) socket.destroy()
  }
}

export class HolderStarter {
  readonly #path: string
  readonly #child: ChildProcess
  readonly #wire: Socket
  readonly #exited: Promise<void>
  readonly #holders = new Map<string, ForkedHolder>()
  #made = 0
  #isReady = false

  constructor(path: string, options: StarterOptions) {
    const { architecture, program, strayDescriptors, lastDescriptor } = options
    this.#path = path
    const words = [path, lastDescriptor, ...strayDescriptors].map(String)
    const source = starterProgram(architecture) + program
    this.#child = startProgram(requireProgram('perl'), ['-e', source, ...words], {
      stdio: ['ignore', 'pipe', 'ignore'],
    })
    // Asked for as a pipe; Node's are sockets, which go both ways.
    this.#wire = this.#child.stdout as Readable as Socket
    this.#wire.on('error', () => undefined)
    this.#exited = endOf(this.#child)
    this.#exited.then(() => this.#lose())
    this.#read(new Lines(this.#wire))
    this.#child.unref()
    this.#wire.unref()
  }

  get isReady(): boolean {
    return this.#isReady
  }

  start(words: readonly string[], streams: HolderStreams): HolderProcess {
    const name = String(this.#made++)
    const descriptors = [...streams.keys()].filter((each) => streams[each] === 'pipe')
    const sockets = new Map(descriptors.map((each) => [each, connect(this.#path)]))
    const holder = new ForkedHolder(sockets, () => this.#send(['k', name]))
    this.#holders.set(name, holder)
    // While it has holders, this process stays for their end.
    this.#wire.ref()
    this.#send(['s', name, descriptors.join(' '), ...words])
    return holder
  }

  async close(): Promise<void> {
    this.#isReady = false
    this.#child.ref()
    this.#wire.destroy()
    await this.#exited
  }

  async #read(lines: Lines): Promise<void> {
    for (let line = await lines.next(); line !== null; line = await lines.next()) {
      const [word, name = '', pid] = line.split(' ')
      if (word === 'ready') this.#isReady = true
      else if (word === 'P') this.#holders.get(name)?.begun(Number(pid))
      else this.#end(name)
    }
  }

  #end(name: string): void {
    this.#holders.get(name)?.ended()
    this.#holders.delete(name)
    if (this.#holders.size === 0) this.#wire.unref()
  }

  /** The starter is gone, and the kernel kills its holders. */
  #lose(): void {
    this.#isReady = false
    for (const holder of this.#holders.values()) holder.ended()
    this.#holders.clear()
    this.#wire.destroy()
  }

  #send(words: readonly string[]): void {
    const body = Buffer.from(words.join('\0'))
    const length = Buffer.alloc(4)
    length.writeUInt32BE(body.length)
    this.#wire.write(Buffer.concat([length, body]))
  }
}

const ACCEPT_SECONDS = 10

/**
 * What comes before the program of a holder. The starter never leaves this loop; a process that it has
 * forked leaves it with the holder's descriptors and words, and goes on with the holder's program.
 *
 * Every low descriptor is taken from the beginning, so that what is accepted lies above those that a
 * holder has, and is moved there. A child of the starter is waited for by a descriptor of its process:
 * signals would come between two calls.
 */
function starterProgram(architecture: Architecture): string {
  const call = (name: Parameters<typeof ownNumber>[1]): string =>
    `syscall(${ownNumber(architecture, name)}`
  return `
$^F = 255;
my ($place, $last) = splice @ARGV, 0, 2;
${call('close')}, $_ + 0) for splice @ARGV;
my ($starter, $parent, $wire, $door, @low, %running) = ($$, getppid);
${call('prctl')}, 1, 9, 0, 0, 0) == 0 or exit 1;
open($wire, '+<&=', 1) or exit 1;
do { open(my $null, '+<', '/dev/null') or exit 1; push @low, $null } until fileno($low[-1]) >= $last;
socket($door, 1, 1, 0) && bind($door, pack 'S Z*', 1, $place) && listen($door, 4096) or exit 1;
${call('close')}, ${call('pidfd_open')}, $$, 0)) == 0 or exit 1;
sub taken {
  while (1) {
    my $waits = ''; vec($waits, fileno $door, 1) = 1;
    select($waits, undef, undef, ${ACCEPT_SECONDS}) > 0 or exit 1;
    accept(my $socket, $door) or exit 1;
    return $socket if unpack('l', getsockopt($socket, 1, 17)) == $parent;
  }
}
sub take { my $got = ''; while (length $got < $_[0]) { sysread($wire, $got, $_[0] - length $got, length $got) or exit } $got }
sub tell_ { syswrite($wire, "$_[0]\\n") or exit }
tell_('ready');
while (1) {
  my $ready = ''; vec($ready, $_, 1) = 1 for 1, keys %running;
  select($ready, undef, undef, undef) > 0 or next;
  for my $handle (grep { vec($ready, $_, 1) } keys %running) {
    my ($pid, $name) = @{delete $running{$handle}};
    waitpid $pid, 0;
    ${call('close')}, $handle + 0);
    tell_("E $name");
  }
  next if !vec($ready, 1, 1);
  my ($task, $name, $places, @words) = split /\\0/, take(unpack 'N', take(4)), -1;
  if ($task eq 'k') { $_->[1] eq $name and kill 'KILL', $_->[0] for values %running; next }
  my @places = split / /, $places;
  my @sockets = map { taken() } @places;
  my $pid = fork;
  if (defined $pid && $pid == 0) {
    ${call('prctl')}, 1, 9, 0, 0, 0) == 0 && getppid == $starter or exit 1;
    ${call('setsid')});
    ${call('dup3')}, fileno $low[0], 1, 0) < 0 and exit 1;
    close $_ for @low;
    ${call('dup3')}, fileno $sockets[$_], $places[$_] + 0, 0) < 0 and exit 1 for 0 .. $#places;
    close $_ for $door, @sockets;
    my %own = map { $_ => 1 } 0 .. 2, @places;
    opendir(my $all, '/proc/self/fd') or exit 1;
    my @rest = grep { /^\\d+$/ && !$own{$_} && $_ != fileno $all } readdir $all;
    closedir $all;
    ${call('close')}, $_ + 0) for @rest;
    @ARGV = @words;
    last;
  }
  my $handle = defined $pid ? ${call('pidfd_open')}, $pid, 0) : -1;
  if ($handle >= 0) { $running{$handle} = [$pid, $name]; tell_("P $name $pid"); next }
  if (defined $pid) { kill 'KILL', $pid; waitpid $pid, 0 }
  tell_("E $name");
}
`
}
