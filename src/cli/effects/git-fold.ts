/**
 * Folds what git keeps for itself: counts the objects, logs, references and the index of a repository,
 * and says what they amount to as git's users say it, such as `commit c2fa8ec on master: subject`.
 * `git-folded.ts` says which paths are folded.
 *
 * A subject is read from the commit object, whose name is the hash of its bytes, and not from a log
 * that the run could have written as it liked.
 */
import { createHash } from 'node:crypto'
import { inflateSync } from 'node:zlib'
import { type Change, displayOfRaw } from '../../gate/index.ts'
import { readContentBytes } from './content.ts'
import { branchOfHead } from './git-folded.ts'
import type { ReadSide } from './render.ts'
import { visible } from './visible.ts'

const REFERENCE =
  /^(.*\/\.git(?:\/(?:worktrees|modules)\/.+?)?)\/refs\/(heads|tags|remotes|notes|stash)(?:\/(.+))?$/
const HASH = /^([0-9a-f]{40})\n?$/
const HASH_BYTES_MAX = 64

/** One line for each branch or tag that is set or removed. A reference that was only packed is neither. */
export async function gitLines(changes: readonly Change[], read: ReadSide): Promise<string[]> {
  const objects = new Map(changes.map((change) => [displayOfRaw(change.path), change]))
  const references = await changedReferences(changes, read)
  const lines: string[] = []
  for (const change of changes) {
    const branch = await branchOfHead(change, read)
    if (branch !== null) lines.push(`the current branch becomes ${visible(branch)}`)
  }
  for (const reference of references) {
    const { name, before, after } = reference
    // What could not be read may be something else.
    if (before === after && before !== '') continue
    const named = showReference(name)
    if (after === null)
      lines.push(`removes ${name.startsWith('heads/') ? 'the branch ' : ''}${named}`)
    else lines.push(await setLine(reference, named, objects, read))
  }
  return lines
}

interface Reference {
  /** Path of the git directory. */
  readonly repository: string
  /** Below `refs`, such as `heads/main`. */
  readonly name: string
  /** Hashes; an empty one could not be read, null is none. */
  readonly before: string | null
  readonly after: string | null
}

/** A file below `refs` says where a reference is; without one a line of `packed-refs` does. */
async function changedReferences(
  changes: readonly Change[],
  read: ReadSide,
): Promise<readonly Reference[]> {
  const packed = await packedReferences(changes, read)
  const found = new Map(packed.map((each) => [`${each.repository}/refs/${each.name}`, each]))
  for (const change of changes) {
    const path = displayOfRaw(change.path)
    const [, repository = '', kind = '', rest] = REFERENCE.exec(path) ?? []
    if (kind === '' || (change.after ?? change.before)?.kind === 'directory') continue
    const line = found.get(path)
    const before = await hashOf(change, 'before', read)
    const after = await hashOf(change, 'after', read)
    found.set(path, {
      repository,
      name: rest === undefined ? kind : `${kind}/${rest}`,
      before: before ?? line?.before ?? null,
      after: after ?? line?.after ?? null,
    })
  }
  return [...found.values()]
}

const PACKED = /^(.*\/\.git(?:\/modules\/.+?)?)\/packed-refs$/
const PACKED_LINE = /^([0-9a-f]{40}) refs\/((?:heads|tags)\/.+|stash)$/gm
const PACKED_BYTES_MAX = 4 << 20

/** Returns what changed `packed-refs` files hold, also the lines that did not change. */
async function packedReferences(
  changes: readonly Change[],
  read: ReadSide,
): Promise<readonly Reference[]> {
  const found: Reference[] = []
  for (const change of changes) {
    const repository = PACKED.exec(displayOfRaw(change.path))?.[1]
    if (repository === undefined) continue
    const before = await packedHashes(change, 'before', read)
    const after = await packedHashes(change, 'after', read)
    for (const name of new Set([...before.keys(), ...after.keys()])) {
      const hashes = { before: before.get(name) ?? null, after: after.get(name) ?? null }
      found.push({ repository, name, ...hashes })
    }
  }
  return found
}

async function packedHashes(
  change: Change,
  side: 'before' | 'after',
  read: ReadSide,
): Promise<ReadonlyMap<string, string>> {
  const bytes = await readContentBytes(read(change, side), PACKED_BYTES_MAX)
  const lines = (bytes?.toString('utf8') ?? '').matchAll(PACKED_LINE)
  return new Map([...lines].map(([, hash = '', name = '']) => [name, hash]))
}

async function hashOf(
  change: Change,
  side: 'before' | 'after',
  read: ReadSide,
): Promise<string | null> {
  if (change[side] === null) return null
  const text = (await readContentBytes(read(change, side), HASH_BYTES_MAX))?.toString('latin1')
  return HASH.exec(text ?? '')?.[1] ?? ''
}

const KIND_WORDS: Readonly<Record<string, string>> = {
  tags: 'the tag ',
  remotes: 'the remote branch ',
  notes: 'the notes ',
}

function showReference(name: string): string {
  if (name === 'stash') return 'the stash'
  const [kind = '', ...rest] = name.split('/')
  return `${KIND_WORDS[kind] ?? ''}${visible(rest.join('/'))}`
}

async function setLine(
  { repository, name, after }: Reference,
  named: string,
  objects: ReadonlyMap<string, Change>,
  read: ReadSide,
): Promise<string> {
  const hash = after ?? ''
  if (hash === '') return `sets ${named}`
  const short = hash.slice(0, 7)
  if (name.startsWith('tags/')) return `sets ${named} to ${short}`
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
