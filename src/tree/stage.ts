/**
 * The stage: a directory of writ's own on the scope's filesystem that holds rehearsed bytes until they
 * are promoted or thrown away. `stage.jsonl` says what lies where; it is written last and comes into
 * being whole, so a stage that has it is whole, and another process can promote from it after a restart.
 * After a power failure that holds for stages whose decision is on the record, since bytes and list are
 * durable before that is.
 *
 * First line: `{"stage":1,"entries":N,"emptied":[…]}`. Then one line an entry, in the order of raw paths; paths have
 * one character a byte.
 */
import { closeSync, openSync, renameSync } from 'node:fs'
import { join } from 'node:path'
import { type FaultError, faultError } from '../base/index.ts'
import { joinRaw, type RawPath, rawOfText } from '../gate/index.ts'
import { codeOf, readLines, writeLines } from '../machine/index.ts'
import type { Emptied } from './layer-walk.ts'

export interface StagedEntry {
  /** The real path that it is for. */
  readonly path: RawPath
  /** Where it lies, below the stage. */
  readonly place: RawPath
  /** It is put in its place by itself; otherwise it comes along in a directory that is. */
  readonly isUnit: boolean
}

export interface Captured {
  readonly stage: string
  /** In the order of raw paths. */
  readonly entries: readonly StagedEntry[]
  /** Directories that the rehearsal emptied and made again, with the names that it found in them. */
  readonly emptied: readonly Emptied[]
}

const NAME = 'stage.jsonl'
const UNFINISHED = 'stage.jsonl.new'

/** The absolute path of a staged entry. */
export function stagedPath({ stage }: Captured, { place }: StagedEntry): RawPath {
  return joinRaw(rawOfText(stage), place)
}

/** The list, which is yet to be made durable, and its name in the stage. */
export function writeStage({ stage, entries, emptied }: Captured): RawPath {
  const [unfinished, file] = [join(stage, UNFINISHED), join(stage, NAME)]
  const handle = openSync(unfinished, 'w', 0o600)
  try {
    writeLines(handle, linesOf(entries, emptied))
  } finally {
    closeSync(handle)
  }
  renameSync(unfinished, file)
  return rawOfText(file)
}

function* linesOf(entries: Captured['entries'], emptied: Captured['emptied']): Generator<string> {
  yield `${JSON.stringify({ stage: 1, entries: entries.length, emptied })}\n`
  for (const { path, place, isUnit } of entries) {
    yield `${JSON.stringify({ path, place, unit: isUnit })}\n`
  }
}

/**
 * What was captured, by whichever process; a stage that is not whole is a failure. Only entries that
 * `isWanted` tells are in the answer.
 */
export function readStage(
  stage: string,
  isWanted: (entry: StagedEntry) => boolean = () => true,
): Captured {
  let head: Record<string, unknown> | null = null
  let count = 0
  const entries: StagedEntry[] = []
  for (const line of linesIn(stage)) {
    const read = parseLine(stage, line)
    if (head === null) {
      head = read
      continue
    }
    count++
    const entry = entryOf(stage, read)
    if (isWanted(entry)) entries.push(entry)
  }
  const emptied = head?.['emptied']
  const isWhole = head?.['stage'] === 1 && head['entries'] === count
  if (!isWhole || !Array.isArray(emptied)) throw notWhole(stage)
  // Written by this host into its own directory.
  return { stage, entries, emptied: emptied as readonly Emptied[] }
}

function entryOf(stage: string, { path, place, unit }: Record<string, unknown>): StagedEntry {
  const isEntry = typeof path === 'string' && typeof place === 'string' && typeof unit === 'boolean'
  if (!isEntry) throw notWhole(stage)
  // `writeStage` wrote both as raw paths.
  return { path: path as RawPath, place: place as RawPath, isUnit: unit }
}

function* linesIn(stage: string): Generator<string> {
  try {
    yield* readLines(join(stage, NAME))
  } catch (error) {
    if (codeOf(error) === 'ENOENT') throw notWhole(stage)
    throw error
  }
}

function parseLine(stage: string, line: string): Record<string, unknown> {
  try {
    // A line of `writeStage` is an object; the callers check its fields.
    return JSON.parse(line) as Record<string, unknown>
  } catch {
    throw notWhole(stage)
  }
}

function notWhole(stage: string): FaultError {
  return faultError('stage.missing', stage)
}
