/**
 * A copy of a frozen home at the path that its facts bind, and ways to call the present program in it.
 *
 * The archive keeps no owners: the files belong to the user who runs the tests. The homes were made by
 * root, so an ordinary user's undo cannot restore owner 0 and is not asked to.
 */
import { execFileSync, spawnSync } from 'node:child_process'
import {
  closeSync,
  mkdirSync,
  openSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { type PostgresServer, startPostgres } from '../../tools/postgres.mjs'
import { asOwner } from '../ledger/postgres-ledger.ts'
import { warmProgram } from '../warm-program.ts'
import {
  APPENDER,
  environmentOf,
  type Kind,
  lockFrozen,
  PASSPHRASE,
  placesOf,
  ROLES,
  ROOT,
} from './layout.mjs'

const PROGRAM = join(process.cwd(), 'bin', 'writ.cjs')
const MACHINE = join(import.meta.dirname, 'same-machine.cjs')
const MINUTE_MS = 60_000
/** How long after the home was made the tests call writ, if they do not say otherwise. */
const LATER_MS = 5 * MINUTE_MS
export const YEAR_MS = 365 * 24 * 60 * MINUTE_MS

export interface Frozen {
  readonly made_at_ms: number
  /** The workspace's device and inode on the machine that made the home. */
  readonly root: { readonly device: string; readonly inode: string }
  readonly tokens: { readonly pump: string; readonly bot: string }
  readonly key: string
  readonly checkpoint: string
  readonly task: string
  readonly undone: string
  readonly undoable: string
  readonly run: string
  readonly question: string
  readonly agent_question: string
}

export interface Around {
  readonly token?: string
  readonly input?: string
  /** Hands the passphrase in, as `--pass-fd 3`. */
  readonly proven?: boolean
  /** How long after the home was made writ is called. */
  readonly afterMs?: number
  /** Calls writ on the copy as it is, today and on this machine. */
  readonly asIs?: boolean
}

// biome-ignore lint/suspicious/noExplicitAny: answers are looked into by the tests
type Json = any

export interface Ended {
  readonly status: number | null
  readonly out: string
  readonly err: string
  readonly json: Json
}

export class FrozenHome {
  readonly frozen: Frozen
  readonly project: string
  readonly #kind: Kind
  readonly #folder: string
  #restoredAtMs = 0
  #server: PostgresServer | null = null
  #unlock: () => Promise<unknown> = async () => undefined

  constructor(version: string, kind: Kind) {
    this.#kind = kind
    this.#folder = join(import.meta.dirname, version)
    const all: Json = JSON.parse(readFileSync(join(this.#folder, 'facts.json'), 'utf8'))
    this.frozen = all[kind]
    this.project = placesOf(kind).project
  }

  /** Takes the lock of the fixed path and starts the server, once for all copies. */
  async begin(): Promise<void> {
    this.#unlock = await lockFrozen()
    if (this.#kind !== 'postgres') return
    this.#server = await startPostgres()
    await asOwner(this.#server, (client) => client.query(`${ROLES}; ${APPENDER}`))
  }

  /** Puts a fresh copy in place of the one before. */
  async restore(): Promise<void> {
    const { folder, socket } = placesOf(this.#kind)
    rmSync(ROOT, { recursive: true, force: true })
    mkdirSync(folder, { recursive: true })
    const archive = join(this.#folder, `${this.#kind}.tar.gz`)
    execFileSync('tar', ['-C', folder, '--no-same-owner', '-xzpf', archive])
    this.#restoredAtMs = Date.now()
    if (this.#server === null) return
    symlinkSync(this.#server.connection.host, socket)
    const dump = readFileSync(join(this.#folder, 'postgres.sql'), 'utf8')
    const [, schema = ''] = /CREATE SCHEMA (\w+);/.exec(dump) ?? []
    await asOwner(this.#server, async (client) => {
      await client.query(`DROP SCHEMA IF EXISTS ${schema} CASCADE`)
      await client.query(dump)
    })
    this.#bringUpToDate(socket)
  }

  /** What the present program says to a home whose tables are of an earlier format. */
  #bringUpToDate(socket: string): void {
    const url = `postgresql://clerk@/postgres?host=${socket}`
    const ended = this.writ(['init', '--store', url, '--store-owner', 'keeper'], { proven: true })
    if (ended.status !== 0) throw new Error(`${ended.out}${ended.err}`)
  }

  async end(): Promise<void> {
    rmSync(ROOT, { recursive: true, force: true })
    await this.#server?.stop()
    await this.#unlock()
  }

  writ(args: readonly string[], around: Around = {}): Ended {
    const words = [...args, '--json', ...proofOf(around)]
    if (args[0] === 'flow') return this.#own(words, around)
    // The clock and the inodes of the other machine are in the process from its start.
    const through = ['env', `NODE_OPTIONS=--require=${MACHINE}`]
    const { status, out, err } = warmProgram(PROGRAM, through).call({
      argv: words,
      cwd: this.project,
      env: this.#environment(around),
      input: around.input ?? '',
      secret: PASSPHRASE,
      timeoutMs: MINUTE_MS,
    })
    return endedAs(status, out, err)
  }

  /** Without `--json`, for commands that run another one. */
  plain(args: readonly string[], around: Around = {}): Ended {
    return this.#own([...args, ...proofOf(around)], around)
  }

  /** In a process of its own. */
  #own(words: readonly string[], around: Around): Ended {
    const secret = join(ROOT, 'secret')
    writeFileSync(secret, `${PASSPHRASE}\n`)
    const descriptor = openSync(secret, 'r')
    const ended = spawnSync(process.execPath, [PROGRAM, ...words], {
      cwd: this.project,
      input: around.input ?? '',
      stdio: ['pipe', 'pipe', 'pipe', descriptor],
      env: this.#environment(around),
      timeout: MINUTE_MS,
    })
    closeSync(descriptor)
    return endedAs(ended.status, ended.stdout.toString(), ended.stderr.toString())
  }

  #environment({ token, afterMs, asIs }: Around): NodeJS.ProcessEnv {
    if (asIs === true) return environmentOf(this.#kind)
    const { root, made_at_ms } = this.frozen
    const shiftMs = made_at_ms + (afterMs ?? LATER_MS) - this.#restoredAtMs
    const machine = { ...root, project: this.project, shiftMs, restoredAtMs: this.#restoredAtMs }
    return {
      ...environmentOf(this.#kind),
      NODE_OPTIONS: `--require=${MACHINE}`,
      WRIT_FROZEN_MACHINE: JSON.stringify(machine),
      ...(token === undefined ? {} : { WRIT_TOKEN: token }),
    }
  }

  read(path: string): string {
    return readFileSync(join(this.project, path), 'utf8')
  }

  write(path: string, text: string): void {
    writeFileSync(join(this.project, path), text)
  }
}

function proofOf({ proven }: Around): readonly string[] {
  return proven === true ? ['--pass-fd', '3'] : []
}

function endedAs(status: number | null, out: string, err: string): Ended {
  return { status, out, err, json: out.startsWith('{') ? JSON.parse(out) : null }
}
