/**
 * An editor that saves one file over and over, in place and by renaming, with pauses that leave room
 * for a promotion now and then. It says every save that it completed; a file that is absent at
 * that moment is created again, as editors do.
 */
import {
  closeSync,
  existsSync,
  ftruncateSync,
  openSync,
  renameSync,
  writeFileSync,
  writeSync,
} from 'node:fs'
import { setTimeout as pause } from 'node:timers/promises'
import { readInput } from '../ledger/program-input.ts'

export interface EditorInput {
  readonly file: string
  /** It goes on until there is a file of this name. */
  readonly stop: string
  readonly pauseMsMax: number
}

const { file, stop, pauseMsMax } = readInput<EditorInput>()

function saveInPlace(text: string): void {
  const handle = openSync(file, 'a+')
  try {
    ftruncateSync(handle)
    writeSync(handle, text)
  } finally {
    closeSync(handle)
  }
}

function saveByRename(text: string): void {
  writeFileSync(`${file}.tmp`, text)
  renameSync(`${file}.tmp`, file)
}

writeSync(1, 'ready\n')
for (let count = 0; !existsSync(stop); count++) {
  const text = `edit ${count} `.repeat(1 + (count % 50))
  if (count % 2 === 0) saveInPlace(text)
  else saveByRename(text)
  writeSync(1, `${count}\n`)
  // Bursts, and then a while of nothing.
  await pause(count % 7 < 4 ? count % 3 : (count * 7919) % pauseMsMax)
}
