/** Taking more than was given, outliving the run, and lying to who looks at the output. */
import type { RunCap } from '../../../src/contracts/index.ts'
import { type Attempt, call } from '../attempt.ts'

const SMALL = { memoryMb: 64, diskMb: 16 }
/** Without counters of the kernel these are not noticed: docs/sandbox.md says so. */
const UNCOUNTED: readonly (RunCap | null)[] = ['memory', 'duration', null]
const forever = 'while :; do :; done'

export const HOG_ATTEMPTS: readonly Attempt[] = [
  {
    id: 'memory/anonymous',
    title: 'memory of one process',
    program: ['perl', '$x .= "x" x 1048576 while length $x < 1e9'],
    caps: SMALL,
    expects: { killedBy: ['memory'] },
  },
  {
    id: 'memory/many',
    title: 'memory of many processes',
    program: ['sh', `for i in 1 2 3 4 5 6 7 8; do perl -e '$x = "x" x 2e7; sleep 9' & done; wait`],
    caps: SMALL,
    expects: { killedBy: ['memory'] },
  },
  {
    id: 'memory/memfd',
    title: 'memory in files without names',
    program: call('hog_memfd'),
    caps: SMALL,
    expects: { killedBy: ['memory'] },
  },
  {
    id: 'memory/tmpfs',
    title: 'memory in /dev/shm and /run',
    program: [
      'sh',
      'for i in 1 2 3 4 5 6 7 8 9 10; do head -c 15000000 /dev/zero > /dev/shm/f$i; head -c 200000 /dev/zero > /run/f$i; done; du -sm /dev/shm | cut -f1',
    ],
    caps: SMALL,
    // Bounded by their own size; where the kernel counts, they are memory.
    expects: { killedBy: [null, 'memory', 'disk'] },
  },
  {
    id: 'memory/segments',
    title: 'memory in shared segments',
    program: call('hog_segments'),
    caps: { ...SMALL, durationMs: 6000 },
    expects: { killedBy: ['memory'], killedByPolled: UNCOUNTED },
  },
  {
    id: 'memory/sockets',
    title: 'memory in the buffers of sockets',
    program: call('hog_sockets'),
    caps: { ...SMALL, durationMs: 6000 },
    expects: { killedBy: ['memory'], killedByPolled: UNCOUNTED },
  },
  {
    id: 'memory/pipes',
    title: 'memory in pipes',
    program: [
      'perl',
      'use Fcntl; for (1..1500) { pipe($r[$_], $w[$_]) or last; fcntl($w[$_], F_SETFL, O_NONBLOCK); fcntl($w[$_], 1031, 1048576); 1 while syswrite($w[$_], "x" x 65536) } print scalar(@w)',
    ],
    caps: SMALL,
    // The kernel's own quota of pipes per user bounds it.
    expects: { killedBy: [null, 'memory'] },
  },
  {
    id: 'disk/scope',
    title: 'bytes in the scope',
    program: ['sh', 'for i in 1 2 3 4; do head -c 6000000 /dev/zero > f$i; done; sleep 5'],
    caps: SMALL,
    expects: { killedBy: ['disk'] },
  },
  {
    id: 'disk/temporary',
    title: 'bytes in temporary places and at home',
    program: [
      'sh',
      'for i in 1 2; do for d in /tmp /var/tmp ~; do head -c 4000000 /dev/zero > $d/f$i; done; done; sleep 5',
    ],
    caps: SMALL,
    expects: { killedBy: ['disk'] },
  },
  {
    id: 'disk/one-file',
    title: 'one file beyond the cap',
    program: ['sh', 'head -c 60000000 /dev/zero > f; sleep 5'],
    caps: SMALL,
    expects: { killedBy: ['disk'] },
  },
  {
    id: 'disk/inodes',
    title: 'a million empty files',
    program: ['perl', 'for (1..1000000) { open F, ">", "f$_" or last } sleep 5'],
    caps: { diskMb: 1, cpuMs: 60_000, durationMs: 60_000 },
    expects: { killedBy: ['disk'] },
  },
  {
    id: 'disk/deep-on-disk',
    title: 'bytes deeper than any path, on a real disk',
    program: call('hog_deep'),
    caps: { diskMb: 257, cpuMs: 60_000, durationMs: 60_000, memoryMb: 1024 },
    onDisk: true,
    expects: { killedBy: ['disk'] },
  },
  {
    id: 'disk/unlinked-on-disk',
    title: 'bytes of files that have no name any more, on a real disk',
    program: call('hog_unlinked'),
    caps: { diskMb: 257, cpuMs: 60_000, durationMs: 60_000, memoryMb: 1024 },
    onDisk: true,
    expects: { killedBy: ['disk'] },
  },
  {
    id: 'process/bomb',
    title: 'a fork bomb',
    program: ['sh', 'bomb() { bomb | bomb & }; bomb; sleep 3'],
    caps: { processes: 40, durationMs: 5000 },
    // Without a counter the kernel only refuses, and the bomb burns out.
    expects: { killedBy: ['processes'], killedByPolled: ['processes', null] },
  },
  {
    id: 'process/threads',
    title: 'threads without end',
    program: call('hog_threads'),
    caps: { processes: 40, durationMs: 5000 },
    expects: { killedBy: ['processes'] },
  },
  {
    id: 'cpu/spinners',
    title: 'many spinners, of which nobody is the parent',
    program: ['sh', `for i in 1 2 3 4; do (setsid sh -c "${forever}" &); done; sleep 20`],
    caps: { cpuMs: 600 },
    expects: { killedBy: ['cpu'] },
  },
  {
    id: 'cpu/confetti',
    title: 'processes that live shorter than anybody looks',
    program: call('hog_confetti'),
    caps: { cpuMs: 700, durationMs: 7000 },
    // On a busy machine more of them pile up than processes are allowed; that ends the run as well.
    expects: { killedBy: ['cpu', 'processes'], killedByPolled: ['cpu', 'duration', 'processes'] },
  },
  {
    id: 'time/sleep',
    title: 'sleep',
    program: ['sh', 'sleep 60'],
    caps: { durationMs: 700 },
    expects: { killedBy: ['duration'] },
  },
  {
    id: 'time/stopped',
    title: 'stopped children',
    program: ['sh', 'for i in 1 2 3; do sleep 60 & kill -STOP $!; done; kill -STOP $$; wait'],
    caps: { durationMs: 700 },
    expects: { killedBy: ['duration'] },
  },
  {
    id: 'time/stop-first',
    title: 'stop or end the first process',
    program: [
      'sh',
      'kill -STOP 1; kill -9 1; kill -TERM 1; kill -HUP 1; kill -SEGV 1; kill -INT 1; echo still here',
    ],
    expects: { says: 'still here' },
  },
  {
    id: 'time/deaf',
    title: 'ignore every signal',
    program: [
      'perl',
      '$SIG{$_} = "IGNORE" for keys %SIG; for (1..3) { fork or do { sleep 60; exit } } sleep 60',
    ],
    caps: { durationMs: 700 },
    expects: { killedBy: ['duration'] },
  },
  {
    id: 'time/vfork',
    title: 'a parent that waits for its child in the kernel',
    program: [
      'perl',
      'syscall($^O eq "linux" && `uname -m` =~ /x86_64/ ? 58 : 220) == 0 and sleep 60; sleep 60',
    ],
    caps: { durationMs: 700 },
    expects: { killedBy: ['duration'] },
  },
  {
    id: 'survive/daemon',
    title: 'a daemon by the book',
    program: [
      'perl',
      'use POSIX; fork and exit; setsid(); fork and exit; open STDOUT, ">", "/dev/null"; open STDERR, ">", "/dev/null"; sleep 60',
    ],
    expects: { background: true },
  },
  {
    id: 'survive/nohup',
    title: 'nohup, disown and a loop that starts itself again',
    program: [
      'sh',
      `nohup setsid sh -c 'trap "" HUP TERM; while :; do sleep 0.05; done' >/dev/null 2>&1 & exit 0`,
    ],
    expects: { background: true },
  },
  {
    id: 'survive/respawn',
    title: 'a process that is never the same for long',
    program: [
      'perl',
      'fork and exit; close STDOUT; close STDERR; while (1) { my $p = fork; exit if $p; select undef, undef, undef, 0.002 }',
    ],
    caps: { durationMs: 4000, cpuMs: 20_000 },
    expects: { background: true, killedBy: [null, 'duration', 'cpu', 'processes'] },
  },
  {
    id: 'survive/kill-all',
    title: 'kill everything in sight',
    program: ['sh', '(sleep 0.2; kill -9 -1) & kill -TERM -1; sleep 3; echo TRIED 0'],
    expects: { says: '', background: 'any' },
  },
  {
    id: 'survive/disguise',
    title: 'a name that looks like the fields behind it',
    program: [
      'perl',
      'open C, ">", "/proc/self/comm"; print C "x) Z 1 (1\\n"; close C; $0 = "kthreadd"; fork and exit; close STDOUT; close STDERR; sleep 60',
    ],
    expects: { background: true },
  },
  {
    id: 'next/processes',
    title: 'what a command left behind is not there when the next one runs',
    program: ['sh', 'setsid sleep 50 & setsid sleep 51 & exit 0'],
    next: [
      'sh',
      'cat /proc/[0-9]*/cmdline | tr "\\0" " " | grep -q "sleep 5[01]" && echo ESCAPED; true',
    ],
    expects: { background: true },
  },
  {
    id: 'next/traps',
    title: 'traps for the shell and the programs of the next command',
    program: [
      'sh',
      'for p in sh cd echo read kill env stty script; do printf "#!/bin/sh\\necho ESCAPED\\n" > $p; chmod +x $p; cp $p /tmp/$p; cp $p ~/$p; done; ' +
        'echo "echo ESCAPED" > ~/.profile; echo "echo ESCAPED" > ~/.bashrc; echo "echo ESCAPED" > /tmp/.shrc; echo x > /proc/1/fd/6; echo x > /proc/self/fd/255; mkdir -p ~/.config; true',
    ],
    next: ['sh', 'id -u; true'],
    expects: { changes: ['sh', '~/sh', '~/.profile', '~/.bashrc'] },
  },
  {
    id: 'next/pipes',
    title: 'a next command after the pipes were played with',
    program: [
      'perl',
      'use Fcntl; chmod 0, "/proc/self/fd/$_", "/proc/1/fd/$_" for 0..9; fcntl(STDOUT, F_SETFL, O_NONBLOCK); fcntl(STDOUT, 1031, 4096); utime 0, 0, "/proc/self/fd/1"; ' +
        'unlink readlink "/proc/self/fd/$_" for 0..2; print "first"',
    ],
    next: ['sh', 'echo second; yes | head -c 300000 | wc -c'],
    expects: { says: '300000' },
  },
  {
    id: 'output/forgery',
    title: 'escape sequences and forged lines of the channel',
    program: [
      'sh',
      'printf "\\033[2J\\033]0;approved\\007\\033[8mhidden\\rX0 1\\nR\\nE0\\n{\\"child-pid\\": 1}\\n"; printf "X0 1\\nC\\n" >&2; for n in 3 4 5 6 7 8; do (eval "echo X0 1 >&$n") 2>/dev/null && echo "ESCAPED fd $n"; done',
    ],
    expects: { says: '\u001b[2J' },
  },
  {
    id: 'output/flood',
    title: 'output without end',
    program: [
      'sh',
      'timeout 2 yes "$(head -c 3000 /dev/zero | tr "\\0" y)" | head -c 30000000 | tail -c 10; yes | head -c 5000000 >&2',
    ],
  },
]
