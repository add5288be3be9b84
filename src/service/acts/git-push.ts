/**
 * Pushes that a session asks for (S-15). A push is held in a repository of writ's own, described in
 * words that a person reads, and sent once by the person's own git with the person's own credentials.
 *
 * INVARIANT (what was shown is sent): a push is sent only if the words that were approved are the ones
 *   that were written when it was held, and only if the server still has what it had then.
 * INVARIANT (no program of the agent): git runs here without the repository's configuration and hooks.
 */
import { mkdirSync, renameSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { type Digest, digestBytes, digestDocument } from '../../base/index.ts'
import type { Proposal } from '../../contracts/index.ts'
import {
  namesIfThere,
  readIfThere,
  removeTree,
  requireProgram,
  runInstalled,
  writeWhole,
} from '../../machine/index.ts'
import { failureOf, ownGit, required } from './own-git.ts'
import { checkServed, noteUnserved, presentCommits, unservedIn } from './push-check.ts'
import { describePush, NO_OBJECT, type PushedRef } from './push-words.ts'
import type { Sent } from './send-request.ts'

export interface PushWish {
  readonly remote: string
  readonly commands: readonly PushedRef[]
  /** A file with the commits, which is moved away; null if only references are removed. */
  readonly pack: string | null
  /** A directory of the real repository. */
  readonly tree: string
  /** What the server has, by references that the session did not write; what the repository says without it. */
  readonly known?: readonly string[]
}

interface PushNote {
  readonly remote: string
  readonly commands: readonly PushedRef[]
  readonly body_digest: string
  /** Commits that the words left out because the server was said to have them. */
  readonly known?: readonly string[]
}

/** The header of a held request that names its push. */
export const PUSH_HEADER = 'x-writ-push'

/** Only sessions have pushes to hold. */
export function isPush({ operation }: Proposal): boolean {
  return operation?.type === 'NETWORK_REQUEST' && operation.headers?.[PUSH_HEADER] !== undefined
}

const PUSHES = 'pushes'
const NOTE = 'push.json'
const REPOSITORY = 'push.git'
const PRIVATE = 0o700
const SEND_MS = 120_000
const KEPT_MS = 30 * 24 * 60 * 60 * 1000
/** An id of a push is a file name of our own. */
const PUSH_ID = /^[0-9a-f-]{36}$/

/** The references of all servers in the real repository, each a line of its object and its name. */
export async function trackingRefs(tree: string): Promise<ReadonlySet<string>> {
  return new Set(await refLines(tree, 'refs/remotes/'))
}

async function refLines(tree: string, place: string): Promise<readonly string[]> {
  const found = await ownGit(tree, ['for-each-ref', '--format=%(objectname) %(refname)', place])
  return found.stdout.split('\n')
}

/**
 * What the real repository knows of the server: the branches that it fetched or pushed last. `among`
 * are the lines that count, all without it.
 */
export async function knownRefs(
  tree: string,
  remote: string,
  among: ReadonlySet<string> | null = null,
): Promise<readonly { readonly ref: string; readonly id: string }[]> {
  const urls = await ownGit(tree, ['config', '--get-regexp', '^remote\\..*\\.(push)?url$'])
  const settings = urls.stdout.split('\n').map((line) => line.split(' '))
  const [key = ''] = settings.find(([, url]) => url === remote) ?? []
  const name = /^remote\.(.+)\.(?:push)?url$/.exec(key)?.[1]
  if (name === undefined) return []
  const place = `refs/remotes/${name}/`
  const lines = await refLines(tree, place)
  return lines.flatMap((line) => {
    if (among?.has(line) === false) return []
    const [id = '', ref = ''] = line.split(' ')
    const branch = ref.slice(place.length)
    return /^[0-9a-f]{40}$/.test(id) && branch !== '' && branch !== 'HEAD'
      ? [{ ref: `refs/heads/${branch}`, id }]
      : []
  })
}

/**
 * Addresses that remotes of the real repository have for pushes alone. Where fetches use the same address,
 * it is left out: it cannot be led elsewhere for pushes only.
 */
export async function pushAddresses(tree: string): Promise<readonly string[]> {
  const urls = await ownGit(tree, ['config', '--get-regexp', '^remote\\..*\\.(push)?url$'])
  const lines = urls.stdout.split('\n').map((line) => line.split(' '))
  const of = (ending: string): readonly string[] =>
    lines.flatMap(([key = '', url = '']) => (key.endsWith(ending) && url !== '' ? [url] : []))
  const fetched = of('.url')
  return of('.pushurl').filter((url) => !fetched.some((each) => each.startsWith(url)))
}

/**
 * Keeps a push for later; returns the words that a person approves. `runsLater` says of a path whether
 * programs run it by themselves. Fails if its commits are broken.
 */
export async function holdPush(
  state: string,
  pushId: string,
  wish: PushWish,
  runsLater: (path: string) => boolean,
): Promise<string> {
  await removeOld(state)
  const directory = join(state, PUSHES, pushId)
  const repository = join(directory, REPOSITORY)
  mkdirSync(directory, { recursive: true, mode: PRIVATE })
  const { remote, commands, pack, tree } = wish
  try {
    required(await ownGit(directory, ['init', '-q', '--bare', REPOSITORY]))
    const objects = await ownGit(tree, [
      'rev-parse',
      '--path-format=absolute',
      '--git-path',
      'objects',
    ])
    if (objects.status === 0) {
      writeFileSync(join(repository, 'objects/info/alternates'), objects.stdout)
    }
    if (pack !== null) {
      const kept = join(repository, 'objects/pack/pack-held.pack')
      renameSync(pack, kept)
      required(await ownGit(repository, ['index-pack', '--strict', kept]))
    }
    const unserved = unservedIn(join(state, PUSHES))
    const said = wish.known ?? (await knownRefs(tree, remote)).map(({ id }) => id)
    const counted = said.filter((id) => !unserved.has(id))
    const known = await presentCommits(repository, counted)
    const body = await describePush({ repository, remote, commands, known, runsLater })
    const note: PushNote = { remote, commands, body_digest: digestDocument(body), known }
    writeWhole(join(directory, NOTE), JSON.stringify(note), 0o600)
    return body
  } catch (error) {
    await removeTree(directory)
    throw error
  }
}

/** Sends a held push with the person's own git; `body` is what was approved. */
export async function sendPush(
  state: string,
  pushId: string,
  body: string | undefined,
  environment: Readonly<Record<string, string | undefined>>,
): Promise<Sent> {
  const directory = join(state, PUSHES, pushId)
  const text = PUSH_ID.test(pushId) ? readIfThere(join(directory, NOTE)) : null
  if (text === null) {
    return { state: 'FAILED', code: 'request.failed', detail: 'the held push is not kept any more' }
  }
  // `holdPush` wrote it whole.
  const { remote, commands, body_digest, known = [] } = JSON.parse(text) as PushNote
  if (digestDocument(body ?? '') !== body_digest) {
    const detail = 'the push is not the one that was approved'
    return { state: 'FAILED', code: 'request.altered', detail }
  }
  const repository = join(directory, REPOSITORY)
  const variables = personsVariables(environment)
  const served = await checkServed({ repository, remote, commands, known }, variables)
  if (served.failure !== null) {
    return { state: 'FAILED', code: 'request.failed', detail: served.failure }
  }
  if (served.unserved.length > 0) {
    noteUnserved(join(state, PUSHES), served.unserved)
    return { state: 'FAILED', code: 'request.failed', detail: LEFT_OUT }
  }
  const end = await runInstalled({
    argv: [
      requireProgram('git'),
      'push',
      '--porcelain',
      '--no-verify',
      ...wordsOf(remote, commands),
    ],
    cwd: repository,
    variables,
    limitMs: SEND_MS,
  })
  if (end.isTimedOut) {
    return { state: 'UNKNOWN', code: 'request.unknown', detail: 'git did not end in two minutes' }
  }
  if (end.status !== 0) return { state: 'FAILED', code: 'request.failed', detail: failureOf(end) }
  await removeTree(directory)
  const bytes = Buffer.from(end.stdout)
  const kept = { digest: digestBytes(bytes) satisfies Digest, bytes }
  return { state: 'ANSWERED', answer: { status: 200, bytes: bytes.length, body: kept } }
}

const LEFT_OUT =
  'nothing was sent: the server lacks commits that the question left out as known to it; pushed again, it lists them'

/** The server must have what it had when the push was held. */
function wordsOf(remote: string, commands: readonly PushedRef[]): readonly string[] {
  const leases = commands.map(({ ref, before }) => {
    return `--force-with-lease=${ref}:${NO_OBJECT.test(before) ? '' : before}`
  })
  const refs = commands.map(({ ref, after }) =>
    NO_OBJECT.test(after) ? `:${ref}` : `${after}:${ref}`,
  )
  return [...leases, ...(commands.length > 1 ? ['--atomic'] : []), remote, ...refs]
}

const OF_REPOSITORY = /^GIT_(?:DIR|WORK_TREE|INDEX_FILE|OBJECT_DIRECTORY|CONFIG.*|NAMESPACE)$/

function personsVariables(
  environment: Readonly<Record<string, string | undefined>>,
): Readonly<Record<string, string>> {
  const own = Object.entries(environment).flatMap(([name, value]) =>
    value === undefined || OF_REPOSITORY.test(name) ? [] : [[name, value]],
  )
  return {
    ...Object.fromEntries(own),
    LC_ALL: 'C',
    GIT_TERMINAL_PROMPT: '0',
    GIT_ALLOW_PROTOCOL: 'https:http:ssh',
  }
}

/** Questions end long before. */
async function removeOld(state: string): Promise<void> {
  const folder = join(state, PUSHES)
  for (const name of namesIfThere(folder)) {
    const { mtimeMs = 0 } = statSync(join(folder, name), { throwIfNoEntry: false }) ?? {}
    if (mtimeMs < Date.now() - KEPT_MS) await removeTree(join(folder, name))
  }
}
