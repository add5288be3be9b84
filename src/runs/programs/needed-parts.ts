/**
 * What participants need before a run begins: variables that hold their secrets, programs that can be
 * started, and code that an interpreter is handed. What is missing is found here, all of it at once,
 * and not when its node is reached.
 */
import { accessSync, constants, statSync } from 'node:fs'
import { basename, join, resolve } from 'node:path'
import { type FaultError, faultError, showName, showPath } from '../../base/index.ts'
import { type Flow, matchesPath, type Participant, parseGlob } from '../../contracts/index.ts'
import { type CompiledFlow, type CompiledNode, nodeName } from '../../flow/index.ts'
import { quote } from '../../machine/index.ts'
import { hasCodeSuffix, isInterpreter } from './code-names.ts'
import { commandOf, participantAt } from './participant-command.ts'
import { isDeclaredThere } from './protected-programs.ts'
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
    ...missingPrograms(flow.document, participant, name, around),
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
  participant: Participant,
  name: string,
  { workspace, searchPath }: PartsAround,
): readonly MissingPart[] {
  const [program, ...words] = commandOf(participant) ?? []
  if (program === undefined) return []
  const part = (says: string, at: string, hint = INSTALL): MissingPart => ({
    code: 'flow.program_missing',
    at,
    says: `${says}, which ${name} runs`,
    hint,
  })
  const declared = 'programs' in participant ? (participant.programs ?? []) : []
  const files = new WorkspaceFiles(workspace)
  const absent = declared
    .filter((pattern) => !isDeclaredThere(files, pattern))
    .map((pattern) =>
      part(`nothing in the workspace is ${showPath(pattern)} of \`programs\``, pattern),
    )
  if (program.includes('/')) {
    const file = resolve(workspace, program)
    if (isMadeInFlow(flow, program) || isUsable(file, constants.X_OK)) return absent
    const found = isUsable(file, constants.F_OK)
      ? part(`${showPath(program)} is not executable`, program, `chmod +x ${quote(file)}`)
      : part(`there is no program ${showPath(program)}`, program)
    return [...absent, found]
  }
  if (!isOnPath(program, searchPath))
    return [
      ...absent,
      {
        ...part(`there is no program ${showName(program)} on the PATH`, program),
        isOfMachine: true,
      },
    ]
  const script = isInterpreter(basename(program)) ? scriptOf(words) : null
  if (script === null || isMadeInFlow(flow, script)) return absent
  return isUsable(resolve(workspace, script), constants.R_OK)
    ? absent
    : [...absent, part(`${showPath(script)} is not there, or cannot be read`, script)]
}

/** The file of code that an interpreter is handed; null where it is handed something else. */
function scriptOf(words: readonly string[]): string | null {
  const first = words.find((word) => !word.startsWith('-'))
  const isText = words.some((word) =>
    /^(?:-c|-e|-m|-p|-r|--eval|--print|--require|--import|--loader)/.test(word),
  )
  return first === undefined || isText || !hasCodeSuffix(first) ? null : first
}

/** Some node declares to write it, so it need not be there at the beginning. */
function isMadeInFlow({ nodes }: Flow, path: string): boolean {
  const plain = path.replace(/^\.\//, '')
  return nodes.some(({ writes = [], required_files = [] }) =>
    [...writes, ...required_files].some((pattern) => {
      const glob = parseGlob(`/${pattern}`)
      return glob !== null && pattern !== '**' && matchesPath(glob, `/${plain}`)
    }),
  )
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
