/** Routes that a command of the program answers: the request becomes its words, its answer the reply. */
import { mkdirSync, mkdtempSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { type CommandLine, commandWords, type FilePlaces, type Route } from '../../api/index.ts'
import { CODES, type Code, faultError, isCode } from '../../base/index.ts'
import { isObject, type Violation } from '../../contracts/index.ts'
import { removeTreeSync } from '../../machine/index.ts'
import { PASS_DESCRIPTOR, type ProgramEnd, type ProgramOrder } from '../call/program-runs.ts'
import { RefusedDocument } from './actions.ts'
import type { Reply, RouteCall } from './route-call.ts'

/** A route with a command that answers it. */
type CommandRoute = Route & Required<Pick<Route, 'runs'>> & { readonly command: string }

export function isCommandRoute(one: Route): one is CommandRoute {
  return one.runs !== undefined && one.command !== null
}

/** A route of a function as its command answers it; null where the route has no such form. */
export function spokenRoute({ spoken, media: _own, ...one }: Route): CommandRoute | null {
  const { command } = one
  return spoken === undefined || command === null ? null : { ...one, command, runs: spoken }
}

const READ_MS = 2 * 60_000
const ACT_MS = 15 * 60_000

type CommandCall = Pick<
  RouteCall,
  'home' | 'token' | 'secret' | 'waitSeconds' | 'programs' | 'gone' | 'stop'
> & {
  readonly params: unknown
  readonly query: unknown
  readonly body: unknown
  /** Whether the client asked for text instead of JSON. */
  readonly wantsText: boolean
}

export async function answerByCommand(call: CommandCall, one: CommandRoute): Promise<Reply> {
  const fields = fieldsOf(call, one.runs)
  const folder = mkdtempSync(join(tmpdir(), 'writ-request-'))
  let isLeft = false
  try {
    const order = orderOf(call, one, fields, folder)
    if (one.runs.kind !== 'walk') {
      const reply = replyOf(call, one, await call.programs.run(order), folder)
      if (one.runs.walksOn === true) walkOn(call, reply.value)
      return reply
    }
    const { ended, err } = call.programs.walk(order)
    const end = await within(ended, call.waitSeconds * 1_000)
    if (end !== null) return replyOf(call, one, end, folder)
    // The command has read its files by now, and may read them again: they go when it ends.
    isLeft = true
    ended.finally(() => removeTreeSync(folder)).catch(() => undefined)
    return begunReply(err())
  } finally {
    if (!isLeft) removeTreeSync(folder)
  }
}

function fieldsOf(
  { params, query, body }: CommandCall,
  { input, isWhole }: CommandLine,
): Readonly<Record<string, unknown>> {
  const given = isWhole === true && input !== undefined ? { [input]: body } : body
  // Each follows the schema of its route, which is an object.
  return { ...(params as object), ...(query as object), ...(given as object) }
}

function orderOf(
  call: CommandCall,
  { command, runs }: CommandRoute,
  fields: Readonly<Record<string, unknown>>,
  folder: string,
): ProgramOrder {
  const isDocument = runs.kind === 'document'
  const passphrase = runs.takesProof === true ? call.secret : null
  const { directory } = call.home.home
  const more = [
    ...(isDocument ? [] : [`--home=${directory}`]),
    ...(passphrase === null ? [] : [`--pass-fd=${PASS_DESCRIPTOR}`]),
    ...(runs.isText === true || call.wantsText ? [] : ['--json']),
  ]
  const places = writeFiles(runs, fields, folder, isDocument)
  return {
    argv: commandWords(command, runs, fields, places, more),
    cwd: isDocument ? folder : dirname(directory),
    token: call.token,
    passphrase,
    input: runs.input === undefined ? '' : textOf(fields[runs.input]),
    readsBelow: isDocument ? folder : null,
    isUrgent: runs.isUrgent === true,
    limitMs: { document: READ_MS, read: READ_MS, act: ACT_MS, walk: Number.POSITIVE_INFINITY }[
      runs.kind
    ],
    // What changes something is carried to its end, also if its client has gone.
    abort: isDocument || runs.kind === 'read' ? AbortSignal.any([call.gone, call.stop]) : null,
  }
}

/** Writes fields as files; a list of documents is a folder of `rules` or several files. */
function writeFiles(
  { files: names = [], folder: listed }: CommandLine,
  fields: Readonly<Record<string, unknown>>,
  folder: string,
  isHere: boolean,
): FilePlaces {
  const written = new Set<string>()
  const write = (name: string, value: unknown): string => {
    const text = textOf(value)
    const file = /\.\w+$/.test(name) ? name : `${name}${extensionOf(text)}`
    if (written.has(file)) throw faultError('api.malformed', '', `two files are named ${file}`)
    written.add(file)
    writeFileSync(join(folder, file), text, { mode: 0o600, flag: 'wx' })
    // A command that works in the folder names no path of this machine in its answer.
    return isHere ? file : join(folder, file)
  }
  const { files } = fields
  if (isObject(files))
    for (const [name, value] of Object.entries(files)) write(plainName(name), value)
  const places: Record<string, readonly string[]> = {}
  for (const name of names) {
    const value = fields[name]
    if (value === undefined) continue
    const values = Array.isArray(value) ? value : [value]
    if (name === listed) {
      mkdirSync(join(folder, name), { mode: 0o700 })
      for (const [index, each] of values.entries()) write(`${name}/${index + 1}`, each)
      places[name] = [isHere ? name : join(folder, name)]
      continue
    }
    places[name] = values.map((each, index) =>
      write(values.length === 1 ? name : `${name}-${index + 1}`, each),
    )
  }
  return places
}

/** Returns the name of a file that a caller chose. Fails if it leads out of the request's folder. */
function plainName(name: string): string {
  if (/^[\w-][\w.-]*$/.test(name)) return name
  throw faultError('api.malformed', '', 'names of `files` are letters, digits, `_`, `-` and `.`')
}

function textOf(value: unknown): string {
  if (value === undefined) return ''
  return typeof value === 'string' ? value : JSON.stringify(value)
}

/** By what a text begins with, behind comments: a command tells the forms apart by their names. */
function extensionOf(text: string): string {
  if (/^\s*[{[]/.test(text)) return '.json'
  const first = text.split('\n').find((line) => /^\s*[^\s#]/.test(line)) ?? ''
  return /[,;\t]/.test(first) && !first.includes(':') ? '.csv' : '.yaml'
}

async function within<T>(work: Promise<T>, ms: number): Promise<T | null> {
  let timer: NodeJS.Timeout | undefined
  const late = new Promise<null>((resolve) => {
    timer = setTimeout(() => resolve(null), ms)
  })
  try {
    return await Promise.race([work, late])
  } finally {
    clearTimeout(timer)
  }
}

const RUN = /^run-[0-9a-f-]+$/m

function begunReply(err: string): Reply {
  const [run_id] = RUN.exec(err) ?? []
  if (run_id === undefined) return { status: 202, value: {} }
  return { status: 202, value: { run_id }, headers: { location: `/v1/runs/${run_id}` } }
}

/** A run that no process walks goes on here, for the caller who gave it something to go on with. */
function walkOn(call: CommandCall, left: unknown): void {
  if (!isObject(left) || left['walked'] !== false || typeof left['run_id'] !== 'string') return
  const { directory } = call.home.home
  const argv = ['flow', 'resume', `--home=${directory}`, '--json', '--', left['run_id']]
  const plain = { passphrase: null, input: '', readsBelow: null, isUrgent: false, abort: null }
  const order = { argv, cwd: dirname(directory), token: call.token, ...plain }
  call.programs.walk({ ...order, limitMs: Number.POSITIVE_INFINITY }).ended.catch(() => undefined)
}

const WAITING = 3

function replyOf(call: CommandCall, one: CommandRoute, end: ProgramEnd, folder: string): Reply {
  const hidden = (text: string): string => hide(text, folder, call.home.home.state)
  const { status } = end
  if (status === null) throw faultError(call.stop.aborted ? 'api.stopping' : 'cli.bug', '')
  const headers = { 'writ-exit': String(status) }
  if (one.runs.isText === true || call.wantsText) {
    if (status !== 0 && end.out === '') throw toldFault(hidden(end.err))
    const told = call.wantsText ? `${end.out}${status === 0 ? '' : end.err}` : end.out
    return { value: told.replaceAll(`${folder}/`, ''), headers: { ...headers, ...PLAIN } }
  }
  const value = readAnswer(end.out.replaceAll(`${folder}/`, ''))
  const error = isObject(value) ? value['error'] : undefined
  if (isObject(error) && typeof error['code'] === 'string') {
    const { code, message, hint } = error
    throw commandFault(
      code,
      hidden(String(message)),
      hint === undefined ? undefined : hidden(String(hint)),
    )
  }
  if (status !== 0 && one.runs.kind !== 'document') refuseViolations(value)
  return { status: status === WAITING && 202 in one.answers ? 202 : 200, value, headers }
}

const PLAIN = { 'content-type': 'text/plain; charset=utf-8' }

/** A refusal names no path of this machine that the caller did not name. */
function hide(text: string, folder: string, state: string): string {
  return text.replaceAll(`${folder}/`, '').replaceAll(state, 'the state of the home')
}

function readAnswer(out: string): unknown {
  try {
    return JSON.parse(out)
  } catch {
    throw faultError('cli.bug', '', 'the command gave no answer')
  }
}

/** A document that was to be recorded and is wrong. */
function refuseViolations(value: unknown): void {
  const violations = isObject(value) ? value['violations'] : null
  if (!Array.isArray(violations) || violations.length === 0) return
  // A command lists what is wrong in this form.
  const listed = violations as readonly Violation[]
  throw new RefusedDocument(listed[0]?.code ?? '', listed)
}

/** What is wrong with a document, in words: each place with its code, the message below it. */
const TOLD = /^(?:error)? {2}(\S.*) {2}([a-z_]+\.[a-z_]+)\n {4}(.*)$/gm

/** A refusal in words: a list of what is wrong, or `code: message` and then a hint. */
function toldFault(err: string): Error {
  const violations = [...err.matchAll(TOLD)].flatMap(([, place = '', told = '', words = '']) =>
    isCode(told) ? [{ code: told, path: / (\/.*)$/.exec(place)?.[1] ?? '', message: words }] : [],
  )
  const [first] = violations
  if (first !== undefined) return new RefusedDocument(first.code, violations)
  const [, code = '', message = ''] = /^([a-z_]+\.[a-z_]+): (.*)$/m.exec(err) ?? []
  const [, hint] = /^\s+hint: (.*)$/m.exec(err) ?? []
  return commandFault(code, message, hint)
}

function commandFault(code: string, message: string, hint: string | undefined): Error {
  return isCode(code) ? new CommandRefusal(code, message, hint) : faultError('cli.bug', '', message)
}

/** What a command refused, in its own words. */
export class CommandRefusal extends Error {
  readonly code: Code
  readonly hint?: string

  constructor(code: Code, message: string, hint: string | undefined) {
    super(message)
    // A code that is no refusal over HTTP is one here.
    this.code = CODES[code].http >= 400 ? code : 'api.malformed'
    if (hint !== undefined) this.hint = hint
  }
}
