/**
 * An exchange: what a promotion or a rollback does to the real tree, written down whole before the
 * first change. `plan.jsonl` lies in the directory of displaced entries. It is the intent; a recovery
 * follows it, and a rollback undoes the exchange by it.
 *
 * A promotion has one part. A rollback of several actions has one for each, newest first, and each
 * begins when the one before is done. Paths are written one character a byte (RawPath), so every name
 * survives.
 */
import { createHash } from 'node:crypto'
import { closeSync, openSync } from 'node:fs'
import { join } from 'node:path'
import { type Digest, type FaultError, faultError, showPath } from '../../base/index.ts'
import type { Change, RawPath } from '../../gate/index.ts'
import { isAbsent, LINE_FEED, readLines, writeLines } from '../../machine/index.ts'
import { machineFailure } from '../entries/failure.ts'
import type { ExchangeStep } from '../entries/plan.ts'
import type { DirectorySuccessor } from './shared-directory.ts'

export type ExchangeKind = 'promotion' | 'rollback'

/** A directory that stays, while entries come into it or leave it. */
export interface ParentState {
  readonly path: RawPath
  readonly mode: number
  /** Beforehand. */
  readonly mtimeNs: string
  /** To be set when all is done; null: the time of the change itself. */
  readonly finalMtimeNs: string | null
}

export interface ExchangePart {
  readonly actionId: string
  readonly steps: readonly ExchangeStep[]
}

export interface Exchange {
  readonly kind: ExchangeKind
  /** Of the action, or of the rollback. */
  readonly id: string
  readonly workspace: RawPath
  /** Where what is taken away goes; absolute, on the filesystem of the workspace. */
  readonly keep: string
  /** What else the exchange consumes and is cleared away with it: the stage, or older pre-images. */
  readonly sources: readonly string[]
  readonly parents: readonly ParentState[]
  /** Of a rollback: directories that stay, and who takes them away some day. */
  readonly heirs?: readonly DirectorySuccessor[]
  /** Of a rollback: paths that were put back as a program left them. */
  readonly altered?: readonly RawPath[]
  /** Lock files of git that are held meanwhile. */
  readonly gitLocks: readonly RawPath[]
  /** The caller's own, handed back when a recovery ends the exchange. Any JSON value. */
  readonly note: unknown
  readonly beganAtMs: number
  readonly parts: readonly ExchangePart[]
}

export const PLAN = 'plan.jsonl'
/** The times of the directories of a promotion, written once everything is in place. */
export const AFTER_TIMES = 'after.json'

type PlanLine =
  | { readonly head: Omit<Exchange, 'parts'> }
  | { readonly part: string }
  | { readonly step: Pick<ExchangeStep, 'path' | 'take' | 'put'> }
  | { readonly change: Change }

function* linesOf({ parts, ...head }: Exchange): Generator<PlanLine> {
  yield { head }
  for (const { actionId, steps } of parts) {
    yield { part: actionId }
    for (const { path, take, put, changes } of steps) {
      yield { step: { path, take, put } }
      for (const change of changes) yield { change }
    }
  }
}

function* textsOf(exchange: Exchange): Generator<string> {
  for (const line of linesOf(exchange)) yield `${JSON.stringify(line)}\n`
}

/** Writes and syncs the plan; gives its digest. */
export function writePlan(exchange: Exchange): Digest {
  const file = join(exchange.keep, PLAN)
  try {
    const handle = openSync(file, 'wx', 0o600)
    try {
      return writeLines(handle, textsOf(exchange))
    } finally {
      closeSync(handle)
    }
  } catch (error) {
    throw machineFailure(error, file)
  }
}

interface ReadPlan {
  readonly exchange: Exchange
  readonly digest: Digest
}

/**
 * Returns null when there is no plan: nothing was ever kept there, or it is not kept any more. Fails if
 * the last line is cut, because steps would be missing.
 */
export function readPlan(keep: string): ReadPlan | null {
  const hash = createHash('sha256')
  let last: number | undefined
  const onPiece = (piece: Uint8Array): void => {
    hash.update(piece)
    last = piece.at(-1)
  }
  const exchange = assemblePlan(planLines(keep, onPiece))
  if (last !== undefined && last !== LINE_FEED) throw cutPlan(join(keep, PLAN))
  // The shape of a digest, made here.
  return exchange === null ? null : { exchange, digest: `sha256:${hash.digest('hex')}` as Digest }
}

function cutPlan(file: string): FaultError {
  const message = `the plan of an act is cut: ${showPath(file)}; nothing was changed`
  return faultError('promote.failed', file, message, 'put the state directory back from a backup')
}

/** The lines of a plan, one after the other: a plan may be as large as an act. None without a plan. */
export function* planLines(
  keep: string,
  onPiece?: (piece: Uint8Array) => void,
): Generator<PlanLine> {
  const file = join(keep, PLAN)
  try {
    for (const text of readLines(file, onPiece)) {
      // Written by this host into its own directory, and bound by digest to the journal.
      if (text !== '') yield JSON.parse(text) as PlanLine
    }
  } catch (error) {
    if (!isAbsent(error)) throw machineFailure(error, file)
  }
}

type LooseStep = Pick<ExchangeStep, 'path' | 'take' | 'put'> & { readonly changes: Change[] }

function assemblePlan(lines: Iterable<PlanLine>): Exchange | null {
  let head: Omit<Exchange, 'parts'> | null = null
  const parts: { actionId: string; steps: LooseStep[] }[] = []
  for (const line of lines) {
    if ('head' in line) head = line.head
    else if ('part' in line) parts.push({ actionId: line.part, steps: [] })
    else if ('step' in line) parts.at(-1)?.steps.push({ ...line.step, changes: [] })
    else parts.at(-1)?.steps.at(-1)?.changes.push(line.change)
  }
  // A plan is written with at least one change a step.
  return head === null ? null : { ...head, parts: parts as unknown as readonly ExchangePart[] }
}

/** How many paths an exchange changes, and how many bytes of files it puts in place. */
export function measureExchange({ parts }: Exchange): { paths: number; bytes: number } {
  const paths = new Set<RawPath>()
  let bytes = 0
  for (const { steps } of parts) {
    for (const { changes } of steps) {
      for (const { path, after } of changes) {
        paths.add(path)
        bytes += after?.size ?? 0
      }
    }
  }
  return { paths: paths.size, bytes }
}
