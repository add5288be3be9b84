/**
 * Sockets, pipes and locks of the machine, wherever they lie in the visible tree and however they came
 * there. Nothing inside reaches them, under either profile of sockets; what a run makes for itself works.
 */
import { type ChildProcess, spawn, spawnSync } from 'node:child_process'
import {
  chmodSync,
  chownSync,
  existsSync,
  linkSync,
  mkdirSync,
  mkdtempSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { dirname, join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import {
  type Drive,
  drive,
  driveOne,
  place,
  TEST_UID,
  userWrapper,
  WHO,
  type Who,
} from './drive.ts'

const SERVER = `import socket, sys, os, time
time.sleep(float(sys.argv[2]))
s = socket.socket(socket.AF_UNIX); s.bind(sys.argv[1]); os.chmod(sys.argv[1], 0o777); s.listen(5)
while True: s.accept()[0].sendall(b'HOST')`

const DATAGRAMS = `import socket, sys, os
s = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM); s.bind(sys.argv[1]); os.chmod(sys.argv[1], 0o777)
got = s.recv(99); open(sys.argv[1] + '.got', 'wb').write(got)`

const children: ChildProcess[] = []
let folder: string

// Not below a directory that is private or covered inside.
beforeEach(() => {
  folder = mkdtempSync('/srv/writ-sockets-')
  chmodSync(folder, 0o777)
})

afterEach(() => {
  for (const child of children.splice(0)) child.kill('SIGKILL')
  rmSync(folder, { recursive: true, force: true })
})

function start(as: Who, words: readonly string[], cwd = folder): void {
  const [program = '', ...rest] = [...userWrapper(as), ...words]
  children.push(spawn(program, rest, { cwd, stdio: 'ignore' }))
}

async function appears(path: string): Promise<void> {
  for (let tries = 0; tries < 200 && !existsSync(path); tries++) await pause(50)
  expect(existsSync(path)).toBe(true)
}

/** A service of the user who opens the sandbox. */
async function serve(as: Who, name: string, at = join(folder, name), through: string[] = []) {
  const path = join(folder, name)
  mkdirSync(dirname(path), { recursive: true })
  if (as === 'user' && dirname(path) !== folder) chownSync(dirname(path), TEST_UID, TEST_UID)
  start(as, [...through, 'python3', '-c', SERVER, at, '0'], dirname(path))
  await appears(path)
  return path
}

const connect = (path: string): string =>
  `perl -MSocket -e 'socket(S,AF_UNIX,SOCK_STREAM,0) or die "socket: $!\\n"; ` +
  `connect(S,sockaddr_un("${path}")) or die "connect: $!\\n"; print <S>' 2>&1`

describe.each(WHO)('opened by %s', (as) => {
  const order = (more: Partial<Drive> = {}) => ({ as, root: place(as), ...more })

  it('services are out of reach: by a relative name, in another network, under a second name', async () => {
    const relative = await serve(as, 'rel/s', 's')
    const network = await serve(as, 'net/s', undefined, ['unshare', '-Urn'])
    mkdirSync(join(folder, 'a/b/c/d/e'), { recursive: true })
    const link = join(folder, 'a/b/c/d/e/u')
    linkSync(network, link)
    const moved = join(folder, 'moved')
    await serve(as, 'before/s')
    renameSync(join(folder, 'before'), moved)
    const tries = [relative, network, link, join(moved, 's')].map(connect).join('; ')
    const { stdout } = await driveOne(order(), tries)
    expect(stdout).toBe('connect: Connection refused\n'.repeat(4))
  })

  it('nor is a service that begins to listen while the command runs', async () => {
    const path = join(folder, 'late')
    start(as, ['python3', '-c', SERVER, path, '1'])
    // By its listing: a name that was looked for in vain stays absent inside.
    const wait = `until ls ${folder} | grep late; do sleep 0.1; done`
    const { stdout } = await driveOne(order(), `${wait}; ${connect(path)}`)
    expect(stdout).toBe('late\nconnect: Connection refused\n')
  })

  it('no datagram leaves by a pair of sockets, which the profile `none` keeps', async () => {
    const path = join(folder, 'd')
    start(as, ['python3', '-c', DATAGRAMS, path])
    await appears(path)
    const send =
      `perl -MSocket -e 'socketpair(A,B,AF_UNIX,SOCK_DGRAM,0) or die "pair: $!\\n"; ` +
      `send(A,"SPOKEN",0,sockaddr_un("${path}")) or die "send: $!\\n"; print "sent\\n"' 2>&1`
    for (const sockets of ['none', 'inside'] as const) {
      const { stdout } = await driveOne(order({ request: { sockets } }), send)
      expect(stdout).toBe('send: Connection refused\n')
    }
    expect(existsSync(`${path}.got`)).toBe(false)
  })

  it('no byte goes into a pipe of the machine, and no lock is held against it', async () => {
    const [fifo, file] = [join(folder, 'fifo'), join(folder, 'file')]
    expect(spawnSync('mkfifo', ['-m', '666', fifo]).status).toBe(0)
    writeFileSync(file, '')
    start(as, ['sh', '-c', `cat ${fifo} > ${fifo}.got`])
    await appears(`${fifo}.got`)
    const hold = `exec 7<${file}; flock -n 7 && echo locked; until ls ${folder} | grep -q tried; do sleep 0.1; done`
    const speak = `timeout 2 sh -c 'echo SPOKEN > ${fifo}' 2>/dev/null; echo over`
    const running = driveOne(order(), `${speak}; ${hold}`)
    await pause(3000)
    const outside = spawnSync('flock', ['-n', file, 'true']).status
    writeFileSync(join(folder, 'tried'), '')
    expect((await running).stdout).toBe('over\nlocked\n')
    expect(outside).toBe(0)
    expect(spawnSync('cat', [`${fifo}.got`]).stdout.toString()).toBe('')
  })

  it('what a run makes for itself it can connect to, in the scope and in private places', async () => {
    const own =
      `perl -MSocket -e 'for my $at ("s", "/tmp/s", "/run/s", "/dev/shm/s") { ` +
      `socket(L,AF_UNIX,SOCK_STREAM,0); bind(L,sockaddr_un($at)) or die "$at: $!"; listen(L,1); ` +
      `socket(S,AF_UNIX,SOCK_STREAM,0); connect(S,sockaddr_un($at)) or die "$at: $!"; print "$at\\n" }' 2>&1`
    expect((await driveOne(order(), own)).stdout).toBe('s\n/tmp/s\n/run/s\n/dev/shm/s\n')
  })
})

describe('a machine with mounts in its tree', () => {
  /** Mounts seen by this one process only, made by root. */
  const mounting = (as: Who, lines: readonly string[]): readonly string[] => [
    ...['unshare', '-m', 'sh', '-ec', `${lines.join('\n')}\nexec "$@"`, 'sh'],
    ...userWrapper(as),
  ]

  it.each(WHO)('is shown around them, and nothing of it is reached: by %s', async (as) => {
    const server = await serve(as, 'here/s')
    mkdirSync(join(folder, 'disk'))
    writeFileSync(join(folder, 'plain'), 'a plain file\n')
    writeFileSync(join(folder, 'odd, name:x'), 'odd\n')
    const disk = join(folder, 'disk')
    const program = join(folder, 'server.py')
    writeFileSync(program, SERVER)
    const listen = (path: string): string =>
      `setpriv --pdeathsig KILL python3 ${program} ${path} 0 >&- 2>&- & until [ -S ${path} ]; do sleep 0.1; done`
    const wrapper = mounting(as, [
      `mount -t tmpfs x ${disk}; echo mounted > ${disk}/f; mkdir ${disk}/p; mkfifo ${folder}/fifo`,
      `ln -s plain ${folder}/link; mount --bind /etc/hostname /etc/hostname`,
      ...[`${disk}/s`, `${folder}/direct`].map(listen),
    ])
    const script = [
      `cat ${disk}/f ${folder}/link '${folder}/odd, name:x'; ls -d ${disk}/p ${folder}/here`,
      `cmp /etc/hostname /etc/./hostname && test -s /etc/passwd && echo etc; touch ${folder}/n ${disk}/n /n`,
      ...[server, `${disk}/s`, `${folder}/direct`].map(connect),
    ].join('; ')
    const root = place(as)
    // The mounts come first, then the change of user.
    const { runs, failure, errors } = await drive({ as: 'root', root, scripts: [script], wrapper })
    expect({ failure, errors }).toMatchObject({ failure: null })
    expect(runs[0]?.stdout).toBe(
      `mounted\na plain file\nodd\n${disk}/p\n${folder}/here\netc\n` +
        `${'connect: Connection refused\n'.repeat(2)}connect: Permission denied\n`,
    )
    expect(runs[0]?.stderr.match(/Read-only file system/g)).toHaveLength(3)
  })

  it.each(WHO)('shows nothing where no overlay can be, and says so: to %s', async (as) => {
    for (const name of ['a', 'b', 'one', 'two', 'many/mnt'])
      mkdirSync(join(folder, name), { recursive: true })
    for (let index = 0; index < 1100; index++) writeFileSync(join(folder, 'many', `${index}`), '')
    const over = (lower: string): string => `lowerdir=${folder}/${lower}:${folder}/b`
    const wrapper = mounting(as, [
      `echo deep > ${folder}/a/f; mount -t overlay x -o ${over('a')} ${folder}/one`,
      `mount -t overlay x -o ${over('one')} ${folder}/two; mount -t tmpfs x ${folder}/many/mnt`,
    ])
    const script = `cat ${folder}/a/f ${folder}/one/f; ls ${folder}/two ${folder}/many`
    const { runs, ready } = await drive({ as: 'root', root: place(as), scripts: [script], wrapper })
    expect(runs[0]?.stdout).toBe(`deep\ndeep\n${folder}/many:\n\n${folder}/two:\n`)
    const unseen = ready?.controls.find(({ name }) => name === 'unseen')?.detail
    expect(unseen).toBe(`${folder}/many ${folder}/two`)
  })
})
