/**
 * What hooks of all hosts report, in one form, and what writ answers. A translator of each host reads
 * its wire format to a `ToolReport` and prints a `HookAnswer` in the host's own words.
 */
import type { Digest } from '../base/index.ts'
import { asObject } from './fields.ts'

/** The moments that a hook can report. */
export type HookBoundary = 'before' | 'after' | 'stop' | 'prompt' | 'start'

export type ToolKind = 'shell' | 'edit' | 'other'

/** One event of a hook. Everything in it is the actor's word: it can only make a decision stricter. */
export interface ToolReport {
  readonly host: string
  readonly boundary: HookBoundary
  /** The host's own name of the tool; null at boundaries without one. */
  readonly tool: string | null
  readonly kind: ToolKind | null
  readonly arguments: Readonly<Record<string, unknown>>
  /** The text for the shell, of a shell tool. */
  readonly command: string | null
  /** The files that an edit tool names. */
  readonly paths: readonly string[]
  readonly call: string | null
  readonly cwd: string | null
  /** The host's own id of its session. */
  readonly session: string | null
  /** The subagent that calls, where the host names one. */
  readonly agent: string | null
  readonly model: string | null
  /** The digest of the prompt, at the boundary `prompt`; never its text. */
  readonly prompt: Digest | null
}

/** What the channel of a session answers to a report: at most one line for the model. */
export interface ChannelAnswer {
  readonly feedback: string | null
}

/** Null if the value is no answer of a channel. */
export function readChannelAnswer(value: unknown): ChannelAnswer | null {
  const found = asObject(value)
  if (found === null || !Object.hasOwn(found, 'feedback')) return null
  const { feedback } = found
  return feedback === null || typeof feedback === 'string' ? { feedback } : null
}

export type HookAnswer =
  | { readonly kind: 'pass' }
  | { readonly kind: 'deny'; readonly reason: string }
  /** The shell tool runs this line instead; its other arguments stay. */
  | { readonly kind: 'rewrite'; readonly command: string }
  /** One line for the model, after a tool. */
  | { readonly kind: 'feedback'; readonly line: string }

/** What the hook program prints, and how it leaves. */
export interface PrintedAnswer {
  readonly stdout: string
  readonly stderr: string
  readonly status: number
}
