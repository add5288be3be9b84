/**
 * Several "machines" of one home on a real PostgreSQL server: each has a project directory, a state
 * directory and a user's home of its own, and shares nothing but the server.
 */
import { type SpawnSyncReturns, spawnSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type PostgresServer, startPostgres } from '../../tools/postgres.mjs'
import { ensureBuilt } from '../built.ts'
import { asOwner } from '../ledger/postgres-ledger.ts'

export const PROGRAM = join(process.cwd(), 'bin', 'writ.cjs')

export interface Called {
  readonly status: number | null
  // biome-ignore lint/suspicious/noExplicitAny: answers are looked into by the tests
  readonly json: any
  readonly err: string
}

export class FleetMachine {
  readonly name: string
  readonly folder: string
  readonly project: string
  readonly env: Readonly<Record<string, string>>

  constructor(folder: string, name: string, project = join(folder, name, 'project')) {
    this.name = name
    this.folder = join(folder, name)
    this.project = project
    mkdirSync(project, { recursive: true })
    this.env = {
      PATH: process.env['PATH'] ?? '',
      HOME: this.folder,
      XDG_STATE_HOME: join(this.folder, 'state'),
      USER: name,
    }
  }

  spawn(args: readonly string[], input = '', timeout = 120_000): SpawnSyncReturns<string> {
    return spawnSync(process.execPath, [PROGRAM, ...args], {
      cwd: this.project,
      input,
      encoding: 'utf8',
      timeout,
      env: this.env,
    })
  }

  writ(args: readonly string[], input = ''): Called {
    const ended = this.spawn([...args, '--json'], input)
    const text = ended.stdout.trim()
    const json = text.startsWith('{') ? JSON.parse(text) : null
    return { status: ended.status, json, err: ended.stderr }
  }

  /** The same, and it has to succeed. */
  // biome-ignore lint/suspicious/noExplicitAny: answers are looked into by the tests
  must(args: readonly string[], input = ''): any {
    const { status, json, err } = this.writ(args, input)
    if (status !== 0)
      throw new Error(`writ ${args.join(' ')}: ${status} ${JSON.stringify(json)} ${err}`)
    return json
  }
}

export class Fleet {
  readonly server: PostgresServer
  readonly folder = mkdtempSync(join(tmpdir(), 'writ-fleet-'))
  readonly url: string

  private constructor(server: PostgresServer) {
    this.server = server
    this.url = `postgresql://clerk@/postgres?host=${server.connection.host}`
  }

  static async start(): Promise<Fleet> {
    ensureBuilt()
    const server = await startPostgres()
    await asOwner(server, (client) =>
      client.query('CREATE ROLE keeper LOGIN CREATEROLE SUPERUSER; CREATE ROLE clerk LOGIN'),
    )
    return new Fleet(server)
  }

  /** The machine on which the home is made. */
  first(name: string, project?: string): FleetMachine {
    const machine = new FleetMachine(this.folder, name, project)
    machine.must(['init', '--no-pass', '--store', this.url, '--store-owner', 'keeper'])
    return machine
  }

  /** Another machine, which the first one lets in. */
  joined(by: FleetMachine, name: string, project?: string, passphrase?: string): FleetMachine {
    const machine = new FleetMachine(this.folder, name, project)
    const { key } = machine.must(['machine', 'join', this.url])
    const proof = passphrase === undefined ? [] : ['--pass-fd', '0']
    by.must(['machine', 'admit', name, key, ...proof], passphrase)
    return machine
  }

  async stop(): Promise<void> {
    rmSync(this.folder, { recursive: true, force: true })
    await this.server.stop()
  }
}
