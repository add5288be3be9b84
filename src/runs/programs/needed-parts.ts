/**
 * What participants need before a run begins: variables that hold their secrets, programs that can be
 * started, and code that an interpreter is handed. What is missing is found here, all of it at once,
 * and not when its node is reached.
 */
import { accessSync, constants, statSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { type FaultError, faultError, showName, showPath } from '../../base/index.ts'
import type { Flow, FlowNode, Participant } from '../../contracts/index.ts'
import { type CompiledFlow, type CompiledNode, nodeName } from '../../flow/index.ts'
import { quote } from '../../machine/index.ts'
import { commandOf, participantAt } from './participant-command.ts'
import { type Operand, operandsOf } from './program-operands.ts'
import { isDeclaredThere, isMadeInFlow } from './protected-programs.ts'
import { WorkspaceFiles } from './workspace-files.ts'

export interface PartsAround {
  readonly workspace: string
  readonly environment: Readonly<Record<string, string | undefined>>
  readonly searchPath: string
}

/** Fails if something is missing that a participant of these nodes needs. */
export function refuseMissingParts(
  flow: CompiledFlow,
  nodes: readonly CompiledNode[],
  around: PartsAround,
): void {
  const missing = nodes.flatMap((node) => missingAt(flow, node, around))
  const [first, ...others] = missing
  if (first === undefined) return
  const message = missing.map(({ says }) => says).join('; ')
  const hint =
    others.length === 0 ? first.hint : [...new Set(missing.map((one) => one.hint))].join('; ')
  throw fault(first.code, first.at, message, hint)
}

function fault(code: MissingPart['code'], at: string, message: string, hint: string): FaultError {
  return faultError(code, at, message, `${hint}; nothing was started`)
}

interface MissingPart {
  readonly code: 'flow.secret_missing' | 'flow.program_missing'
  readonly at: string
  /** Missing on this machine and not in the workspace, so it may be there where the flow runs. */
  readonly isOfMachine?: true
  readonly says: string
  readonly hint: string
}

function missingAt(
  flow: CompiledFlow,
  node: CompiledNode,
  around: PartsAround,
): readonly MissingPart[] {
  const participant = participantAt(node.document)
  if (participant === undefined) return []
  const name = nodeName(flow, node.nodeId)
  return [
    ...missingSecrets(participant, name, around),
    ...missingPrograms(flow.document, node.document, name, around),
  ]
}

function missingSecrets(
  { secrets = [] }: Participant,
  name: string,
  { environment }: PartsAround,
): readonly MissingPart[] {
  return secrets
    .filter((secret) => (environment[secret] ?? '') === '')
    .map((secret) => ({
      code: 'flow.secret_missing',
      at: secret,
      says: `the variable ${showName(secret)}, which ${name} needs, is not set`,
      hint: `export ${secret}=… and call again`,
    }))
}

const INSTALL = 'install it, or put it in its place'

/** Programs, and files that are named as their parts, that are not there. */
export function missingPrograms(
  flow: Flow,
  node: FlowNode,
  name: string,
  { workspace, searchPath }: PartsAround,
): readonly MissingPart[] {
  const participant = participantAt(node)
  const command = commandOf(participant)
  if (participant === undefined || command === null) return []
  const part = (says: string, at: string, hint = INSTALL): MissingPart => ({
    code: 'flow.program_missing',
    at,
    says: `${says}, which ${name} runs`,
    hint,
  })
  const files = new WorkspaceFiles(workspace)
  const starting = { isReviewer: node.kind === 'CHECK', secrets: participant.secrets }
  const isMade = (word: string): boolean => {
    const path = files.pathOf(word)
    return path !== null && isMadeInFlow(flow, starting, path)
  }
  const declared = 'programs' in participant ? (participant.programs ?? []) : []
  const absent = declared
    .filter((pattern) => !isDeclaredThere(files, pattern))
    .map((pattern) =>
      part(`nothing in the workspace is ${showPath(pattern)} of \`programs\``, pattern),
    )
  const operands = operandsOf(command).filter(
    (operand) => isNeeded(operand) && !isOperandThere(files, operand) && !isMade(operand.word),
  )
  const scripts = operands.map(({ word }) =>
    part(`${showPath(word)} is not there, or cannot be read`, word),
  )
  return [...absent, ...missingStart(command[0] ?? '', part), ...scripts]

  function missingStart(program: string, told: typeof part): readonly MissingPart[] {
    if (!program.includes('/')) {
      if (isOnPath(program, searchPath)) return []
      const says = `there is no program ${showName(program)} on the PATH`
      return [{ ...told(says, program), isOfMachine: true }]
    }
    const file = resolve(workspace, program)
    if (isMade(program) || isUsable(file, constants.X_OK)) return []
    return isUsable(file, constants.F_OK)
      ? [told(`${showPath(program)} is not executable`, program, `chmod +x ${quote(file)}`)]
      : [told(`there is no program ${showPath(program)}`, program)]
  }
}

/** A word with a star may stand for several files. */
function isNeeded({ isNeeded, word }: Operand): boolean {
  return isNeeded && !/[*?[]/.test(word)
}

/** As a file, as a directory with a main file, or under a name that Node completes. */
function isOperandThere(files: WorkspaceFiles, operand: Operand): boolean {
  const { word, directory, isCompleted = false } = operand
  return ['', directory].some((base) => {
    const file = resolve(files.root, base, word)
    return (
      isUsable(file, constants.R_OK) ||
      isDirectory(file) ||
      (isCompleted && COMPLETED.some((suffix) => isUsable(`${file}${suffix}`, constants.R_OK)))
    )
  })
}

/** Suffixes that Node adds to the name of a program. */
const COMPLETED = ['.js', '.json', '.node', '.mjs', '.cjs', '.ts']

function isDirectory(file: string): boolean {
  return statSync(file, { throwIfNoEntry: false })?.isDirectory() ?? false
}

/** Where programs of the system are, also where the caller's PATH leaves them out. */
const SYSTEM_PATH = ['/usr/local/bin', '/usr/bin', '/bin', '/usr/local/sbin', '/usr/sbin', '/sbin']

function isOnPath(program: string, searchPath: string): boolean {
  const directories = [...searchPath.split(':'), ...SYSTEM_PATH].filter((one) => one !== '')
  return directories.some((directory) => isUsable(join(directory, program), constants.X_OK))
}

function isUsable(file: string, mode: number): boolean {
  try {
    accessSync(file, mode)
    return statSync(file).isFile()
  } catch {
    return false
  }
}
