/**
 * Sockets of the machine that one table of the kernel does not tell: bound by a relative name, in
 * another network, under a second name. None of them is reached under the profile `inside`.
 */
import { type ChildProcess, spawn } from 'node:child_process'
import { chmodSync, chownSync, existsSync, linkSync, mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { drive, driveOne, place, TEST_UID, userWrapper, WHO, type Who } from './drive.ts'

const SERVER = `import socket, sys, os, time
s = socket.socket(socket.AF_UNIX); s.bind(sys.argv[1]); os.chmod(sys.argv[1], 0o777); s.listen(5)
while True: s.accept()[0].sendall(b'HOST')`

const children: ChildProcess[] = []
let folder: string

// Not below what is private or covered inside.
beforeEach(() => {
  folder = mkdtempSync('/srv/writ-sockets-')
  chmodSync(folder, 0o755)
})

afterEach(() => {
  for (const child of children.splice(0)) child.kill('SIGKILL')
  rmSync(folder, { recursive: true, force: true })
})

/** A service of the user who opens the sandbox. */
async function serve(as: Who, name: string, at: string, through: readonly string[] = []) {
  const path = join(folder, name)
  mkdirSync(dirname(path), { recursive: true })
  if (as === 'user') chownSync(dirname(path), TEST_UID, TEST_UID)
  const words = [...userWrapper(as), ...through, 'python3', '-c', SERVER, at]
  const [program = '', ...rest] = words
  children.push(spawn(program, rest, { cwd: dirname(path), stdio: 'ignore' }))
  for (let tries = 0; tries < 100 && !existsSync(path); tries++) await pause(50)
  expect(existsSync(path)).toBe(true)
  return path
}

const connect = (path: string): string =>
  `perl -MSocket -e 'socket(S,AF_UNIX,SOCK_STREAM,0) or die "socket: $!\\n"; ` +
  `connect(S,sockaddr_un("${path}")) or die "connect: $!\\n"; print <S>' 2>&1`

describe.each(WHO)('opened by %s', (as) => {
  it.each([
    ['by a relative name', 'rel/s', 's', []],
    ['in another network', 'net/s', null, ['unshare', '-Urn']],
  ])('a service that bound %s is not reached', async (_, name, at, through) => {
    const path = await serve(as, name, at ?? join(folder, name), through)
    const { stdout } = await driveOne({ as, root: place(as) }, connect(path))
    expect(stdout).toMatch(/^connect: /)
  })

  it('nor is a second name near the first, and one that is far away is a refusal', async () => {
    const path = await serve(as, 'one/s', join(folder, 'one/s'))
    mkdirSync(join(folder, 'two'))
    linkSync(path, join(folder, 'two', 't'))
    const { stdout } = await driveOne({ as, root: place(as) }, connect(join(folder, 'two', 't')))
    expect(stdout).toMatch(/^connect: /)
    mkdirSync(join(folder, 'a/b/c/d/e'), { recursive: true })
    linkSync(path, join(folder, 'a/b/c/d/e', 'u'))
    const { failure } = await drive({ as, root: place(as), scripts: ['true'] })
    expect(failure).toMatchObject({ code: 'sandbox.control_missing' })
  })
})
