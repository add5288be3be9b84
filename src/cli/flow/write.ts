/** Files that a command was asked to write: whole or not at all. */
import { rename, rm, writeFile } from 'node:fs/promises'
import { basename, dirname, join } from 'node:path'
import { FaultError, fault, showName } from '../../base/index.ts'
import { reasonOf } from '../call/source.ts'

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
