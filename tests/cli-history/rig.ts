/**
 * What the tests of homes and history share: the built program, in projects that have a home and a state
 * directory of their own.
 */
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect } from 'vitest'
import { connect } from '../../src/store/database/sqlite-driver.ts'
import { ensureBuilt } from '../built.ts'
import { warmProgram } from '../warm-program.ts'

export const PROGRAM = join(process.cwd(), 'bin', 'writ.cjs')
export const folder = mkdtempSync(join(tmpdir(), 'writ-history-'))

beforeAll(() => {
  ensureBuilt()
}, 180_000)

afterAll(() => rmSync(folder, { recursive: true, force: true }))

// biome-ignore lint/suspicious/noExplicitAny: answers are looked into by the tests
export type Json = any

export interface Ended {
  readonly status: number | null
  readonly out: string
  readonly err: string
  readonly json: Json
}

export interface Around {
  readonly token?: string
  readonly input?: string
  readonly cwd?: string
  readonly passphrase?: string
  readonly env?: Record<string, string>
}

/** A project with a home and a state of its own. */
export class Place {
  readonly project: string
  readonly state: string

  constructor(name: string) {
    this.project = join(folder, name, 'project')
    this.state = join(folder, name, 'state')
    mkdirSync(this.project, { recursive: true })
  }

  writ(args: readonly string[], around: Around = {}): Ended {
    const { token, input = '', cwd = this.project, passphrase = null, env = {} } = around
    const { status, out, err } = warmProgram(PROGRAM).call({
      argv: args,
      cwd,
      input,
      secret: passphrase,
      env: this.env(token, env),
      timeoutMs: 60_000,
    })
    return { status, out, err, json: read(out) }
  }

  env(token: string | undefined, more: Record<string, string> = {}): NodeJS.ProcessEnv {
    const { WRIT_TOKEN: _token, WRIT_HOME: _home, ...rest } = process.env
    const own = { XDG_STATE_HOME: this.state, ...more }
    return { ...rest, ...own, ...(token === undefined ? {} : { WRIT_TOKEN: token }) }
  }

  /** The one state directory below the user's. */
  get stateOfHome(): string {
    const id = readFileSync(join(this.project, '.writ', 'id'), 'utf8').trim()
    return join(this.state, 'writ', id)
  }

  init(): this {
    const { status } = this.writ(['init', '--no-pass', '--name', 'ann', '--namespace', 'farm'])
    expect(status).toBe(0)
    return this
  }

  token(principal: string, ...streams: string[]): string {
    const named = streams.flatMap((stream) => ['--stream', stream])
    expect(this.writ(['principal', 'add', principal, ...named]).status).toBe(0)
    return this.writ(['token', 'create', principal, '--json']).json.token
  }

  issue(more: object = {}, args: readonly string[] = []): string {
    const input = JSON.stringify({ ...TASK, ...more })
    const { status, json, out } = this.writ(['task', 'issue', '-', '--json', ...args], { input })
    expect(status, out).toBe(0)
    return json.act_task_id
  }

  submit(taskId: string, token: string | undefined, more: object = {}, args: string[] = []): Ended {
    const input = JSON.stringify({ ...RECEIPT, act_task_id: taskId, ...more })
    const around = token === undefined ? { input } : { input, token }
    return this.writ(['receipt', 'submit', '-', '--json', ...args], around)
  }
}

function read(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return null
  }
}

export const codes = (ended: Ended): string[] =>
  (ended.json?.violations ?? []).map(({ code }: { code: string }) => code)

export const ANN = { kind: 'human', id: 'ann', namespace: 'farm' }
export const PUMP = { kind: 'device', id: 'pump-3', namespace: 'farm' }

export const TASK = {
  type: 'ao_act_task_v0',
  issuer: ANN,
  action_type: 'IRRIGATE',
  target: { kind: 'field', ref: 'field:north/7' },
  time_window: { start_ts: 1763193600000, end_ts: 1763208000000 },
  parameter_schema: {
    keys: [
      { name: 'water_mm', type: 'number', min: 0, max: 40 },
      { name: 'method', type: 'enum', enum: ['drip', 'pivot'] },
    ],
  },
  parameters: { water_mm: 12, method: 'drip' },
  constraints: { water_mm: 15 },
}

export const RECEIPT = {
  type: 'ao_act_receipt_v0',
  executor_id: PUMP,
  execution_time: { start_ts: 1763193600000, end_ts: 1763197200000 },
  execution_coverage: { kind: 'field', ref: 'field:north/7' },
  resource_usage: { fuel_l: null, electric_kwh: 1.5, water_l: 120, chemical_ml: null },
  logs_refs: [{ kind: 'log', ref: 'log:1' }],
  status: 'executed',
  constraint_check: { violated: false, violations: [] },
  observed_parameters: { water_mm: 12, method: 'pivot' },
  meta: { idempotency_key: 'run-1' },
}

/** The same home in a copied state, at the same path, so that its registration holds. */
export function copyOf(place: Place, name: string): Place {
  const copy = new Place(name)
  rmSync(copy.project, { recursive: true })
  Object.assign(copy, { project: place.project })
  cpSync(place.state, copy.state, { recursive: true })
  return copy
}

/** Writes around the store: guards off, a statement, guards on again. */
export function alter(place: Place, statement: string): void {
  const database = connect(join(place.stateOfHome, 'ledger.db'), 'write')
  const guards = database
    .prepare("SELECT name, sql FROM sqlite_schema WHERE type = 'trigger'")
    .all() as { name: string; sql: string }[]
  for (const { name } of guards) database.exec(`DROP TRIGGER ${name}`)
  expect(database.prepare(statement).run().changes).toBeGreaterThan(0)
  for (const { sql } of guards) database.exec(sql)
  database.close()
}
