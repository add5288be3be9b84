/**
 * Pushes that a session asks for (S-15). A push is held in a repository of writ's own, described in
 * words that a person reads, and sent once by the person's own git with the person's own credentials.
 *
 * INVARIANT (what was shown is sent): a push is sent only if the words that were approved are the ones
 *   that were written when it was held, and only if the server still has what it had then.
 * INVARIANT (no program of the agent): git runs here without the repository's configuration and hooks.
 */
import { existsSync, mkdirSync, renameSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { type Digest, digestBytes, digestDocument, faultError } from '../../base/index.ts'
import type { Proposal } from '../../contracts/index.ts'
import {
  type InstalledEnd,
  namesIfThere,
  readIfThere,
  removeTree,
  requireProgram,
  runInstalled,
  writeWhole,
} from '../../machine/index.ts'
import type { Sent } from './send-request.ts'

/** A reference that a push sets, from one object to another; zeros where there is none. */
interface PushedRef {
  readonly ref: string
  readonly before: string
  readonly after: string
}

export interface PushWish {
  readonly remote: string
  readonly commands: readonly PushedRef[]
  /** A file with the commits, which is moved away; null if only references are removed. */
  readonly pack: string | null
  /** A directory of the real repository. */
  readonly tree: string
}

interface PushNote {
  readonly remote: string
  readonly commands: readonly PushedRef[]
  readonly body_digest: string
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
const NONE = /^0+$/
const LOCAL_MS = 60_000
const SEND_MS = 120_000
const COMMITS_SHOWN = 20
const FILES_SHOWN = 30
const SHORT_ID = 8
const KEPT_MS = 30 * 24 * 60 * 60 * 1000
/** An id of a push is a file name of our own. */
const PUSH_ID = /^[0-9a-f-]{36}$/

/** What the real repository knows of the server: the branches that it fetched or pushed last. */
export async function knownRefs(
  tree: string,
  remote: string,
): Promise<readonly { readonly ref: string; readonly id: string }[]> {
  const urls = await ownGit(tree, ['config', '--get-regexp', '^remote\\..*\\.(push)?url$'])
  const lines = urls.stdout.split('\n').map((line) => line.split(' '))
  const [key = ''] = lines.find(([, url]) => url === remote) ?? []
  const name = /^remote\.(.+)\.(?:push)?url$/.exec(key)?.[1]
  if (name === undefined) return []
  const place = `refs/remotes/${name}/`
  const found = await ownGit(tree, ['for-each-ref', '--format=%(objectname) %(refname)', place])
  return found.stdout.split('\n').flatMap((line) => {
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

/** Keeps a push for later; returns the words that a person approves. Fails if its commits are broken. */
export async function holdPush(state: string, pushId: string, wish: PushWish): Promise<string> {
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
    const body = await describePush(repository, wish)
    const note: PushNote = { remote, commands, body_digest: digestDocument(body) }
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
  const { remote, commands, body_digest } = JSON.parse(text) as PushNote
  if (digestDocument(body ?? '') !== body_digest) {
    const detail = 'the push is not the one that was approved'
    return { state: 'FAILED', code: 'request.altered', detail }
  }
  const end = await runInstalled({
    argv: [
      requireProgram('git'),
      'push',
      '--porcelain',
      '--no-verify',
      ...wordsOf(remote, commands),
    ],
    cwd: join(directory, REPOSITORY),
    variables: personsVariables(environment),
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

/** The server must have what it had when the push was held. */
function wordsOf(remote: string, commands: readonly PushedRef[]): readonly string[] {
  const leases = commands.map(({ ref, before }) => {
    return `--force-with-lease=${ref}:${NONE.test(before) ? '' : before}`
  })
  const refs = commands.map(({ ref, after }) => (NONE.test(after) ? `:${ref}` : `${after}:${ref}`))
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

function failureOf({ stdout, stderr }: InstalledEnd): string {
  const refused = stdout.split('\n').find((line) => line.startsWith('!'))
  const lines = stderr.split('\n').filter((line) => line.trim() !== '')
  const words = refused?.split('\t').slice(1).join(' ') ?? lines.at(-1) ?? 'git failed'
  return words.replaceAll(/\p{Cc}/gu, ' ').slice(0, 500)
}

/** What a person reads: the address, each reference, the commits, and the files. */
async function describePush(repository: string, wish: PushWish): Promise<string> {
  const parts: string[] = [`git push ${wish.remote}`]
  for (const command of wish.commands) {
    const { ref, before, after } = command
    const [isNew, isGone] = [NONE.test(before), NONE.test(after)]
    if (isGone) {
      parts.push(`delete ${ref} (was ${before.slice(0, SHORT_ID)})`)
      continue
    }
    const range = isNew ? [after] : [`${before}..${after}`]
    const kind = isNew ? 'create' : await kindOf(repository, before, after)
    const from = isNew ? '' : ` from ${before.slice(0, SHORT_ID)}`
    parts.push(`${kind} ${ref}${from} to ${after}`)
    const format = '--format=  %h %s (%an)'
    const commits = await ownGit(repository, ['log', format, `-n${COMMITS_SHOWN + 1}`, ...range])
    parts.push(...few(required(commits).stdout, COMMITS_SHOWN, 'commits'))
    if (isNew) continue
    const files = ['diff', '--stat=100', '--no-ext-diff', '--no-textconv', before, after]
    parts.push(...few(required(await ownGit(repository, files)).stdout, FILES_SHOWN, 'files'))
  }
  return parts.join('\n')
}

async function kindOf(repository: string, before: string, after: string): Promise<string> {
  const { status } = await ownGit(repository, ['merge-base', '--is-ancestor', before, after])
  return status === 0 ? 'update' : 'REPLACE (commits of the server are lost)'
}

function few(text: string, max: number, noun: string): readonly string[] {
  const lines = text.split('\n').filter((line) => line !== '')
  return lines.length <= max ? lines : [...lines.slice(0, max), `  … and more ${noun}`]
}

/** Git without any configuration but that of the directory's own repository. */
function ownGit(cwd: string, words: readonly string[]): Promise<InstalledEnd> {
  return runInstalled({
    argv: [requireProgram('git'), '--no-pager', ...words],
    cwd: existsSync(cwd) ? cwd : '/',
    variables: {
      PATH: '/usr/bin:/bin',
      LC_ALL: 'C.UTF-8',
      GIT_CONFIG_NOSYSTEM: '1',
      GIT_CONFIG_GLOBAL: '/dev/null',
      GIT_OPTIONAL_LOCKS: '0',
    },
    limitMs: LOCAL_MS,
  })
}

function required(end: InstalledEnd): InstalledEnd {
  if (end.status === 0) return end
  throw faultError('request.failed', '', `the push cannot be held: ${failureOf(end)}`)
}

/** Questions end long before. */
async function removeOld(state: string): Promise<void> {
  const folder = join(state, PUSHES)
  for (const name of namesIfThere(folder)) {
    const { mtimeMs = 0 } = statSync(join(folder, name), { throwIfNoEntry: false }) ?? {}
    if (mtimeMs < Date.now() - KEPT_MS) await removeTree(join(folder, name))
  }
}
