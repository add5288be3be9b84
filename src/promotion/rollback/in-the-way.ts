/**
 * Decides which differences block the rollback of one act. Two kinds do not: a path that is already as it
 * was before the act needs no restoring, and an empty directory holds nothing that could be lost.
 */
import { rmdirSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import { displayOfRaw, isBelow, type RawPath } from '../../gate/index.ts'
import { errnoOf, quote } from '../../machine/index.ts'
import { isOfState, lookAt, namesIn } from '../entries/entry.ts'
import type { Ground } from '../entries/ground.ts'
import { type ExchangeStep, isInPlace, putsTree } from '../entries/plan.ts'

/** Returns the steps without those whose path is already as the step would leave it. */
export function withoutDone(
  steps: readonly ExchangeStep[],
  ground: Ground,
): readonly ExchangeStep[] {
  return steps.filter((step) => isInPlace(step) || !isDone(step, ground))
}

function isDone({ path, changes: [own, ...below] }: ExchangeStep, ground: Ground): boolean {
  const address = ground.atIfThere(path)
  if (own.after === null) return address === null || lookAt(address) === null
  if (address === null || below.length > 0) return false
  // Attributes are compared in a batch, later: a path that has some on either side is not done yet.
  if ([own.before, own.after].some((state) => (state?.attributes.length ?? 0) > 0)) return false
  return isOfState(address, own.after, false)
}

/** Returns those of the paths where an empty directory is and a whole directory would come. */
export function emptyInTheWay(
  steps: readonly ExchangeStep[],
  different: readonly RawPath[],
  ground: Ground,
): readonly RawPath[] {
  const coming = new Set(
    steps
      .filter((step) => putsTree(step) && step.changes[0].before === null)
      .map(({ path }) => path),
  )
  return different.filter((path) => {
    const address = coming.has(path) ? ground.atIfThere(path) : null
    if (address === null || lookAt(address)?.kind !== 'directory') return false
    return namesIn(address).length === 0
  })
}

/** Removes them; returns those that hold something by now. */
export function removeEmpty(paths: readonly RawPath[], ground: Ground): readonly RawPath[] {
  return paths.filter((path) => {
    const address = ground.atIfThere(path)
    try {
      if (address !== null) rmdirSync(address)
      return false
    } catch (error) {
      if (errnoOf(error) === null) throw error
      return true
    }
  })
}

const COMMANDS_MAX = 5

/** What a person types to get out of a conflict: each path is made as it was before the act. */
export function conflictHint(
  actionId: string,
  steps: readonly ExchangeStep[],
  different: readonly RawPath[],
): string {
  const commands = different.slice(0, COMMANDS_MAX).flatMap((path) => {
    const step = steps.find((one) => isBelow(path, one.path))
    return step === undefined ? [] : [wayOut(step, path)]
  })
  const lines = [...new Set(commands)].map((command) => `\n    ${command}`)
  const more = different.length > COMMANDS_MAX ? ', which names the next paths' : ''
  const again = `\`writ rollback ${actionId}\`${more}`
  if (lines.length === 0) {
    return `undo overwrites nothing of others. Make each path as it was before the act, then type ${again}`
  }
  return `undo overwrites nothing of others. Type this to move aside what is in the way:${lines.join('')}\n  then ${again}`
}

/**
 * Moves away what is there, and copies the kept entry to its place. An entry that others put into a
 * directory of the act is moved out of that directory.
 */
function wayOut({ path, put, changes }: ExchangeStep, different: RawPath): string {
  const [own] = changes
  const [name, kept] = [displayOfRaw(path), put]
  if (changes.every((one) => one.path !== different)) {
    const others = displayOfRaw(different)
    return `mv -n ${quote(others)} ${quote(join(dirname(name), `${basename(others)}.mine`))}`
  }
  const away = `mv -n ${quote(name)} ${quote(`${name}.mine`)}`
  return kept === null || own.after === null ? away : `${away}; cp -a ${quote(kept)} ${quote(name)}`
}
