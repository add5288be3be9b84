/** What a held call of `gh` is about, by its own words alone: the host, the repository, the number. */
import { faultError } from '../../base/index.ts'
import type { GhWords } from './gh-form.ts'

interface CallTarget {
  readonly host: string
  /** Null for calls that are about none. */
  readonly repository: string | null
}

const DEFAULT_HOST = 'github.com'
const LABEL = '[a-z0-9](?:[a-z0-9-]*[a-z0-9])?'
const HOST = new RegExp(`^${LABEL}(?:\\.${LABEL})*(?::\\d+)?$`)
/** For these gh goes to another host than the one that is named. */
const OTHER_NAME = /\.github\.(?:com|localhost)(?::|$)|\..+\.ghe\.com(?::|$)/
const REPOSITORY = /^(?:([^/:@\s]+(?::\d+)?)\/)?(\w[\w-]*\/(?!\.{1,2}$)[\w.-]+)$/
const NUMBER = /^#?\d+$/
/** gh fills these in from the directory that it runs in. */
const FILLED_IN = /:(?:owner|user|repo|branch)\b|\{(?:owner|user|repo|branch)\}/
/** Calls without a repository. */
const ALONE = new Set(['api', 'gist'])

/** `usual` is the host that the person has set for calls that name none. Fails if the words leave it open. */
export function callTarget(
  kind: string,
  action: string,
  words: GhWords,
  usual: string = DEFAULT_HOST,
): CallTarget {
  if (ALONE.has(kind)) {
    if (kind === 'api') requireFilledIn(words)
    return { host: hostOf(words.options.get('--hostname') ?? usual), repository: null }
  }
  const named = repositoryOf(words)
  if (kind === 'pr' || kind === 'issue') requireNumber(kind, action, words)
  const [, host = usual, repository = ''] = REPOSITORY.exec(named) ?? []
  if (repository === '')
    throw refused(`write \`${named}\` as \`-R OWNER/REPO\` or \`-R HOST/OWNER/REPO\``)
  return { host: hostOf(host), repository }
}

function repositoryOf({ options }: GhWords): string {
  const named = options.get('-R') ?? options.get('--repo')
  if (named === undefined) throw refused('name the repository: add `-R OWNER/REPO`')
  if (options.has('-R') && options.has('--repo')) throw refused('it names its repository twice')
  return named
}

function hostOf(named: string): string {
  const host = named.toLowerCase()
  if (HOST.test(host) && !OTHER_NAME.test(host)) return host
  throw refused(`\`${named}\` is no host`)
}

function requireNumber(kind: string, action: string, { options, places }: GhWords): void {
  if (action === 'create') {
    if (kind === 'issue' || options.has('-H') || options.has('--head')) return
    throw refused('name the branch: add `--head BRANCH`')
  }
  const isNumber = places.length > 0 && places.every((place) => NUMBER.test(String(place)))
  if (isNumber) return
  const what = kind === 'pr' ? 'pull request' : 'issue'
  throw refused(`name the ${what} by its number: \`gh ${kind} ${action} NUMBER -R OWNER/REPO\``)
}

function requireFilledIn({ places, fields }: GhWords): void {
  const open = [...places, ...fields].find((word) => FILLED_IN.test(String(word)))
  if (open === undefined) return
  throw refused(`write \`${String(open)}\` with the owner, repository and branch themselves`)
}

function refused(message: string) {
  return faultError('request.failed', 'gh', `the command cannot be held: ${message}`)
}
