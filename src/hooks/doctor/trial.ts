/**
 * One turn of a real host against the stand-in, in a throw-away home and project. The host sees no
 * variable of the caller's, and a proxy that refuses everything beyond the loopback.
 */
import { mkdirSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import type { AgentHost } from '../../hosts/index.ts'
import { type InstalledEnd, runInstalled } from '../../machine/index.ts'

export interface TrialPlace {
  readonly home: string
  readonly project: string
  readonly temporary: string
}

/** Makes the directories of a trial below a new directory. */
export function makeTrialPlace(folder: string): TrialPlace {
  const place = {
    home: join(folder, 'home'),
    project: join(folder, 'project'),
    temporary: join(folder, 'tmp'),
  }
  for (const path of Object.values(place)) mkdirSync(path, { recursive: true, mode: 0o700 })
  return place
}

/** Writes the configuration that points the host at the stand-in. */
export function prepareTrial({ trial }: AgentHost, place: TrialPlace, url: string): void {
  if (trial === null) return
  const files = trial.files({ url, project: place.project })
  for (const [name, text] of Object.entries(files)) {
    const file = join(place.home, name)
    mkdirSync(dirname(file), { recursive: true })
    writeFileSync(file, text)
  }
}

interface TrialRun {
  readonly host: AgentHost
  /** The words that start the host. */
  readonly program: readonly string[]
  readonly place: TrialPlace
  readonly url: string
  /** Arguments besides those of the trial: `open` or `locked`. */
  readonly arguments: readonly string[]
  readonly variables: Readonly<Record<string, string>>
  readonly limitMs: number
}

/** Port 9 discards; nothing listens there. */
const NOWHERE = 'http://127.0.0.1:9'

export function runTrial(run: TrialRun): Promise<InstalledEnd> {
  const { host, program, place, url, limitMs } = run
  const { trial } = host
  if (trial === null) throw new Error(`${host.name} has no trial`)
  const model = { url, project: place.project }
  const own = trial.arguments(model)
  // Subcommands come first, the prompt last; options go between.
  const at = own.findIndex((word) => word.startsWith('-'))
  const argv = [...program, ...own.slice(0, at), ...run.arguments, ...own.slice(at)]
  const variables = {
    PATH: process.env['PATH'] ?? '/usr/bin:/bin',
    HOME: place.home,
    TMPDIR: place.temporary,
    LANG: 'C.UTF-8',
    TERM: 'dumb',
    NO_COLOR: '1',
    HTTPS_PROXY: NOWHERE,
    HTTP_PROXY: NOWHERE,
    NO_PROXY: '127.0.0.1,localhost',
    ...trial.variables(model),
    ...run.variables,
  }
  return runInstalled({ argv, cwd: place.project, variables, limitMs })
}
