/**
 * The proposal that `writ exec` makes of a command: MEDIUM, one run, undone by its snapshot, with the
 * network of the hosts that `--net` and `--send` name and none without. What it may do is what `--write`
 * and `--delete` declare; with neither it is what a human approves when the effects are shown.
 *
 * The caps of a run of `writ exec`: the defaults, what `--memory`, `--disk` and `--time` ask for, and
 * the sentence that names a cap when a run reached it.
 */
import { type FaultError, faultError, showName } from '../../base/index.ts'
import {
  type ActionDescriptor,
  type Proposal,
  plainDescriptor,
  programName,
  type RunCap,
} from '../../contracts/index.ts'
import { within } from '../../service/index.ts'
import { type Options, usageError } from '../call/command.ts'

export interface ExecRequest {
  readonly actionId: string
  readonly createdAt: string
  readonly argv: readonly [string, ...string[]]
  readonly cwd: string
  readonly scope: readonly string[]
  readonly write: readonly string[]
  readonly remove: readonly string[]
  readonly resources: ActionDescriptor['resources']
  /** Variables that `--env` names. */
  readonly env: Readonly<Record<string, string>>
  /** Hosts it may reach; none for no network. */
  readonly hosts: readonly string[]
  /** Those of them that are released before the run, read-only or not. */
  readonly send: readonly string[]
}

const LIMITS: readonly Limit[] = [
  { option: 'memory', resource: 'max_memory_mb' },
  { option: 'disk', resource: 'max_disk_mb' },
  { option: 'time', resource: 'max_duration_ms' },
]

const MEGABYTES = /^[1-9]\d{0,8}$/
const TIME = /^([1-9]\d{0,7})([smh]?)$/
const UNITS: Readonly<Record<string, number>> = { '': 1_000, s: 1_000, m: 60_000, h: 3_600_000 }

const CAPS: Readonly<Record<Exclude<RunCap, 'processes'>, Limit['resource'] | 'max_cpu_ms'>> = {
  cpu: 'max_cpu_ms',
  memory: 'max_memory_mb',
  disk: 'max_disk_mb',
  duration: 'max_duration_ms',
}

const RAISED_BY: Readonly<Record<Exclude<RunCap, 'processes'>, Limit['option']>> = {
  cpu: 'time',
  memory: 'memory',
  disk: 'disk',
  duration: 'time',
}

const CAP_WORDS: Readonly<Record<Exclude<RunCap, 'processes'>, string>> = {
  cpu: 'computing time',
  memory: 'memory',
  disk: 'disk space',
  duration: 'time',
}

const VARIABLE_NAME = /^[A-Za-z_][A-Za-z0-9_]*$/

export function isDeclaredByApproval({ write, remove }: ExecRequest): boolean {
  return write.length === 0 && remove.length === 0
}

export function execProposal(request: ExecRequest): Proposal {
  const { argv, cwd, env } = request
  const named = Object.keys(env).length === 0 ? {} : { env: { ...env } }
  return {
    descriptor: execDescriptor(request),
    operation: { type: 'COMMAND_EXECUTION', argv: [...argv], cwd, ...named },
  }
}

function execDescriptor(request: ExecRequest): ActionDescriptor {
  return plainDescriptor({
    ...request,
    says: `Run ${programName(request.argv[0])} as a command of writ exec.`,
    type: 'COMMAND_EXECUTION',
    isDeclaredByApproval: isDeclaredByApproval(request),
  })
}

type Resources = ExecRequest['resources']

/** Bounds that an ordinary build or install does not reach. */
const DEFAULTS: Resources = {
  max_cpu_ms: 3_600_000,
  max_memory_mb: 4_096,
  max_disk_mb: 4_096,
  max_duration_ms: 3_600_000,
}

/** One option that sets a cap; amounts are in the unit of the descriptor. */
interface Limit {
  readonly option: 'memory' | 'disk' | 'time'
  readonly resource: 'max_memory_mb' | 'max_disk_mb' | 'max_duration_ms'
}

/** Returns the caps of a run; fails if an option is not of its form. */
export function readLimits(options: Options): Resources {
  const asked = Object.fromEntries(
    LIMITS.flatMap(({ option, resource }) => {
      const text = options.text(option)
      return text === null ? [] : [[resource, amountOf(option, text)]]
    }),
  )
  const resources = { ...DEFAULTS, ...asked }
  // A longer run may compute for as long as it lasts.
  return { ...resources, max_cpu_ms: Math.max(resources.max_cpu_ms, resources.max_duration_ms) }
}

function amountOf(option: Limit['option'], text: string): number {
  if (option !== 'time') {
    if (MEGABYTES.test(text)) return Number(text)
    throw usage(`--${option} is a number of megabytes`, `--${option} 2048`)
  }
  const [, number = '', unit = ''] = TIME.exec(text) ?? []
  if (number !== '') return Number(number) * (UNITS[unit] ?? 1_000)
  throw usage('--time is a number of seconds, or one with s, m or h', '--time 30m')
}

function usage(message: string, hint: string): FaultError {
  return usageError(message, hint)
}

/** Returns the caps within the laws' ceilings; fails if an option asks for more than they allow. */
export function withinCeilings(
  resources: Resources,
  ceilings: Resources,
  options: Options,
): Resources {
  for (const { option, resource } of LIMITS) {
    if (options.text(option) === null || resources[resource] <= ceilings[resource]) continue
    const most = amountText(resource, ceilings[resource])
    const message = `the laws of this home allow at most --${option} ${most}`
    const hint = `\`settings.ceilings.${resource}\` in .writ/laws.yaml sets it; then \`writ laws accept\``
    throw faultError('descriptor.ceiling', '', message, hint)
  }
  return within(resources, ceilings)
}

/** Returns the sentence about the cap that ended a run: its value and the option that raises it. */
export function capText(cap: RunCap, resources: Resources, ceilings: Resources): string {
  if (cap === 'processes') return 'the run was ended: it reached its cap of 1,024 processes'
  const resource = CAPS[cap]
  const has = amountText(resource, resources[resource])
  const most = amountText(resource, ceilings[resource])
  const what = `the run was ended: it used up its ${CAP_WORDS[cap]} of ${has}`
  if (resources[resource] >= ceilings[resource]) {
    return `${what}, which is the most that settings.ceilings.${resource} in .writ/laws.yaml allows`
  }
  return `${what}; --${RAISED_BY[cap]} raises it, up to ${most}`
}

/** Returns an amount as the option takes it. */
function amountText(resource: keyof Resources, amount: number): string {
  if (resource === 'max_memory_mb' || resource === 'max_disk_mb') return `${amount} MB`
  return amount % 60_000 === 0 ? `${amount / 60_000}m` : `${Math.ceil(amount / 1_000)}s`
}

/** The variables that `--env` names: with a value, or with the one that they have here. */
export function readEnv(
  texts: readonly string[],
  environment: Readonly<Record<string, string | undefined>>,
): Readonly<Record<string, string>> {
  return Object.fromEntries(
    texts.map((text) => {
      const end = text.indexOf('=')
      const name = end === -1 ? text : text.slice(0, end)
      if (!VARIABLE_NAME.test(name))
        throw envUsage(`${showName(name)} is not the name of a variable`)
      const value = end === -1 ? environment[name] : text.slice(end + 1)
      if (value === undefined) throw envUsage(`the variable ${showName(name)} is not set here`)
      return [name, value]
    }),
  )
}

function envUsage(message: string): FaultError {
  const hint = '--env VARIABLE_NAME passes a variable on, --env VARIABLE_NAME=VALUE sets one'
  return usageError(message, hint)
}
