/**
 * The file of `--report`. What was in it before is gone when a run begins, since an answer of an earlier
 * one must not be taken for this one's; and a place that cannot be written to is told while nothing was
 * done. A new file is made with the answer only: made before, it would be part of the rehearsed tree.
 */
import { accessSync, constants, statSync, truncateSync, writeFileSync } from 'node:fs'
import { dirname } from 'node:path'
import { fault } from '../../base/index.ts'
import type { GateAnswer } from '../../host/index.ts'
import { Stop } from '../command.ts'

export function prepareReport(file: string): void {
  try {
    const found = statSync(file, { throwIfNoEntry: false })
    if (found === undefined) accessSync(dirname(file), constants.W_OK | constants.X_OK)
    else if (found.isFile()) truncateSync(file)
    else if (found.isDirectory()) throw Object.assign(new Error('a directory'), { code: 'EISDIR' })
  } catch (thrown) {
    throw unwritable(file, thrown, 'nothing was run')
  }
}

export function writeReport(file: string, answer: GateAnswer & { readonly prompts: number }): void {
  try {
    writeFileSync(file, `${JSON.stringify(answer)}\n`)
  } catch (thrown) {
    throw unwritable(
      file,
      thrown,
      answer.promoted ? 'the effects were promoted' : 'nothing was promoted',
    )
  }
}

function unwritable(file: string, thrown: unknown, hint: string): Stop {
  const reason = (thrown as NodeJS.ErrnoException).code ?? 'unknown reason'
  const message = `the report ${file} cannot be written (${reason})`
  return new Stop(fault('cli.file_unwritable', file, { file, reason }, { message, hint }))
}
