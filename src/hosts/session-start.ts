/** The command line and environment of a host inside a session, with a reason for each addition. */
import type { AgentHost } from './host.ts'
import type { RecognisedHost } from './registry.ts'

interface SessionStart {
  readonly argv: readonly string[]
  /** Variables that were added; none that the environment has already. */
  readonly variables: Readonly<Record<string, string>>
  /** One line for each addition, for the person who starts the session. */
  readonly notes: readonly string[]
}

/** Adds what the adapter lists, unless the caller has already decided it. */
export function sessionStart(
  argv: readonly string[],
  { host, at }: RecognisedHost,
  env: Readonly<Record<string, string | undefined>>,
): SessionStart {
  const own = argv.slice(at + 1)
  const { session } = host
  const added = session.arguments.filter(({ unless }) => !isDecided(own, unless))
  const variables = session.variables.filter(({ name }) => env[name] === undefined)
  return {
    argv: [...argv.slice(0, at + 1), ...added.flatMap(({ add }) => add), ...own],
    variables: Object.fromEntries(variables.map(({ name, value }) => [name, value])),
    notes: [
      ...added.map(({ add, why }) => `${host.title}: added ${add.join(' ')} (${why})`),
      ...variables.map(({ name, value, why }) => `${host.title}: set ${name}=${value} (${why})`),
    ],
  }
}

function isDecided(words: readonly string[], unless: readonly string[]): boolean {
  const end = words.indexOf('--')
  const options = end === -1 ? words : words.slice(0, end)
  return options.some((word) => unless.some((flag) => word === flag || word.startsWith(`${flag}=`)))
}

/** The key paths of a host's configuration in a repository that switch its hooks off or widen rights. */
export function switchedOff(
  { switches }: Pick<AgentHost, 'switches'>,
  read: (file: string) => unknown,
): AgentHost['switches'] {
  return switches.filter(({ file, keys, value }) => {
    const found = keys.reduce<unknown>(inner, read(file))
    return value === null ? found !== undefined : found === value
  })
}

function inner(value: unknown, key: string): unknown {
  if (typeof value !== 'object' || value === null || !Object.hasOwn(value, key)) return undefined
  // An object has values by key.
  return (value as Readonly<Record<string, unknown>>)[key]
}
