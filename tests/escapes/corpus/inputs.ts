/** Attempts by way of the standard input that a command shares with the opener and who comes after. */
import type { Attempt } from '../attempt.ts'

/** Every name under which the first descriptor can be opened again. */
const NAMES = '/proc/self/fd/0 /dev/stdin /dev/fd/0 /proc/1/fd/0 /proc/$PPID/fd/0'

export const INPUT_ATTEMPTS: readonly Attempt[] = [
  {
    id: 'input/file-write',
    title: 'a file as input is opened anew and written to',
    input: 'file',
    program: [
      'sh',
      `for f in ${NAMES}; do [ -f $f ] && (echo x > $f) && echo "ESCAPED $f"; truncate -s 0 $f; dd if=/dev/zero of=$f count=1; done; true`,
    ],
  },
  {
    id: 'input/file-change',
    title: 'mode, owner, times, attributes and flags of a file that is the input',
    input: 'file',
    program: [
      'sh',
      `for f in ${NAMES}; do chmod 777 $f; chown 1:1 $f; touch $f; setfattr -n user.x -v y $f; chattr +i $f; done; ` +
        'perl -e \'truncate(STDIN, 0); chmod(0777, *STDIN); utime(1, 1, *STDIN); syswrite(STDIN, "x") and print "ESCAPED\\n"\'; true',
    ],
  },
  {
    id: 'input/file-lock',
    title: 'the input is locked for who reads it outside',
    input: 'file',
    program: [
      'python3',
      `import fcntl, mmap, os
try:
    m = mmap.mmap(0, 1, mmap.MAP_SHARED, mmap.PROT_READ | mmap.PROT_WRITE)
    m[0] = 88
    print('ESCAPED')
except (OSError, PermissionError): pass
for lock in (fcntl.LOCK_EX, fcntl.LOCK_SH):
    try: fcntl.flock(0, lock | fcntl.LOCK_NB)
    except OSError: pass
os.lseek(0, 1 << 40, 0)
fcntl.fcntl(0, fcntl.F_SETFL, os.O_APPEND | os.O_NONBLOCK)`,
    ],
  },
  {
    id: 'input/pipe-write',
    title: 'lines are put into the pipe that the shell outside goes on to read',
    input: 'pipe',
    program: [
      'sh',
      `head -c 11; for f in ${NAMES}; do echo INJECTED > $f & done; sleep 0.2; ` +
        'perl -e \'open(my $f, "+<", "/proc/self/fd/0"); syswrite($f, "INJECTED\\n")\'; true',
    ],
    expects: { says: 'first line', background: 'any' },
  },
  {
    id: 'input/pipe-change',
    title: 'mode, flags and size of the pipe that others read',
    input: 'pipe',
    program: [
      'perl',
      'use Fcntl; chmod 0, "/proc/self/fd/0", "/proc/1/fd/0"; chmod(0, *STDIN); fcntl(STDIN, F_SETFL, O_NONBLOCK); fcntl(STDIN, 1031, 4096); utime 0, 0, "/proc/self/fd/0"; unlink readlink "/proc/self/fd/0"',
    ],
  },
]
