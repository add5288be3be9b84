/**
 * A command that a service carries out (`WRIT_URL`): its words and options become the request of its
 * route, and what the service's command says is printed as it is. Commands without such a route work
 * here as always.
 */
import { COMMAND_JSON, type CommandLine, ROUTES, type Route } from '../../api/index.ts'
import { faultError, showName } from '../../base/index.ts'
import { isObject, nodeOf } from '../../contracts/index.ts'
import {
  type Command,
  type CommandCall,
  type CommandRun,
  EXIT,
  type Exit,
  PASS_FD,
} from '../call/command.ts'
import { readPassphrase } from '../call/passphrase.ts'
import { readSource } from '../call/source.ts'
import { acceptLawsThere, approveThere, denyThere, waitThere } from './answers.ts'
import { connect, told } from './remotes.ts'

type NamedRoute = readonly [string, Route]

const TABLE: readonly NamedRoute[] = Object.entries(ROUTES)

/** Routes whose command prints what the service answers. */
function formsOf({ name }: Pick<Command, 'name'>): readonly NamedRoute[] {
  return TABLE.filter(([, one]) => one.command === name && formOf(one) !== undefined)
}

function formOf({ runs, spoken }: Route): CommandLine | undefined {
  return runs ?? spoken
}

/** Documents are looked at here as well as there. */
const DOCUMENT_COMMANDS: ReadonlySet<string> = new Set(
  TABLE.flatMap(([, { command, runs, path }]) => {
    const isDocument = runs?.kind === 'document' || /^\/v1\/(?:documents|rules)\//.test(path)
    return isDocument && command !== null ? [command] : []
  }),
)

/** Where a command is carried out when `WRIT_URL` names a service. */
export function placeOf(command: Pick<Command, 'name'>): 'there' | 'here' {
  if (DOCUMENT_COMMANDS.has(command.name)) return 'here'
  return formsOf(command).length === 0 ? 'here' : 'there'
}

/** A command that proves a person there asks for the passphrase here. */
export function withProof(command: Command): Command {
  const isProven = formsOf(command).some(([, { who }]) => who === 'proven')
  const hasOption = command.options.some(({ name }) => name === PASS_FD.name)
  if (!isProven || hasOption) return command
  return { ...command, options: [...command.options, PASS_FD] }
}

/** Returns what runs a command where `WRIT_URL` names a service. */
export async function carriedOut(command: Command): Promise<{ readonly run: CommandRun }> {
  if (placeOf(command) === 'here') return command.load()
  const routes = formsOf(command)
  const own = OWN_FORMS[command.name]
  return { run: (call) => own?.(command, routes, call) ?? ask(command, routes, call) }
}

type Form = (command: Command, routes: readonly NamedRoute[], call: CommandCall) => Promise<Exit>

/** Commands that ask or wait here. */
const OWN_FORMS: Readonly<Record<string, Form>> = {
  propose: (command, routes, call) => propose(command, routes, call),
  approve: (_command, _routes, call) => approveThere(call),
  'laws accept': (_command, _routes, call) => acceptLawsThere(call),
  deny: (command, routes, call) => denyThere(call, () => ask(command, routes, call)),
}

/** An example is made here; with `--wait` the answer of a human is waited for. */
async function propose(
  command: Command,
  routes: readonly NamedRoute[],
  call: CommandCall,
): Promise<Exit> {
  if (call.options.text('example') !== null) {
    // Of a command that is no runner.
    return (await command.load()).run(call) as Promise<Exit>
  }
  const isAsked = ['dry-run', 'queue'].some((name) => call.options.isOn(name))
  if (!call.options.isOn('wait') || isAsked) return ask(command, routes, call)
  return waitThere(call, await contentsOf(call.arguments[0] ?? '-'))
}

async function ask(
  command: Command,
  routes: readonly NamedRoute[],
  call: CommandCall,
): Promise<Exit> {
  const { options, terminal } = call
  const client = await connect(call)
  const [name, one] = routeFor(routes, call)
  const form = formOf(one)
  const fields = await fieldsOf(command, one, call)
  const proof = await proofFor(one, call)
  const place = (schema: Route['params']) => pick(fields, schema)
  // The table has a function for each name; the service judges what it is given.
  const send = client[name as 'listRuns'] as unknown as (request: unknown) => Promise<{
    readonly status: number
    readonly value: unknown
    readonly exit: number | null
  }>
  const whole = form?.isWhole === true ? fields[form.input ?? ''] : undefined
  const body =
    one.body === undefined ? {} : { body: whole ?? { ...pick(fields, one.body), ...proof } }
  const json = one.spoken === undefined ? 'application/json' : COMMAND_JSON
  const accept = options.isOn('json') ? json : 'text/plain'
  const { value, status, exit } = await told(
    send({ params: place(one.params), query: place(one.query), ...body, accept }),
  )
  await terminal.out(typeof value === 'string' ? value : `${JSON.stringify(value)}\n`)
  return exitOf(exit, status)
}

function exitOf(exit: number | null, status: number): Exit {
  const known = Object.values(EXIT).find((one) => one === exit)
  return known ?? (status === 202 ? EXIT.waiting : EXIT.yes)
}

/** The route whose words are as many as were given, else the first that takes them. */
function routeFor(routes: readonly NamedRoute[], { arguments: given }: CommandCall): NamedRoute {
  const wordsOf = ([, one]: NamedRoute): number => formOf(one)?.words?.length ?? 0
  const exact = routes.find((one) => wordsOf(one) === given.length)
  const found = exact ?? routes.find((one) => wordsOf(one) > 0) ?? routes[0]
  if (found !== undefined) return found
  throw faultError('remote.no_form', '')
}

async function fieldsOf(
  command: Command,
  one: Route,
  { arguments: given, options }: CommandCall,
): Promise<Readonly<Record<string, unknown>>> {
  const { params, query, body } = one
  const runs = formOf(one)
  const parts = [params, query, body].map((part) => (part === undefined ? {} : nodeOf(part)))
  const types: Readonly<Record<string, { type?: unknown }>> = Object.assign(
    {},
    ...parts.map(({ properties = {} }) => properties),
  )
  const fields: Record<string, unknown> = {}
  const files = new Set([...(runs?.files ?? []), runs?.input])
  const fieldValue = async (name: string, text: string): Promise<unknown> => {
    if (files.has(name)) return contentsOf(text)
    return types[name]?.type === 'integer' ? Number(text) : text
  }
  const words = runs?.words ?? []
  if (given.length > words.length && types[words.at(-1) ?? '']?.type !== 'array')
    throw faultError('cli.usage', '', 'too many words', command.usage)
  for (const [index, name] of words.entries()) {
    const rest = given.slice(index)
    if (rest.length === 0) break
    const isList = types[name]?.type === 'array'
    fields[name] = isList ? rest : await fieldValue(name, rest[0] ?? '')
  }
  for (const { name: option, many } of command.options) {
    const name = option.replaceAll('-', '_')
    const [text, texts] = [options.text(option), options.texts(option)]
    const isGiven = options.isOn(option) || text !== null || texts.length > 0
    if (!isGiven || option === 'pass-fd') continue
    if (types[name] === undefined) {
      const message = `${showName(`--${option}`)} does not speak to a service`
      throw faultError('remote.no_form', '', message, 'leave it out')
    }
    if (many === true) fields[name] = texts
    else fields[name] = text === null ? true : await fieldValue(name, text)
  }
  // A stream in the address of a route is the one that a command takes without an option.
  if (params !== undefined && 'stream' in (nodeOf(params).properties ?? {}))
    fields['stream'] ??= 'main'
  return fields
}

/** The contents of a file: a document if it is JSON, else its text. */
async function contentsOf(file: string): Promise<unknown> {
  const text = (await readSource(file)).bytes.toString('utf8')
  try {
    const value: unknown = JSON.parse(text)
    return isObject(value) || Array.isArray(value) ? value : text
  } catch {
    return text
  }
}

async function proofFor({ who, says }: Route, call: CommandCall) {
  if (who !== 'proven') return {}
  const passphrase = await readPassphrase(call, `passphrase for “${says}”`)
  if (passphrase !== null) return { proof: { passphrase } }
  const hint = 'call from a terminal, or with `--pass-fd N`'
  throw faultError('credential.required', '', `“${says}” needs your passphrase`, hint)
}

function pick(fields: Readonly<Record<string, unknown>>, schema: Route['body']) {
  const known = schema === undefined ? {} : (nodeOf(schema).properties ?? {})
  return Object.fromEntries(Object.entries(fields).filter(([name]) => name in known))
}
