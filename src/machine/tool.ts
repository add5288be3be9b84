/**
 * Everyday tools as child processes, for what Node has no call for: attributes, exact times, syncing a
 * filesystem. A batch is one process however many paths it has; paths are bytes.
 *
 * The environment is fixed (`PROGRAM_ENV`), so that messages and sorting are the same everywhere.
 */
import { Readable } from 'node:stream'
import { FaultError, fault } from '../base/index.ts'
import type { RawPath } from '../gate/index.ts'
import {
  findProgram,
  installCommand,
  type Program,
  type ProgramPath,
  startProgram,
} from './programs.ts'

interface ToolOutcome {
  readonly status: number | null
  readonly stdout: Buffer
  /** The beginning of it, one character a byte. */
  readonly stderr: string
}

interface ToolOptions {
  /** In pieces where it is long; they are made when the tool takes them. */
  readonly stdin?: Uint8Array | Iterable<Uint8Array>
  /** Gets the output piece by piece; the outcome has none then. False ends the tool. */
  readonly onOutput?: (piece: Buffer) => boolean
  readonly cwd?: string
  readonly timeoutMs?: number
}

const TIMEOUT_MS = 600_000
const STDERR_BYTES_MAX = 65_536
/** Below what every kernel takes as arguments, with room for the options. */
const ARGUMENTS_BYTES_MAX = 100_000
const ARGUMENTS_MAX = 2000

/** Runs to the end. A tool that is not installed is a failure; what its status means is the caller's. */
export function runTool(
  command: Program,
  args: readonly string[],
  { stdin, cwd, onOutput, timeoutMs = TIMEOUT_MS }: ToolOptions = {},
): Promise<ToolOutcome> {
  return new Promise((resolved, rejected) => {
    const child = startProgram(toolPath(command), args, {
      cwd: cwd ?? process.cwd(),
      stdio: [stdin === undefined ? 'ignore' : 'pipe', 'pipe', 'pipe'],
      timeout: timeoutMs,
      killSignal: 'SIGKILL',
    })
    const pieces: Buffer[] = []
    let stderr = ''
    child.stdout?.on('data', (piece: Buffer) => {
      if (onOutput === undefined) pieces.push(piece)
      else if (!onOutput(piece)) child.kill('SIGKILL')
    })
    child.stderr?.on('data', (piece: Buffer) => {
      if (stderr.length < STDERR_BYTES_MAX) stderr += piece.toString('latin1')
    })
    child.on('error', (error) => rejected(missingTool(command, { cause: error })))
    child.on('close', (status) => resolved({ status, stdout: Buffer.concat(pieces), stderr }))
    // A tool that ends early closes its input; its status tells why.
    child.stdin?.on('error', () => {})
    if (stdin === undefined || stdin instanceof Uint8Array) child.stdin?.end(stdin)
    else if (child.stdin !== null) Readable.from(stdin).pipe(child.stdin)
  })
}

/** The command with all paths as its last arguments; through xargs when there are too many or not text. */
export function runBatch(
  command: Program,
  args: readonly string[],
  paths: Iterable<RawPath>,
  options: Pick<ToolOptions, 'onOutput'> = {},
): Promise<ToolOutcome> {
  const few = asArguments(paths)
  if (few !== null) return runTool(command, [...args, '--', ...few], options)
  const words = ['--null', '--no-run-if-empty', toolPath(command), ...args, '--']
  return runTool('xargs', words, { ...options, stdin: inChunks(paths) })
}

/** Null when they do not fit. Node encodes arguments as UTF-8: only ASCII is sure to arrive as it was. */
export function asArguments(paths: Iterable<RawPath>): readonly RawPath[] | null {
  const few: RawPath[] = []
  let bytes = 0
  for (const path of paths) {
    bytes += path.length + 1
    few.push(path)
    const isTooMuch = few.length > ARGUMENTS_MAX || bytes > ARGUMENTS_BYTES_MAX
    if (isTooMuch || !ASCII.test(path)) return null
  }
  return few
}

const CHUNK_CHARACTERS = 65_536

/** Each text with a zero byte behind it, in pieces of the same length about; one character a byte. */
export function* inChunks(texts: Iterable<string>): Generator<Uint8Array> {
  let chunk = ''
  for (const text of texts) {
    chunk += `${text}\u0000`
    if (chunk.length < CHUNK_CHARACTERS) continue
    yield Buffer.from(chunk, 'latin1')
    chunk = ''
  }
  if (chunk !== '') yield Buffer.from(chunk, 'latin1')
}

// biome-ignore lint/suspicious/noControlCharactersInRegex: all of ASCII but the end of a string.
const ASCII = /^[\u0001-\u007f]*$/

function toolPath(command: Program): ProgramPath {
  const path = findProgram(command)
  if (path === null) throw missingTool(command)
  return path
}

function missingTool(command: Program, options?: ErrorOptions): FaultError {
  const hint = installCommand(command)
  const message = `\`${command}\` could not be started`
  const missing = fault('sandbox.control_missing', command, null, { message, hint })
  return new FaultError(missing, options)
}
