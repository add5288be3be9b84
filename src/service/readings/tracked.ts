/**
 * Which of the changed files git tracked before the act: those that the index of their repository
 * lists, and whose bytes are the ones that the commit of HEAD names, with the object there. An index
 * names what it was given, by an actor too, so its word alone does not count. Where a session itself
 * moved HEAD, the commit from before counts: otherwise an agent could commit a person's work and then
 * overwrite it. Bytes that an earlier act of the same actor wrote into such a file are the actor's own,
 * and count as well.
 */
import { readdirSync, readFileSync, statSync } from 'node:fs'
import { dirname, join } from 'node:path'
import type { Evaluation } from '../../contracts/index.ts'
import {
  bytesOfRaw,
  type Change,
  type GateLists,
  grantCase,
  INDEX_BYTES_MAX,
  type IndexNames,
  indexNames,
  pathsToTrack,
  type RawPath,
  rawOfBytes,
  rawOfText,
  readManifest,
  textOfRaw,
} from '../../gate/index.ts'
import { gitTop } from '../../home/index.ts'
import type { LedgerView } from '../records/ledger-view.ts'
import type { SessionBytes } from '../surface/session-surface.ts'
import { commonDirectory, gitDirectory, headCommit } from './git-head.ts'
import { blobName, GitObjects } from './git-objects.ts'
import { entriesOf, type GitTreeEntry, treeOf } from './git-planted.ts'
import { readSmall } from './scripts.ts'

/** Beyond so many files, or so many bytes of one, the rest counts as untracked. */
const TRACKED_MAX = 2_000
const TRACKED_BYTES_MAX = 256 * 1024 * 1024

const NO_SESSION: SessionBytes = { wrote: new Set(), heads: {}, links: [] }

/** Which commit says what git tracked: HEAD, or the one from before if a session moved HEAD. */
class TrustedCommits {
  readonly #heads: SessionBytes['heads']

  constructor(heads: SessionBytes['heads']) {
    this.#heads = heads
  }

  trusted(directory: string, head: string): string | null {
    const moved = this.#heads[directory]
    return moved?.own.includes(head) === true ? moved.base : head
  }
}

export async function trackedPaths(
  changes: readonly Change[],
  draft: Evaluation,
  lists: GateLists,
  view: LedgerView,
  session: SessionBytes = NO_SESSION,
): Promise<readonly RawPath[]> {
  const subject = grantCase(draft)
  if (subject === null) return []
  const repositories = new Repositories(new TrustedCommits(session.heads))
  const asked = pathsToTrack(changes, lists.grants ?? [], subject).slice(0, TRACKED_MAX)
  const listed = asked.filter((path) => repositories.lists(path))
  const [kept, rest] = [new Set<RawPath>(), new Set<RawPath>()]
  for (const path of listed) {
    const isKnown = session.wrote.has(path) || repositories.keeps(path)
    ;(isKnown ? kept : rest).add(path)
  }
  const others = changes.filter(({ path }) => rest.has(path))
  const own = others.length === 0 ? NONE : await ownPaths(others, draft, view)
  return listed.filter((path) => kept.has(path) || own.has(path))
}

const NONE: ReadonlySet<RawPath> = new Set()
/** How many of the newest acts are looked at for bytes of the actor's own. */
const ACTS_MAX = 1_000

/** The changes whose bytes before are those that the newest act of the actor on the path left. */
async function ownPaths(
  changes: readonly Change[],
  { basis }: Evaluation,
  view: LedgerView,
): Promise<ReadonlySet<RawPath>> {
  const wanted = new Map(changes.map(({ path, before }) => [path, before?.digest ?? null]))
  const manifests = await view.ask((standing) => {
    const found: string[] = []
    for (const { actionId, promotion, rolledBackBy } of standing.promotedNewestFirst()) {
      if (found.length === ACTS_MAX) break
      const isOwn = standing.actorOf(actionId) === basis?.actor
      if (isOwn && rolledBackBy === null) found.push(promotion.manifest)
    }
    return found
  })
  const own = new Set<RawPath>()
  for (const digest of manifests) {
    const lines = wanted.size === 0 ? null : await view.bodyLines(digest)
    const manifest = lines === null ? null : readManifest(lines)
    for (const { path, after } of manifest?.changes ?? []) {
      const bytes = wanted.get(path)
      if (bytes === undefined || manifest?.discarded.has(path) === true) continue
      if (bytes !== null && after?.digest === bytes) own.add(path)
      wanted.delete(path)
    }
  }
  return own
}

/** The bytes of a file in the trusted commit of its repository; null without them. */
export function committedBytes(path: RawPath, heads: SessionBytes['heads']): Uint8Array | null {
  return new Repositories(new TrustedCommits(heads)).bytesOf(path)
}

interface Repository {
  readonly names: IndexNames
  readonly objects: GitObjects
  readonly committed: CommittedFiles
}

class Repositories {
  readonly #commits: TrustedCommits
  readonly #tops = new Map<string, string | null>()
  readonly #known = new Map<string, Repository | null>()

  constructor(commits: TrustedCommits) {
    this.#commits = commits
  }

  lists(path: RawPath): boolean {
    return this.#entry(path) !== null
  }

  /** Whether the trusted commit holds the file with these bytes, and the object is there. */
  keeps(path: RawPath): boolean {
    const entry = this.#entry(path)
    const hash = entry?.repository.committed.hashOf(entry.name) ?? null
    const bytes = hash === null ? null : readSmall(path, TRACKED_BYTES_MAX)
    if (entry === null || hash === null || bytes === null) return false
    return blobName(bytes, hash) === hash && entry.repository.objects.read(hash) !== null
  }

  bytesOf(path: RawPath): Uint8Array | null {
    const entry = this.#entry(path)
    const hash = entry?.repository.committed.hashOf(entry.name) ?? null
    return hash === null ? null : (entry?.repository.objects.read(hash)?.bytes ?? null)
  }

  #entry(path: RawPath): { readonly name: string; readonly repository: Repository } | null {
    const text = textOfRaw(path)
    const top = text === null ? null : this.#topOf(dirname(text))
    if (top === null) return null
    const known = this.#known.get(top)
    const repository = known === undefined ? repositoryAt(top, this.#commits) : known
    this.#known.set(top, repository)
    const name = path.slice(rawOfText(top).length + 1)
    return repository?.names.has(name) === true ? { name, repository } : null
  }

  #topOf(directory: string): string | null {
    const known = this.#tops.get(directory)
    if (known !== undefined) return known
    const top = gitTop(directory)
    this.#tops.set(directory, top)
    return top
  }
}

/** A repository that cannot be read tracks nothing: then a human is asked. */
function repositoryAt(top: string, commits: TrustedCommits): Repository | null {
  try {
    const directory = gitDirectory(top)
    const index = join(directory, 'index')
    if (statSync(index).size > INDEX_BYTES_MAX) return null
    const bytes = readFileSync(index)
    const names = indexNames(bytes) ?? indexNames(bytes, 32)
    if (names === null) return null
    const common = commonDirectory(directory)
    const objects = new GitObjects(FILES, rawOfText(common))
    return { names, objects, committed: new CommittedFiles(directory, common, objects, commits) }
  } catch {
    return null
  }
}

/** The real tree, which nothing has changed yet. */
const FILES = {
  place: (path: RawPath): RawPath => path,
  names: (directory: RawPath): readonly RawPath[] =>
    readdirSync(Buffer.from(bytesOfRaw(directory)), 'buffer').map(rawOfBytes),
}

/** What the trusted commit holds, as the real tree has it. What cannot be read holds nothing. */
class CommittedFiles {
  readonly #directory: string
  readonly #common: string
  readonly #objects: GitObjects
  readonly #commits: TrustedCommits
  readonly #trees = new Map<string, ReadonlyMap<string, GitTreeEntry>>()
  /** Null if HEAD names no commit; undefined while it was not read. */
  #root: string | null | undefined

  /** `common` holds the references; `directory` is of a linked worktree, or the same. */
  constructor(directory: string, common: string, objects: GitObjects, commits: TrustedCommits) {
    this.#directory = directory
    this.#common = common
    this.#objects = objects
    this.#commits = commits
  }

  /** The name of the object of a file, by its path below the top, one character a byte. */
  hashOf(name: string): string | null {
    try {
      this.#root ??= this.#rootTree()
      let found: GitTreeEntry | undefined =
        this.#root === null ? undefined : { hash: this.#root, isTree: true }
      for (const part of name.split('/')) {
        found = found?.isTree === true ? this.#tree(found.hash).get(part) : undefined
      }
      return found?.isTree === false ? found.hash : null
    } catch {
      return null
    }
  }

  #tree(hash: string): ReadonlyMap<string, GitTreeEntry> {
    const entries = this.#trees.get(hash) ?? entriesOf(this.#objects, hash)
    this.#trees.set(hash, entries)
    return entries
  }

  #rootTree(): string | null {
    const head = headCommit(this.#directory, this.#common)
    const commit = head === null ? null : this.#commits.trusted(this.#directory, head)
    return commit === null ? null : treeOf(this.#objects, commit)
  }
}
