/** Which participant acts at a node, what its declaration says about its program, and what a search finds. */
import { basename } from 'node:path'
import type { FlowNode, Participant } from '../../contracts/index.ts'
import { isPython, isShell } from './code-names.ts'

export interface NamedPrograms {
  /** Code that the command itself names. */
  readonly programs: readonly string[]
  /** Files that it would run as its program, and that are not there. */
  readonly absent: readonly string[]
  /** Where it would look before, or next: nothing may be added there. */
  readonly places: readonly string[]
  /** Code that its scripts name: pinned without its directory, unless it is work. */
  readonly parts: readonly string[]
  /** Other files that the command names. */
  readonly data: readonly string[]
  /** Directories that the command names, and the root. */
  readonly directories: readonly string[]
  /** `programs` of the participant. */
  readonly declared: readonly string[]
  /** It runs code by a name that is no file here, so its programs cannot be compared with others. */
  readonly isUnfound: boolean
}

/** The words of a participant that is a program on this host; null for any other. */
export function commandOf(participant: Participant | undefined): readonly string[] | null {
  if (participant === undefined) return null
  if ('command' in participant) return participant.command
  return 'mcp' in participant && Array.isArray(participant.mcp) ? participant.mcp : null
}

/** Whether an MCP server is reached over HTTP; other words start one here. */
export function isAddress(server: string): boolean {
  return /^https?:\/\//.test(server)
}

/** Whether it is a process on this host. */
export function runsHere(participant: Participant | null): boolean {
  if (participant === null) return false
  const server = 'mcp' in participant ? participant.mcp : null
  return typeof server === 'string' ? !isAddress(server) : commandOf(participant) !== null
}

/** Whether a person's file says that this reviewer runs the work that it judges. */
export function runsWork(participant: Participant | undefined): boolean {
  return participant !== undefined && 'runs_work' in participant && participant.runs_work === true
}

/** The participant that acts at a node. */
export function participantAt({ kind, executor, reviewer }: FlowNode): Participant | undefined {
  return kind === 'CHECK' ? reviewer : kind === 'WORK' ? executor : undefined
}

const PYTHON_OPTION = /^-[BEIOPsSu]+$/
/** Python looks neither into the working directory nor where `PYTHONPATH` leads. */
const ISOLATED = /^-\w*I/

/**
 * Whether it gets secrets or reaches hosts, and may load Python from directories that it does not name: a
 * shell, or Python that is started by the name of a module, by a text or by its input.
 */
export function findsPython(participant: Participant | undefined): boolean {
  const [program = '', ...words] = commandOf(participant) ?? []
  if (participant === undefined || program === '') return false
  const { secrets = [], egress = [] } = participant
  if (secrets.length + egress.length === 0) return false
  const name = basename(program)
  if (isShell(name) || name === 'env') return true
  if (!isPython(name)) return false
  const first = words.findIndex((word) => !PYTHON_OPTION.test(word))
  const options = first === -1 ? words : words.slice(0, first)
  return (
    (first === -1 || words[first]?.startsWith('-') === true) &&
    !options.some((one) => ISOLATED.test(one))
  )
}
