/**
 * Files that a command writes for its caller (`--out` and the like). No gate judges them and nothing
 * takes them back, so with the token of an actor there are none.
 */

import { statSync } from 'node:fs'
import { rename, rm, writeFile } from 'node:fs/promises'
import { basename, dirname, join } from 'node:path'
import { FaultError, fault, faultError, showName, showPath } from '../../base/index.ts'
import type { CommandCall } from './command.ts'
import { reasonOf } from './source.ts'

/**
 * Fails if the token of an actor is given, or one that no home here knows. `instead` is what the
 * caller can do.
 */
export async function refuseActorsFile(
  call: CommandCall,
  file: string,
  instead: string,
): Promise<void> {
  if (process.env['WRIT_TOKEN'] === undefined) return
  if (await isHumans(call)) return
  const message = `${showPath(file)} was not written: a person writes files, and \`WRIT_TOKEN\` is an actor’s`
  throw faultError('principal.not_human', file, message, instead)
}

/** The same for a command that prints when it is given no file. */
export function refuseActorsOut(call: CommandCall, file: string, option = '--out'): Promise<void> {
  const instead = `print it to standard output, without \`${option}\`; a person writes files`
  return refuseActorsFile(call, file, instead)
}

/** The same for one file, which must not exist yet. */
export async function refuseOut(call: CommandCall, file: string, option = '--out'): Promise<void> {
  await refuseActorsOut(call, file, option)
  refuseExisting(call, file)
}

/** Fails if there is such a file already and the caller does not say `--force`. */
export function refuseExisting(call: CommandCall, file: string): void {
  if (call.options.isOn('force')) return
  if (statSync(file, { throwIfNoEntry: false })?.isFile() !== true) return
  const message = `${showName(file)} was not written: there is a file of that name`
  const hint = `name another file, or replace it with \`--force\``
  const details = { file, reason: 'it exists' }
  throw new FaultError(fault('cli.file_unwritable', file, details, { message, hint }))
}

/** Loads what opens a home only here: most callers have no token, and their command opens none. */
async function isHumans(call: CommandCall): Promise<boolean> {
  const { withHistory } = await import('./home.ts')
  try {
    return await withHistory(call, async ({ caller }) => caller.principal.kind === 'human')
  } catch {
    return false
  }
}

/** Files that a command was asked to write: whole or not at all. */
export async function writeWhole(file: string, text: string): Promise<void> {
  const fresh = join(dirname(file), `.${basename(file)}.${process.pid}`)
  try {
    await writeFile(fresh, text)
    await rename(fresh, file)
  } catch (thrown) {
    await rm(fresh, { force: true }).catch(() => undefined)
    const reason = reasonOf(thrown)
    const message = `${showName(file)} cannot be written (${reason})`
    throw new FaultError(fault('cli.file_unwritable', file, { file, reason }, { message }))
  }
}
