/**
 * How an agent starts inside a session: which adapter knows it, what the adapter adds, where its program
 * lies, and how its model is reached through the gateway. Keys stay outside: inside there is a
 * placeholder.
 */
import { existsSync, realpathSync } from 'node:fs'
import { delimiter, dirname, isAbsolute, join, resolve } from 'node:path'
import { faultError, showName } from '../base/index.ts'
import { editConfiguration } from '../configuration/index.ts'
import type { GatewayEndpoint } from '../gateway/index.ts'
import { type AgentHost, recogniseHost, sessionStart } from '../hosts/index.ts'
import { isExecutable, readIfThere, writeWhole } from '../machine/index.ts'

type Variables = Readonly<Record<string, string | undefined>>

interface StartParts {
  readonly argv: readonly [string, ...string[]]
  readonly cwd: string
  /** The person's own environment. */
  readonly environment: Variables
  /** What of it, or besides it, the person gave the agent by name. */
  readonly given: Variables
  readonly userDirectory: string
  /** Programs that hooks of the agent start. */
  readonly hookPrograms: readonly string[]
  /** The directory that the agent sees as its home. */
  readonly agentHome: string
  /** The address of the session's channel inside, without a final slash. */
  readonly channel: string
  readonly secretOf: (name: string) => string | null
  /** Where the person says that the model is. */
  readonly modelUrl: string | undefined
}

export interface AgentStart {
  readonly argv: readonly [string, ...string[]]
  readonly variables: Readonly<Record<string, string>>
  /** One line for each addition, for the person. */
  readonly notes: readonly string[]
  readonly endpoints: readonly GatewayEndpoint[]
  /** Files of the agent's home that were written, by their path in it. */
  readonly written: readonly string[]
  /** Directories of the person's home that hold the program. */
  readonly programs: readonly string[]
}

/** Null if no adapter knows the program. */
export function knownHost({
  argv,
  cwd,
  environment,
}: Pick<StartParts, 'argv' | 'cwd' | 'environment'>): AgentHost | null {
  return recogniseHost(argv, (word) => programPath(word, cwd, environment))?.host ?? null
}

/** Fails if the program is not there. */
export async function startOf(parts: StartParts): Promise<AgentStart> {
  const { argv, cwd, environment, userDirectory } = parts
  const path = programPath(argv[0], cwd, environment)
  if (path === null) {
    const message = `there is no program ${showName(argv[0])} on your PATH`
    throw faultError(
      'session.program',
      argv[0],
      message,
      `install it, then: writ run -- ${argv[0]}`,
    )
  }
  const link = linkPath(argv[0], cwd, environment.PATH ?? '')
  const files = [path, ...(link === null ? [] : [link]), ...parts.hookPrograms.flatMap(withTarget)]
  const programs = placesInHome(files, userDirectory)
  const resolved = (word: string): string | null => programPath(word, cwd, environment)
  const recognised = recogniseHost(argv, resolved)
  if (recognised === null) {
    return { argv, variables: {}, notes: [], endpoints: [], written: [], programs }
  }
  const begun = sessionStart(argv, recognised, parts.given)
  const { host, at } = recognised
  const named = host.endpoints.map((one, index) => ({ one, name: `${one.wire}-${index}` }))
  const endpoints = named.map(({ one, name }) => endpointOf(parts, host, one, name))
  const redirected = named.map(({ one, name }) => one.redirect(`${parts.channel}/model/${name}`))
  for (const { files } of redirected) for (const file of files) await redirect(parts, file)
  const added = redirected.flatMap((one) => one.arguments)
  const words = [...begun.argv.slice(0, at + 1), ...added, ...begun.argv.slice(at + 1)]
  const keys = host.endpoints.flatMap(({ key }) =>
    key.variables.slice(0, 1).map((name) => [name, key.placeholder]),
  )
  return {
    // The words of a command line with more words between them.
    argv: words as unknown as readonly [string, ...string[]],
    variables: Object.assign(
      { ...begun.variables, ...Object.fromEntries(keys) },
      ...redirected.map(({ variables }) => variables),
    ),
    notes: begun.notes,
    endpoints,
    written: redirected.flatMap(({ files: edited }) => edited.map(({ file }) => file)),
    programs,
  }
}

type ModelEndpoint = AgentHost['endpoints'][number]

/** A base URL that the person has set names the model's host; else the adapter does. */
function endpointOf(
  parts: StartParts,
  { state }: AgentHost,
  endpoint: ModelEndpoint,
  name: string,
): GatewayEndpoint {
  const { environment, secretOf, agentHome } = parts
  const { host: machine, calls, key, wire, redirect: redirection } = endpoint
  const names = [...Object.keys(redirection('').variables), ...ADDRESSES[wire]]
  const own = [parts.modelUrl, ...names.map((name) => environment[name])].find(isAddress)
  const [first = 'API_KEY'] = key.variables
  const found = key.variables.map((name) => secretOf(name) ?? environment[name] ?? null)
  const logins = state.logins.map(({ file }) => join(agentHome, file))
  return {
    name,
    // Calls begin with the version, which such addresses often end with.
    upstream: new URL(own?.replace(/\/v1\/?$/, '') ?? `https://${machine}`),
    calls,
    key: {
      header: key.header,
      prefix: key.prefix,
      placeholder: key.placeholder,
      name: first,
      value: found.find((value) => value !== null && value !== '') ?? null,
    },
    isLogin: (credential) =>
      credential.length >= LOGIN_MIN &&
      logins.some((file) => readIfThere(file)?.includes(credential) === true),
  }
}

/** Shorter words could be in a login file by chance. */
const LOGIN_MIN = 20

/** Variables by which people name another address of a model. */
const ADDRESSES = {
  anthropic: ['ANTHROPIC_BASE_URL'],
  responses: ['OPENAI_BASE_URL'],
  chat: ['OPENAI_BASE_URL'],
  gemini: ['GOOGLE_GEMINI_BASE_URL'],
} as const

function isAddress(text: string | undefined): text is string {
  return text !== undefined && /^https?:\/\/[^/]/.test(text) && URL.canParse(text)
}

type RedirectedFile = ReturnType<ModelEndpoint['redirect']>['files'][number]

/** Sets the base URL in a configuration of the agent's private home. */
async function redirect(
  { agentHome }: StartParts,
  { file, format, set }: RedirectedFile,
): Promise<void> {
  const path = join(agentHome, file)
  const empty = format === 'json' ? '{}\n' : ''
  const edited = await editConfiguration(readIfThere(path) ?? empty, { format, set, unset: [] })
  if (!edited.ok) throw faultError('config.syntax', path, edited.message)
  writeWhole(path, edited.text, 0o600)
}

/** The file that a word of a command line starts; null if there is none. */
function programPath(word: string, cwd: string, { PATH = '' }: Variables): string | null {
  const path = linkPath(word, cwd, PATH)
  return path === null ? null : realpathSync(path)
}

function linkPath(word: string, cwd: string, path: string): string | null {
  if (word.includes('/')) {
    const named = resolve(cwd, word)
    return existsSync(named) && isExecutable(named) ? named : null
  }
  const folders = path.split(delimiter).filter((folder) => isAbsolute(folder))
  return folders.map((folder) => join(folder, word)).find(isExecutable) ?? null
}

/** A program and, if it is a link, what it leads to. */
function withTarget(file: string): readonly string[] {
  return existsSync(file) ? [file, realpathSync(file)] : []
}

/** Where programs and the packages next to them lie, if that is in the person's home. */
function placesInHome(files: readonly string[], userDirectory: string): readonly string[] {
  const home = existsSync(userDirectory) ? realpathSync(userDirectory) : userDirectory
  const places = files.map((file) => {
    const at = file.indexOf('/node_modules/')
    return at === -1 ? dirname(file) : `${file.slice(0, at)}/node_modules`
  })
  return [...new Set(places)].filter((place) => place.startsWith(`${home}/`))
}
