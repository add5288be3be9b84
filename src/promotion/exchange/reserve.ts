/**
 * Room on the disk that is taken beforehand: a file in the state directory that is given back when the
 * ledger runs out of room in the middle of a promotion, so that what was done can still be recorded
 * (G-19e).
 */
import { closeSync, fsyncSync, lstatSync, openSync, rmSync, writeSync } from 'node:fs'
import { join } from 'node:path'
import { machineFailure } from '../entries/failure.ts'

const NAME = 'reserve'
const RESERVE_BYTES = 1 << 20
const CHUNK_BYTES = 1 << 16

/** Takes the room if it is not taken yet; fails with `promote.no_space`. */
export function takeReserve(state: string, bytes: number = RESERVE_BYTES): void {
  const file = join(state, NAME)
  if ((lstatSync(file, { throwIfNoEntry: false })?.size ?? 0) >= bytes) return
  try {
    const handle = openSync(file, 'w', 0o600)
    try {
      // Written, not only sized: a hole takes no room.
      const chunk = Buffer.alloc(CHUNK_BYTES, 1)
      for (let at = 0; at < bytes; at += CHUNK_BYTES) writeSync(handle, chunk)
      fsyncSync(handle)
    } finally {
      closeSync(handle)
    }
  } catch (error) {
    rmSync(file, { force: true })
    throw machineFailure(error, file)
  }
}

/** Gives the room back; false when there was none. */
export function giveReserve(state: string): boolean {
  const file = join(state, NAME)
  if (lstatSync(file, { throwIfNoEntry: false }) === undefined) return false
  rmSync(file, { force: true })
  return true
}
