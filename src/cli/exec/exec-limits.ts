/**
 * The caps of a run of `writ exec`: the defaults, what `--memory`, `--disk` and `--time` ask for, and
 * the sentence that names a cap when a run reached it.
 */
import { FaultError, fault } from '../../base/index.ts'
import type { RunCap } from '../../contracts/index.ts'
import { within } from '../../service/index.ts'
import type { Options } from '../call/command.ts'
import type { ExecRequest } from './exec-proposal.ts'

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

const LIMITS: readonly Limit[] = [
  { option: 'memory', resource: 'max_memory_mb' },
  { option: 'disk', resource: 'max_disk_mb' },
  { option: 'time', resource: 'max_duration_ms' },
]

const MEGABYTES = /^[1-9]\d{0,8}$/
const TIME = /^([1-9]\d{0,7})([smh]?)$/
const UNITS: Readonly<Record<string, number>> = { '': 1_000, s: 1_000, m: 60_000, h: 3_600_000 }

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
  return new FaultError(fault('cli.usage', '', null, { message, hint }))
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
    throw new FaultError(fault('descriptor.ceiling', '', null, { message, hint }))
  }
  return within(resources, ceilings)
}

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
