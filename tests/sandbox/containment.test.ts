/**
 * What a command inside cannot reach, tried for real as root and as an ordinary user. Each block is one
 * wall; the corpus of escapes elsewhere goes further, these check that every wall is there at all.
 */
import { spawn } from 'node:child_process'
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { createServer, type Server } from 'node:net'
import { join } from 'node:path'
import { afterEach, describe, expect, it } from 'vitest'
import {
  type Driven,
  type DrivenRun,
  drive,
  driveOne,
  place,
  TEST_UID,
  WHO,
  type Who,
} from './drive.ts'

const servers: Server[] = []
afterEach(() => {
  for (const server of servers.splice(0)) server.close()
})

/** Starts a server of the machine that sends `HOST` to every client. */
function listen(at: string | number): Promise<number> {
  const server = createServer((socket) => socket.end('HOST'))
  servers.push(server)
  return new Promise((resolve, reject) => {
    server.once('error', reject)
    const done = (): void => {
      const address = server.address()
      resolve(typeof address === 'object' && address !== null ? address.port : 0)
    }
    if (typeof at === 'string')
      server.listen({ path: at, readableAll: true, writableAll: true }, done)
    else server.listen(at, '127.0.0.1', done)
  })
}

const connectUnix = (path: string): string =>
  `perl -MSocket -e 'socket(S,AF_UNIX,SOCK_STREAM,0) or die "socket: $!\\n"; ` +
  `connect(S,sockaddr_un("${path}")) or die "connect: $!\\n"; print <S>' 2>&1`

/** Numbers of system calls that the filter refuses. */
const CALLS = {
  mount: 165,
  ptrace: 101,
  keyctl: 250,
  bpf: 321,
  setns: 308,
  open_by_handle_at: 304,
}

/** Scripts that need nothing of their own run in one sandbox, which the first test that asks opens. */
class Shared {
  readonly #as: Who
  readonly #scripts: string[] = []
  #driven: Promise<Driven> | null = null

  constructor(as: Who) {
    this.#as = as
  }

  /** Returns how to wait for the run; every script has to be added before the first wait. */
  add(script: string): () => Promise<DrivenRun> {
    const index = this.#scripts.push(script) - 1
    return async () => {
      this.#driven ??= drive({ as: this.#as, root: place(this.#as), scripts: this.#scripts })
      const { runs, failure, errors } = await this.#driven
      const run = runs[index]
      if (run === undefined) throw new Error(`no run: ${JSON.stringify(failure)} ${errors}`)
      return run
    }
  }
}

describe.each(WHO)('opened by %s', (as) => {
  const shared = new Shared(as)

  const touched = shared.add(
    'for d in / /usr /usr/bin /etc /var /opt /mnt /dev /sys /boot; do ' +
      '[ -d $d ] && touch $d/writ-probe 2>/dev/null && echo "wrote $d"; done; echo done',
  )
  it('the machine is read-only, no matter who asks', async () => {
    const { stdout } = await touched()
    expect(stdout).toBe('done\n')
  })

  const opened = shared.add(
    'for f in mem environ maps; do (: < /proc/1/$f) 2>/dev/null && echo "opened $f"; done; ' +
      '(: >> /proc/1/mem) 2>/dev/null && echo "opened for writing"; readlink /proc/1/fd/5; echo done',
  )
  it('no process inside opens the memory of the first process', async () => {
    const { stdout } = await opened()
    expect(stdout).toBe('done\n')
  })

  it('a write next to the scope is caught by the overlay of a watched root', async () => {
    const home = place(as)
    const root = join(home, 'project')
    mkdirSync(root)
    if (as === 'user') await own(root)
    const { uppers } = await driveOne(
      { as, root, request: { watchedRoots: [home] } },
      'echo x > ../outside; echo y > inside',
    )
    expect(uppers).toEqual([{ root: home, entries: ['outside', 'project', 'project/inside'] }])
    expect(existsSync(join(home, 'outside'))).toBe(false)
  })

  it('private places are empty, writable and gone afterwards', async () => {
    const root = place(as, '/var/tmp')
    const { stdout, outcome } = await driveOne(
      { as, root },
      'for d in /tmp /dev/shm /run; do ls -A $d; echo x > $d/writ-private && echo "$d ok"; done; ' +
        'ls -A /var/tmp | wc -l; echo x > /var/tmp/writ-private && echo ok',
    )
    expect(outcome.exitCode).toBe(0)
    expect(stdout).toBe('/tmp ok\n/dev/shm ok\n/run ok\n1\nok\n')
    for (const place of ['/tmp', '/dev/shm', '/run', '/var/tmp']) {
      expect(existsSync(join(place, 'writ-private'))).toBe(false)
    }
  })

  it('hidden directories and files hold nothing, and what is not there does not matter', async () => {
    const root = place(as)
    mkdirSync(join(root, 'keys/deep'), { recursive: true })
    writeFileSync(join(root, 'keys/deep/secret'), 'SECRET', { mode: 0o644 })
    writeFileSync(join(root, 'token'), 'SECRET', { mode: 0o644 })
    const hidden = [join(root, 'keys'), join(root, 'token'), join(root, 'none/at/all'), '/srv/none']
    const { stdout, uppers } = await driveOne(
      { as, root, request: { hidden } },
      'ls -AR keys; cat keys/deep/secret token; grep -r SECRET . 2>/dev/null; ' +
        'touch keys/x 2>/dev/null && echo wrote; ln token t2 2>/dev/null; mv keys k2 2>/dev/null; ' +
        'cat t2 k2/deep/secret 2>/dev/null; echo end',
    )
    expect(stdout).toBe('keys:\nend\n')
    expect(uppers).toEqual([{ root, entries: [] }])
  })

  it('the sandbox’s own layers cannot be reached', async () => {
    const root = place(as)
    const { stdout } = await driveOne(
      { as, root, request: { watchedRoots: ['/tmp'] } },
      `ls -A /tmp/writ-${as === 'root' ? 0 : TEST_UID}; find / -maxdepth 3 -name 'filter-inside' 2>/dev/null`,
    )
    expect(stdout).toBe('')
  })

  const devices = shared.add('ls /dev | tr "\\n" " "')
  it('devices are the harmless ones', async () => {
    const { stdout } = await devices()
    expect(stdout.trim().split(' ').sort()).toEqual(
      ['core', 'fd', 'full', 'null', 'ptmx', 'pts', 'random', 'shm', 'stderr', 'stdin', 'stdout']
        .concat(['tty', 'urandom', 'zero'])
        .sort(),
    )
  })

  it('control groups are out of sight, and shared memory has a size', async () => {
    const root = place(as)
    const { stdout } = await driveOne(
      { as, root, caps: { diskMb: 200 } },
      'ls -A /sys/fs/cgroup; head -c 100000000 /dev/zero > /dev/shm/f 2>/dev/null || echo full',
    )
    expect(stdout).toBe('full\n')
  })

  const processes = shared.add(
    'ls -d /proc/[0-9]* | wc -l; kill -9 1; sleep 0.1; echo alive; cat /proc/1/environ | wc -c',
  )
  it('processes of the machine are not there, and the first one cannot be killed', async () => {
    const { stdout } = await processes()
    const [count, alive] = stdout.split('\n')
    expect(Number(count)).toBeLessThan(8)
    expect(alive).toBe('alive')
  })

  it('nothing of the opener’s environment comes along', async () => {
    const root = place(as)
    const { stdout } = await driveOne(
      {
        as,
        root,
        env: { ONLY: "it's", PATH: '/usr/bin:/bin' },
        wrapper: ['env', 'SECRET=hunter2'],
      },
      '/usr/bin/env; for p in /proc/[0-9]*; do tr "\\0" "\\n" < $p/environ | grep -c SECRET; done | sort -u',
    )
    expect(stdout.split('\n').sort()).toEqual(
      ['', '0', "ONLY=it's", 'PATH=/usr/bin:/bin', `PWD=${root}`].sort(),
    )
  })

  const privileges = shared.add(
    'grep -E "^(Cap|NoNewPrivs|Seccomp:)" /proc/self/status | tr "\\t" " "',
  )
  it('no privileges, no new ones, and the filter is on', async () => {
    const { stdout } = await privileges()
    const none = '0000000000000000'
    expect(stdout.trim().split('\n')).toEqual([
      `CapInh: ${none}`,
      `CapPrm: ${none}`,
      `CapEff: ${none}`,
      `CapBnd: ${none}`,
      `CapAmb: ${none}`,
      'NoNewPrivs: 1',
      'Seccomp: 2',
    ])
  })

  const tries = Object.entries(CALLS).map(
    ([name, number]) =>
      `perl -e '$r = syscall(${number}, 0, 0, 0, 0, 0); print "${name} ", $r, " ", $!+0, "\\n"'`,
  )
  const called = shared.add(
    [
      'unshare -U true 2>/dev/null && echo userns',
      'unshare -m true 2>/dev/null && echo mountns',
      'mount -t tmpfs x /tmp 2>/dev/null && echo mounted',
      ...tries,
      `perl -e '$x="a"; $r = ioctl(STDIN, 0x5412, $x); print "sti ", $!+0, "\\n"'`,
    ].join('\n'),
  )
  it('no namespaces, mounts, tracing, keys or handles', async () => {
    const { stdout } = await called()
    expect(stdout).toBe([...Object.keys(CALLS).map((name) => `${name} -1 1\n`), 'sti 1\n'].join(''))
  })

  it('no network: not the machine’s loopback, and nothing beyond', async () => {
    const root = place(as)
    const port = await listen(0)
    const connect = (host: string, to: number): string =>
      `perl -MSocket -e 'socket(S,AF_INET,SOCK_STREAM,0); ` +
      `connect(S,sockaddr_in(${to},inet_aton("${host}"))) or die "no\\n"; print <S>' 2>&1`
    const { stdout } = await driveOne(
      { as, root },
      `${connect('127.0.0.1', port)}\n${connect('1.1.1.1', 53)}`,
    )
    expect(stdout).toBe('no\nno\n')
  })

  it('unix sockets of the machine cannot be spoken to, own ones can (inside)', async () => {
    const root = place(as)
    const beside = place(as, '/opt')
    await listen(join(beside, 'socket'))
    await listen(join(root, 'socket'))
    const { stdout } = await driveOne(
      { as, root, request: { sockets: 'inside' } },
      `${connectUnix(join(beside, 'socket'))}\n${connectUnix(join(root, 'socket'))}\n` +
        `perl -MSocket -e 'socket(S,AF_UNIX,SOCK_STREAM,0) or die; bind(S,sockaddr_un("/tmp/own")) or die "bind $!"; ` +
        `listen(S,1); socket(C,AF_UNIX,SOCK_STREAM,0); connect(C,sockaddr_un("/tmp/own")) and print "own ok\\n"'`,
    )
    expect(stdout).not.toContain('HOST')
    expect(stdout).toContain('own ok')
  })

  it('no unix sockets at all, but pairs (none)', async () => {
    const root = place(as)
    const { stdout } = await driveOne(
      { as, root, request: { sockets: 'none' } },
      `${connectUnix('/tmp/x')}\nperl -MSocket -e 'socketpair(A,B,AF_UNIX,SOCK_STREAM,0) and print "pair ok\\n"'`,
    )
    expect(stdout).toBe('socket: Address family not supported by protocol\npair ok\n')
  })

  it('descriptors that the opener inherited stay outside', async () => {
    const root = place(as)
    const secret = join(place(as), 'secret')
    writeFileSync(secret, 'SECRET', { mode: 0o644 })
    const wrapper = ['bash', '-c', `exec 40<${secret} 251<${secret}; exec "$@"`, 'bash']
    const { stdout } = await driveOne(
      { as, root, wrapper },
      'ls /proc/self/fd | tr "\\n" " "; cat <&9',
    )
    expect(stdout).toBe('0 1 2 3 ')
  })

  it('everything that is left behind is counted, killed, and dead before the run is over', async () => {
    const root = place(as)
    const { outcome, uppers, isStill } = await driveOne(
      { as, root, isWatched: true },
      'setsid sh -c "while :; do echo x >> grows; sleep 0.01; done" >/dev/null 2>&1 & exit 0',
    )
    expect(outcome.exitCode).toBe(0)
    expect(outcome.backgroundProcesses).toBeGreaterThan(0)
    expect(outcome.resources.durationMs).toBeGreaterThan(1900)
    expect(uppers[0]?.entries).toEqual(['grows'])
    expect(isStill).toBe(true)
  })

  it('what ends within the grace is no background process', async () => {
    const root = place(as)
    const { outcome } = await driveOne({ as, root }, '(sleep 0.3; echo late > late) & exit 0')
    expect(outcome.backgroundProcesses).toBe(0)
    expect(outcome.resources.durationMs).toBeGreaterThan(290)
  })
})

describe('as root', () => {
  it('/proc/sys and the kernel’s files in /proc cannot be written or read', async () => {
    const root = place('root')
    const { stdout } = await driveOne(
      { as: 'root', root },
      'find /proc/sys /proc/irq /proc/bus /proc/fs -type f -writable 2>/dev/null | head -3; ' +
        'for f in kernel/core_pattern vm/drop_caches; do (: >> /proc/sys/$f) 2>/dev/null && echo wrote $f; done; ' +
        'ls -A /proc/irq /proc/bus /proc/fs /proc/acpi /proc/scsi 2>/dev/null | grep -v ":$" | grep .; ' +
        'head -c 1 /proc/kmsg /proc/kcore /proc/keys 2>/dev/null | grep -v "==>" | grep .; ' +
        '(echo h > /proc/sysrq-trigger) 2>/dev/null; cat /proc/sysrq-trigger; echo end',
    )
    expect(stdout).toBe('end\n')
  })

  it('other users’ homes, /var/lib and the secrets of /etc are out of sight', async () => {
    const root = place('root')
    const { stdout } = await driveOne(
      { as: 'root', root },
      'ls -A /home /var/lib /root 2>/dev/null | grep -v ":$" | grep .; cat /etc/shadow /etc/gshadow; ' +
        'ls -A /etc/ssl/private 2>/dev/null; cat /etc/ssh/*_key 2>/dev/null; cat /etc/passwd | head -c 4',
    )
    expect(stdout).toBe('root')
  })

  it('unless they are in scope', async () => {
    const root = place('root', '/var/lib')
    writeFileSync(join(root, 'mine'), 'mine')
    const { stdout } = await driveOne({ as: 'root', root }, 'cat mine; ls /var/lib | wc -l')
    expect(stdout).toBe('mine1\n')
  })
})

async function own(path: string): Promise<void> {
  const child = spawn('chown', ['-R', `${TEST_UID}:${TEST_UID}`, path])
  await new Promise((resolve) => child.once('close', resolve))
}

describe('the supervisor is killed', () => {
  it.each(WHO)('nothing of %s survives', async (as) => {
    const root = place(as)
    // A number that no other test sleeps for.
    const seconds = 900_000_000 + process.pid
    const sleeps = `setsid sleep ${seconds} & (setsid sleep ${seconds} &) ; sleep ${seconds}`
    const pattern = new RegExp(`sleep ${seconds}`)
    // The program that opens the sandbox is killed as soon as it has said that it is open.
    const seen: number[] = []
    const watching = setInterval(() => seen.push(survivors(pattern).length), 50)
    await drive({ as, root, scripts: [sleeps], killAfterMs: 2000 })
    clearInterval(watching)
    expect(Math.max(...seen)).toBeGreaterThanOrEqual(3)
    await expect.poll(() => survivors(pattern), { timeout: 3000 }).toEqual([])
  })
})

describe('what a killed supervisor left', () => {
  it.each(WHO)('is swept up by the next one of %s', async (as) => {
    const root = place(as)
    const disk = place(as, '/var/tmp')
    const caps = { diskMb: 1000 }
    await drive({ as, root, caps, disks: [disk], scripts: ['sleep 60'], killAfterMs: 500 })
    expect(readdirSync(disk)).toHaveLength(1)
    await driveOne({ as, root, disks: [disk] }, 'true')
    await expect.poll(() => readdirSync(disk), { timeout: 3000 }).toEqual([])
  })
})

describe('layers on a disk', () => {
  it('are removed without the help of a program, by an ordinary user too', async () => {
    const [root, disk] = [place('user'), place('user', '/var/tmp')]
    const file = join(place('user'), 'trace')
    const wrapper = ['strace', '-f', '-qq', '-e', 'trace=execve', '-o', file]
    const caps = { diskMb: 1000 }
    const scripts = ['echo x > a']
    const { runs } = await drive({ as: 'user', root, caps, disks: [disk], scripts, wrapper })
    expect(runs.map(({ outcome }) => outcome.exitCode)).toEqual([0])
    expect(readFileSync(file, 'utf8')).not.toMatch(/execve\("[^"]*\/(?:rm|chmod)"/)
    expect(readdirSync(disk)).toEqual([])
  })
})

/** Command lines of the machine's processes that look like this. */
function survivors(pattern: RegExp): readonly string[] {
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .map((pid) => commandLineOf(pid))
    .filter((line) => pattern.test(line))
}

function commandLineOf(pid: string): string {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, 'utf8').replaceAll('\0', ' ')
  } catch {
    return ''
  }
}
