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
import { readFileSync, renameSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fault } from '../../base/index.ts'
import { joinRaw, type RawPath, rawOfText } from '../../gate/index.ts'
import { TreeFailure } from './failure.ts'
import { codeOf } from './footing.ts'
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
  /** Directories that were emptied and made anew, with what the rehearsal found in them. */
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
  const lines = [JSON.stringify({ stage: 1, entries: entries.length, emptied })]
  for (const { path, place, isUnit } of entries) {
    lines.push(JSON.stringify({ path, place, unit: isUnit }))
  }
  const [unfinished, file] = [join(stage, UNFINISHED), join(stage, NAME)]
  writeFileSync(unfinished, `${lines.join('\n')}\n`, { mode: 0o600 })
  renameSync(unfinished, file)
  return rawOfText(file)
}

/** What was captured, by whichever process; a stage that is not whole is a failure. */
export function readStage(stage: string): Captured {
  const lines = readLines(stage).map((line) => parseLine(stage, line))
  const [head, ...rest] = lines
  const entries = rest.map(({ path, place, unit }) => {
    const isEntry =
      typeof path === 'string' && typeof place === 'string' && typeof unit === 'boolean'
    if (!isEntry) throw notWhole(stage)
    return { path: path as RawPath, place: place as RawPath, isUnit: unit }
  })
  const emptied = head?.['emptied']
  const isWhole = head?.['stage'] === 1 && head['entries'] === entries.length
  if (!isWhole || !Array.isArray(emptied)) throw notWhole(stage)
  // Written by this host into its own directory.
  return { stage, entries, emptied: emptied as readonly Emptied[] }
}

function readLines(stage: string): readonly string[] {
  try {
    const text = readFileSync(join(stage, NAME), 'utf8')
    return text.split('\n').slice(0, -1)
  } catch (error) {
    if (codeOf(error) === 'ENOENT') throw notWhole(stage)
    throw error
  }
}

function parseLine(stage: string, line: string): Record<string, unknown> {
  try {
    return JSON.parse(line) as Record<string, unknown>
  } catch {
    throw notWhole(stage)
  }
}

function notWhole(stage: string): TreeFailure {
  return new TreeFailure(fault('stage.missing', stage, null))
}
