/**
 * Asks the server of a held push what it has, before the push is sent (S-15). The words that a person
 * approved leave out commits that the server was said to have by references of the real repository,
 * and a session writes such references too: its own git does at each fetch and push. It also says which
 * values the references to be set have.
 *
 * INVARIANT (what is sent was shown): no commit is sent that the words left out and the server lacks.
 * INVARIANT (the server as it was shown): nothing is sent unless every reference has its old value there.
 */
import { join } from 'node:path'
import { readIfThere, requireProgram, runInstalled, writeWhole } from '../../machine/index.ts'
import { failureOf, ownGit } from './own-git.ts'
import { NO_OBJECT, type PushedRef } from './push-words.ts'

interface HeldCommits {
  readonly repository: string
  readonly remote: string
  readonly commands: readonly PushedRef[]
  /** What the words counted as there. */
  readonly known: readonly string[]
}

/** `failure`: the server did not say what it has. `unserved`: what it was wrongly said to have. */
type ServedCheck =
  | { readonly failure: string }
  | { readonly failure: null; readonly unserved: readonly string[] }

const ASK_MS = 60_000
/** References of one server that are looked at; without the rest too much counts as new. */
const REFS_MAX = 20_000

/**
 * Only what the server itself says counts as there. A lease of the push does not replace that: git does not
 * look at the lease of a reference that has its new value already.
 */
export async function checkServed(
  push: HeldCommits,
  variables: Readonly<Record<string, string>>,
): Promise<ServedCheck> {
  const { repository, remote, commands, known } = push
  const places = ['refs/heads/*', 'refs/tags/*', ...commands.map(({ ref }) => ref)]
  const answer = await runInstalled({
    argv: [requireProgram('git'), 'ls-remote', '--', remote, ...places],
    cwd: repository,
    variables,
    limitMs: ASK_MS,
  })
  if (answer.status !== 0) return { failure: failureOf(answer) }
  const refs = refsOf(answer.stdout)
  const moved = commands.find(({ ref, before }) => (refs.get(ref) ?? '') !== idOf(before))
  if (moved !== undefined) return { failure: movedWords(moved, refs.get(moved.ref)) }
  const before = commands.map((command) => idOf(command.before)).filter((id) => id !== '')
  const ids = [...before, ...[...refs.values()].slice(0, REFS_MAX)]
  const served = await presentCommits(repository, ids)
  for (const { after } of commands) {
    const sent = await countNew(repository, after, served)
    const shown = await countNew(repository, after, [...served, ...known])
    if (sent === null || shown === null) return { failure: 'its commits cannot be counted' }
    if (sent !== shown) return { failure: null, unserved: await notServed(push, served) }
  }
  return { failure: null, unserved: [] }
}

function refsOf(listing: string): ReadonlyMap<string, string> {
  const rows = listing.split('\n').flatMap((line) => {
    const [, id, ref] = /^([0-9a-f]{40,64})\t(.+)$/.exec(line) ?? []
    return id === undefined || ref === undefined ? [] : [[ref, id] as const]
  })
  return new Map(rows)
}

/** Empty where there is none. */
function idOf(object: string): string {
  return NO_OBJECT.test(object) ? '' : object
}

function movedWords({ ref, before }: PushedRef, now: string | undefined): string {
  const was = idOf(before) === '' ? 'did not exist' : `was ${before}`
  const has = now === undefined ? 'the server does not have it' : `the server has ${now}`
  return `nothing was sent (stale info): ${ref} ${was} in the question, and ${has}; fetch, then push again`
}

async function notServed(
  { repository, known }: HeldCommits,
  served: readonly string[],
): Promise<readonly string[]> {
  const found: string[] = []
  for (const id of known) if ((await countNew(repository, id, served)) !== 0) found.push(id)
  return found
}

/** The commits among these objects that are here. */
export async function presentCommits(
  repository: string,
  ids: readonly string[],
): Promise<readonly string[]> {
  if (ids.length === 0) return []
  const words = ['rev-list', '--no-walk=unsorted', '--ignore-missing', ...new Set(ids)]
  const { stdout } = await ownGit(repository, words)
  return stdout.split('\n').filter((line) => line !== '')
}

/** How many commits it has that the others do not have; none for what is no commit. Null if git fails. */
async function countNew(
  repository: string,
  object: string,
  others: readonly string[],
): Promise<number | null> {
  const found = await presentCommits(repository, NO_OBJECT.test(object) ? [] : [object])
  if (found.length === 0) return 0
  const not = others.length === 0 ? [] : ['--not', ...others]
  const { status, stdout } = await ownGit(repository, ['rev-list', '--count', ...found, ...not])
  return status === 0 ? Number(stdout) : null
}

const FILE = 'unserved.json'
const UNSERVED_MAX = 1_000

/** Commits that a server lacked although references said that it has them: no push counts on these. */
export function unservedIn(folder: string): ReadonlySet<string> {
  const text = readIfThere(join(folder, FILE))
  // `noteUnserved` wrote it whole.
  return new Set(text === null ? [] : (JSON.parse(text) as readonly string[]))
}

export function noteUnserved(folder: string, ids: readonly string[]): void {
  const all = [...new Set([...unservedIn(folder), ...ids])].slice(-UNSERVED_MAX)
  writeWhole(join(folder, FILE), JSON.stringify(all), 0o600)
}
