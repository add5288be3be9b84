/**
 * The report of `writ exec`: to a file (`--report FILE`) or to an open descriptor (`--report-fd N`).
 *
 * A report is written outside the gate, so it obeys the gate's rules: it makes a new file, or replaces
 * an empty one or an older report; no link leads it out of the scope; it never lies in `.writ` or
 * writ's state; with the token of an actor it is a `.json` file inside the scope, below no dot
 * directory and with no name that other programs run or load. The rules are applied before the run
 * and once more before the file is written, since the run may have changed what lies there. An older report is emptied when a run begins, so that it is not taken for this
 * run's; a new file is made with the answer only: made before, it would be part of the rehearsed tree.
 */
import {
  accessSync,
  closeSync,
  constants,
  fstatSync,
  ftruncateSync,
  lstatSync,
  readSync,
  realpathSync,
  writeFileSync,
} from 'node:fs'
import { basename, dirname, join, relative, resolve } from 'node:path'
import { FaultError, fault, showPath } from '../../base/index.ts'
import { DEFAULT_LISTS, newFileDeferral, rawOfText } from '../../gate/index.ts'
import { openEntry } from '../../machine/index.ts'
import type { GateAnswer } from '../../service/index.ts'
import type { Options } from '../call/command.ts'
import { reasonOf } from '../call/source.ts'
import { realOrSame } from './exec-scope.ts'

const REPORT_MARK = 'writ-report/1'

/** Where a report may lie. */
export interface ReportGround {
  readonly cwd: string
  /** Directories of writ's own: the home and the state. */
  readonly places: readonly string[]
  /** The roots of the run's scope; null while they are not known. */
  readonly scope: readonly string[] | null
  /** A person's report may lie outside the scope, an actor's may not. */
  readonly isPersons: boolean
}

interface Report extends GateAnswer {
  readonly prompts: number
  /** Names of variables that the command was started without. */
  readonly dropped_variables?: readonly string[]
}

/** Fails if the report cannot or must not be written; empties an older one. */
export function prepareReport(options: Options, ground: ReportGround): void {
  const descriptor = options.text('report-fd')
  if (descriptor !== null) checkDescriptor(descriptor)
  const file = options.text('report')
  if (file === null) return
  const hint = 'nothing was run; name another file, or use `--report-fd N`'
  try {
    const path = allowedPath(file, ground)
    // Whether a link leads it out of the scope is judged when the scope is known.
    if (ground.scope === null && path !== resolve(ground.cwd, file)) return
    if (lstatSync(path, { throwIfNoEntry: false }) === undefined) {
      accessSync(dirname(path), constants.W_OK | constants.X_OK)
    } else closeSync(openOlder(path))
  } catch (thrown) {
    throw unwritable(file, thrown, hint)
  }
}

/** Writes the answer to the file and to the descriptor that are named. */
export function writeReport(options: Options, ground: ReportGround, report: Report): void {
  const descriptor = options.text('report-fd')
  const file = options.text('report')
  // As text the answer lists every change.
  if (descriptor === null && file === null) return
  const text = `${JSON.stringify({ report: REPORT_MARK, ...report })}\n`
  const hint = report.promoted ? 'the effects were promoted' : 'nothing was promoted'
  try {
    if (descriptor !== null) writeFileSync(Number(descriptor), text)
    if (file !== null) writeFile(allowedPath(file, ground), text)
  } catch (thrown) {
    throw unwritable(file ?? `--report-fd ${descriptor}`, thrown, hint)
  }
}

function writeFile(path: string, text: string): void {
  const isThere = lstatSync(path, { throwIfNoEntry: false }) !== undefined
  const file = isThere ? openOlder(path) : openEntry(path, 'create')
  try {
    writeFileSync(file, text)
  } finally {
    closeSync(file)
  }
}

/** Opens a file that holds nothing or an older report, and empties it. */
function openOlder(path: string): number {
  const file = openEntry(path, 'update')
  try {
    const found = fstatSync(file)
    if (!found.isFile()) throw new Refused('it is no plain file')
    if (found.nlink > 1) throw new Refused('it has another name as well')
    if (found.size > 0 && !isReport(file))
      throw new Refused('it holds something else than a report')
    ftruncateSync(file)
    return file
  } catch (thrown) {
    closeSync(file)
    throw thrown
  }
}

/** How reports begin; the second are those of version 0.1.0. */
const BEGINNINGS = [`{"report":"${REPORT_MARK}","action_id":"`, '{"action_id":"'] as const
const AFTER_ID = /^[0-9a-f-]{36}","proposal_digest":"sha256:/

function isReport(file: number): boolean {
  const buffer = Buffer.alloc(256)
  const text = buffer.toString('latin1', 0, readSync(file, buffer, 0, buffer.length, 0))
  return BEGINNINGS.some(
    (begin) => text.startsWith(begin) && AFTER_ID.test(text.slice(begin.length)),
  )
}

/** Settings of editors and tools: some load them from any directory, or through a link from their own. */
const LOADED =
  /^(?:tasks|launch|settings(?:\.local)?|keybindings|extensions|mcp|devcontainer|biome|deno|nx|turbo|lerna|renovate|vercel|firebase|angular|nodemon|config|.*config|.*\.config|.*\.?lock|package.*|manifest)\.json$/i

/** Returns the real path of a report; fails if it must not lie there. */
function allowedPath(file: string, ground: ReportGround): string {
  const { cwd, places, scope, isPersons } = ground
  const named = resolve(cwd, file)
  const path = join(realpathSync(dirname(named)), basename(named))
  if (file.endsWith('/')) throw new Refused('it is a directory')
  const isInside = (root: string): boolean => path === root || path.startsWith(`${root}/`)
  const ofWrit =
    path.split('/').includes('.writ') || places.some((place) => isInside(realOrSame(place)))
  if (ofWrit) throw new Refused('it lies in a place of writ itself')
  if (scope === null) return path
  const root = scope.find(isInside)
  if (isPersons && root === undefined && path !== named) {
    throw new Refused(`a link leads it out of the scope; name the real path, ${showPath(path)}`)
  }
  if (isPersons) return path
  if (root === undefined) throw new Refused('with an actor’s token it has to lie inside the scope')
  const isPlain = path.endsWith('.json') && !/(?:^|\/)\./.test(relative(root, path))
  if (!isPlain) throw new Refused('with an actor’s token it is a .json file below no dot directory')
  const isLoaded = LOADED.test(basename(path))
  if (isLoaded || newFileDeferral(DEFAULT_LISTS, rawOfText(root), rawOfText(path)) !== null) {
    throw new Refused('with an actor’s token it has no name that other programs run or load')
  }
  return path
}

function checkDescriptor(text: string): void {
  try {
    if (!/^\d{1,5}$/.test(text)) throw new Refused('it is not the number of a file descriptor')
    fstatSync(Number(text))
  } catch (thrown) {
    throw unwritable(`--report-fd ${text}`, thrown, 'nothing was run')
  }
}

/** A rule of this file; the message says which. */
class Refused extends Error {}

const ERRNO: Readonly<Record<string, string>> = {
  ELOOP: 'it is a symbolic link',
  EISDIR: 'it is a directory',
  ENOENT: 'its directory does not exist',
  ENOSPC: 'no space is left on the disk',
  EEXIST: 'the run made a file there',
}

function unwritable(file: string, thrown: unknown, hint: string): FaultError {
  const code = reasonOf(thrown)
  const reason = thrown instanceof Refused ? thrown.message : (ERRNO[code] ?? code)
  const message = `the report ${showPath(file)} cannot be written: ${reason}`
  return new FaultError(fault('cli.file_unwritable', file, { file, reason }, { message, hint }))
}
