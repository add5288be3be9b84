/** A project with a home, the real gate and its sandbox: what a run has when a user calls writ. */
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import type { Flow } from '../../src/contracts/index.ts'
import {
  type KnownHome,
  makeHome,
  openHome,
  type Surroundings,
  stateRoot,
} from '../../src/home/index.ts'
import { SYSTEM_CLOCK } from '../../src/machine/index.ts'
import type { FlowHost } from '../../src/runs/flow-host.ts'
import { resumeRun, startRun, type WalkedRun, type WatchOptions } from '../../src/runs/runs.ts'
import { createDriver } from '../../src/sandbox/index.ts'
import { type GateSurface, openGate } from '../../src/service/index.ts'
import { type Ledger, openLedger } from '../../src/store/index.ts'
import { compiledFlow } from './scripts.ts'

const ARTIFACTS = 'artifacts/'

export const ANN = { kind: 'human', id: 'ann', namespace: 'local' } as const

export class RunPlace {
  readonly folder: string
  readonly workspace: string
  home!: KnownHome
  ledger!: Ledger
  gate!: GateSurface
  readonly #around: Surroundings

  /** A folder of its own, or one that another process made. */
  constructor(name: string, folder?: string) {
    this.folder = folder ?? realpathSync(mkdtempSync(join(tmpdir(), `writ-flow-run-${name}-`)))
    this.workspace = join(this.folder, 'project')
    this.#around = {
      cwd: this.workspace,
      env: { PATH: process.env['PATH'], XDG_STATE_HOME: join(this.folder, 'state') },
      userDirectory: join(this.folder, 'home'),
      userName: 'ann',
    }
  }

  async make(): Promise<this> {
    mkdirSync(this.workspace)
    mkdirSync(this.#around.userDirectory)
    await makeHome(this.#around, null, { principal: ANN, source: 'test' })
    return this.open()
  }

  /** A built program names the built thread that watches its sandboxes. */
  async open(watcher?: URL): Promise<this> {
    this.home = openHome(this.#around, null)
    this.ledger = await openLedger({ directory: this.home.state })
    this.gate = await openGate({
      home: this.home,
      ledger: this.ledger,
      caller: { principal: ANN, streams: null, proof: 'none' },
      stream: 'main',
      stateRoot: stateRoot(this.#around),
      userDirectory: this.#around.userDirectory,
      environment: this.#around.env,
      ancestors: [],
      hasPasskey: false,
      driver: createDriver(watcher === undefined ? {} : { watcher }),
      nowMs: Date.now,
    })
    return this
  }

  host(more: Partial<FlowHost> = {}): FlowHost {
    return {
      home: this.home,
      ledger: this.ledger,
      stream: 'main',
      principal: ANN,
      namespace: ANN.namespace,
      attempts: this.gate.attempts,
      rollback: (actionId, run) => this.gate.rollback({ actionId }, { dryRun: false, run }),
      confirm: async () => ({ kind: 'wait' }),
      environment: process.env,
      clock: SYSTEM_CLOCK,
      isHalted: () => this.gate.isHalted(),
      ...more,
    }
  }

  run(flow: Flow, more: Partial<FlowHost> = {}, watching: WatchOptions = {}): Promise<WalkedRun> {
    return startRun(this.host(more), {
      flow: compiledFlow(flow),
      workspace: this.workspace,
      participantsDigest: null,
      ...watching,
    })
  }

  resume(
    runId: string,
    more: Partial<FlowHost> = {},
    watching: WatchOptions = {},
  ): Promise<WalkedRun> {
    return resumeRun(this.host(more), runId, watching)
  }

  write(path: string, text: string): string {
    const file = join(this.workspace, path)
    mkdirSync(dirname(file), { recursive: true })
    writeFileSync(file, text)
    return file
  }

  read(path: string): string {
    return readFileSync(this.#placeOf(path), 'utf8')
  }

  has(path: string): boolean {
    return existsSync(this.#placeOf(path))
  }

  /** Artifacts lie in the folder of their run: of the newest run that has this one. */
  #placeOf(path: string): string {
    const plain = join(this.workspace, path)
    if (!path.startsWith('artifacts/') || existsSync(plain)) return plain
    const folder = join(this.workspace, 'artifacts')
    const own = readdirSync(folder).map((run) => join(folder, run, path.slice(ARTIFACTS.length)))
    const found = own.filter((file) => existsSync(file))
    const newest = found.toSorted((a, b) => statSync(b).mtimeMs - statSync(a).mtimeMs)
    return newest[0] ?? plain
  }

  async close(): Promise<void> {
    await this.gate?.close()
    await this.ledger?.close()
  }

  async remove(): Promise<void> {
    await this.close()
    rmSync(this.folder, { recursive: true, force: true })
  }
}

/** The codes of findings, with what was done. */
export function findingsIn({ facts }: Pick<WalkedRun, 'facts'>): readonly string[] {
  return facts.flatMap(({ type, payload }) =>
    type === 'flow_finding_v1' ? [`${payload.code} ${payload.action}`] : [],
  )
}
