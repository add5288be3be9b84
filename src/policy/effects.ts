/**
 * What a rehearsal changed, as laws ask about it: `touches`, `creates`, `modifies`, `deletes`,
 * `discards`, each with a glob. One pass over the changes a question; the same question is answered
 * once, however many laws ask it.
 */
import { type Glob, matchesNames, parseGlob, pathSegments } from '../contracts/index.ts'
import type { HostAnswer, HostCalls, HostFunction } from '../expression/index.ts'

export interface LawChange {
  /** Absolute, as text; bytes that are no text are shown as U+FFFD. */
  readonly path: string
  /** Two for what was replaced by another kind. */
  readonly lists: readonly ('added' | 'modified' | 'deleted')[]
  /** In an ephemeral place: dropped, not promoted. */
  readonly discarded: boolean
}

export const EFFECT_FUNCTIONS = ['touches', 'creates', 'modifies', 'deletes', 'discards'] as const
type EffectFunction = (typeof EFFECT_FUNCTIONS)[number]

/** Where the anchors of a law's globs lie. */
export interface LawPlaces {
  /** Real path; `~/` begins here. */
  readonly home: string
  /** Real path; a glob without an anchor begins here. */
  readonly workspace: string
}

const CONCERNS: Readonly<Record<EffectFunction, (change: LawChange) => boolean>> = {
  touches: ({ discarded }) => !discarded,
  creates: ({ discarded, lists }) => !discarded && lists.includes('added'),
  modifies: ({ discarded, lists }) => !discarded && lists.includes('modified'),
  deletes: ({ discarded, lists }) => !discarded && lists.includes('deleted'),
  discards: ({ discarded }) => discarded,
}

const HINT = 'such as `~/.ssh/**`, `**/.env`, `/etc/**`, or `src/**` under the workspace'

/** The glob at its place; null when it is of no legal form. */
export function placeGlob(text: string, { home, workspace }: LawPlaces): Glob | null {
  if (text === '' || text === '~') return null
  if (text.startsWith('~/')) return parseGlob(join(home, text.slice(2)))
  if (text.startsWith('/')) return parseGlob(text)
  return parseGlob(text.startsWith('**/') ? `/${text}` : join(workspace, text))
}

function join(directory: string, rest: string): string {
  return directory === '/' ? `/${rest}` : `${directory}/${rest}`
}

const ANYWHERE: LawPlaces = { home: '/home', workspace: '/workspace' }

/** The functions as the loader of laws knows them: their argument is a glob of legal form. */
export const EFFECT_ENVIRONMENT: Readonly<Record<EffectFunction, HostFunction>> = {
  touches: { prepare },
  creates: { prepare },
  modifies: { prepare },
  deletes: { prepare },
  discards: { prepare },
}

function prepare(argument: string) {
  if (placeGlob(argument, ANYWHERE) !== null) return { ok: true, argument } as const
  const message = 'the text is not a glob of normal form'
  return { ok: false, message, hint: HINT } as const
}

/** Answers the functions over one set of changes. */
export function effectCalls(changes: readonly LawChange[], places: LawPlaces): HostCalls {
  const answers = new Map<string, HostAnswer>()
  const ask = (name: EffectFunction, argument: unknown): HostAnswer => {
    const text = String(argument)
    const key = `${name} ${text}`
    const answer = answers.get(key) ?? search(changes, CONCERNS[name], placeGlob(text, places))
    answers.set(key, answer)
    return answer
  }
  return {
    touches: (argument) => ask('touches', argument),
    creates: (argument) => ask('creates', argument),
    modifies: (argument) => ask('modifies', argument),
    deletes: (argument) => ask('deletes', argument),
    discards: (argument) => ask('discards', argument),
  }
}

function search(
  changes: readonly LawChange[],
  concerns: (change: LawChange) => boolean,
  glob: Glob | null,
): HostAnswer {
  if (glob === null) return { value: false }
  const piece = longestName(glob)
  const found = changes.find((change) => concerns(change) && matches(glob, piece, change.path))
  return found === undefined ? { value: false } : { value: true, witness: found.path }
}

/** A whole name that every match holds: looking for it is cheaper than cutting each path up. */
function longestName({ segments }: Glob): string {
  let longest = ''
  for (const segment of segments) {
    if (segment === '**') continue
    for (const part of segment) if (part.length > longest.length) longest = part
  }
  return longest
}

function matches(glob: Glob, piece: string, path: string): boolean {
  if (glob.isLiteral) return glob.text === path
  return path.includes(piece) && matchesNames(glob.segments, pathSegments(path))
}
