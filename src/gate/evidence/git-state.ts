/**
 * What git's own commands do to the files in a `.git` directory, as a closed list: they create objects
 * and never change one, move references and note it in a log, and leave some files while something is
 * under way. What the list does not hold is not git's ordinary work, and is asked about (G-8b).
 *
 * References, logs, HEAD and the index depend on their bytes; the host looks at those and records the
 * paths that it found in order.
 */

import type { RawPath } from '../paths/raw-path.ts'
import type { Change, ChangeList } from './change.ts'

type GitKind = 'object' | 'reference' | 'packed' | 'log' | 'head' | 'index' | 'under_way'

/** A path inside a git directory. */
export interface GitPath {
  /** Of a repository, of a linked worktree, or of a submodule. */
  readonly directory: RawPath
  /** Where objects and references are: of a linked worktree those of its repository. */
  readonly common: RawPath
  readonly rest: string
}

/** Names at the top of a git directory; the name of a submodule ends before one of them. */
const TOP =
  /^(?:objects|refs|logs|info|hooks|branches|lfs|rr-cache|svn|rebase-merge|rebase-apply|sequencer|modules|worktrees|index|config|packed-refs|shallow|description|gc\.log|[A-Z_]+)(?:\..*)?$/

/** Null for a path that lies in no git directory. */
export function gitPathOf(path: RawPath): GitPath | null {
  const start = path.indexOf('/.git/')
  if (start === -1) return null
  const names = path.slice(start + '/.git/'.length).split('/')
  let [common, directory] = [0, 0]
  for (;;) {
    const at = directory
    if (names[at] === 'worktrees' && names.length > at + 2) directory = at + 2
    else if (names[at] === 'modules') {
      const end = names.findIndex((name, index) => index > at + 1 && TOP.test(name))
      if (end === -1) break
      directory = end
      common = end
    } else break
  }
  const place = (count: number): RawPath =>
    // A part of a raw path, up to the end of a name, is one.
    [path.slice(0, start + '/.git'.length), ...names.slice(0, count)].join('/') as RawPath
  return {
    directory: place(directory),
    common: place(common),
    rest: names.slice(directory).join('/'),
  }
}

const NAME = '(?!\\.)(?:(?!\\.\\.|\\.lock(?:/|$)|/\\.)[^\\x00-\\x20\\x7f~^:?*\\[\\\\])+'
const SHARED_NAME = `(?:heads|tags|remotes|notes)/${NAME}`
/** Names of references that git's commands set. */
export const REFERENCE_NAME: RegExp = new RegExp(`^refs/(?:${SHARED_NAME}|stash)$`)
const LOG_NAME = new RegExp(`^logs/(?:HEAD|refs/(?:${SHARED_NAME}|stash))$`)
const HEX = '(?:[0-9a-f]{40}|[0-9a-f]{64})'
const OBJECT = new RegExp(
  `^(?:objects/(?:[0-9a-f]{2}/(?:[0-9a-f]{38}|[0-9a-f]{62})|pack/pack-${HEX}\\.(?:pack|idx|rev))|lfs/objects/[0-9a-f]{2}/[0-9a-f]{2}/[0-9a-f]{64})$`,
)
const UNDER_WAY =
  /^(?:(?:AUTO_MERGE|MERGE_HEAD|MERGE_MODE|MERGE_MSG|MERGE_RR|MERGE_AUTOSTASH|SQUASH_MSG|CHERRY_PICK_HEAD|REVERT_HEAD|REBASE_HEAD|ORIG_HEAD|FETCH_HEAD|COMMIT_EDITMSG|BISECT_[A-Z_]+)$|(?:rebase-merge|rebase-apply|sequencer)(?:\/|$))/
/** Git runs the lines of this file that begin with `exec`. */
const COMMANDS = /^rebase-merge\/git-rebase-todo/
const DIRECTORY =
  /^(?:objects(?:\/[0-9a-f]{2}|\/pack)?|lfs(?:\/objects(?:\/[0-9a-f]{2}){0,2})?|(?:logs|(?:logs\/)?refs(?:\/(?:heads|tags|remotes|notes)(?:\/.+)?)?))$/

/** Null for a file that git's ordinary commands do not write. */
export function gitKindOf({ rest }: GitPath): GitKind | null {
  if (OBJECT.test(rest)) return 'object'
  if (REFERENCE_NAME.test(rest)) return 'reference'
  if (LOG_NAME.test(rest)) return 'log'
  if (UNDER_WAY.test(rest)) return 'under_way'
  if (rest === 'HEAD') return 'head'
  if (rest === 'packed-refs') return 'packed'
  return rest === 'index' ? 'index' : null
}

const READABLE = 0o400

/** Returns whether git's commands do this to one of their files. `checked` are paths in order. */
export function isGitWork(
  { path, before, after }: Change,
  list: ChangeList,
  checked: ReadonlySet<RawPath>,
): boolean {
  const place = gitPathOf(path)
  if (place === null) return false
  const kind = gitKindOf(place)
  if (list === 'deleted') return kind === 'under_way' && before?.kind !== 'symlink'
  if (after === null || after.kind === 'symlink') return false
  if (after.kind === 'directory') {
    const isKnown = kind === 'under_way' || DIRECTORY.test(place.rest)
    return list === 'added' && isKnown && !place.rest.endsWith('.lock')
  }
  if ((after.mode & READABLE) === 0) return false
  if (kind === 'object') return list === 'added' && after.size > 0
  if (kind === 'under_way') return !COMMANDS.test(place.rest)
  return kind !== null && checked.has(path)
}

/** Returns whether a law's glob speaks of git directories by their name; no other glob reaches them. */
export function namesGit(text: string): boolean {
  return text.split('/').includes('.git')
}

export function isInGit(path: RawPath): boolean {
  return path.includes('/.git/')
}
