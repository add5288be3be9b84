/**
 * What humans always answered alike, as grants that would have answered for them (N-3). A grant is
 * proposed only for one agent, one directory and one kind of change, with at least 5 answers of yes that
 * a human typed or proved, on 3 days, in 2 sessions. Nothing is in force before a human accepts it.
 *
 * INVARIANT (no answer of no): a proposed grant covers no path of an act that a human denied.
 * INVARIANT (no wider than seen): its glob is a directory in which a human approved a change, without
 *   what lies below it, or one file at the top of the workspace.
 */

import { PUBLIC_NAMES, SECRET_NAMES } from '../data/secrets.ts'
import { PathSet, UNBOUNDED } from '../paths/path-set.ts'

/** A question of the past about an agent's files, with the answer of a human. */
export interface AnsweredQuestion {
  readonly action_id: string
  readonly agent: string
  readonly answer: 'yes' | 'no'
  /** A human proved it, or typed it after the effects were shown. */
  readonly isMeant: boolean
  readonly at: string
  /** Null outside of sessions. */
  readonly session: string | null
  /** Nothing but missing grants made it a question. */
  readonly isPlain: boolean
  /** Of the workspace; null for a denied act that is no longer kept, which speaks against everything. */
  readonly changes: readonly AnsweredChange[] | null
}

export interface AnsweredChange {
  readonly path: string
  readonly kind: 'create' | 'change' | 'delete'
  /** Other programs run it by themselves. */
  readonly isDeferred: boolean
}

export interface LearnedGrant {
  readonly agent: string
  readonly kind: 'create' | 'change'
  readonly glob: string
  /** The acts that were approved, and when. */
  readonly support: { readonly answers: number; readonly days: number; readonly sessions: number }
  readonly examples: readonly string[]
}

/** What had the support, and is not proposed because a human said no to something in it. */
interface RefusedLesson {
  readonly agent: string
  readonly kind: 'create' | 'change'
  readonly glob: string
  readonly counter_examples: readonly string[]
}

export interface Lessons {
  readonly grants: readonly LearnedGrant[]
  readonly refused: readonly RefusedLesson[]
}

const ANSWERS_MIN = 5
const DAYS_MIN = 3
const SESSIONS_MIN = 2
const EXAMPLES_MAX = 5
const DAY_CHARS = '2026-01-01'.length

interface Case {
  readonly agent: string
  readonly kind: 'create' | 'change'
  readonly glob: string
  readonly of: AnsweredQuestion[]
}

export function learnGrants(history: readonly AnsweredQuestion[]): Lessons {
  const cases = new Map<string, Case>()
  for (const question of history) {
    if (question.answer !== 'yes' || !question.isMeant || !question.isPlain) continue
    for (const [key, one] of casesOf(question)) {
      const known = cases.get(key) ?? one
      known.of.push(question)
      cases.set(key, known)
    }
  }
  const [grants, refused]: [LearnedGrant[], RefusedLesson[]] = [[], []]
  for (const { agent, kind, glob, of } of cases.values()) {
    const support = supportOf(of)
    const isEnough =
      support.answers >= ANSWERS_MIN && support.days >= DAYS_MIN && support.sessions >= SESSIONS_MIN
    if (!isEnough) continue
    const against = history.filter((one) => one.answer === 'no' && touches(one, glob))
    if (against.length > 0) {
      const counter_examples = against.slice(0, EXAMPLES_MAX).map(({ action_id }) => action_id)
      refused.push({ agent, kind, glob, counter_examples })
      continue
    }
    const examples = of.slice(-EXAMPLES_MAX).map(({ action_id }) => action_id)
    grants.push({ agent, kind, glob, support, examples })
  }
  return { grants: sorted(grants), refused: sorted(refused) }
}

/** Each directory and kind of change of an act, once. */
function casesOf({ agent, changes }: AnsweredQuestion): ReadonlyMap<string, Case> {
  const found = new Map<string, Case>()
  for (const { path, kind, isDeferred } of changes ?? []) {
    if (kind === 'delete' || isDeferred || isNeverLearned(path)) continue
    const glob = globOf(path)
    found.set(`${agent}\0${kind}\0${glob}`, { agent, kind, glob, of: [] })
  }
  return found
}

function globOf(path: string): string {
  const end = path.lastIndexOf('/')
  return end === -1 ? path : `${path.slice(0, end)}/*`
}

const anywhere = (names: readonly string[]): PathSet =>
  new PathSet(
    names.map((name) => `/**/${name}`),
    UNBOUNDED,
  )
const SECRETS = anywhere(SECRET_NAMES)
const PUBLIC = anywhere(PUBLIC_NAMES)
const WILD = /[*?[\]{}~\\]/

/** Dot paths, names of credentials, and names that would not mean themselves in a pattern. */
function isNeverLearned(path: string): boolean {
  if (WILD.test(path) || path.split('/').some((name) => name.startsWith('.'))) return true
  return SECRETS.find(`/${path}`) !== null && PUBLIC.find(`/${path}`) === null
}

function touches({ changes }: AnsweredQuestion, glob: string): boolean {
  if (changes === null) return true
  const set = new PathSet([`/${glob}`], UNBOUNDED)
  return changes.some(({ path }) => set.find(`/${path}`) !== null)
}

function supportOf(of: readonly AnsweredQuestion[]): LearnedGrant['support'] {
  return {
    answers: of.length,
    days: new Set(of.map(({ at }) => at.slice(0, DAY_CHARS))).size,
    sessions: new Set(of.flatMap(({ session }) => session ?? [])).size,
  }
}

function sorted<T extends { readonly agent: string; readonly glob: string; readonly kind: string }>(
  list: readonly T[],
): readonly T[] {
  const key = ({ agent, glob, kind }: T): string => `${agent}\0${glob}\0${kind}`
  return [...list].sort((one, other) => (key(one) < key(other) ? -1 : 1))
}
