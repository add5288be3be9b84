/** What the question page computes from a question. */
import type { client } from '../app/service.ts'

export type WholeQuestion = Awaited<ReturnType<typeof client.showQuestion>>['value']
export type QuestionChange = WholeQuestion['changes'][number]

/** The command as the actor gave it; for other acts the line that the service made. */
export function commandLines({ proposal, what }: WholeQuestion): string {
  const { operation } = proposal
  if (operation?.type !== 'COMMAND_EXECUTION') return what
  const [program = '', option, script, ...more] = operation.argv
  const isScript = /^(?:.*\/)?(?:ba|da|z)?sh$/.test(program) && option === '-c' && more.length === 0
  return isScript && script !== undefined ? script : what
}

const ORDER = ['deleted', 'deferred', 'modified', 'added'] as const
type ChangeKind = (typeof ORDER)[number]

/** Which part of the list a change belongs to: deletions first, then what runs by itself later. */
export function kindOf({ change, deferred }: QuestionChange): ChangeKind {
  if (change.includes('deleted')) return 'deleted'
  if (deferred) return 'deferred'
  return change === 'added' ? 'added' : 'modified'
}

export function wordOf({ change }: QuestionChange): 'deleted' | 'modified' | 'added' {
  if (change.includes('deleted')) return 'deleted'
  return change === 'added' ? 'added' : 'modified'
}

export function inOrder(changes: readonly QuestionChange[]): readonly QuestionChange[] {
  return changes.toSorted(
    (left, right) =>
      ORDER.indexOf(kindOf(left)) - ORDER.indexOf(kindOf(right)) ||
      (left.path < right.path ? -1 : 1),
  )
}

/** What a person should see first: the first that runs by itself later, or else the first with a text. */
export function firstOpened(changes: readonly QuestionChange[]): string | null {
  const opened =
    changes.find(({ deferred }) => deferred) ?? changes.find(({ kind }) => kind !== 'directory')
  return opened?.path ?? null
}

/** The path below a directory that others share; a slash marks a directory. */
export function named({ path, kind }: QuestionChange, shared = ''): string {
  return `${path.slice(shared.length) || path}${kind === 'directory' ? '/' : ''}`
}

/** What the service knows of how a change runs by itself later; null where it names no program. */
export function runnerOf(question: WholeQuestion, { path }: QuestionChange): string | null {
  const found = question.result.findings.find(
    (one) => one.code === 'effect.deferred_execution' && one.path === path,
  )
  return found?.detail ?? null
}

/** npm runs a manifest's scripts; below a name with a dot something else may read it. */
export function isManifest({ path }: QuestionChange): boolean {
  return path.endsWith('/package.json') && !path.includes('/.')
}

interface FolderRow {
  readonly folder: string
  readonly counts: { readonly deleted: number; readonly modified: number; readonly added: number }
}

const FOLDERS_MAX = 8

/** Counts by directory below what all paths share, the largest first; the rest is one row. */
export function byFolder(changes: readonly QuestionChange[]): readonly FolderRow[] {
  const shared = sharedFolder(changes.map(({ path }) => path))
  const rows = new Map<string, { deleted: number; modified: number; added: number }>()
  for (const { path, change } of changes) {
    const rest = path.slice(shared.length)
    const cut = rest.indexOf('/')
    const folder = cut === -1 ? '.' : `${rest.slice(0, cut)}/`
    const counts = rows.get(folder) ?? { deleted: 0, modified: 0, added: 0 }
    if (change.includes('deleted')) counts.deleted += 1
    else if (change === 'added') counts.added += 1
    else counts.modified += 1
    rows.set(folder, counts)
  }
  const sum = ({ deleted, modified, added }: FolderRow['counts']): number =>
    deleted + modified + added
  const sorted = [...rows]
    .map(([folder, counts]) => ({ folder, counts }))
    .sort(
      (left, right) =>
        right.counts.deleted - left.counts.deleted || sum(right.counts) - sum(left.counts),
    )
  const more = sorted.slice(FOLDERS_MAX)
  if (more.length === 0) return sorted
  const rest = { deleted: 0, modified: 0, added: 0 }
  for (const { counts } of more) {
    rest.deleted += counts.deleted
    rest.modified += counts.modified
    rest.added += counts.added
  }
  return [...sorted.slice(0, FOLDERS_MAX), { folder: '…', counts: rest }]
}

/** The longest directory that holds all paths, with its slash. */
export function sharedFolder(paths: readonly string[]): string {
  const [first = ''] = paths
  let shared = first.slice(0, first.lastIndexOf('/') + 1)
  for (const path of paths) {
    while (!path.startsWith(shared))
      shared = shared.slice(0, shared.lastIndexOf('/', shared.length - 2) + 1)
  }
  return shared
}

/** The whole path of the file or directory of a grant by "always"; null where the question does not show it. */
export function grantedPlace({ always, changes }: WholeQuestion): string | null {
  if (always === null) return null
  const below = always.glob.replace(/\*+$/, '')
  const isFolder = below.endsWith('/')
  const mark = `/${below}`
  const places = changes.flatMap(({ path }) => {
    const at = isFolder ? path.indexOf(mark) : path.lastIndexOf(mark)
    if (at === -1 || (!isFolder && !path.endsWith(mark))) return []
    // A name that occurs twice does not say which of them is meant.
    return [at === path.lastIndexOf(mark) ? path.slice(0, at + mark.length) : null]
  })
  return new Set(places).size === 1 ? (places[0] ?? null) : null
}

/** Why a question has no "always" among its answers, as the end of a message; null where it has one. */
export function whyNoAlways(
  question: WholeQuestion,
): 'not_several' | 'not_agent' | 'not_deleted' | 'not_later' | 'not' | null {
  const { always, approvals, asked_by, changes } = question
  if (always !== null) return null
  if (approvals !== null) return 'not_several'
  if (asked_by.agent === null || asked_by.session === null) return 'not_agent'
  if (changes.some((change) => wordOf(change) === 'deleted')) return 'not_deleted'
  return changes.some(({ deferred }) => deferred) ? 'not_later' : 'not'
}

/** Scripts that npm runs by itself. */
const INSTALLS: ReadonlySet<string> = new Set([
  'preinstall',
  'install',
  'postinstall',
  'prepublish',
  'preprepare',
  'prepare',
  'postprepare',
])

/** Scripts of a manifest that are new or changed; those that an installation runs come first. */
export function changedScripts(
  before: string | null,
  after: string | null,
): readonly { readonly script: string; readonly isInstall: boolean }[] {
  const [old, next] = [scriptsOf(before), scriptsOf(after)]
  return Object.keys(next)
    .filter((script) => next[script] !== old[script])
    .map((script) => ({ script, isInstall: INSTALLS.has(script) }))
    .sort((left, right) => Number(right.isInstall) - Number(left.isInstall))
}

/** None where the text is no manifest, or only its beginning. */
function scriptsOf(text: string | null): Readonly<Record<string, unknown>> {
  try {
    const found: unknown = JSON.parse(text ?? '{}')
    const scripts: unknown = found instanceof Object ? Reflect.get(found, 'scripts') : null
    return scripts instanceof Object ? { ...scripts } : {}
  } catch {
    return {}
  }
}
