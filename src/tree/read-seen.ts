/**
 * Reads a file that a rehearsal saw, to show it. Another program may have put something else in its
 * place since: a link is not followed, a fifo is not waited for, and other bytes are not shown as if
 * they were the ones that were rehearsed.
 */
import { createHash } from 'node:crypto'
import { bytesOfRaw, type RawPath } from '../gate/index.ts'
import { openFile } from '../machine/index.ts'

const PIECE_BYTES = 1 << 16

/** Throws at its end when the bytes are not those of `digest`; null: any bytes will do. */
export async function* readSeen(path: RawPath, digest: string | null): AsyncGenerator<Uint8Array> {
  const file = await openFile(Buffer.from(bytesOfRaw(path)))
  try {
    if (!(await file.stat()).isFile()) throw new Error('something else is there now')
    const hash = createHash('sha256')
    for (;;) {
      const { bytesRead, buffer } = await file.read(Buffer.alloc(PIECE_BYTES))
      if (bytesRead === 0) break
      const piece = buffer.subarray(0, bytesRead)
      hash.update(piece)
      yield piece
    }
    const isSeen = digest === null || digest === `sha256:${hash.digest('hex')}`
    if (!isSeen) throw new Error('it changed since the run')
  } finally {
    await file.close()
  }
}
