/** A project with a home, the real gate and its sandbox: what a run has when somebody calls writ. */
import { mkdirSync, mkdtempSync, readFileSync, realpathSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import type { Flow } from '../../src/contracts/index.ts'
import type { FlowHost } from '../../src/host/flow/flow-host.ts'
import { resumeRun, startRun, type WalkedRun } from '../../src/host/flow/runs.ts'
import {
  createDriver,
  type GateSurface,
  type KnownHome,
  type Ledger,
  makeHome,
  openGate,
  openLedger,
  type SandboxDriver,
  type Surroundings,
  SYSTEM_CLOCK,
  stateRoot,
} from '../../src/host/index.ts'
import { ANN, compiledFlow } from './place.ts'

export class GatePlace {
  readonly folder: string
  readonly workspace: string
  home!: KnownHome
  ledger!: Ledger
  gate!: GateSurface
  #driver!: SandboxDriver

  constructor(name: string) {
    this.folder = realpathSync(mkdtempSync(join(tmpdir(), `writ-flow-gate-${name}-`)))
    this.workspace = join(this.folder, 'project')
    mkdirSync(this.workspace)
    mkdirSync(join(this.folder, 'home'))
  }

  async make(): Promise<this> {
    const around: Surroundings = {
      cwd: this.workspace,
      env: { PATH: process.env['PATH'], XDG_STATE_HOME: join(this.folder, 'state') },
      userDirectory: join(this.folder, 'home'),
      userName: 'ann',
    }
    this.home = (await makeHome(around, null, { principal: ANN, source: 'test' })).home
    this.ledger = await openLedger({ directory: this.home.state, writer: 'inline' })
    this.#driver = createDriver()
    this.gate = await openGate({
      home: this.home,
      ledger: this.ledger,
      caller: { principal: ANN, streams: null, proof: 'none' },
      stream: 'main',
      stateRoot: stateRoot(around),
      userDirectory: around.userDirectory,
      environment: around.env,
      ancestors: [],
      hasPasskey: false,
      driver: this.#driver,
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
      attempts: this.gate.attempts,
      rollback: (actionId) => this.gate.rollback({ actionId }, { dryRun: false }),
      confirm: async () => ({ kind: 'wait' }),
      environment: process.env,
      clock: SYSTEM_CLOCK,
      ...more,
    }
  }

  run(flow: Flow, more: Partial<FlowHost> = {}): Promise<WalkedRun> {
    return startRun(this.host(more), {
      flow: compiledFlow(flow),
      workspace: this.workspace,
      participantsDigest: null,
    })
  }

  resume(runId: string, more: Partial<FlowHost> = {}): Promise<WalkedRun> {
    return resumeRun(this.host(more), runId)
  }

  write(path: string, text: string): string {
    const file = join(this.workspace, path)
    mkdirSync(dirname(file), { recursive: true })
    writeFileSync(file, text)
    return file
  }

  read(path: string): string {
    return readFileSync(join(this.workspace, path), 'utf8')
  }

  async remove(): Promise<void> {
    await this.gate?.close()
    await this.ledger?.close()
    rmSync(this.folder, { recursive: true, force: true })
  }
}

/** The codes of findings, with what was done. */
export function findingsIn({ facts }: Pick<WalkedRun, 'facts'>): readonly string[] {
  return facts.flatMap(({ type, payload }) =>
    type === 'flow_finding_v1' ? [`${payload.code} ${payload.action}`] : [],
  )
}
