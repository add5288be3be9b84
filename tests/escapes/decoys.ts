/**
 * What lies around a sandbox for it to be touched: files with known states, sockets and pipes with a
 * listener, a process with a secret. Made and looked at by the user who opens the sandbox, so
 * that nothing is kept apart by who owns it.
 */
import { type ChildProcess, execFileSync, spawn } from 'node:child_process'
import { createHash } from 'node:crypto'
import {
  closeSync,
  constants,
  lstatSync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  readSync,
  writeFileSync,
  writeSync,
} from 'node:fs'
import { createServer, type Server, Socket } from 'node:net'
import { join } from 'node:path'

/** The directories of one attempt. */
export interface Ground {
  readonly top: string
  readonly scope: string
  readonly outside: string
  readonly hidden: readonly string[]
  readonly home: string
}

export function makeGround(top: string, token: string, before: string | undefined): Ground {
  const at = (name: string): string => join(top, name)
  for (const name of ['scope/sub', 'scope/.hidden', 'outside', 'hidden', 'state', 'home']) {
    mkdirSync(at(name), { recursive: true })
  }
  for (const name of [
    'scope/kept',
    'scope/sub/file',
    'outside/file',
    'home/kept',
    'home/.bashrc',
  ]) {
    writeFileSync(at(name), `${name} as it was\n`)
  }
  writeFileSync(at('scope/.hidden/secret'), token)
  writeFileSync(at('hidden/secret'), token)
  writeFileSync(at('state/canary'), token)
  if (before !== undefined) execFileSync('/bin/sh', ['-c', before], { cwd: at('scope') })
  const hidden = [at('hidden'), at('state'), at('scope/.hidden')]
  return { top, scope: at('scope'), outside: at('outside'), hidden, home: at('home') }
}

/** Every entry below with everything that a touch would move: times of change included. */
export function statesBelow(top: string): ReadonlyMap<string, string> {
  const states = new Map<string, string>()
  const open = [top]
  for (let path = open.pop(); path !== undefined; path = open.pop()) {
    const { mode, uid, gid, size, ino, nlink, mtimeNs, ctimeNs } = lstatSync(path, { bigint: true })
    const kind = Number(mode) & constants.S_IFMT
    states.set(
      path,
      [mode, uid, gid, size, ino, nlink, mtimeNs, ctimeNs, bytesOf(path, kind)].join(),
    )
    if (kind === constants.S_IFDIR)
      for (const name of readdirSync(path)) open.push(join(path, name))
  }
  return states
}

function bytesOf(path: string, kind: number): string {
  if (kind === constants.S_IFLNK) return readlinkSync(path)
  if (kind !== constants.S_IFREG) return ''
  return createHash('sha256').update(readFileSync(path)).digest('hex')
}

export function differences(
  before: ReadonlyMap<string, string>,
  after: ReadonlyMap<string, string>,
): readonly string[] {
  const paths = new Set([...before.keys(), ...after.keys()])
  return [...paths].filter((path) => before.get(path) !== after.get(path))
}

/** Listens, sends a secret to every client, and counts them. */
export class Listener {
  readonly #server: Server
  #visits = 0

  private constructor(server: Server) {
    this.#server = server
  }

  static async at(place: string | number, token: string): Promise<Listener> {
    const server = createServer((socket) => {
      listener.#visits++
      socket.on('error', () => undefined)
      socket.end(`${token}\n`)
    })
    const listener = new Listener(server)
    await new Promise<void>((resolve, reject) => {
      server.once('error', reject)
      if (typeof place === 'number') server.listen(place, '0.0.0.0', resolve)
      else server.listen(place, resolve)
    })
    return listener
  }

  get port(): number {
    const address = this.#server.address()
    return typeof address === 'object' ? (address?.port ?? 0) : 0
  }

  /** How many came since this was last asked. */
  takeVisits(): number {
    const visits = this.#visits
    this.#visits = 0
    return visits
  }

  close(): void {
    this.#server.close()
  }
}

/** A named pipe that is read. */
export class ReadPipe {
  readonly #fd: number

  constructor(path: string) {
    execFileSync('mkfifo', [path])
    this.#fd = openSync(path, constants.O_RDWR | constants.O_NONBLOCK)
  }

  takeBytes(): number {
    try {
      return readSync(this.#fd, Buffer.alloc(65_536))
    } catch {
      // No process wrote.
      return 0
    }
  }

  close(): void {
    closeSync(this.#fd)
  }
}

/** What others go on to read after a command that was given it as its input. */
export class InputPipe {
  static readonly LINES = 'first line\nsecond line\n'
  readonly fd: number
  readonly #path: string

  constructor(path: string) {
    execFileSync('mkfifo', [path])
    this.#path = path
    this.fd = openSync(path, constants.O_RDWR | constants.O_NONBLOCK)
    writeSync(this.fd, InputPipe.LINES)
  }

  /** Opens the pipe once more, as the input of a command. */
  stream(): NodeJS.ReadableStream {
    const fd = openSync(this.#path, constants.O_RDONLY | constants.O_NONBLOCK)
    return new Socket({ fd, writable: false })
  }

  /** Complains about anything in the pipe that is not the end of what was put there. */
  complaints(): readonly string[] {
    const left = this.#left()
    return InputPipe.LINES.endsWith(left) ? [] : [`left in the input: ${JSON.stringify(left)}`]
  }

  #left(): string {
    const bytes = Buffer.alloc(65_536)
    try {
      return bytes.toString('latin1', 0, readSync(this.fd, bytes))
    } catch {
      // Nothing is left.
      return ''
    }
  }

  close(): void {
    closeSync(this.fd)
  }
}

/** A process of the machine, of the same user, with a secret in its environment. */
export class Victim {
  readonly #process: ChildProcess
  readonly #before: string

  constructor(token: string) {
    this.#process = spawn('sleep', ['100000'], { env: { SECRET: token }, stdio: 'ignore' })
    this.#before = this.#state()
  }

  get pid(): number {
    return this.#process.pid ?? 0
  }

  /** What is no longer as it was. */
  complaints(): readonly string[] {
    const now = this.#state()
    return now === this.#before ? [] : [`the process of the machine is ${now}, was ${this.#before}`]
  }

  close(): void {
    this.#process.kill('SIGKILL')
  }

  /** Alive or not, and its priority. */
  #state(): string {
    try {
      const fields = readFileSync(`/proc/${this.pid}/stat`, 'utf8').split(') ')[1]?.split(' ') ?? []
      return `${/^[TZX]/.test(fields[0] ?? '') ? fields[0] : 'alive'} nice ${fields[16]}`
    } catch {
      return 'gone'
    }
  }
}
