/**
 * Which of the changed files git tracked before the act: those whose bytes are the ones that the index
 * of their repository names, with the object there. An index names what it was given, so its word
 * alone does not count. Bytes that an earlier act of the same actor wrote into such a file are the
 * actor's own, and count as well.
 */
import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs'
import { dirname, join, resolve } from 'node:path'
import type { Evaluation } from '../../contracts/index.ts'
import {
  bytesOfRaw,
  type Change,
  type GateLists,
  grantCase,
  INDEX_BYTES_MAX,
  indexEntries,
  pathsToTrack,
  type RawPath,
  rawOfBytes,
  rawOfText,
  readManifest,
  textOfRaw,
} from '../../gate/index.ts'
import { gitTop } from '../../home/index.ts'
import type { LedgerView } from '../records/ledger-view.ts'
import { blobName, GitObjects } from './git-objects.ts'
import { readSmall } from './scripts.ts'

/** Beyond so many files, or so many bytes of one, the rest counts as untracked. */
const TRACKED_MAX = 2_000
const TRACKED_BYTES_MAX = 256 * 1024 * 1024

export async function trackedPaths(
  changes: readonly Change[],
  draft: Evaluation,
  lists: GateLists,
  view: LedgerView,
): Promise<readonly RawPath[]> {
  const subject = grantCase(draft)
  if (subject === null) return []
  const repositories = new Repositories()
  const asked = pathsToTrack(changes, lists.grants ?? [], subject).slice(0, TRACKED_MAX)
  const listed = asked.filter((path) => repositories.lists(path))
  const [kept, rest] = [new Set<RawPath>(), new Set<RawPath>()]
  for (const path of listed) (repositories.keeps(path) ? kept : rest).add(path)
  const others = changes.filter(({ path }) => rest.has(path))
  const own = others.length === 0 ? NONE : await ownPaths(others, draft, view)
  return listed.filter((path) => kept.has(path) || own.has(path))
}

const NONE: ReadonlySet<RawPath> = new Set()
/** How many of the newest acts are looked at for bytes of the actor's own. */
const ACTS_MAX = 50

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

interface Repository {
  readonly entries: ReadonlyMap<string, string>
  readonly objects: GitObjects
}

class Repositories {
  readonly #tops = new Map<string, string | null>()
  readonly #known = new Map<string, Repository | null>()

  lists(path: RawPath): boolean {
    return this.#entry(path) !== null
  }

  /** Whether the object that the index names is there and holds the bytes of the file. */
  keeps(path: RawPath): boolean {
    const entry = this.#entry(path)
    const bytes = entry === null ? null : readSmall(path, TRACKED_BYTES_MAX)
    if (entry === null || bytes === null || blobName(bytes, entry.hash) !== entry.hash) return false
    return entry.objects.read(entry.hash) !== null
  }

  #entry(path: RawPath): { readonly hash: string; readonly objects: GitObjects } | null {
    const text = textOfRaw(path)
    const top = text === null ? null : this.#topOf(dirname(text))
    if (top === null) return null
    const known = this.#known.get(top)
    const repository = known === undefined ? repositoryAt(top) : known
    this.#known.set(top, repository)
    const hash = repository?.entries.get(path.slice(rawOfText(top).length + 1))
    return repository === null || hash === undefined ? null : { hash, objects: repository.objects }
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
function repositoryAt(top: string): Repository | null {
  try {
    const directory = gitDirectory(top)
    const index = join(directory, 'index')
    if (statSync(index).size > INDEX_BYTES_MAX) return null
    const bytes = readFileSync(index)
    const entries = indexEntries(bytes) ?? indexEntries(bytes, 32)
    if (entries === null) return null
    return { entries, objects: new GitObjects(FILES, rawOfText(commonDirectory(directory))) }
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

function gitDirectory(top: string): string {
  const place = join(top, '.git')
  if (!existsSync(place) || statSync(place).isDirectory()) return place
  const named = /^gitdir: (.+)$/m.exec(readFileSync(place, 'utf8'))?.[1]
  return named === undefined ? place : resolve(top, named)
}

/** Of a linked worktree the directory of its repository. */
function commonDirectory(directory: string): string {
  const file = join(directory, 'commondir')
  return existsSync(file) ? resolve(directory, readFileSync(file, 'utf8').trim()) : directory
}
