/**
 * Commands that a session hands over because they need the person's credentials (S-15): `npm publish`, and
 * what `gh` changes on its server. Each is held with its input files, described in words that a person
 * reads, and run once outside by the person's own program.
 *
 * INVARIANT (what was shown is run): a command runs only if the words that were approved and its input
 *   files are the ones that were written when it was held.
 * INVARIANT (no program of the agent): the program is one of the person's PATH that lies outside of the
 *   tree; it runs in a directory of writ's own. npm gets a packed file and runs no script of it.
 */
import { existsSync, mkdirSync, readFileSync, realpathSync, statSync, writeFileSync } from 'node:fs'
import { delimiter, isAbsolute, join } from 'node:path'
import { digestBytes, digestDocument, faultError } from '../../base/index.ts'
import type { Proposal } from '../../contracts/index.ts'
import {
  type InstalledEnd,
  isExecutable,
  namesIfThere,
  quoteAll,
  readIfThere,
  removeTree,
  runInstalled,
  writeWhole,
} from '../../machine/index.ts'
import type { CommandPlan, CommandWish, HeldWord } from './command-plan.ts'
import { ghCall, isGhHeld } from './gh-call.ts'
import { npmPublish } from './npm-publish.ts'
import type { Sent } from './send-request.ts'

interface CommandNote {
  readonly program: CommandWish['program']
  readonly argv: readonly HeldWord[]
  readonly trees: readonly string[]
  readonly variables: Readonly<Record<string, string>>
  /** Digests of the input files, in order. */
  readonly inputs: readonly string[]
  readonly body_digest: string
}

type Variables = Readonly<Record<string, string | undefined>>

/** The header of a held request that names its command. */
export const COMMAND_HEADER = 'x-writ-command'

export function isHeldCommand({ operation }: Proposal): boolean {
  return operation?.type === 'NETWORK_REQUEST' && operation.headers?.[COMMAND_HEADER] !== undefined
}

const HELD = 'held-commands'
const NOTE = 'command.json'
const OUTPUT = 'output.txt'
const PRIVATE = 0o700
const RUN_MS = 300_000
const KEPT_MS = 30 * 24 * 60 * 60 * 1000
const OUTPUT_SHOWN = 16_000
/** An id of a command is a file name of our own. */
const COMMAND_ID = /^[0-9a-f-]{36}$/
const PLANS = { gh: ghCall, npm: npmPublish } as const

/** Whether a person is asked; other commands run where they are. */
export function isHeld({ program, argv }: Pick<CommandWish, 'argv' | 'program'>): boolean {
  return program === 'npm' || isGhHeld(argv)
}

/** Keeps a command for later; returns what a person approves. Fails if it cannot be held. */
export async function holdCommand(
  state: string,
  id: string,
  wish: CommandWish,
  environment: Variables,
): Promise<CommandPlan & { readonly body: string }> {
  await removeOld(state)
  const program = findPersons(wish.program, wish.trees, environment)
  if (program === null) throw notInstalled(wish.program)
  const plan = await PLANS[wish.program](wish, { program, variables: named(environment) })
  const digests = wish.inputs.map(({ bytes }) => digestBytes(bytes))
  const shown = plan.argv.map((word) =>
    typeof word === 'string'
      ? word
      : `${word.before ?? ''}${wish.inputs[word.input]?.name ?? ''}${word.after ?? ''}`,
  )
  const first = `${wish.program} ${quoteAll(shown)}`.replaceAll('\n', '\n  ')
  const body = [first, ...plan.lines].map(visible).join('\n')
  const directory = join(state, HELD, id)
  mkdirSync(directory, { recursive: true, mode: PRIVATE })
  for (const [index, { bytes, name }] of wish.inputs.entries()) {
    mkdirSync(join(directory, String(index)), { mode: PRIVATE })
    writeFileSync(join(directory, String(index), fileName(name)), bytes, { mode: 0o600 })
  }
  const note: CommandNote = {
    program: wish.program,
    argv: plan.argv,
    trees: wish.trees,
    variables: plan.variables,
    inputs: digests,
    body_digest: digestDocument(body),
  }
  writeWhole(join(directory, NOTE), JSON.stringify(note), 0o600)
  return { ...plan, body }
}

/** Runs a held command with the person's own program; `body` is what was approved. */
export async function runHeldCommand(
  state: string,
  id: string,
  body: string | undefined,
  environment: Variables,
): Promise<Sent> {
  const directory = join(state, HELD, id)
  const text = COMMAND_ID.test(id) ? readIfThere(join(directory, NOTE)) : null
  if (text === null) return failed('the held command is not kept any more')
  // `holdCommand` wrote it whole.
  const note = JSON.parse(text) as CommandNote
  const files = note.inputs.map((_, index) => inputFile(directory, index))
  if (digestDocument(body ?? '') !== note.body_digest || !isUnaltered(note, files)) {
    const detail = 'the command or a file of it is not the one that was approved'
    return { state: 'FAILED', code: 'request.altered', detail }
  }
  const argv = note.argv.map((word) =>
    typeof word === 'string'
      ? word
      : `${word.before ?? ''}${files[word.input] ?? ''}${word.after ?? ''}`,
  )
  const program = findPersons(note.program, note.trees, environment)
  if (program === null) return failed(`${note.program} is not installed for you any more`)
  const end = await runInstalled({
    argv: [program, ...argv],
    // A directory of the agent's could change what the words mean.
    cwd: directory,
    variables: { ...named(environment), ...note.variables },
    limitMs: RUN_MS,
  })
  return ended(note, end, directory)
}

/** What the program printed; empty before it has run. */
export function outputOf(state: string, id: string): string {
  return COMMAND_ID.test(id) ? (readIfThere(join(state, HELD, id, OUTPUT)) ?? '') : ''
}

function ended({ program }: CommandNote, end: InstalledEnd, directory: string): Sent {
  const { status, stdout, isTimedOut } = end
  // It may have done its work before it was stopped.
  if (isTimedOut || status === null) {
    const detail = `${program} did not come to its own end`
    return { state: 'UNKNOWN', code: 'request.unknown', detail }
  }
  if (status !== 0) return failed(wordsOf(end) || `${program} ended with status ${status}`)
  writeFileSync(join(directory, OUTPUT), visible(stdout.slice(0, OUTPUT_SHOWN)), { mode: 0o600 })
  const bytes = Buffer.from(stdout)
  const answer = { status: 200, bytes: bytes.length, body: { digest: digestBytes(bytes), bytes } }
  return { state: 'ANSWERED', answer }
}

function failed(detail: string): Sent {
  return { state: 'FAILED', code: 'request.failed', detail }
}

function wordsOf({ stdout, stderr }: InstalledEnd): string {
  const lines = `${stdout}\n${stderr}`.split('\n').filter((line) => line.trim() !== '')
  const errors = lines.filter((line) => /err/i.test(line))
  const words = (errors.length === 0 ? lines.slice(-3) : errors.slice(0, 3)).join('; ')
  return words.replaceAll(/\p{Cc}/gu, ' ').slice(0, 500)
}

/** A name of the agent's is a label; as a file it is one plain word. */
function fileName(name: string): string {
  return (
    name
      .replaceAll(/[^\w.+-]/g, '_')
      .replace(/^[.-]+/, '_')
      .slice(-100) || '_'
  )
}

function inputFile(directory: string, index: number): string {
  const folder = join(directory, String(index))
  return join(folder, namesIfThere(folder)[0] ?? '')
}

function isUnaltered({ inputs }: CommandNote, files: readonly string[]): boolean {
  return inputs.every((digest, index) => {
    const file = files[index] ?? ''
    return existsSync(file) && digestBytes(readFileSync(file)) === digest
  })
}

/** The first program of this name on the person's PATH, none that lies in a tree of the agent. */
function findPersons(
  name: string,
  trees: readonly string[],
  { PATH = '' }: Variables,
): string | null {
  const isOfTree = (path: string): boolean =>
    trees.some((tree) => path === tree || path.startsWith(`${tree}/`))
  const found = PATH.split(delimiter)
    .filter((folder) => isAbsolute(folder))
    .map((folder) => join(folder, name))
    .find((path) => isExecutable(path) && !isOfTree(path) && !isOfTree(realpathSync(path)))
  return found ?? null
}

function notInstalled(name: string) {
  const message = `${name} is not installed outside of the session, so it cannot be run there`
  return faultError('request.failed', name, message, `install ${name} for yourself, then try again`)
}

const OF_TOOLS = /^(?:GIT_(?:DIR|WORK_TREE|INDEX_FILE|CONFIG.*)|npm_.*|NODE_OPTIONS|INIT_CWD)$/

/** The person's own environment, without what a program that started this one left in it. */
function named(environment: Variables): Readonly<Record<string, string>> {
  const own = Object.entries(environment).flatMap(([name, value]) =>
    value === undefined || OF_TOOLS.test(name) ? [] : [[name, value]],
  )
  return { ...Object.fromEntries(own), LC_ALL: 'C.UTF-8', NO_COLOR: '1' }
}

/** Control characters could hide what is approved. */
function visible(text: string): string {
  return text.replaceAll(/[^\P{Cc}\n\t]|\p{Bidi_Control}/gu, '�')
}

/** Questions end long before. */
async function removeOld(state: string): Promise<void> {
  const folder = join(state, HELD)
  for (const name of namesIfThere(folder)) {
    const { mtimeMs = 0 } = statSync(join(folder, name), { throwIfNoEntry: false }) ?? {}
    if (mtimeMs < Date.now() - KEPT_MS) await removeTree(join(folder, name))
  }
}
