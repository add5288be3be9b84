/**
 * The stage: a directory of writ's own on the scope's filesystem that holds rehearsed bytes until they
 * are promoted or thrown away. `stage.jsonl` says what lies where; it is written last, so a stage that
 * has it is whole, and another process can promote from it after a restart.
 *
 * First line: `{"stage":1,"entries":N,"emptied":[…]}`. Then one line an entry, in the order of raw paths; paths have
 * one character a byte.
 */
import { readFile, rename, writeFile } from 'node:fs/promises'
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

/** Not yet in force: see `completeStage`. */
export async function writeStage({ stage, entries, emptied }: Captured): Promise<RawPath> {
  const lines = [JSON.stringify({ stage: 1, entries: entries.length, emptied })]
  for (const { path, place, isUnit } of entries) {
    lines.push(JSON.stringify({ path, place, unit: isUnit }))
  }
  const file = join(stage, UNFINISHED)
  await writeFile(file, `${lines.join('\n')}\n`, { mode: 0o600 })
  return rawOfText(file)
}

export async function completeStage(stage: string): Promise<void> {
  await rename(join(stage, UNFINISHED), join(stage, NAME))
}

/** What was captured, by whichever process; a stage that is not whole is a failure. */
export async function readStage(stage: string): Promise<Captured> {
  const lines = (await readLines(stage)).map((line) => parseLine(stage, line))
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

async function readLines(stage: string): Promise<readonly string[]> {
  try {
    const text = await readFile(join(stage, NAME), 'utf8')
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
