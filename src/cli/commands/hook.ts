/** `writ hook install|uninstall|list`: the hooks of coding agents in their configurations. */
import { faultError, nearest, showName } from '../../base/index.ts'
import {
  type FileChange,
  type HookPlaces,
  type HookPlan,
  install,
  installationOf,
  installations,
  planInstall,
  planUninstall,
  uninstall,
} from '../../hooks/index.ts'
import {
  type AgentHost,
  HOSTS,
  type HookLevel,
  type HookMode,
  hostNamed,
} from '../../hosts/index.ts'
import { visible } from '../../words/index.ts'
import { type CommandCall, EXIT, type Exit, reply, usageError } from '../call/command.ts'
import { refuseBelowAgent, refuseTokens } from '../call/home.ts'
import { canAsk } from '../call/passphrase.ts'
import { surroundings } from '../call/terminal.ts'
import { diffLines } from '../effects/line-diff.ts'
import { askLine } from '../gate/answer-line.ts'
import { table } from '../history/text.ts'
import { placesHere } from '../hooks/own-places.ts'

/** `writ hook install`: shows the change, asks, and makes it. */
export async function installHooks(call: CommandCall): Promise<Exit> {
  const { host, level, places } = request(call, 'installing hooks')
  const mode = modeOf(call, host)
  const plan = await planInstall(host, level, mode, places)
  if (plan.changes.length === 0) return answered(call, plan, 'already installed')
  if (installationOf(host, level, places) !== null) {
    const message = `hooks of ${host.title} are installed at the level ${level} in another form`
    throw faultError(
      'hook.config',
      host.name,
      message,
      `writ hook uninstall ${host.name} --${level}`,
    )
  }
  if (!(await agrees(call, plan, 'Install the hooks?'))) return declined(call)
  install(plan, places)
  return answered(call, plan, 'installed')
}

/** `writ hook uninstall`: restores the bytes of before, or takes out exactly writ's own parts. */
export async function uninstallHooks(call: CommandCall): Promise<Exit> {
  const { host, level, places } = request(call, 'removing hooks')
  const plan = await planUninstall(host, level, places)
  if (!(await agrees(call, plan, 'Remove the hooks?'))) return declined(call)
  uninstall(plan, places)
  return answered(call, plan, 'removed')
}

/** `writ hook list`: all coding agents, or everything that writ knows of one. */
export async function list(call: CommandCall): Promise<Exit> {
  const [name] = call.arguments
  const places = placesHere()
  const known = installations(places).map(({ host, level, mode, project, files }) => {
    return { host, level, mode, project, files: files.map(({ file }) => file) }
  })
  if (name !== undefined) {
    const host = namedHost(name)
    const own = known.filter((one) => one.host === host.name)
    return reply(call, { ...facts(host), installed: own }, () => hostText(host, own.length))
  }
  const rows = HOSTS.map((host) => [
    host.name,
    host.tested.length === 0 ? 'documentation' : `measured on ${host.tested.join(', ')}`,
    host.hooks.modes.join(', '),
    known
      .filter((one) => one.host === host.name)
      .map(({ level, mode }) => `${level} (${mode})`)
      .join(', '),
  ])
  const { terminal } = call
  return reply(call, { hosts: HOSTS.map(facts), installed: known }, () =>
    table(terminal, ['host', 'known by', 'modes', 'installed'], rows),
  )
}

function facts({ hooks, endpoints, ...host }: AgentHost): object {
  const { events, modes, levels, uncovered } = hooks
  const models = endpoints.map(({ redirect: _, ...endpoint }) => endpoint)
  return { ...host, endpoints: models, hooks: { events, modes, levels, uncovered } }
}

function hostText(host: AgentHost, installed: number): string {
  const { endpoints, hooks, state, session, switches } = host
  const lines = [
    `${host.title}: ${installed === 0 ? 'no hooks installed' : 'hooks installed'}`,
    ...endpoints.map(
      ({ host: name, calls }) =>
        `  model     ${name}  ${calls.map(({ method, path }) => `${method} ${path}`).join(', ')}`,
    ),
    ...session.arguments.map(({ add, why }) => `  session   ${add.join(' ')}  (${why})`),
    ...session.variables.map(({ name, value, why }) => `  session   ${name}=${value}  (${why})`),
    ...state.places.map((place) => `  state     ~/${place}`),
    ...state.logins.map(({ file, risk }) => `  login     ~/${file}: ${risk}`),
    ...hooks.uncovered.map(({ tool, why }) => `  uncovered ${tool}: ${why}`),
    ...switches.map(({ file, keys, effect }) => `  switch    ${file} ${keys.join('.')}: ${effect}`),
  ]
  return `${lines.join('\n')}\n`
}

function request(
  call: CommandCall,
  what: string,
): { host: AgentHost; level: HookLevel; places: HookPlaces } {
  refuseTokens(surroundings(), what)
  refuseBelowAgent(what)
  const [name, ...others] = call.arguments
  if (name === undefined || others.length > 0) {
    throw usageError('name one coding agent', 'writ hook list')
  }
  return { host: namedHost(name), level: levelOf(call), places: placesHere() }
}

export function namedHost(name: string): AgentHost {
  const host = hostNamed(name)
  if (host !== null) return host
  const near = nearest(
    name,
    HOSTS.map((one) => one.name),
  )
  const hint = near === null ? '`writ hook list` shows all' : `did you mean ${showName(near)}?`
  throw faultError('hook.host', name, `no coding agent is called ${showName(name)}`, hint)
}

function levelOf({ options }: CommandCall): HookLevel {
  const given = (['user', 'project', 'managed'] as const).filter((level) => options.isOn(level))
  if (given.length > 1) throw usageError('name one level', '--user, --project or --managed')
  return given[0] ?? 'user'
}

function modeOf({ options }: CommandCall, { hooks }: AgentHost): HookMode {
  const given = options.text('mode')
  if (given === null) return hooks.modes[0] ?? 'wrap'
  if (given === 'session' || given === 'wrap') return given
  throw usageError('a mode is `session` or `wrap`', '--mode wrap')
}

async function agrees(call: CommandCall, plan: HookPlan, question: string): Promise<boolean> {
  const { terminal, options } = call
  terminal.err(planText(plan))
  if (options.isOn('yes')) return true
  if (!canAsk()) {
    throw usageError('nothing was changed: without a terminal, add `--yes` to agree')
  }
  const line = await askLine(`${question} [y/N] `)
  return typeof line === 'object' && /^y(?:es)?$/i.test(line.text.trim())
}

function planText({ changes, kept }: HookPlan): string {
  const parts = changes.map(changeText)
  return [...parts, ...kept.map((line) => `${line}\n`)].join('')
}

function changeText({ file, before, after }: FileChange): string {
  const name = visible(file)
  if (after === null) return `${name}: removed\n`
  const lines = diffLines(before ?? '', after)
    .hunks.flatMap((hunk) => hunk.lines)
    .map(({ sign, text }) => `  ${sign} ${visible(text)}\n`)
  return `${name}${before === null ? ' (new)' : ''}:\n${lines.join('')}`
}

function declined({ terminal }: CommandCall): Exit {
  terminal.err('Declined. Nothing was changed.\n')
  return EXIT.no
}

function answered(call: CommandCall, plan: HookPlan, word: string): Promise<Exit> {
  const { host, level, mode, changes, kept } = plan
  const files = changes.map(({ file }) => file)
  const document = { host: host.name, level, mode, result: word, files, kept }
  return reply(
    call,
    document,
    (paint) => `${paint.good(word)}  hooks of ${host.title}, ${level}, ${mode}\n`,
  )
}
