/**
 * A real coding agent in a throw-away home, ready for turns against the stand-in for its model. Tests
 * of hooks and of sessions start agents with it.
 */
import { cpSync, mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { type StandIn, startStandIn } from '../../src/hooks/doctor/stand-in.ts'
import {
  makeTrialPlace,
  prepareTrial,
  runTrial,
  type TrialPlace,
} from '../../src/hooks/doctor/trial.ts'
import type { ModelTurn } from '../../src/hooks/doctor/wires.ts'
import { type AgentHost, hostNamed } from '../../src/hosts/index.ts'
import type { InstalledEnd } from '../../src/machine/index.ts'
import { programOf } from './programs.ts'

type Trial = NonNullable<AgentHost['trial']>

export class AgentPlace {
  readonly host: AgentHost
  readonly trial: Trial
  readonly folder: string
  readonly place: TrialPlace
  readonly model: StandIn

  private constructor(host: AgentHost, trial: Trial, folder: string, model: StandIn) {
    this.host = host
    this.trial = trial
    this.folder = folder
    this.place = makeTrialPlace(folder)
    this.model = model
  }

  /** `turns` says what the model does, given the calls that the host's tools take. */
  static async make(
    name: string,
    turns: (trial: Trial, project: string) => readonly ModelTurn[],
  ): Promise<AgentPlace> {
    const host = hostNamed(name)
    if (host === null || host.trial === null) throw new Error(`${name} cannot be tried`)
    const folder = mkdtempSync(join(tmpdir(), `writ-agent-${name}-`))
    const model = await startStandIn(turns(host.trial, join(folder, 'project')))
    const made = new AgentPlace(host, host.trial, folder, model)
    mkdirSync(join(made.place.project, '.git'))
    prepareTrial(host, made.place, model.url)
    if (name === 'opencode') {
      const to = join(made.place.home, '.config/opencode')
      cpSync(resolve('.cache/agents-opencode'), to, { recursive: true })
    }
    return made
  }

  run(
    args: readonly string[] = this.trial.open,
    variables: Readonly<Record<string, string>> = {},
  ): Promise<InstalledEnd> {
    const { host, place, model } = this
    const program = programOf(host.name)
    return runTrial({
      host,
      program,
      place,
      url: model.url,
      arguments: args,
      variables,
      limitMs: 150_000,
    })
  }

  /** With words in front of all others, right behind the program, as a session adds them. */
  runWith(
    words: readonly string[],
    variables: Readonly<Record<string, string>>,
  ): Promise<InstalledEnd> {
    const { host, place, model } = this
    const program = [...programOf(host.name), ...words]
    const { url } = model
    return runTrial({ host, program, place, url, arguments: [], variables, limitMs: 150_000 })
  }

  async remove(): Promise<void> {
    await this.model.close()
    rmSync(this.folder, { recursive: true, force: true, maxRetries: 5 })
  }
}
