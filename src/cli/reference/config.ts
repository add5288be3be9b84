/** The settings in force: value and origin of each, and the variables that are set. */
import { DEFAULT_SETTINGS, type GateSettings } from '../../policy/index.ts'
import { type KnownPlaces, SETTINGS, VARIABLES } from './settings.ts'

export interface SettingRow {
  readonly name: string
  readonly value: unknown
  readonly origin: 'default' | 'laws' | 'environment'
  readonly says: string
}

interface Known extends KnownPlaces {
  readonly settings: GateSettings
}

export const DEFAULTS: Known = { settings: DEFAULT_SETTINGS, hidden: [], shown: [] }

/** Returns one row a setting. `file` is what the law file has below `settings`. */
export function settingRows({ settings, ...places }: Known, file: unknown): readonly SettingRow[] {
  return SETTINGS.map(({ name, says, value }) => ({
    name,
    value: value(settings, places),
    origin: isNamed(file, name.split('.')) ? 'laws' : 'default',
    says,
  }))
}

/** Returns one row a variable that is set. A token is never shown. */
export function variableRows(env: NodeJS.ProcessEnv): readonly SettingRow[] {
  return VARIABLES.flatMap(({ name, says }) => {
    const value = env[name]
    if (value === undefined || value === '') return []
    const shown = SECRET.test(name) ? '(set)' : value
    return [{ name, value: shown, origin: 'environment' as const, says }]
  })
}

const SECRET = /TOKEN|PASSWORD/

function isNamed(file: unknown, steps: readonly string[]): boolean {
  const [first, ...rest] = steps
  if (first === undefined) return true
  if (typeof file !== 'object' || file === null || !Object.hasOwn(file, first)) return false
  return isNamed(Reflect.get(file, first), rest)
}

/** The page docs/reference.md. */
export function referencePage(): string {
  const rows = settingRows(DEFAULTS, null).map(
    ({ name, value, says }) => `| \`${name}\` | ${says} | ${defaultText(value)} |`,
  )
  const variables = VARIABLES.map(({ name, says }) => `| \`${name}\` | ${says} |`)
  return `# Settings and variables

\`writ config show\` prints the values in force here, \`--origin\` also where each comes from. \`writ config reference\` prints this page.

## Settings of the law file

Written below \`settings:\` in \`.writ/laws.yaml\`, and in force after \`writ laws accept\`. See [laws.md](laws.md).

| setting | meaning | default |
|---|---|---|
${rows.join('\n')}

## Environment variables

| variable | meaning |
|---|---|
${variables.join('\n')}
`
}

function defaultText(value: unknown): string {
  if (value === null) return '(none)'
  if (Array.isArray(value)) return value.map((one) => `\`${one}\``).join(' ')
  return `\`${value}\``
}
