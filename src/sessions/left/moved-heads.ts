/**
 * The commits that sessions of a home left as HEAD, by git directory. A file that only such a commit
 * holds is no file of git for any session: otherwise an agent could commit a person's work in one
 * session, and overwrite it unasked in the next one or in one that runs at the same time.
 *
 * The file is added to, one line a commit, so that sessions can write it at once.
 */
import { appendFileSync } from 'node:fs'
import { join } from 'node:path'
import { readIfThere, writeWhole } from '../../machine/index.ts'
import { type Commits, type Heads, withHeads } from './left-bytes.ts'

/** A commit that a session left, and the newest one before it that no session left. */
interface MovedRow {
  readonly directory: string
  readonly base: string | null
  readonly own: string
}

const FILE = 'moved-heads.jsonl'
/** Beyond so many, the older half is dropped: HEAD is rarely led back that far. */
const ROWS_MAX = 8_000

export class MovedHeads {
  readonly #file: string

  /** `folder` holds the sessions of the home. */
  constructor(folder: string) {
    this.#file = join(folder, FILE)
  }

  /** Adds what other sessions left. */
  with(heads: Heads): Heads {
    const all = { ...heads }
    for (const [directory, { base, own }] of this.#byDirectory()) {
      all[directory] = { base, own: [...new Set([...(heads[directory]?.own ?? []), ...own])] }
    }
    return all
  }

  /** Notes the commits that an act of a session left as HEAD, for all sessions. */
  note(heads: Heads, before: Commits, after: Commits): Heads {
    const known = this.with(heads)
    const next = withHeads(known, before, after)
    const rows = Object.entries(next).flatMap(([directory, { base, own }]) => {
      const isOld = (commit: string): boolean => known[directory]?.own.includes(commit) === true
      return own
        .filter((commit) => !isOld(commit))
        .map((commit) => ({ directory, base, own: commit }))
    })
    if (rows.length > 0) appendFileSync(this.#file, textOf(rows), { mode: 0o600 })
    return next
  }

  #byDirectory(): ReadonlyMap<string, { readonly base: string | null; readonly own: string[] }> {
    const found = new Map<string, { base: string | null; own: string[] }>()
    for (const { directory, base, own } of this.#rows()) {
      const before = found.get(directory)?.own ?? []
      before.push(own)
      found.set(directory, { base, own: before })
    }
    return found
  }

  #rows(): readonly MovedRow[] {
    const lines = (readIfThere(this.#file) ?? '').split('\n').filter((line) => line !== '')
    const rows = lines.flatMap((line) => rowOf(line))
    if (rows.length <= ROWS_MAX) return rows
    const kept = rows.slice(-ROWS_MAX / 2)
    writeWhole(this.#file, textOf(kept), 0o600)
    return kept
  }
}

function textOf(rows: readonly MovedRow[]): string {
  return rows.map((row) => `${JSON.stringify(row)}\n`).join('')
}

/** A line that a power cut left unfinished says nothing. */
function rowOf(line: string): readonly MovedRow[] {
  try {
    // `note` wrote it.
    return [JSON.parse(line) as MovedRow]
  } catch {
    return []
  }
}
