/**
 * The first process inside, a program in Perl. It cannot be killed from inside. It keeps a shell ready
 * that becomes the command, or runs the script around a command if there is one; it waits for that shell
 * and reports how it ended. While other processes are left it stays until it is killed from outside.
 *
 * It also answers renames. An overlay in a user namespace cannot rename a directory that lies in a
 * lower layer: it answers EXDEV, and many programs give up. So a seccomp filter, which the command
 * inherits, reports each rename to this process. It lets a rename of anything but a directory continue at
 * once; for directories see directory-rename.ts, which is compiled when the first one comes.
 *
 * INVARIANT (no more rights): it has the command's own rights and answers no process whose rights
 *   differ. It decides nothing by what it reads: a caller that confuses it could do the same by itself.
 * INVARIANT (never less): without this filter, or without an answer, a rename is what the kernel does.
 */

import { assembleRenameFilter, filterBytes, RENAME_MARK } from '../kernel/seccomp.ts'
import { type Architecture, numberOn, ownNumber, TOLD } from '../kernel/syscalls.ts'
import { FD } from './bubble.ts'
import { directoryRename } from './directory-rename.ts'

/** Numbers of `ioctl` calls on the seccomp listener: receive a call, answer it, set how to wake. */
const LISTENER = { receive: 0xc0502100, send: 0xc0182101, wake: 0x40082104 } as const
/** NEW_LISTENER, without and with WAIT_KILLABLE_RECV (Linux 5.19): who was heard waits for the answer. */
const FILTER_FLAGS = '0x28, 0x8'

/** `PR_SET_DUMPABLE`: with 0, no process of the same user can open its memory or trace it. */
const SET_DUMPABLE = 4

/** The script of the waiting shell. It starts before a command is known, because starting it is slow. */
const READY = [
  `echo R >&${FD.inner}`,
  // Other lines are sizes of a terminal that came too late for an earlier run.
  `while read -r line <&${FD.inner} || exit; do [ "$line" = go ] && break; done`,
  `. /proc/self/fd/${FD.own}`,
].join('\n')

/** A signal for the command must not end the shell around it; what it makes starts without traps. */
const AROUND = `trap : INT QUIT TERM HUP; . /proc/self/fd/${FD.around}`

/** The words of its command line. */
export function firstProcess(perl: string, architecture: Architecture): readonly string[] {
  const filter = Buffer.from(filterBytes(assembleRenameFilter(architecture))).toString('hex')
  const rest = `${answers(architecture)}${life(architecture)}`
  const helper = directoryRename(architecture)
  return [perl, '-e', setUp(architecture), READY, AROUND, filter, rest, helper]
}

function callOn(architecture: Architecture) {
  return (name: Parameters<typeof ownNumber>[1]): string =>
    `syscall(${ownNumber(architecture, name)}`
}

/**
 * Closes the descriptors of bubblewrap; the listener is close-on-exec. Installs the filter and starts the
 * shell first, and compiles the rest while the shell starts.
 */
function setUp(architecture: Architecture): string {
  const call = callOn(architecture)
  return `
$^F = 255;
${call('prctl')}, ${SET_DUMPABLE}, 0, 0, 0, 0) == 0 or exit 1;
my ($ready, $around, $filter, $rest, $help) = @ARGV;
${call('close')}, ${FD.filter}); ${call('close')}, ${FD.status});
open(my $inner, '+<&=', ${FD.inner}) or exit 1;
my $listener = -1;
{
  my $code = pack 'H*', $filter;
  my $program = pack 'S x6 P', length($code) / 8, $code;
  for my $flags (${FILTER_FLAGS}) {
    $listener = ${call('seccomp')}, 1, $flags, $program);
    last if $listener >= 0;
  }
  ${call('ioctl')}, $listener, ${LISTENER.wake}, 1) if $listener >= 0;
}
sub begin {
  my $pid = fork;
  if (defined $pid && !$pid) { exec '/bin/sh', '-c', $_[0], 'writ' or exit 127 }
  return $pid;
}
my $first = begin($ready);
eval $rest;
exit 1;
`
}

/** A program that restricts itself gets no help from a process that is not restricted. */
function answers(architecture: Architecture): string {
  const call = callOn(architecture)
  const landlock = numberOn(architecture, TOLD.landlock_restrict_self)
  const rename = numberOn(architecture, TOLD.rename) ?? -1
  const renameat2 = numberOn(architecture, TOLD.renameat2)
  return `
my ($isOff, $helper) = (0);
sub text {
  my ($tid, $at) = @_;
  my $file = "/proc/$tid/mem";
  my $fd = ${call('openat')}, -100, $file, 0x80000, 0);
  return if $fd < 0;
  my $bytes = "\\0" x 4096;
  my $count = ${call('pread64')}, $fd, $bytes, 4096, $at & 0xffffffffffffff);
  ${call('close')}, $fd);
  my $end = index $bytes, "\\0";
  return $end < 1 || $end >= $count ? undef : substr $bytes, 0, $end;
}
sub placed {
  my ($tid, $fd, $at) = @_;
  my $path = text($tid, $at);
  return if !defined $path || $path =~ m{^/+(proc|dev)(/|$)};
  return $path if $path =~ m{^/};
  $fd = unpack 'l', pack 'L', $fd & 0xffffffff;
  return $fd == -100 ? "/proc/$tid/cwd/$path" : "/proc/$tid/fd/$fd/$path";
}
sub answer {
  my ($id, $tid, $number, @words) = @_;
  if ($number == ${landlock}) { $isOff = 1 }
  return if $isOff;
  @words = (-100, $words[0], -100, $words[1], 0) if $number == ${rename};
  my $flags = $number == ${renameat2} || $number == ${rename} ? $words[4] & 0xffffffff : 0;
  my $old = placed($tid, $words[0], $words[1]);
  return if !defined $old;
  my $is = lstat($old) && -d _;
  return if !$is && !($flags & 2);
  my $new = placed($tid, $words[2], $words[3]);
  return if !defined $new || !($is || lstat($new) && -d _);
  $helper ||= eval $help or return;
  return $helper->($id, $tid, $old, $new, $flags, $listener);
}
sub serve {
  my $asked = "\\0" x 80;
  return if ${call('ioctl')}, $listener, ${LISTENER.receive}, $asked) < 0;
  my ($id, $tid, undef, $number, undef, undef, @words) = unpack 'Q L L l L Q Q6', $asked;
  my $errno = eval { answer($id, $tid, $number, @words) };
  my $reply = defined $errno ? pack('Q q l L', $id, 0, -$errno, 0) : pack('Q q l L', $id, 0, 0, 1);
  ${call('ioctl')}, $listener, ${LISTENER.send}, $reply);
}
my $mark = ${RENAME_MARK} << 32;
sub rename2 {
  my ($old, $new, $flags) = @_;
  ${call('renameat2')}, -100, $old, -100, $new, ($flags || 0) | $mark) == 0;
}
`
}

/** Waits for children. A process that loses its parent becomes a child of this one and is reaped here. */
function life(architecture: Architecture): string {
  const call = callOn(architecture)
  return `
$SIG{CHLD} = sub {};
sub ended {
  my $ended;
  while ((my $pid = waitpid -1, 1) > 0) { $ended = $? if $pid == $_[0] }
  return $ended;
}
sub attend {
  my ($pid, $fd) = @_;
  for (;;) {
    my $bits = '';
    vec($bits, $_, 1) = 1 for grep { $_ >= 0 } $listener, $fd;
    my $count = select(my $got = $bits, undef, undef, $fd < 0 ? 0.005 : undef);
    serve() if $count > 0 && $listener >= 0 && vec($got, $listener, 1);
    my $isReady = $count > 0 && $fd >= 0 && vec($got, $fd, 1);
    next if $count > 0 && $fd >= 0 && !$isReady;
    return 0 if $isReady && !$pid;
    my $ended = ended($pid);
    return $ended if defined $ended;
  }
}
sub report { syswrite($inner, "$_[0]\\n") }
sub followed {
  my ($pid) = @_;
  return 1 if !defined $pid;
  my $fd = ${call('pidfd_open')}, $pid, 0);
  my $ended = attend($pid, $fd);
  ${call('close')}, $fd) if $fd >= 0;
  my $signal = $ended & 127;
  report("signal $signal") if $signal && $signal != 2 && $signal != 13;
  return $signal ? 128 + $signal : $ended >> 8;
}
sub clock { sprintf '%dm%.6fs', $_[0] / 60, $_[0] - 60 * int($_[0] / 60) }
my $status = followed($first);
$status = followed(begin($around)) if $status == 0 && -s '/proc/self/fd/${FD.around}';
my ($user, $system, $users, $systems) = times;
report(clock(0) . ' ' . clock(0) . "\\n" . clock($user + $users) . ' ' . clock($system + $systems));
ended(0);
if (!kill 0, -1) { report("X$status 1"); exit 0 }
report("X$status");
for (;;) {
  attend(0, ${FD.inner});
  sysread($inner, my $bytes, 4096) or exit 0;
}
`
}
