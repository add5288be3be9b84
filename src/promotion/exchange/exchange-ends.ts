/**
 * How exchanges begin and end: writes the intent, durable before the first change; puts everything back
 * when a step fails; removes temporary files once the record is durable. Promotion, rollback and
 * recovery share it.
 */
import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { type Digest, FaultError, fault, faultError } from '../../base/index.ts'
import { displayOfRaw, type RawPath } from '../../gate/index.ts'
import { errnoOf, quote, removeTreeSync, syncPath } from '../../machine/index.ts'
import { lookAt } from '../entries/entry.ts'
import { Collision, displayed, listed, machineFailure, pathsFailure } from '../entries/failure.ts'
import type { Ground } from '../entries/ground.ts'
import { AFTER_TIMES, type Exchange, PLAN, readPlan, writePlan } from '../journal/exchange.ts'
import { isAttempt, isOwnFile, Journal, namesIfThere, openJournals } from '../journal/journal.ts'
import { handOver } from '../journal/shared-directory.ts'
import type { OnPoint, Work } from './apply.ts'
import { at, markAt, revertExchange } from './run.ts'

interface Begun {
  readonly journal: Journal
  readonly digest: Digest
}

/** Makes a directory for displaced entries; durable when the exchange has begun. */
export function makeKeep(keep: string): void {
  try {
    mkdirSync(dirname(keep), { recursive: true, mode: 0o700 })
    clearAttempt(keep)
    mkdirSync(keep, { recursive: true, mode: 0o700 })
  } catch (error) {
    throw machineFailure(error, keep)
  }
}

/** Removes what a process left that died before its intent; fails if there is more than that. */
function clearAttempt(keep: string): void {
  const names = namesIfThere(keep) ?? []
  if (names.length === 0) return
  if (!isAttempt(keep)) {
    throw faultError('promote.failed', keep, 'the action was promoted before')
  }
  for (const name of names) rmSync(join(keep, name))
}

/** Plan and intent, durable when it resolves; the plan is durable before the intent is written. */
export async function beginExchange(
  state: string,
  exchange: Exchange,
  onPoint: OnPoint,
): Promise<Begun> {
  const { kind, id, workspace, keep } = exchange
  const digest = at(onPoint, 'plan', () => writePlan(exchange))
  await syncPlan(keep)
  onPoint('intent', 'before', null)
  const journal = await Journal.begin(state, { kind, id, workspace, keep, plan: digest }, () =>
    onPoint('journal', 'after', null),
  )
  onPoint('intent', 'after', null)
  return { journal, digest }
}

/** Syncs the plan, its name and the name of its directory side by side, off this thread. */
async function syncPlan(keep: string): Promise<void> {
  try {
    await Promise.all([join(keep, PLAN), keep, dirname(keep)].map((path) => syncPath(path)))
  } catch (error) {
    throw machineFailure(error, keep)
  }
}

type ConflictCode = 'promote.conflict' | 'rollback.conflict'

/** Puts everything back after a failure; answers with the failure that the caller throws. */
export async function putBack(
  work: Work,
  exchange: Exchange,
  journal: Journal,
  error: unknown,
  code: ConflictCode,
): Promise<Error> {
  await markAt(work.onPoint, journal, 'reverting')
  const { others, left, aside } = await revertExchange(work, exchange)
  if (others.length > 0) {
    journal.close()
    return recoveryConflict(exchange.id, others)
  }
  await markAt(work.onPoint, journal, 'reverted')
  journal.remove()
  clearKeep(exchange.keep)
  if (!(error instanceof Collision)) return machineFailure(error, displayOfRaw(exchange.workspace))
  const kept = [
    ...left.map(
      (path) => `what ${listed(displayed([path]))} was before is kept in ${exchange.keep}`,
    ),
    ...aside.map(
      ({ path, place }) =>
        `what a program wrote to the new ${listed(displayed([path]))} is kept in ${place}`,
    ),
  ]
  const hint = [
    kept.length === 0 ? 'everything was put back' : 'everything else was put back',
    ...kept,
  ]
  return pathsFailure(code, error.paths, hint.join('; '))
}

/** The commands that end a recovery, one for each choice; a path may be given another choice. */
export function recoveryCommands(id: string, paths: readonly string[]): readonly string[] {
  const choose = (choice: string): string =>
    paths.map((path) => ` --${choice} ${quote(path)}`).join('')
  return [
    `writ recover ${id} --revert${choose('keep')}   # leave what is there, take the rest back`,
    `writ recover ${id} --revert${choose('old')}   # put the old version back`,
    `writ recover ${id} --finish${choose('keep')}   # leave what is there, carry the rest out`,
    `writ recover ${id} --finish${choose('new')}   # put the new version there, if it still exists`,
  ]
}

export function recoveryConflict(id: string, found: readonly RawPath[]): FaultError {
  const paths = displayed(found)
  const message = `another program changed this while writ was at work, so it is neither old nor new: ${listed(paths)}`
  const commands = recoveryCommands(id, paths).map((command) => `\n    ${command}`)
  const hint = `choose what becomes of it; nothing else is promoted here until then:${commands.join('')}`
  return new FaultError(
    fault('recovery.conflict', paths[0] ?? '', { id, paths }, { message, hint }),
  )
}

/** What was begun in this workspace and never ended stops everything that would follow. */
export function refuseUnrecovered(state: string, workspace: RawPath): void {
  const ids = openJournals(state)
    .filter(({ intent }) => intent === null || intent.workspace === workspace)
    .map(({ id }) => id)
  if (ids.length === 0) return
  throw new FaultError(
    fault(
      'promote.unrecovered',
      ids[0] ?? '',
      { ids },
      {
        message: `${listed(ids)} was interrupted in ${displayOfRaw(workspace)} and waits for a choice; nothing was done now`,
        hint: '`writ recover` lists the paths and the commands that end it',
      },
    ),
  )
}

/** Writes the times of the directories: if they are unchanged later, a rollback may restore the old ones. */
export function writeAfterTimes({ keep, parents }: Exchange, ground: Ground): void {
  const times: Record<string, string> = {}
  for (const { path } of parents) {
    const entry = lookAt(ground.atIfThere(path))
    if (entry?.kind === 'directory') times[path] = entry.mtimeNs
  }
  try {
    writeFileSync(join(keep, AFTER_TIMES), JSON.stringify(times), { mode: 0o600 })
  } catch (error) {
    // Without them a rollback puts back everything but the times of these directories.
    if (errnoOf(error) === null) throw error
  }
}

/** Empty when they were not kept: then no time is put back. */
export function readAfterTimes(keep: string): ReadonlyMap<RawPath, string> {
  try {
    const times: unknown = JSON.parse(readFileSync(join(keep, AFTER_TIMES), 'utf8'))
    // `writeAfterTimes` wrote it: raw paths with times.
    return new Map(Object.entries(times as Record<string, string>) as [RawPath, string][])
  } catch {
    return new Map()
  }
}

/** Removes a directory of displaced entries if only files of writ are left in it. */
export function clearKeep(keep: string): void {
  if (namesIfThere(keep)?.every(isOwnFile) === true) removeTreeSync(keep)
}

/** What was consumed; a rollback leaves nothing of what it took away either. */
export function clearSources(exchange: Exchange): void {
  const { kind, sources, keep } = exchange
  handOver(exchange)
  for (const source of sources) removeTreeSync(source)
  if (kind === 'rollback') removeTreeSync(keep)
}

/** Directories that something interrupted still needs: its own, its stage, its pre-images. */
export function directoriesInUse(state: string): ReadonlySet<string> {
  const directories = new Set<string>()
  for (const { intent } of openJournals(state)) {
    if (intent === null) continue
    directories.add(intent.keep)
    for (const source of readPlan(intent.keep)?.exchange.sources ?? []) directories.add(source)
  }
  return directories
}
