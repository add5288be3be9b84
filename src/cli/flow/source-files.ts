/**
 * The file that a run's flow was read from. A run keeps its own version; a file that was edited since is
 * named, with the command that moves the run to it.
 */
import { existsSync } from 'node:fs'
import { resolve } from 'node:path'
import { digestDocument } from '../../base/index.ts'
import { type FlowFiles, migrateCommand, sourceOf } from '../../flow/index.ts'
import type { WalkedRun } from '../../runs/index.ts'
import { loadFlowFile } from './load.ts'

/** Null for a flow that came from standard input. */
export function sourceFiles(
  file: string,
  participants: string | null,
  side: string | null,
): FlowFiles | null {
  if (file === '-' || participants === '-' || side === '-') return null
  return {
    file: resolve(file),
    ...(participants === null ? {} : { participants: resolve(participants) }),
    ...(side === null ? {} : { side: resolve(side) }),
  }
}

interface EditedFlow {
  readonly file: string
  /** Whether it could be run as it is now. */
  readonly valid: boolean
  /** What to type to move the run to it. */
  readonly next: string
}

/** Returns how the file of a run's flow differs from what the run keeps; null if it does not. */
export async function editedFlow({
  runId,
  facts,
  flow,
  state,
}: WalkedRun): Promise<EditedFlow | null> {
  const source = sourceOf(facts)
  if (source === null || state.ended !== null || !existsSync(source.file)) return null
  const { file, participants, side } = source
  const next = migrateCommand(runId, source)
  try {
    const loaded = await loadFlowFile(file, {
      participants: participants ?? null,
      side: side ?? null,
    })
    if (!loaded.valid || loaded.flow === null) return { file, valid: false, next }
    return digestDocument(loaded.flow) === flow.digest ? null : { file, valid: true, next }
  } catch {
    // A file that cannot be read any more is no other version.
    return null
  }
}

export function editedText({ file, valid, next }: EditedFlow): string {
  const what = valid
    ? 'differs from the version that this run keeps'
    : 'was changed and is not valid; this run keeps its own version'
  return `the flow ${file} ${what}${valid ? `; to move the run to it: ${next}` : `: writ flow check ${file}`}`
}
