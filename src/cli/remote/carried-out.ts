/**
 * A command that a service carries out (`WRIT_URL`): its words and options become the request of its
 * route, and what the service's command says is printed as it is. Commands without such a route work
 * here as always.
 */
import { ROUTES, type Route } from '../../api/index.ts'
import { faultError, showName } from '../../base/index.ts'
import { isObject, nodeOf } from '../../contracts/index.ts'
import {
  type Command,
  type CommandCall,
  type CommandRun,
  EXIT,
  type Exit,
} from '../call/command.ts'
import { readPassphrase } from '../call/passphrase.ts'
import { readSource } from '../call/source.ts'
import { surroundings } from '../call/terminal.ts'
import { checkKey, clientOf, remoteOf, told, wholeUrl } from './remotes.ts'

type NamedRoute = readonly [string, Route]

const TABLE: readonly NamedRoute[] = Object.entries(ROUTES)

/** Returns what runs a command where `WRIT_URL` names a service. */
export async function carriedOut(command: Command): Promise<{ readonly run: CommandRun }> {
  const routes = TABLE.filter(([, one]) => one.command === command.name)
  const carried = routes.filter(([, { runs }]) => runs !== undefined && runs.kind !== 'document')
  // Documents are looked at here as well as there.
  if (routes.length === 0 || routes.some(([, { runs }]) => runs?.kind === 'document'))
    return command.load()
  if (carried.length > 0) return { run: (call) => ask(command, carried, call) }
  const run: CommandRun = async () => {
    const paths = routes.map(([, { method, path }]) => `${method} ${path}`).join(', ')
    const message = `${showName(`writ ${command.name}`)} does not speak to a service`
    throw faultError('remote.no_form', '', message, `the service has ${paths}`)
  }
  return { run }
}

async function ask(
  command: Command,
  routes: readonly NamedRoute[],
  call: CommandCall,
): Promise<Exit> {
  const around = surroundings()
  const url = wholeUrl(around.env['WRIT_URL'] ?? '')
  const remote = remoteOf(around, url)
  const { options, terminal } = call
  if (options.text('home') !== null)
    throw faultError('cli.usage', '', '`--home` names a home of this machine, `WRIT_URL` a service')
  const client = clientOf(around, url)
  await checkKey(client, remote)
  const [name, one] = routeFor(routes, call)
  const fields = await fieldsOf(command, one, call)
  const proof = await proofFor(one, call)
  const place = (schema: Route['params']) => pick(fields, schema)
  // The table has a function for each name; the service judges what it is given.
  const send = client[name as 'listRuns'] as unknown as (request: unknown) => Promise<{
    readonly status: number
    readonly value: unknown
    readonly exit: number | null
  }>
  const body = one.body === undefined ? {} : { body: { ...pick(fields, one.body), ...proof } }
  const accept = options.isOn('json') ? 'application/json' : 'text/plain'
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
  const wordsOf = ([, { runs }]: NamedRoute): number => runs?.words?.length ?? 0
  const exact = routes.find((one) => wordsOf(one) === given.length)
  const found = exact ?? routes.find((one) => wordsOf(one) > 0) ?? routes[0]
  if (found !== undefined) return found
  throw faultError('remote.no_form', '')
}

async function fieldsOf(
  command: Command,
  { runs, params, query, body }: Route,
  { arguments: given, options }: CommandCall,
): Promise<Readonly<Record<string, unknown>>> {
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
