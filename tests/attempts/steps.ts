/**
 * Attempts for tests: carried out in a process of its own, as root or as an ordinary user, in a home
 * and a project that the test made. `steps` gives back what came of each step.
 */
import { chownSync, existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { programFile, type RunOptions, runProgram } from '../ledger/program.ts'
import { place, TEST_UID, userWrapper, type Who } from '../sandbox/drive.ts'

export interface BeginStep {
  readonly do: 'begin'
  readonly name: string
  readonly intent?: string
  readonly writes?: readonly string[]
  readonly bases?: readonly string[]
  readonly hidden?: readonly string[]
  readonly readOnly?: readonly string[]
  readonly egress?: readonly string[]
  readonly secrets?: Readonly<Record<string, string>>
  readonly limits?: {
    readonly seconds?: number
    readonly memoryMb?: number
    readonly diskMb?: number
  }
  readonly isTraced?: boolean
  readonly isElsewhere?: boolean
}

export type StepOrder =
  | BeginStep
  | {
      readonly do: 'run'
      readonly name: string
      readonly command: string | readonly [string, ...string[]]
      readonly stdin?: string
      readonly env?: Readonly<Record<string, string>>
      /** Lines of the channel come back as they are; else they are operations. */
      readonly echo?: boolean
      readonly abortAfterMs?: number
    }
  | { readonly do: 'operate'; readonly name: string; readonly operation: unknown }
  | {
      readonly do: 'write'
      readonly name: string
      readonly path: string
      readonly text: string
    }
  | { readonly do: 'read'; readonly name: string; readonly path: string }
  | { readonly do: 'finish' | 'abandon' | 'drop' | 'answer' | 'rollback'; readonly name: string }
  | { readonly do: 'promote'; readonly name: string; readonly answer?: 'yes' | 'no' | 'wait' }
  | { readonly do: 'held' | 'pending' | 'halt' | 'resume' | 'accept' }
  | { readonly do: 'staged'; readonly bases: readonly string[]; readonly path: string }
  | { readonly do: 'shell'; readonly script: string }
  | { readonly do: 'facts'; readonly type: string; readonly name?: string }

export interface StepsOrder {
  readonly folder: string
  readonly watcher: string
  /** How far the clock of the gate is ahead. */
  readonly shiftMs?: number
  /** Kills the process at a point of a promotion. */
  readonly killAt?: { readonly point: string; readonly moment: 'before' | 'after' }
  readonly steps: readonly StepOrder[]
}

// biome-ignore lint/suspicious/noExplicitAny: answers are looked into by the tests
export type Json = any

/** The outcome of each step, in order; a question comes before the step that asked it. */
export type Done = readonly {
  readonly ok?: Json
  readonly failure?: Json
  readonly question?: string
}[]

const PROGRAM = 'tests/attempts/attempt.program.ts'

/** A folder with a project, for one user. */
export class Ground {
  readonly who: Who
  readonly folder: string
  readonly project: string

  constructor(who: Who) {
    this.who = who
    this.folder = place(who)
    this.project = join(this.folder, 'project')
    this.#make(this.project)
  }

  /** Carries the steps out; a step that was not reached fails the test. */
  async steps(...steps: readonly StepOrder[]): Promise<Done> {
    const done = await this.run(steps)
    const count = done.filter((each) => !('question' in each)).length
    if (count !== steps.length) throw new Error(`only ${count} of ${steps.length} steps`)
    return done
  }

  async run(
    steps: readonly StepOrder[],
    { shiftMs, killAt, ...options }: RunOptions & Pick<StepsOrder, 'shiftMs' | 'killAt'> = {},
  ): Promise<Done> {
    const watcher = pathToFileURL(await programFile('src/sandbox/supervision/watch.worker.ts')).href
    const order: StepsOrder = {
      folder: this.folder,
      watcher,
      steps,
      ...(shiftMs === undefined ? {} : { shiftMs }),
      ...(killAt === undefined ? {} : { killAt }),
    }
    const wrapper = [...userWrapper(this.who), ...(options.wrapper ?? [])]
    const { lines, errors, signal } = await runProgram(PROGRAM, order, { ...options, wrapper })
    if (errors !== '' && signal === null) throw new Error(errors)
    return lines.map((line) => JSON.parse(line))
  }

  write(path: string, text = `${path}\n`): void {
    const file = join(this.project, path)
    this.#make(dirname(file))
    writeFileSync(file, text)
    this.#own(file)
  }

  text(path: string): string | null {
    const file = join(this.project, path)
    return existsSync(file) ? readFileSync(file, 'utf8') : null
  }

  #make(directory: string): void {
    if (existsSync(directory)) return
    this.#make(dirname(directory))
    mkdirSync(directory)
    this.#own(directory)
  }

  #own(path: string): void {
    if (this.who === 'user') chownSync(path, TEST_UID, TEST_UID)
  }
}
