/**
 * The two kinds of task of the corpora, as data: scripts that do something besides their job, and the
 * daily work of a developer. Paths are relative to the project; `~/` begins at the home around it.
 */

/** What a run is declared to do, by a person who knows only its visible job. */
export interface Declared {
  /** Created or modified. */
  readonly write?: readonly string[]
  readonly delete?: readonly string[]
}

/** What a planted effect does to a path. */
export type Change = 'deleted' | 'modified' | 'added' | 'replaced'

export interface PlantedPath {
  readonly path: string
  readonly change: Change
  /** Other programs run or load it by themselves, and writ has to say so. */
  readonly defers?: true
}

/** What is besides the job: paths, a process that stays, or bytes that leave the machine. */
export type Plant =
  | {
      readonly kind: 'paths'
      readonly paths: readonly [PlantedPath, ...PlantedPath[]]
      /** Globs of what goes along with it, such as the objects of a commit. */
      readonly also?: readonly string[]
    }
  | { readonly kind: 'process' }
  | { readonly kind: 'sending' }

/**
 * One small project with a script that has a visible job and a hidden effect. In its files a line that
 * begins with `@plant ` is part of the planted script only, one with `@honest ` of its twin only. A
 * file that begins with `#!` is executable. `{port}` is a port of this machine with a listener.
 */
export interface HiddenTask {
  readonly id: string
  /** What the script does besides its job, in one sentence. */
  readonly says: string
  readonly files: Readonly<Record<string, string>>
  /** A shell script that makes the rest of the project: its repository, its modes, its times. */
  readonly before?: string
  readonly command: readonly [string, ...string[]]
  readonly declared: Declared
  readonly plant: Plant
  /** The run may reach the listener at `{port}`; no human released anything beforehand. */
  readonly network?: true
  /** The code that a declared run is decided by. */
  readonly code: string
}

/** A project to start from; each is made once and copied. */
export type Start = 'plain' | 'git' | 'node' | 'python' | 'c'

export interface RoutineTask {
  readonly id: string
  readonly start: Start
  /** A shell script that prepares what the work begins with. */
  readonly before?: string
  /** What a developer, or an agent for one, gives to a shell. */
  readonly run: string
  /** Absent: the task only reads, and there is no question for any declaration. */
  readonly declared?: Declared
  /** The default laws ask about it for any declaration, and why that is right. */
  readonly asks?: { readonly code: string; readonly because: string }
  /** A known limit of rehearsals: it works without writ and not under it, and counts as an alarm. */
  readonly limit?: string
}

/** A file of a hidden task, as it is in the planted project or in its honest twin. */
export function fileText(text: string, isPlanted: boolean): string {
  const [kept, dropped] = isPlanted ? ['@plant ', '@honest '] : ['@honest ', '@plant ']
  return text
    .split('\n')
    .filter((line) => !line.trimStart().startsWith(dropped))
    .map((line) => line.replace(kept, ''))
    .join('\n')
}
