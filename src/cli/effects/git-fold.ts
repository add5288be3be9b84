/**
 * Folds what git keeps for itself: counts the objects, logs, references and the index of a repository,
 * and says what they amount to as git's users say it, such as `commit c2fa8ec on master: subject`.
 *
 * A subject is read from the commit object, whose name is the hash of its bytes, and not from a log
 * that the run could have written as it liked.
 *
 * `foldedGit` says which paths in a git directory need no line of their own: new objects, logs that go
 * on, the index, and references that `gitLines` puts into words. All else is listed: what is deleted, changed
 * objects, rewritten logs, hooks, settings, and what git's ordinary commands do not write.
 */
import { createHash } from 'node:crypto'
import {
  type Change,
  displayOfRaw,
  gitKindOf,
  gitPathOf,
  isGitWork,
  type RawPath,
} from '../../gate/index.ts'
import { visible } from '../../words/index.ts'
import { readContentBytes } from './change-text.ts'
import type { ReadSide } from './render.ts'

const REFERENCE =
  /^(.*\/\.git(?:\/(?:worktrees|modules)\/.+?)?)\/refs\/(heads|tags|remotes|notes|stash)(?:\/(.+))?$/

const HASH = /^([0-9a-f]{40})\n?$/
const HASH_BYTES_MAX = 64
const OBJECT_NAME = /^(?:[0-9a-f]{40}|[0-9a-f]{64})\n?$/
const BRANCH = /^ref: refs\/heads\/(.+)\n$/
const TEXT_BYTES_MAX = 4096
/** Notes that git leaves behind and does not act on. */
const NOTES = /^(?:COMMIT_EDITMSG|ORIG_HEAD|FETCH_HEAD|AUTO_MERGE)$/
const NONE: ReadonlySet<RawPath> = new Set()
const READABLE = 0o400
const LOG_BYTES_MAX = 64 * 1024 * 1024

/** One line for each branch or tag that is set or removed. A reference that was only packed is neither. */
export async function gitLines(changes: readonly Change[], read: ReadSide): Promise<string[]> {
  const objects = new Map(changes.map((change) => [displayOfRaw(change.path), change]))
  const references = await changedReferences(changes, read)
  const lines: string[] = []
  for (const change of changes) {
    const branch = await branchOfHead(change, read)
    if (branch !== null)
      lines.push(`${headText(displayOfRaw(change.path))} becomes ${visible(branch)}`)
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

const HEAD_ELSEWHERE = /\/\.git\/(?:modules\/.+\/)?(worktrees|modules)\/(.+)\/HEAD$/

/** Names the current branch that a HEAD file is about: that of the repository, or of a part of it. */
function headText(path: string): string {
  const [, kind, name = ''] = HEAD_ELSEWHERE.exec(path) ?? []
  if (kind === undefined) return 'the current branch'
  const part = kind === 'worktrees' ? 'worktree' : 'submodule'
  return `the current branch of the ${part} ${visible(name)}`
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
  const { inflateSync } = await import('node:zlib')
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

/** The branch that a changed HEAD names; null for another file, and for a HEAD without a branch. */
async function branchOfHead(change: Change, read: ReadSide): Promise<string | null> {
  const place = gitPathOf(change.path)
  if (place === null || gitKindOf(place) !== 'head' || change.after?.kind !== 'file') return null
  return BRANCH.exec((await smallText(change, read)) ?? '')?.[1] ?? null
}

/** The paths that need no line of their own. */
export async function foldedGit(
  changes: readonly Change[],
  read: ReadSide,
): Promise<ReadonlySet<RawPath>> {
  const folded = new Set<RawPath>()
  for (const change of changes) if (await isFolded(change, read)) folded.add(change.path)
  return folded
}

async function isFolded(change: Change, read: ReadSide): Promise<boolean> {
  const { path, before, after } = change
  const place = gitPathOf(path)
  if (place === null || after === null || (before !== null && before.kind !== after.kind)) {
    return false
  }
  if (after.kind === 'directory') return isGitWork(change, 'added', NONE) && before === null
  if (after.kind !== 'file' || (after.mode & READABLE) === 0) return false
  switch (gitKindOf(place)) {
    case 'object':
      return before === null && after.size > 0
    case 'index':
      return after.size > 0
    case 'log':
      return before === null || (await goesOn(change, read))
    case 'reference':
      return OBJECT_NAME.test((await smallText(change, read)) ?? '')
    case 'head':
      return (await branchOfHead(change, read)) !== null
    // Other places of git: only its notes are folded.
    default:
      return NOTES.test(place.rest)
  }
}

/** Whether a log begins with all that it held. */
async function goesOn(change: Change, read: ReadSide): Promise<boolean> {
  if ((change.after?.size ?? 0) <= (change.before?.size ?? 0)) return false
  const [then, now] = await Promise.all(
    (['before', 'after'] as const).map((side) =>
      readContentBytes(read(change, side), LOG_BYTES_MAX),
    ),
  )
  if (then == null || now == null || then.length !== change.before?.size) return false
  return now.subarray(0, then.length).equals(then)
}

async function smallText(change: Change, read: ReadSide): Promise<string | null> {
  const bytes = await readContentBytes(read(change, 'after'), TEXT_BYTES_MAX)
  return bytes?.toString('latin1') ?? null
}
