/**
 * Installs the hooks of a host, and removes them (S-16). What is needed to restore is kept in writ's state
 * before the first file changes.
 *
 * INVARIANT (bytes back): removing gives a file that was not changed since its bytes of before; from any
 *   other file exactly the installed parts are taken.
 */
import { realpathSync, rmSync } from 'node:fs'
import { join, relative } from 'node:path'
import { type Digest, digestBytes, faultError, showName } from '../../base/index.ts'
import type { AgentHost, HookLevel, HookMode, InstallStep } from '../../hosts/index.ts'
import { makeFolder, namesIfThere, readIfThere, writeWhole } from '../../machine/index.ts'
import { configurationValue, type PlacedPart, placeParts, refusal, removeParts } from './parts.ts'
import {
  missingFolders,
  readConfigurationFile,
  removeConfigurationFile,
  writeConfigurationFile,
} from './place.ts'

export interface HookPlaces {
  readonly home: string
  /** Where the host sees that directory; absent if at the same path. */
  readonly homeInside?: string
  readonly project: string
  /** The root of writ's state. */
  readonly state: string
  readonly writ: string
  readonly shell: string
  readonly plugins: string
  readonly seconds: number
}

export interface FileChange {
  readonly file: string
  /** Null if there is no such file. */
  readonly before: string | null
  /** Null if the file goes. */
  readonly after: string | null
  readonly isExecutable: boolean
}

export interface HookPlan {
  readonly host: AgentHost
  readonly mode: HookMode
  readonly level: HookLevel
  readonly changes: readonly FileChange[]
  /** Files that stay, and why. */
  readonly kept: readonly string[]
}

interface InstalledFile {
  readonly file: string
  readonly kind: InstallStep['kind']
  readonly format?: 'json' | 'toml' | 'yaml'
  readonly before: string | null
  readonly after: Digest
  readonly placed: readonly PlacedPart[]
  /** Directories that the installation made, the innermost first. */
  readonly made: readonly string[]
}

interface Installation {
  readonly host: string
  readonly mode: HookMode
  readonly level: HookLevel
  readonly project: string | null
  readonly writ: string
  readonly files: readonly InstalledFile[]
}

/** What a shell would interpret cannot be a part of a ticket line. */
const PLAIN_PATH = /^\/[A-Za-z0-9._/@+-]+$/

/** Computes the changes of an installation; changes nothing. */
export async function planInstall(
  host: AgentHost,
  level: HookLevel,
  mode: HookMode,
  places: HookPlaces,
): Promise<HookPlan & { readonly installation: Installation }> {
  requireFit(host, level, mode)
  for (const path of [places.writ, places.shell]) {
    if (!PLAIN_PATH.test(path))
      throw refusal(path, 'its path has a character that shells interpret')
  }
  const top = topOf(level, places)
  const values = await presentValues(host, level, mode, places, top)
  const order = { ...places, mode, level, present: (file: string) => values.get(file) }
  const changes: FileChange[] = []
  const files: InstalledFile[] = []
  for (const step of host.hooks.steps(order)) {
    const { change, file } = await planStep(step, topFor(step.file, top, places))
    if (change !== null) {
      changes.push(change)
      files.push(file)
    }
  }
  const project = level === 'project' ? places.project : null
  const installation = { host: host.name, mode, level, project, writ: places.writ, files }
  return { host, mode, level, changes, kept: [], installation }
}

function requireFit({ name, title, hooks }: AgentHost, level: HookLevel, mode: HookMode): void {
  if (!hooks.levels.includes(level)) {
    const hint = hooks.levels.map((one) => `--${one}`).join(' or ')
    throw faultError('hook.host', name, `${title} has no hooks at the level ${level}`, hint)
  }
  if (!hooks.modes.includes(mode)) {
    const message = `${title} cannot start inside a session, so its hooks can only wrap`
    throw faultError('hook.host', name, message, `writ hook install ${name} --mode wrap`)
  }
}

function topOf(level: HookLevel, { home, project }: HookPlaces): string {
  if (level === 'managed') return '/etc'
  return realpathSync(level === 'user' ? home : project)
}

/** A project's hooks may need an entry in the user's own configuration. */
function topFor(file: string, top: string, { home }: HookPlaces): string {
  return file.startsWith(`${top}/`) ? top : realpathSync(home)
}

async function presentValues(
  host: AgentHost,
  level: HookLevel,
  mode: HookMode,
  places: HookPlaces,
  top: string,
): Promise<ReadonlyMap<string, unknown>> {
  const values = new Map<string, unknown>()
  for (const step of host.hooks.steps({ ...places, mode, level, present: () => undefined })) {
    if (step.kind !== 'merge') continue
    const text = readConfigurationFile(topFor(step.file, top, places), step.file)
    if (text !== null && text.trim() !== '') {
      values.set(step.file, await configurationValue(step.file, text, step.format))
    }
  }
  return values
}

async function planStep(
  step: InstallStep,
  top: string,
): Promise<{ change: FileChange | null; file: InstalledFile }> {
  const { file, kind } = step
  const before = readConfigurationFile(top, file)
  const made = missingFolders(top, file)
  if (step.kind === 'file') {
    if (before !== null && before !== step.text) {
      throw refusal(file, 'another program wrote it, and writ needs the name for a file of its own')
    }
    const { text: after, isExecutable } = step
    const installed = { file, kind, before, after: digestBytes(after), placed: [], made }
    return {
      change: before === after ? null : { file, before, after, isExecutable },
      file: installed,
    }
  }
  const { text, placed } = await placeParts(file, before, step.format, step.parts)
  const change = placed.length === 0 ? null : { file, before, after: text, isExecutable: false }
  const { format } = step
  return { change, file: { file, kind, format, before, after: digestBytes(text), placed, made } }
}

/** Carries an installation out. An earlier one of the same host, level and project must be gone. */
export function install(
  plan: HookPlan & { readonly installation: Installation },
  places: HookPlaces,
): void {
  const top = topOf(plan.level, places)
  makeFolder(recordFolder(places), 0o700)
  const record = recordFile(places, plan.host.name, plan.level)
  writeWhole(record, `${JSON.stringify(plan.installation)}\n`, 0o600)
  for (const { file, after, isExecutable } of plan.changes) {
    writeConfigurationFile(topFor(file, top, places), file, after ?? '', isExecutable)
  }
}

export function installationOf(
  host: AgentHost,
  level: HookLevel,
  places: HookPlaces,
): Installation | null {
  return readRecord(recordFile(places, host.name, level))
}

/** All installations of this user. */
export function installations({ state }: Pick<HookPlaces, 'state'>): readonly Installation[] {
  const folder = join(state, 'hooks')
  return namesIfThere(folder).flatMap((name) => readRecord(join(folder, name)) ?? [])
}

function readRecord(file: string): Installation | null {
  const text = readIfThere(file)
  // `install` wrote it; the directory belongs to this user alone.
  return text === null ? null : (JSON.parse(text) as Installation)
}

/** Computes the changes of a removal; changes nothing. */
export async function planUninstall(
  host: AgentHost,
  level: HookLevel,
  places: HookPlaces,
): Promise<HookPlan> {
  const installation = installationOf(host, level, places)
  if (installation === null) {
    const message = `no hooks of ${host.title} are installed at the level ${level}`
    throw faultError('hook.not_installed', host.name, message, '`writ hook list` shows all')
  }
  const top = topOf(level, places)
  const changes: FileChange[] = []
  const kept: string[] = []
  for (const installed of [...installation.files].reverse()) {
    const { file } = installed
    const before = readConfigurationFile(topFor(file, top, places), file)
    if (before === null) continue
    const after = await restored(installed, before)
    if (after === before)
      kept.push(`${showName(file)} was changed since, and holds nothing of writ’s`)
    else changes.push({ file, before, after, isExecutable: false })
  }
  return { host, mode: installation.mode, level, changes, kept }
}

/**
 * Takes the user's own hooks of writ out of a copy of their home: in a session nothing has to be wrapped,
 * the rules of wrapping deny the tools that edit, and the session adds hooks of its own. Returns the
 * changed files by their path in the copy.
 */
export async function unhookCopy(
  host: AgentHost,
  places: HookPlaces,
  copy: string,
): Promise<readonly string[]> {
  const installation = installationOf(host, 'user', places)
  if (installation === null) return []
  const changed: string[] = []
  for (const installed of [...installation.files].reverse()) {
    const name = relative(places.home, installed.file)
    if (name.startsWith('..')) continue
    const file = join(copy, name)
    const before = readConfigurationFile(copy, file)
    const after = before === null ? null : await restored(installed, before)
    if (after === before) continue
    if (after === null) removeConfigurationFile(copy, file, [])
    else writeConfigurationFile(copy, file, after, false)
    changed.push(name)
  }
  return changed
}

async function restored(
  { file, kind, format, before, after, placed }: InstalledFile,
  now: string,
): Promise<string | null> {
  if (digestBytes(now) === after) return before
  // A file of writ's own that was changed since is its author's.
  if (kind === 'file' || format === undefined) return now
  return removeParts(file, now, format, placed)
}

export function uninstall(plan: HookPlan, places: HookPlaces): void {
  const top = topOf(plan.level, places)
  const installation = installationOf(plan.host, plan.level, places)
  const made = new Map(installation?.files.map(({ file, made }) => [file, made]))
  for (const { file, after } of plan.changes) {
    const below = topFor(file, top, places)
    if (after === null) removeConfigurationFile(below, file, made.get(file) ?? [])
    else writeConfigurationFile(below, file, after, false)
  }
  rmSync(recordFile(places, plan.host.name, plan.level), { force: true })
}

function recordFolder({ state }: HookPlaces): string {
  return join(state, 'hooks')
}

function recordFile(places: HookPlaces, host: string, level: HookLevel): string {
  const project =
    level === 'project' ? `-${digestBytes(realpathSync(places.project)).slice(7, 23)}` : ''
  return join(recordFolder(places), `${host}-${level}${project}.json`)
}
