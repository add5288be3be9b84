/**
 * What git keeps for itself, folded: objects, logs, references and the index of a repository are
 * counted, and what they come to is told as a person knows it, such as `commit c2fa8ec on master:
 * subject`. Hooks, settings and everything that git does not write by itself stay in the list.
 *
 * A subject is read from the commit object, whose name is the hash of its bytes, and not from a log
 * that the run could have written as it liked.
 */
import { createHash } from 'node:crypto'
import { inflateSync } from 'node:zlib'
import { type Change, displayOfRaw } from '../../gate/index.ts'
import { readContentBytes } from './content.ts'
import type { ReadSide } from './render.ts'
import { visible } from './visible.ts'

/** Below a git directory, also one of a worktree or a submodule. */
const BOOKKEEPING =
  /\/\.git(?:\/(?:worktrees|modules)\/.+?)?\/(?:objects|logs|refs|rebase-merge|rebase-apply|sequencer)(?:\/|$)|\/\.git(?:\/(?:worktrees|modules)\/.+?)?\/(?:index|HEAD|ORIG_HEAD|FETCH_HEAD|MERGE_HEAD|MERGE_MSG|MERGE_MODE|MERGE_RR|AUTO_MERGE|SQUASH_MSG|CHERRY_PICK_HEAD|REVERT_HEAD|REBASE_HEAD|COMMIT_EDITMSG|packed-refs|shallow|gc\.log|BISECT_[A-Z_]+)$/

/** Git writes this by itself. A link there is nothing that git writes. */
export function isBookkeeping({ path, after }: Change): boolean {
  return after?.kind !== 'symlink' && BOOKKEEPING.test(displayOfRaw(path))
}

const REFERENCE =
  /^(.*\/\.git(?:\/(?:worktrees|modules)\/.+?)?)\/refs\/(heads|tags|stash)(?:\/(.+))?$/
const HASH = /^([0-9a-f]{40})\n?$/
const HASH_BYTES_MAX = 64

/** One line for each branch or tag that is set or removed. */
export async function gitLines(changes: readonly Change[], read: ReadSide): Promise<string[]> {
  const objects = new Map(changes.map((change) => [displayOfRaw(change.path), change]))
  const lines: string[] = []
  for (const change of changes) {
    const found = REFERENCE.exec(displayOfRaw(change.path))
    if (found === null || (change.after ?? change.before)?.kind === 'directory') continue
    const [, repository = '', kind = '', name = ''] = found
    const named =
      kind === 'stash' ? 'the stash' : `${kind === 'tags' ? 'the tag ' : ''}${visible(name)}`
    if (change.after === null)
      lines.push(`removes ${kind === 'heads' ? 'the branch ' : ''}${named}`)
    else lines.push(await setLine(change, named, kind, objects, repository, read))
  }
  return lines
}

async function setLine(
  change: Change,
  named: string,
  kind: string,
  objects: ReadonlyMap<string, Change>,
  repository: string,
  read: ReadSide,
): Promise<string> {
  const text = (await readContentBytes(read(change, 'after'), HASH_BYTES_MAX))?.toString('latin1')
  const hash = HASH.exec(text ?? '')?.[1]
  if (hash === undefined) return `sets ${named}`
  const short = hash.slice(0, 7)
  if (kind === 'tags') return `sets ${named} to ${short}`
  const place = `${repository}/objects/${hash.slice(0, 2)}/${hash.slice(2)}`
  const object = objects.get(place)
  const subject = object === undefined ? null : await subjectOf(object, hash, read)
  return subject === null ? `moves ${named} to ${short}` : `commit ${short} on ${named}: ${subject}`
}

const OBJECT_BYTES_MAX = 1 << 20

/** Null for what is no commit of that name. */
async function subjectOf(object: Change, hash: string, read: ReadSide): Promise<string | null> {
  const packed = await readContentBytes(read(object, 'after'), OBJECT_BYTES_MAX)
  if (packed === null) return null
  try {
    const bytes = inflateSync(packed, { maxOutputLength: OBJECT_BYTES_MAX })
    const isCommit = /^commit \d+\0/.test(bytes.subarray(0, 32).toString('latin1'))
    if (!isCommit || createHash('sha1').update(bytes).digest('hex') !== hash) return null
    const text = bytes.toString('utf8')
    const [subject = ''] = text.slice(text.indexOf('\n\n') + 2).split('\n')
    return visible(subject)
  } catch {
    return null
  }
}
