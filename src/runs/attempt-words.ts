/** What is said about an attempt: to the gate, in events, when it has failed, and when its time is up. */
import type { CompiledNode } from '../flow/index.ts'
import type { HeldAttempt } from '../service/index.ts'
import { isObject, type Said } from './participant/participant-request.ts'
import type { RunCommand } from './participant-input.ts'

/** Most paths and operations that an event names; the record of the act has all of them. */
const ABOUT_MAX = 10
const WORDS_MAX = 200

/** Why the gate does not let pass what an attempt did, with the paths that it is about. */
export function blockOf({ decision, result }: HeldAttempt) {
  const all = decision?.codes ?? []
  // A node declares all that it may do: what it did not do is at fault only where nothing else is.
  const others = all.filter((code) => code !== 'effect.not_observed')
  const codes = others.length === 0 ? all : others
  const found = (result?.findings ?? []).filter(({ code }) => codes.includes(code))
  const about = found.flatMap(({ path, detail }) =>
    path === undefined ? (detail === undefined ? [] : [detail]) : [path],
  )
  return { decision: 'BLOCK' as const, codes, about: [...new Set(about)].slice(0, ABOUT_MAX) }
}

/** An operation in a few words: its type, and the path, address or command that it names. */
export function operationWords(operation: unknown): string {
  if (!isObject(operation)) return 'an operation that is no JSON object'
  const { type, path, argv, url } = operation
  const what = path ?? url ?? (Array.isArray(argv) ? argv.join(' ') : '')
  return `${String(type ?? 'an operation without a type')} ${String(what)}`
    .trim()
    .slice(0, WORDS_MAX)
}

/** An attempt that a budget ended has failed, for that reason and no other. */
export function outOf(what: string, said: Said): Said {
  return { ...said, outcome: 'failed', why: `the ${what} of the run is used up` }
}

export function intentOf({ document }: CompiledNode, { attempt, review }: RunCommand): string {
  const what = review === null ? 'Work' : 'Review'
  return `${what} at the node ${document.node_id} of a flow, attempt ${attempt}: ${document.title}.`
}

/** Returns the seconds of the node, or what is left of the budget if that is less; null without both. */
export function secondsFor(
  { timeout_seconds: timeout }: RunCommand,
  left: number | null,
): number | null {
  if (timeout === undefined) return left
  return left === null ? Math.ceil(timeout) : Math.min(Math.ceil(timeout), left)
}

/** A participant whose time was up has failed, also where the line only looks broken. */
export function withTimeout(
  { timeout_seconds: timeout }: RunCommand,
  seconds: number,
  said: Said,
): Said {
  if (timeout === undefined || said.outcome === 'ended' || seconds < timeout) return said
  const why = `no answer within ${timeout} seconds`
  return { ...said, outcome: 'failed', cause: 'timeout', why }
}
