/** `writ config …`: the settings in force, and the page of all of them. */
import { existsSync } from 'node:fs'
import { faultCode } from '../../base/index.ts'
import { type CommandCall, EXIT, type Exit, reply } from '../call/command.ts'
import { parseSource, readSource } from '../call/source.ts'
import { surroundings } from '../call/terminal.ts'
import { readLawFile } from '../laws/acceptance.ts'
import {
  DEFAULTS,
  referencePage,
  type SettingRow,
  settingRows,
  variableRows,
} from '../reference/settings.ts'
import { lawsOfHome } from './laws.ts'

/** `writ config show`: every setting in force, and with `--origin` where its value comes from. */
export async function show(call: CommandCall): Promise<Exit> {
  const file = lawFile(call)
  const { rows, isReadable } = await settingsIn(file)
  const all = [...rows, ...variableRows(surroundings().env)]
  await call.terminal.out(
    call.options.isOn('json')
      ? `${JSON.stringify({ laws: file, settings: all })}\n`
      : toText(all, call.options.isOn('origin'), file),
  )
  if (!isReadable)
    call.terminal.err(`the law file has faults, so defaults are shown; see \`writ laws check\`\n`)
  return isReadable ? EXIT.yes : EXIT.no
}

/** Null where there is no home: then the defaults are shown. */
function lawFile(call: CommandCall): string | null {
  try {
    const file = lawsOfHome(call)
    return existsSync(file) ? file : null
  } catch (error) {
    if (faultCode(error) === 'home.missing') return null
    throw error
  }
}

async function settingsIn(file: string | null) {
  if (file === null) return { rows: settingRows(DEFAULTS, null), isReadable: true }
  const { reading } = await readLawFile(file)
  if (!reading.ok) return { rows: settingRows(DEFAULTS, null), isReadable: false }
  const parsed = await parseSource(await readSource(file))
  // A law file that was read is an object.
  const written = parsed.ok ? (parsed.value as { readonly settings?: unknown }).settings : null
  return { rows: settingRows(reading.laws, written), isReadable: true }
}

function toText(rows: readonly SettingRow[], withOrigin: boolean, file: string | null): string {
  const width = Math.max(...rows.map(({ name }) => name.length))
  const lines = rows.map(({ name, value, origin }) => {
    const from = origin === 'laws' ? (file ?? '') : origin
    return `${name.padEnd(width)}  ${valueText(value)}${withOrigin ? `  (${from})` : ''}`
  })
  return `${lines.join('\n')}\n`
}

function valueText(value: unknown): string {
  return Array.isArray(value) ? value.join(' ') : String(value ?? '(not set)')
}

/** `writ config reference`: the page of all settings and variables, in Markdown. */
export async function reference(call: CommandCall): Promise<Exit> {
  const page = referencePage()
  return reply(call, { page }, () => page)
}
