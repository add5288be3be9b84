/** Orders to a process that ends before it answers (S-11). */
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import { createServer, type Server, type Socket } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, it } from 'vitest'
import type { KnownHome } from '../home/index.ts'
import { sendOrder } from './control.ts'
import { SessionFiles } from './session-files.ts'

const ID = '01a1ef23-fe1f-70f9-93b0-779c3606ab96'

let folder: string
let files: SessionFiles
let server: Server
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'writ-control-'))
  // Of a home only the place of its state is read.
  files = new SessionFiles({ state: folder } as KnownHome, ID)
  mkdirSync(files.directory, { recursive: true })
})
afterEach(() => {
  server.close()
  rmSync(folder, { recursive: true, force: true })
})

/** A process that takes the order, and ends in the middle of it. */
function endsWith(end: (socket: Socket) => void): Promise<void> {
  server = createServer((socket) => {
    socket.on('error', () => undefined)
    socket.once('data', () => end(socket))
  })
  return new Promise((resolve) => server.listen(join(files.directory, 'control'), resolve))
}

it.each<[string, (socket: Socket) => void]>([
  ['without a word', (socket) => socket.end()],
  ['in the middle of its answer', (socket) => socket.end('{"ok":true,"answer":{"pro')],
  ['at once', (socket) => socket.destroy()],
])('says that the session ended %s, and what to type', async (_, end) => {
  await endsWith(end)
  await expect(sendOrder(files, { order: 'settle' })).rejects.toMatchObject({
    fault: {
      code: 'session.unreachable',
      message: expect.stringContaining('ended before it answered `settle`'),
      hint: expect.stringContaining('`writ recover`'),
    },
  })
})
