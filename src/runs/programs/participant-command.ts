/** Which participant acts at a node, what its declaration says about its program, and what a search finds. */
import type { FlowNode, Participant } from '../../contracts/index.ts'

export interface NamedPrograms {
  /** Code that runs. */
  readonly programs: readonly string[]
  /** Files that say what runs, or that a script starts: pinned without their directory. */
  readonly parts: readonly string[]
  /** Other files that the command names. */
  readonly data: readonly string[]
  /** Paths, with all below them, that would be loaded if they were there. */
  readonly places: readonly string[]
  /** Directories that modules are loaded from by name: pinned and sealed whole. */
  readonly libraries: readonly string[]
  /** Directories in which a runner, a module or a text looks for code. */
  readonly bases: readonly string[]
  /** Programs of Python that are started, which looks for modules next to them, or in them. */
  readonly pythonFiles: readonly string[]
  /** What the command starts and this search cannot find, in words. */
  readonly unfound: readonly string[]
  /** Programs and texts that scripts start and that are not there yet: part of it unless they are work. */
  readonly absent: readonly string[]
  /** What it may start or load and is not followed, each with its place: one of these leaves it open. */
  readonly open: readonly string[]
  /** `programs` of the participant. A person who names them answers for what the search cannot find. */
  readonly declared: readonly string[]
}

/** The words of a participant that is a program on this host; null for any other. */
export function commandOf(participant: Participant | undefined): readonly string[] | null {
  if (participant === undefined) return null
  if ('command' in participant) return participant.command
  return 'mcp' in participant && Array.isArray(participant.mcp) ? participant.mcp : null
}

/** Whether a person's file says that this reviewer runs the work that it judges. */
export function runsWork(participant: Participant | undefined): boolean {
  return participant !== undefined && 'runs_work' in participant && participant.runs_work === true
}

/** The participant that acts at a node. */
export function participantAt({ kind, executor, reviewer }: FlowNode): Participant | undefined {
  return kind === 'CHECK' ? reviewer : kind === 'WORK' ? executor : undefined
}
