/**
 * One attempt to get out of a sandbox, as data: what runs inside, and what the host must report.
 *
 * A program says `ESCAPED …` when it got hold of something it must not have. In every case nothing
 * outside may change, no secret may come out, no listener may be reached, and nothing may be left.
 * What it finds in its environment: OUT (a directory outside, writable for this user by its mode),
 * HIDDEN and STATE (directories out of sight), HOME (watched, not in scope), SOCKET, ABSTRACT and PORT
 * (listeners of the machine), VICTIM (a process of the machine), CALLS (calls.c, compiled).
 */
import type { RunCap } from '../../src/contracts/index.ts'
import type { Caps } from '../../src/sandbox/index.ts'
import type { Who } from '../sandbox/drive.ts'

/** Who opens: as in other tests, and root over files of many owners, with capabilities inside. */
export type Opener = Who | 'root over many owners'
export const OPENERS: readonly Opener[] = ['root', 'user', 'root over many owners']

export type Text = readonly [language: 'sh' | 'perl' | 'python3' | 'node', text: string]

export interface Attempt {
  /** `kind/name`. */
  readonly id: string
  readonly title: string
  readonly program: Text
  /** Run after it on the same layers. */
  readonly next?: Text
  readonly caps?: Partial<Caps>
  readonly terminal?: true
  /** Its standard input is one of the opener's: the file in OUT, open both ways, or a pipe of lines. */
  readonly input?: 'file' | 'pipe'
  readonly sockets?: 'none'
  /** Layers on a disk instead of in memory. */
  readonly onDisk?: true
  /** The machine listens at `socket` in the scope and at home. */
  readonly listens?: true
  /** Made in the scope before, on the machine. */
  readonly before?: string
  readonly expects?: Expectation
}

export interface Expectation {
  /** The caps of which one must have ended the run; by default none may have. */
  readonly killedBy?: readonly (RunCap | null)[]
  /** As above, where the kernel has no counters for this user. */
  readonly killedByPolled?: readonly (RunCap | null)[]
  /** Processes are left when the command has ended, and the host reports them. */
  readonly background?: true | 'any'
  /** Codes of findings that the reading of the layers must give. */
  readonly findings?: readonly string[]
  /** Paths, from the scope or `~/` for the home, that must be reported as changed. */
  readonly changes?: readonly string[]
  /** What the output must hold besides. */
  readonly says?: string
}

/** What became of it; nothing wrong is a pass. */
export interface Finished {
  readonly id: string
  readonly as: Opener
  readonly wrong: readonly string[]
  readonly durationMs: number
}

/** A call of calls.c. */
export function call(name: string, argument = ''): Text {
  return ['sh', `"$CALLS" ${name} ${argument}`]
}

export function kindOf({ id }: Pick<Attempt, 'id'>): string {
  return id.slice(0, id.indexOf('/'))
}
