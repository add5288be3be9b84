/**
 * Faults: operating failures as values. A fault has a stable code, the place it speaks of, and the
 * details its code demands, typed per code. Denials are answers and bugs are exceptions; neither
 * is a fault.
 *
 * A broken invariant is a bug in writ, not an answer. It throws, and no caller recovers from it.
 */
import { CODES, type Code } from './codes.ts'

/** What each code must carry. A code with no row here carries nothing. */
interface Details {
  readonly 'cli.unknown_command': { readonly command: string; readonly nearest: string | null }
  readonly 'cli.unknown_option': { readonly option: string; readonly nearest: string | null }
  readonly 'cli.file_unreadable': { readonly file: string; readonly reason: string }
  readonly 'cli.file_unwritable': { readonly file: string; readonly reason: string }
  readonly 'document.unknown_contract': { readonly name: string; readonly nearest: string | null }
  readonly 'ledger.filesystem': { readonly directory: string; readonly filesystem: string }
  readonly 'ledger.version': { readonly found: number; readonly known: number }
  readonly 'ledger.busy': { readonly waitedMs: number }
  readonly 'ledger.unreachable': { readonly reason: string }
  readonly 'ledger.corrupt': { readonly reason: string }
  readonly 'ledger.head_moved': { readonly expected: number; readonly found: number }
  readonly 'ledger.truncated': { readonly size: number; readonly checkpoint: number }
  readonly 'ledger.unsigned_tail': { readonly size: number; readonly checkpoint: number }
  readonly 'ledger.forked': {
    readonly size: number
    readonly ours: string
    readonly theirs: string
  }
  readonly 'ledger.signature_invalid': { readonly key: string }
  readonly 'ledger.key_missing': { readonly key: string }
  readonly 'ledger.key_exposed': { readonly file: string; readonly mode: string }
  readonly 'flow.artifact_changed': {
    readonly made_by: string
    readonly recorded: string
    readonly found: string
  }
  readonly 'promote.conflict': { readonly paths: readonly string[] }
  readonly 'promote.busy': {
    readonly paths: readonly string[]
    readonly processes: readonly number[]
  }
  readonly 'promote.stage_altered': { readonly paths: readonly string[] }
  readonly 'promote.unrecovered': { readonly ids: readonly string[] }
  readonly 'recovery.conflict': { readonly id: string; readonly paths: readonly string[] }
  readonly 'rollback.conflict': { readonly paths: readonly string[] }
  readonly 'rollback.newer': {
    readonly acts: readonly { readonly id: string; readonly at: string; readonly what: string }[]
  }
  readonly 'rollback.expired': { readonly ids: readonly string[] }
  readonly 'rollback.irreversible': { readonly ids: readonly string[] }
  readonly 'rollback.altered': { readonly paths: readonly string[] }
  readonly 'workspace.busy': { readonly process: number | null; readonly command: string | null }
}

type DetailsOf<C extends Code> = C extends keyof Details ? Details[C] : null

export type Fault = {
  [C in Code]: {
    readonly code: C
    readonly at: string
    readonly message: string
    readonly hint?: string
    readonly details: DetailsOf<C>
  }
}[Code]

/** Makes a fault; the message falls back to what the code page says. */
export function fault<C extends Code>(
  code: C,
  at: string,
  details: DetailsOf<C>,
  words: { readonly message?: string; readonly hint?: string } = {},
): Fault {
  const message = words.message ?? CODES[code].says
  const made =
    words.hint === undefined
      ? { code, at, message, details }
      : { code, at, message, hint: words.hint, details }
  // The union is keyed by code; TypeScript cannot see that code and details were chosen together.
  return made as Fault
}

/** Carries a fault to the caller that answers it. */
export class FaultError extends Error {
  override readonly name = 'FaultError'
  readonly fault: Fault

  constructor(fault: Fault, options?: { readonly cause?: unknown }) {
    super(`${fault.code}: ${fault.message}`, options)
    this.fault = fault
  }
}

/** A code whose faults carry no details. */
type PlainCode = Exclude<Code, keyof Details>

/** Makes the error of a fault without details; the message falls back to what the code page says. */
export function faultError(
  code: PlainCode,
  at: string,
  message?: string,
  hint?: string,
): FaultError {
  const words = { ...(message && { message }), ...(hint && { hint }) }
  return new FaultError(fault(code, at, null, words))
}

/** Returns the code of a fault that was thrown, null for any other error. */
export function faultCode(error: unknown): Code | null {
  return error instanceof FaultError ? error.fault.code : null
}

export class BrokenInvariant extends Error {
  override readonly name = 'BrokenInvariant'
}

export function invariant(holds: unknown, promise: string): asserts holds {
  if (!holds) throw new BrokenInvariant(promise)
}
